// `sub steward` in a fresh home, with a scripted local model and no account.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { askSteward } from '@subluminal/plane/steward-socket';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { verifies } from '../requirements.ts';
import { type ScriptedModel, startScriptedModel } from './scripted-model.ts';
import { StewardHome } from './steward-home.ts';

const TIMEOUT_MS = 60_000;

let top: string;
let home: StewardHome;
let model: ScriptedModel;
beforeEach(async () => {
  top = mkdtempSync(join(tmpdir(), 'sub-steward-'));
  home = new StewardHome(top);
  model = await startScriptedModel([
    { uses: [{ name: 'files.list', args: { path: '.', reasoning: 'To look.' } }] },
    {
      uses: [
        { name: 'files.read', args: { path: join(home.subHome, 'x'), reasoning: 'To look.' } },
      ],
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
  await home.sub('steward', 'stop');
  await home.close();
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

test(
  'reads, is refused, is approved and is killed on the way, and does nothing twice',
  async () => {
    verifies('ST-6.1', 'ST-8.12', 'ST-9.3');
    const made = await home.sub('steward', 'init', '--model-url', model.url, '--model', 'm');
    expect(made).toMatchObject({ code: 0, err: '' });
    await installTool(join(home.subHome, 'steward', 'config'));
    expect((await home.sub('steward', 'start')).code).toBe(0);
    const removal = await home.sub('uninstall', '--purge', '--yes');
    expect(removal.code).toBe(2);
    expect(removal.err).toContain('Run `sub steward stop` first.');
    const chat = home.spawn(['steward', 'chat', 'Write hi into a.txt.']);
    const waiting = await home.asked('propose_write');

    const { pid } = JSON.parse((await home.sub('steward', 'status', '--json')).out) as {
      pid: number;
    };
    process.kill(pid, 'SIGKILL');
    await once(chat, 'exit');
    expect((await home.sub('steward', 'start')).code).toBe(0);
    const again = await home.asked('propose_write', waiting.id);
    // A run that is open loses a revoked tool at once.
    const roman = { kind: 'tool', name: 'roman' } as const;
    const active = JSON.parse(
      (await home.sub('steward', 'review', '--active', '--json')).out,
    ) as object;
    expect(active).toMatchObject({ parts: [roman] });
    const revoked = { ...roman, person: 'ada', channel: 'terminal' } as const;
    expect(await askSteward(home.socket, 'expansion/revoke', { input: revoked })).toMatchObject({
      state: 'committed',
    });
    again.approve();
    expect((await home.onlyConversation()).tasks.at(-1)).toMatchObject({
      state: 'done',
      steps: [{ state: 'done' }, { state: 'refused' }, { state: 'done' }],
    });

    const offered = model.requests
      .map(({ conversation }) => conversation?.tools ?? [])
      .filter((tools) => tools.length > 0)
      .map((tools) => tools.some((name) => name.includes('roman')));
    expect([offered[0], offered.at(-1)]).toEqual([true, false]);

    const { calls: rows } = JSON.parse((await home.sub('query', '--json')).out) as {
      calls: { server_name: string; tool_name: string; decision: string; rule_id: string }[];
    };
    const calls = rows.filter(({ server_name }) => server_name === 'files');
    const count = (tool: string) => calls.filter(({ tool_name }) => tool_name === tool).length;
    expect([count('list'), count('read')]).toEqual([1, 1]);
    expect(calls.find(({ tool_name }) => tool_name === 'read')?.decision).toBe('BLOCK');
  },
  TIMEOUT_MS,
);
