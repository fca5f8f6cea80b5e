import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { expect, onTestFinished, test, vi } from 'vitest';
import { HookSenders } from './hook-senders.ts';
import { hookAgent, openRunHooks } from './run-hooks.ts';
import { openHookDesk } from './testing/hook-desk.ts';

const OPEN = `policy_id: p
version: "1.0.0"
mode: control
defaults: {decision_on_error: BLOCK}
selectors: {}
rules: []
`;
const CLOSED = OPEN.replace(
  '[]',
  '[{rule_id: r, kind: deny, enabled: true, severity: warn, match: {}, effect: {action: BLOCK}}]',
);

function optionsFor(made: Awaited<ReturnType<typeof openHookDesk>>) {
  const { producer, hub, sink, config, paths, env, started, degraded } = made;
  return {
    ...{ producer, hub, sink, config, paths, env },
    snapshot: started.snapshot,
    policyFiles: started.files,
    socketPath: join(paths.home, 'hooks.sock'),
    hasChannel: false,
    warn: () => {},
    degraded: (reason: string) => void degraded.push(reason),
  };
}

interface HooksWish {
  readonly policy?: string;
  readonly senders?: HookSenders;
}

async function openHooks({ policy = OPEN, senders }: HooksWish = {}) {
  const made = await openHookDesk({ policy });
  const options = { ...optionsFor(made), takesPosts: true, trustsPrompts: true };
  const hooks = await openRunHooks({ ...options, ...(senders && { senders }) });
  if (isFailure(hooks)) throw new Error(hooks.message);
  onTestFinished(() => void hooks.end());
  const post = async (body: object): Promise<string> => {
    const { url, token } = hooks.listener.http ?? {};
    const base = { session_id: 's', cwd: made.cwd, transcript_path: '/t' };
    const response = await fetch(`${url}/claude-code`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ ...base, ...body }),
    });
    return response.text();
  };
  let uses = 0;
  const bash = (command = 'ls') => {
    const tool = { tool_name: 'Bash', tool_use_id: `u${++uses}`, tool_input: { command } };
    return post({ hook_event_name: 'PreToolUse', ...tool });
  };
  return { ...made, hooks, post, bash };
}

test('a changed policy decides the next call, in sessions that are open', async () => {
  const { bash, write, events } = await openHooks();
  expect(await bash()).toBe('{}');
  write('policy.yaml', CLOSED);
  await vi.waitFor(async () => expect(await bash()).toContain('deny'), 20_000);
  expect(events('policy_loaded')).toHaveLength(2);
});

test('the first hook is decided by what the policy says by then', async () => {
  const { bash, write } = await openHooks();
  write('policy.yaml', CLOSED);
  expect(await bash()).toContain('deny');
});

test('a broken policy changes nothing, and is on record', async () => {
  const { bash, write, degraded } = await openHooks();
  write('policy.yaml', 'rules: 7\n');
  expect(await bash()).toBe('{}');
  expect(degraded).toHaveLength(1);
});

test('the settings of the client are protected from its own tools', async () => {
  const { bash } = await openHooks();
  expect(await bash('rm .claude/settings.json')).toContain('deny');
  expect(await bash('rm notes.txt')).toBe('{}');
});

test.runIf(process.platform === 'linux')(
  'the tools of a server whose shim the client has not started are decided here',
  async () => {
    const senders = new HookSenders({ root: process.pid, isClient: false, degraded: () => {} });
    const use = { hook_event_name: 'PreToolUse', tool_name: 'mcp__evil__x', tool_use_id: 'u' };
    for (const [wish, answer] of [
      [{ policy: CLOSED, senders }, 'deny'],
      [{ policy: CLOSED }, '{}'],
    ] as const) {
      const { hub, post } = await openHooks(wish);
      hub.shims.heard({ shim_id: 's', server_id: 'evil', run_id: 'r' });
      expect(await post({ ...use, tool_input: {} })).toContain(answer);
    }
  },
);

test('what ends with the run is counted, and nobody is answered after it', async () => {
  const { bash, hooks } = await openHooks();
  await bash();
  expect((await hooks.end()).calls_total).toBe(1);
  await expect(bash()).rejects.toThrow('fetch failed');
});

test('a folder that the agent reads is there for as long as it runs', async () => {
  const made = await openHookDesk({ policy: OPEN });
  const path = join(made.paths.home, 'hooks.plugin');
  mkdirSync(path);
  writeFileSync(join(path, 'of a run that was killed'), '');
  const begin = ({ command, env }: { command: readonly string[]; env: object }) => {
    return { command, env: { ...env }, folder: { path, files: { 'hooks.json': '{}' } } };
  };
  const start = { ...optionsFor(made), command: ['agent'], cwd: made.cwd };
  const agent = await hookAgent({ client: 'copilot-cli', begin }, start);
  if (isFailure(agent)) throw new Error(agent.message);
  expect(readdirSync(path)).toEqual(['hooks.json']);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  expect(statSync(join(path, 'hooks.json')).mode & 0o777).toBe(0o600);
  await agent.end();
  expect(existsSync(path)).toBe(false);
});

test('an agent whose folder cannot be made is not started', async () => {
  const made = await openHookDesk({ policy: OPEN });
  const path = join(made.paths.home, 'none', 'hooks.plugin');
  const begin = ({ command, env }: { command: readonly string[]; env: object }) => {
    return { command, env: { ...env }, folder: { path, files: {} } };
  };
  const start = { ...optionsFor(made), command: ['agent'], cwd: made.cwd };
  expect(await hookAgent({ client: 'copilot-cli', begin }, start)).toMatchObject({
    code: 'SUB_FILE_WRITE',
    message: expect.stringContaining('ENOENT') as unknown,
  });
});
