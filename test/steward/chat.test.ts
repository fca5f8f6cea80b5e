// `sub steward` in a fresh home, with a scripted local model and no account.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { isFailure } from '@subluminal/contracts';
import { openDesk } from '@subluminal/plane/approvals';
import { askSteward, controlSocket } from '@subluminal/plane/steward-socket';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifies } from '../requirements.ts';
import { type ScriptedModel, startScriptedModel } from './scripted-model.ts';

const SUB = join(import.meta.dirname, '..', '..', 'packages', 'cli', 'bin', 'sub.mjs');
const TIMEOUT_MS = 60_000;

let top: string;
let env: NodeJS.ProcessEnv;
let model: ScriptedModel;
beforeEach(async () => {
  top = mkdtempSync(join(tmpdir(), 'sub-steward-'));
  mkdirSync(join(top, 'home'));
  const { PATH } = process.env;
  env = { PATH, HOME: join(top, 'home'), SUB_HOME: join(top, 'sub'), NO_COLOR: '1' };
  model = await startScriptedModel([
    { uses: [{ name: 'files.list', args: { path: '.', reasoning: 'To look.' } }] },
    {
      uses: [{ name: 'files.read', args: { path: join(top, 'sub', 'x'), reasoning: 'To look.' } }],
    },
    {
      uses: [
        {
          name: 'files.propose_write',
          args: { path: 'a.txt', content: 'hi', reasoning: 'Asked.' },
        },
      ],
    },
    { text: 'It is proposed.' },
  ]);
});
afterEach(async () => {
  await sub('steward', 'stop');
  await sub('ledgerd', '--stop');
  await model.close();
  rmSync(top, { recursive: true, force: true });
});

async function installTool(config: string): Promise<void> {
  const folder = join(config, 'tools', 'roman');
  mkdirSync(folder, { recursive: true });
  const about = { name: 'roman', description: 'Writes Roman digits.', input: { type: 'object' } };
  writeFileSync(join(folder, 'tool.capabilities.json'), JSON.stringify(about));
  writeFileSync(join(folder, 'tool.js'), "export default () => 'III';");
  const git = promisify(execFile);
  await git('git', ['-C', config, 'add', 'tools']);
  const who = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  await git('git', ['-C', config, ...who, 'commit', '-qm', 'Add a tool']);
}

function start(...args: readonly string[]) {
  return spawn(process.execPath, [SUB, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
}

async function sub(...args: readonly string[]) {
  const child = start(...args);
  const [out, err] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return { code: child.exitCode, out, err };
}

/** Resolves with the request of the tool when it waits for a person. */
function asked(tool: string, besides?: string) {
  const ports = { nowMs: () => Date.now(), uuid: () => crypto.randomUUID(), warn: () => undefined };
  const desk = openDesk({ home: join(top, 'sub'), ports, pollMs: 50 });
  if (isFailure(desk)) throw new Error(desk.message);
  return new Promise<{ id: string; approve: () => void }>((resolve) => {
    const following = desk.queue.follow({
      onRequest: ({ request: { id, call }, sha256 }) => {
        if (call.tool !== tool || id === besides) return;
        following.stop();
        const verdict = { state: 'approved', by: 'ada', channel: 'test', sha256 } as const;
        resolve({ id, approve: () => void desk.decide(id, verdict) });
      },
      onEnd: () => undefined,
    });
  });
}

/** The task, once nothing is left to do. */
async function lastTask() {
  const socket = controlSocket(join(top, 'sub', 'run'));
  const listed = await askSteward(socket, 'conversations', { input: {} });
  if (isFailure(listed)) throw new Error(listed.message);
  const conversation_id = listed.conversations[0]?.id ?? '';
  let version = 0;
  for (;;) {
    const input = { conversation_id, after: 0, version, wait_ms: 10_000 };
    const seen = await askSteward(socket, 'updates', { input });
    if (isFailure(seen)) throw new Error(seen.message);
    if (seen.is_idle) return seen.tasks.at(-1);
    ({ version } = seen);
  }
}

test(
  'reads, is refused, is approved and is killed on the way, and does nothing twice',
  async () => {
    verifies('ST-6.1', 'ST-8.12', 'ST-9.3');
    const made = await sub('steward', 'init', '--model-url', model.url, '--model', 'm');
    expect(made).toMatchObject({ code: 0, err: '' });
    await installTool(join(top, 'sub', 'steward', 'config'));
    expect((await sub('steward', 'start')).code).toBe(0);
    const chat = start('steward', 'chat', 'Write hi into a.txt.');
    const waiting = await asked('propose_write');

    const { pid } = JSON.parse((await sub('steward', 'status', '--json')).out) as { pid: number };
    process.kill(pid, 'SIGKILL');
    await once(chat, 'exit');
    expect((await sub('steward', 'start')).code).toBe(0);
    const again = await asked('propose_write', waiting.id);
    // A run that is open loses a revoked tool at once.
    const roman = { kind: 'tool', name: 'roman' } as const;
    const active = JSON.parse((await sub('steward', 'review', '--active', '--json')).out) as object;
    expect(active).toMatchObject({ parts: [roman] });
    const revoked = { ...roman, person: 'ada', channel: 'terminal' } as const;
    const socket = controlSocket(join(top, 'sub', 'run'));
    expect(await askSteward(socket, 'expansion/revoke', { input: revoked })).toMatchObject({
      state: 'committed',
    });
    again.approve();
    expect(await lastTask()).toMatchObject({
      state: 'done',
      steps: [{ state: 'done' }, { state: 'refused' }, { state: 'done' }],
    });

    const offered = model.requests
      .map(({ conversation }) => conversation?.tools ?? [])
      .filter((tools) => tools.length > 0)
      .map((tools) => tools.some((name) => name.includes('roman')));
    expect([offered[0], offered.at(-1)]).toEqual([true, false]);

    const { calls: rows } = JSON.parse((await sub('query', '--json')).out) as {
      calls: { server_name: string; tool_name: string; decision: string; rule_id: string }[];
    };
    const calls = rows.filter(({ server_name }) => server_name === 'files');
    const count = (tool: string) => calls.filter(({ tool_name }) => tool_name === tool).length;
    expect([count('list'), count('read')]).toEqual([1, 1]);
    expect(calls.find(({ tool_name }) => tool_name === 'read')?.decision).toBe('BLOCK');
  },
  TIMEOUT_MS,
);
