// `sub hook` without `sub run`: the first hook of an agent starts a process that decides for all of them.
import { type ChildProcess, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { ensureBuilt, SUB } from './sub.ts';

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
    match: {tool_name: {glob: [Bash]}}
    effect: {budget: {scope: run, limit_calls: 6, on_exceed: BLOCK}}
  - rule_id: ask
    kind: approval
    enabled: true
    severity: warn
    match: {tool_name: {glob: [Ask]}}
    effect: {approval: {wait: hold, timeout_ms: 600000}}
`;

/** Starts a hook for each line that it gets, as a client does, and tells how it ended. */
const AGENT = `
const { spawn } = require('node:child_process');
const { createInterface } = require('node:readline');
const { HOME, SUB_HOME, PATH } = process.env;
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, body } = JSON.parse(line);
  const child = spawn(process.execPath, [${JSON.stringify(SUB)}, 'hook', 'claude-code'], { env: { HOME, SUB_HOME, PATH } });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (text) => { stdout += text; });
  child.stderr.on('data', (text) => { stderr += text; });
  child.on('close', (code) => process.stdout.write(JSON.stringify({ id, code, stdout, stderr }) + '\\n'));
  child.stdin.end(body);
}).on('close', () => process.exit(0));
`;

interface HookEnd {
  readonly id: number;
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface HostEvent {
  readonly type: string;
  readonly run_id: string;
  readonly health?: { readonly reason?: string };
  readonly run?: { readonly summary?: { readonly calls_total: number } };
}

beforeAll(() => ensureBuilt());

/** `before` is a line of `sh` in the process that becomes the agent. */
function startAgent(variables: { readonly [name: string]: string } = {}, before = ':') {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'sub-host-')));
  const sub = join(home, '.subluminal');
  mkdirSync(sub, { mode: 0o700 });
  const events = join(home, 'events.jsonl');
  writeFileSync(join(sub, 'policy.yaml'), POLICY, { mode: 0o600 });
  writeFileSync(join(sub, 'config.toml'), `[events]\nsink = "file:${events}"\n`, { mode: 0o600 });
  writeFileSync(join(home, 'agent.cjs'), AGENT);
  const env = { HOME: home, SUB_HOME: sub, PATH: process.env['PATH'], ...variables };
  const script = [`${before}; exec "$0" "$1"`, process.execPath, join(home, 'agent.cjs')];
  const agent: ChildProcess = spawn('/bin/sh', ['-c', ...script], {
    cwd: home,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const waiting = new Map<number, (end: HookEnd) => void>();
  let rest = '';
  agent.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const end = JSON.parse(line) as HookEnd;
      waiting.get(end.id)?.(end);
    }
  });
  let ids = 0;
  const hook = (name: string, fields: object = {}): Promise<HookEnd> => {
    const id = ++ids;
    const base = { session_id: 's', cwd: home, transcript_path: join(home, 't.jsonl') };
    const body = JSON.stringify({ ...base, hook_event_name: name, ...fields });
    return new Promise((resolve) => {
      waiting.set(id, resolve);
      agent.stdin?.write(`${JSON.stringify({ id, body })}\n`);
    });
  };
  const call = (tool_use_id: string, tool_name = 'Bash') =>
    hook('PreToolUse', { tool_name, tool_use_id, tool_input: { command: `echo ${tool_use_id}` } });
  const read = (type: string): readonly HostEvent[] =>
    (existsSync(events) ? readFileSync(events, 'utf8') : '')
      .split('\n')
      .filter((line) => line.includes(`"type":"${type}"`))
      .map((line) => JSON.parse(line) as HostEvent);
  const hosts = () => hostsOf(agent.pid ?? 0);
  const end = async (): Promise<void> => {
    agent.stdin?.end();
    await vi.waitFor(() => expect(hosts()).toEqual([]), 20_000);
  };
  onTestFinished(async () => {
    await end();
    rmSync(home, { recursive: true, force: true });
  });
  return { call, hook, read, hosts, end, run: join(sub, 'run') };
}

/** The processes that answer the hooks of an agent. */
function hostsOf(agent: number): readonly number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const words = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      const isHost =
        words.includes('hook-host') && words.some((word) => word.startsWith(`${agent}-`));
      return isHost ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

test('many hooks at once start one host, which counts for all of them', async () => {
  const { call, hosts, read, end, run } = startAgent();
  const ends = await Promise.all(Array.from({ length: 8 }, (_, index) => call(`u${index}`)));
  const passed = ends.filter(({ code, stdout }) => code === 0 && stdout === '{}');
  expect(passed).toHaveLength(6);
  for (const { code, stderr } of ends.filter((one) => !passed.includes(one))) {
    expect([code, stderr]).toEqual([2, expect.stringContaining('budget') as unknown]);
  }
  // The others have seen that they are not needed.
  await vi.waitFor(() => expect(hosts()).toHaveLength(1), 20_000);
  await end();
  expect(new Set(read('tool_call_start').map(({ run_id }) => run_id)).size).toBe(1);
  expect(read('run_start')).toHaveLength(1);
  expect(read('run_end')).toMatchObject([{ run: { summary: { calls_total: 8 } } }]);
  expect(readdirSync(run).filter((name) => /sock|hooks/.test(name))).toEqual([]);
});

test('a host that is killed refuses what waits, and the next one says that it was lost', async () => {
  const { call, hosts, read, end } = startAgent();
  expect((await call('u1')).code).toBe(0);
  const [host = 0] = hosts();
  const held = call('u2', 'Ask');
  await vi.waitFor(() => expect(read('approval')).toHaveLength(1), 20_000);
  process.kill(host, 'SIGKILL');
  expect(await held).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('refuses') as unknown,
  });
  expect((await call('u3')).code).toBe(0);
  const [next] = hosts();
  expect(next).not.toBe(host);
  await end();
  expect(new Set(read('tool_call_start').map(({ run_id }) => run_id)).size).toBe(1);
  expect(read('shim_health').map(({ health }) => health?.reason)).toEqual([
    expect.stringContaining('was lost'),
  ]);
  expect(read('run_start')).toHaveLength(1);
  expect(read('run_end')).toHaveLength(1);
});

test('a host without a usable policy lets nothing run', async () => {
  const { call, run } = startAgent();
  writeFileSync(join(run, '..', 'policy.yaml'), 'rules: 7\n', { mode: 0o600 });
  expect(await call('u1')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('policy') as unknown,
  });
});

test('an agent that was started with other settings is governed all the same', async () => {
  const { call } = startAgent({ SUB_PROFILE: 'development', SUB_POLICY: '/dev/null' });
  for (let count = 0; count < 6; count++) expect((await call(`u${count}`)).code).toBe(0);
  expect((await call('u7')).code).toBe(2);
});

test('on a full disk everything is refused with a reason, and no host stays behind', async () => {
  const { call, hosts, end } = startAgent({}, "trap '' XFSZ; ulimit -f 0");
  const { stdout, code } = await call('a');
  expect(code).toBe(2);
  expect(stdout).toContain('cannot be written');
  await vi.waitFor(() => expect(hosts()).toEqual([]), 20_000);
  await end();
});
