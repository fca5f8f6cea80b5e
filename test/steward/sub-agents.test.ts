// Two workers of the built Steward: killed while they work, they go on, and both are announced.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { isFailure } from '@subluminal/contracts';
import { askSteward, controlSocket } from '@subluminal/plane/steward-socket';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifies } from '../requirements.ts';
import type { Conversation, Reply } from './model-script.ts';
import { type ScriptedModel, startScriptedModel } from './scripted-model.ts';

const SUB = join(import.meta.dirname, '..', '..', 'packages', 'cli', 'bin', 'sub.mjs');
const TIMEOUT_MS = 60_000;
const worker = (task: string) => ({
  name: 'agents.spawn',
  args: { kind: 'research', task, reasoning: 'The user wants both.' },
});

let top: string;
let env: NodeJS.ProcessEnv;
let model: ScriptedModel;
let workers: Conversation[];
/** What a worker does when its model is asked. */
let work: (conversation: Conversation) => Reply;
let bothAsked: Promise<void>;
beforeEach(async () => {
  top = mkdtempSync(join(tmpdir(), 'sub-workers-'));
  mkdirSync(join(top, 'home'));
  const { PATH } = process.env;
  env = { PATH, HOME: join(top, 'home'), SUB_HOME: join(top, 'sub'), NO_COLOR: '1' };
  workers = [];
  work = () => ({ fault: { kind: 'hang' } });
  let tell = () => undefined as void;
  bothAsked = new Promise((resolve) => {
    tell = resolve;
  });
  model = await startScriptedModel((conversation) => {
    const { system, asked, results } = conversation;
    if (system.includes('You are the guardian')) return verdict(asked);
    if (asked.includes('You are a sub-agent')) {
      workers.push(conversation);
      if (workers.length === 2) tell();
      return work(conversation);
    }
    if (results.length > 0) return { text: 'Two are on it.' };
    return { uses: [worker('Find out about tea.'), worker('Find out about cups.')] };
  });
});
afterEach(async () => {
  await sub('steward', 'stop');
  await sub('ledgerd', '--stop');
  await model.close();
  rmSync(top, { recursive: true, force: true });
});

function verdict(asked: string): Reply {
  const id = /\b[0-9a-f]{16,}\b/.exec(asked)?.[0] ?? '';
  return { text: JSON.stringify({ case: id, verdict: 'ALLOW', reason: 'It was asked for.' }) };
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

/** What Steward itself has said in the conversation, once nothing is left to do. */
async function notices(): Promise<readonly string[]> {
  const socket = controlSocket(join(top, 'sub', 'run'));
  const listed = await askSteward(socket, 'conversations', { input: {} });
  if (isFailure(listed)) throw new Error(listed.message);
  expect(listed.conversations).toHaveLength(1);
  const conversation_id = listed.conversations[0]?.id ?? '';
  let version = 0;
  for (;;) {
    const input = { conversation_id, after: 0, version, wait_ms: 10_000 };
    const seen = await askSteward(socket, 'updates', { input });
    if (isFailure(seen)) throw new Error(seen.message);
    const said = seen.messages.filter(({ role }) => role === 'notice').map((one) => one.text);
    if (seen.is_idle) return said.toSorted();
    ({ version } = seen);
  }
}

test(
  'two workers go on after a kill, have no sub-agents of their own, and are both announced',
  async () => {
    verifies('ST-6.2');
    const made = await sub('steward', 'init', '--model-url', model.url, '--model', 'm');
    expect(made).toMatchObject({ code: 0, err: '' });
    expect((await sub('steward', 'start')).code).toBe(0);
    const chat = start('steward', 'chat', 'Find out about tea and cups.');
    await bothAsked;
    const { pid } = JSON.parse((await sub('steward', 'status', '--json')).out) as { pid: number };
    process.kill(pid, 'SIGKILL');
    await once(chat, 'exit');
    work = ({ asked }) => ({ text: asked.includes('tea') ? 'Mint.' : 'Mugs.' });
    expect((await sub('steward', 'start')).code).toBe(0);
    expect(await notices()).toEqual([
      'The research sub-agent (Task: Find out about cups.) is done:\nMugs.',
      'The research sub-agent (Task: Find out about tea.) is done:\nMint.',
    ]);
    expect(workers).toHaveLength(4);
    for (const { tools } of workers) {
      expect(tools.some((name) => name.startsWith('files'))).toBe(true);
      expect(tools.filter((name) => name.startsWith('agents'))).toEqual([]);
    }
  },
  TIMEOUT_MS,
);
