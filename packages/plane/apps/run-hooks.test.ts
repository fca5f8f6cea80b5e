import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { failure, isFailure } from '@subluminal/contracts';
import { expect, onTestFinished, test } from 'vitest';
import { startPolicy } from '../services/governor/policy-start.ts';
import type { AgentHooks, RunOptions } from '../services/run/options.ts';
import { loadConfig } from '../stores/config/index.ts';
import { startRun } from './start-run.ts';

const POLICY = `policy_id: p
version: "1.0.0"
mode: control
defaults: {decision_on_error: BLOCK}
selectors: {}
rules:
  - rule_id: few
    kind: budget
    enabled: true
    severity: warn
    match: {}
    effect: {budget: {scope: run, limit_calls: 2, on_exceed: BLOCK}}
`;

/** Tells hooks as Claude Code does, by HTTP and on the socket, and writes the answers down. */
const AGENT = `
const { spawn } = require('node:child_process');
const { writeFileSync } = require('node:fs');
const [url, token, socketPath, out] = process.argv.slice(2);
const base = { session_id: 's', cwd: process.cwd(), transcript_path: '/t' };
const pre = (id) => JSON.stringify({ ...base, hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_use_id: id, tool_input: { command: 'echo ' + id } });
const post = (id) => JSON.stringify({ ...base, hook_event_name: 'PostToolUse', tool_name: 'Bash', tool_use_id: id, tool_input: { command: 'echo ' + id }, tool_response: { stdout: id, stderr: '', interrupted: false, isImage: false } });
const http = async (body) => (await fetch(url, { method: 'POST', body, headers: { authorization: 'Bearer ' + token } })).text();
const started = (words, body) => new Promise((resolve) => {
  const child = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
  let text = '';
  child.stdout.on('data', (chunk) => { text += chunk; }).on('end', () => resolve(text));
  child.stdin.end(body);
});
const sock = (body) => started(['sub.cjs', 'hook', 'claude-code', socketPath], body);
(async () => {
  const said = [await http(pre('one')), await http(post('one')), await sock(pre('two')), await http(pre('three'))];
  said.push(process.env.SUB_HOOKS_SOCKET === socketPath ? 'told' : 'untold');
  writeFileSync(out, JSON.stringify(said));
})();
`;

/** Asks on the socket, as `sub hook` does; in the name of another process where it is told so. */
const HOOK = `
const { connect } = require('node:net');
const [, client, socketPath, pid = process.pid] = process.argv.slice(2);
const socket = connect({ path: socketPath, allowHalfOpen: true });
socket.on('error', () => {}).once('data', (word) => {
  if (process.platform === 'linux') require('node:fs').writeFileSync('/proc/self/comm', word.toString().trim());
  socket.write(JSON.stringify({ v: 1, client, pid: Number(pid) }) + '\\n');
  process.stdin.pipe(socket);
  socket.pipe(process.stdout);
});
`;

/** Runs a tool that sends hooks itself. */
const FORGING_AGENT = AGENT.replace(/\(async[\s\S]*/, '').concat(`
const tool = \`
const [url, token, body] = process.argv.slice(1);
fetch(url, { method: 'POST', body, headers: { authorization: 'Bearer ' + token } })
  .then(({ status }) => process.stdout.write(String(status)));
\`;
(async () => {
  const prompt = JSON.stringify({ ...base, hook_event_name: 'UserPromptSubmit', prompt: 'x' });
  const said = [await http(pre('one')), await http(post('one'))];
  said.push(await started(['-e', tool, url, token, prompt], ''));
  said.push(await started(['hook.cjs', 'hook', 'claude-code', socketPath], prompt));
  said.push(await started(['sub.cjs', 'hook', 'claude-code', socketPath, String(process.pid)], prompt));
  said.push(await http(prompt));
  writeFileSync(out, JSON.stringify(said));
})();
`);

/** Asks the socket that the run names, as hooks from a file of settings do. */
const SETTINGS_AGENT = AGENT.replace(/\(async[\s\S]*/, '')
  .replace('process.argv.slice(2)', "['', '', process.env.SUB_HOOKS_SOCKET, 'out.json']")
  .concat(`
(async () => {
  const said = [await sock(pre('one')), await sock(pre('two')), await sock(pre('three'))];
  writeFileSync(out, JSON.stringify(said));
})();
`);

async function runWith(begin: AgentHooks['begin'] | undefined, extra: Partial<RunOptions> = {}) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'sub-run-')));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const file = (name: string) => join(home, name);
  writeFileSync(file('policy.yaml'), POLICY, { mode: 0o600 });
  writeFileSync(file('agent.cjs'), AGENT);
  writeFileSync(file('settings.cjs'), SETTINGS_AGENT);
  writeFileSync(file('forging.cjs'), FORGING_AGENT);
  writeFileSync(file('sub.cjs'), HOOK);
  writeFileSync(file('hook.cjs'), HOOK);
  mkdirSync(file('.subluminal'), { mode: 0o700 });
  const env = { PATH: process.env['PATH'], HOME: home, SUB_HOME: file('.subluminal') };
  const flags = { policy: file('policy.yaml') };
  const loaded = await loadConfig({ env, cwd: home, flags });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const policy = await startPolicy({ env, cwd: home, flags }, loaded, () => {});
  if (isFailure(policy)) throw new Error(policy.message);
  const { config, paths } = loaded;
  const result = await startRun({
    command: [process.execPath, file('agent.cjs')],
    env,
    cwd: home,
    config,
    paths,
    snapshot: policy.snapshot,
    policySources: policy.files.sources,
    policyHashes: policy.files.hashes,
    told: { policyPath: file('policy.yaml') },
    identity: {},
    meta: {},
    events: { file: file('events.jsonl') },
    ...(begin !== undefined && { hooks: { client: 'claude-code', begin } }),
    isTerminal: false,
    tell: () => {},
    ...extra,
  });
  return { result, file };
}

test('the hooks of the agent are decided by the hub of the run, and counted in its end', async () => {
  const { result, file } = await runWith(({ http, socket, command, env }) => ({
    command: [...command, http.url, http.token, socket, join(env['HOME'] ?? '', 'out.json')],
    env,
  }));
  if (isFailure(result)) throw new Error(result.message);
  const said = JSON.parse(readFileSync(file('out.json'), 'utf8')) as string[];
  const [first, second, third = '', fourth, told] = said;
  expect([first, second, told]).toEqual(['{}', '{}', 'told']);
  expect(JSON.parse(third)).toEqual({ stdout: '{}', stderr: '', exitCode: 0 });
  expect(fourth).toContain('"permissionDecision":"deny"');
  expect(result.warnings).toEqual([]);
  expect(result.account).toMatchObject({
    kind: 'events',
    summary: { totals: { calls_total: 3, calls_allowed: 2, calls_blocked: 1 } },
  });
  const lines = readFileSync(file('events.jsonl'), 'utf8').trim().split('\n');
  const events = lines.map((line) => JSON.parse(line) as { type: string; status?: string });
  // The second call has no output: it was cancelled before the run was accounted for.
  const ends = new Set(events.flatMap(({ status }) => status ?? []));
  expect(ends).toEqual(new Set(['CANCELLED', 'ERROR', 'OK']));
  expect(events.at(-1)?.type).toBe('run_end');
});

test('hooks from the settings of a client come to the run that has started it in any way', async () => {
  const { result, file } = await runWith(undefined, {
    command: [process.execPath, 'settings.cjs'],
  });
  if (isFailure(result)) throw new Error(result.message);
  const said = JSON.parse(readFileSync(file('out.json'), 'utf8')) as string[];
  expect(said.map((text) => text.includes('deny'))).toEqual([false, false, true]);
  expect(result).toMatchObject({ warnings: [], isHooked: true });
  expect(result.account).toMatchObject({
    kind: 'events',
    summary: { totals: { calls_total: 3, calls_blocked: 1 } },
  });
});

const HAS_PROC = process.platform === 'linux';

test.runIf(HAS_PROC)(
  'hooks that a tool of the agent sends are refused, and on record',
  async () => {
    const { result, file } = await runWith(({ http, socket, env }) => {
      const home = env['HOME'] ?? '';
      const words = [
        join(home, 'forging.cjs'),
        http.url,
        http.token,
        socket,
        join(home, 'out.json'),
      ];
      return { command: [process.execPath, ...words], env };
    });
    if (isFailure(result)) throw new Error(result.message);
    const said = JSON.parse(readFileSync(file('out.json'), 'utf8')) as string[];
    const refused: unknown = expect.stringContaining(
      '"refused":"the client itself has not started it"',
    );
    expect(said).toEqual(['{}', '{}', '403', refused, refused, '{}']);
    expect(result.warnings).toEqual([expect.stringContaining('not the agent')]);
    expect(readFileSync(file('events.jsonl'), 'utf8')).toContain('not the agent');
  },
);

test('a run without hooks does not miss them', async () => {
  const { result } = await runWith(undefined, { command: [process.execPath, '-e', ''] });
  expect(result).toMatchObject({ warnings: [], isHooked: false, account: { kind: 'events' } });
});

test('a run says that no hook was called', async () => {
  const nothing = [process.execPath, '-e', ''];
  const { result, file } = await runWith(({ env }) => ({ command: nothing, env }));
  if (isFailure(result)) throw new Error(result.message);
  expect(result.warnings).toEqual([expect.stringContaining('no hook of claude-code was called')]);
  expect(readFileSync(file('events.jsonl'), 'utf8')).toContain('no hook of claude-code was called');
});

test('an agent whose hooks cannot be put in does not start', async () => {
  const { result, file } = await runWith(() => failure('SUB_CLIENT_HOOKS', 'no hooks', 'none'));
  expect(result).toMatchObject({ kind: 'failure', code: 'SUB_CLIENT_HOOKS' });
  expect(() => readFileSync(file('out.json'))).toThrow('ENOENT');
});
