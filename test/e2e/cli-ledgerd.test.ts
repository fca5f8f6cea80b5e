// The daemon as its users meet it: started by hand or by need, asked, ended, killed.
import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { runLedgerd } from '@subluminal/plane/daemon';
import { ledgerSink } from '@subluminal/plane/sink';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
} from 'vitest';
import { verifies } from '../requirements.ts';
import { CallEvents, wireText } from './call-events.ts';
import { type Ended, ended, ensureBuilt, runSub, startSub } from './sub.ts';

interface Status {
  readonly running: boolean;
  readonly pid: number;
  readonly events_committed: number;
  readonly stays: boolean;
  readonly http?: { readonly url: string };
}

let root = '';
let folder = '';
let home = '';
let count = 0;
beforeAll(() => {
  ensureBuilt();
  root = mkdtempSync(join(tmpdir(), 'sub-ld-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));
beforeEach(() => {
  folder = join(root, String(++count));
  home = join(folder, 'home');
  mkdirSync(join(home, 'spool'), { recursive: true, mode: 0o700 });
});
afterEach(async () => {
  await sub('ledgerd', '--stop');
});

function environment(more: { readonly [name: string]: string } = {}) {
  return { SUB_HOME: home, HOME: folder, ...more };
}

function sub(...args: readonly string[]): Promise<Ended> {
  return runSub(args, { cwd: folder, env: environment() });
}

async function json<T>(...args: readonly string[]): Promise<T> {
  return JSON.parse((await sub(...args, '--json')).stdout) as T;
}

function status(): Promise<Status> {
  return json<Status>('ledgerd', '--status');
}

function spool(events: CallEvents, calls: number): void {
  const file = join(home, 'spool', `${events.producer}-1.jsonl`);
  writeFileSync(file, wireText(events.calls(calls)));
}

/** A daemon in the foreground that listens. */
async function serving(): Promise<{ readonly child: ChildProcess; readonly end: Promise<Ended> }> {
  const child = startSub(['ledgerd', '--foreground'], { cwd: folder, env: environment() });
  const end = ended(child);
  await until(() => existsSync(join(home, 'run', 'ledger.sock')));
  return { child, end };
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const endMs = performance.now() + 20_000; !(await isSo()); await pause(20)) {
    if (performance.now() > endMs) throw new Error('it did not come to be');
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** One that has ended may be on record until its parent asks. */
function isAlive(pid: number): boolean {
  if (!isRunning(pid) || !existsSync('/proc/self/stat')) return isRunning(pid);
  const text = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : ') Z';
  return !text.includes(') Z');
}

/** Sends whole calls as a shim does, and waits until they are committed. */
function send(events: CallEvents, calls: number): Promise<void> {
  const lines = events.calls(calls);
  return new Promise((resolve, reject) => {
    const socket = connect(join(home, 'run', 'ledger.sock'));
    socket.on('error', reject);
    socket.write(`{"hello":"subluminal.ingest.v1","producer":"${events.producer}"}\n`);
    socket.write(wireText(lines));
    let text = '';
    socket.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      if (text.includes(`{"ack":${lines.length}}`)) resolve(void socket.end());
    });
  });
}

describe('sub ledgerd', () => {
  test('starts in the background, says so, and ends when told to', async () => {
    verifies('T-C');
    const started = await sub('ledgerd');
    expect(started).toMatchObject({ code: 0, stderr: '' });
    expect(started.stdout).toMatch(/^The daemon runs now \(pid \d+\), HTTP API on http:\/\/127/);
    const again = await sub('ledgerd');
    expect(again).toMatchObject({ code: 0 });
    expect(again.stdout).toMatch(
      /^The daemon runs \(pid \d+, version .*\nIt serves the page .*\nIt stays until `/,
    );
    const before = await status();
    expect(before).toMatchObject({ running: true, events_committed: 0 });
    await send(new CallEvents('a'), 10);
    expect(await status()).toMatchObject({ pid: before.pid, events_committed: 30 });
    const stopped = await sub('ledgerd', '--stop');
    expect(stopped).toMatchObject({
      code: 0,
      stdout: `The daemon (pid ${before.pid}) has ended.\n`,
    });
    expect(isAlive(before.pid)).toBe(false);
    expect(readdirSync(join(home, 'run'))).toEqual(['ledgerd.log']);
    expect(await sub('ledgerd', '--status')).toMatchObject({
      code: 1,
      stdout: 'No daemon runs.\n',
    });
    expect(await sub('ledgerd', '--stop')).toMatchObject({ code: 0 });
    expect(await json('ledger', 'verify', '--deep')).toMatchObject({ ok: true, events: 30 });
  });

  test('keeps its files and its socket to its owner, and its surroundings few', async () => {
    const env = environment({
      SUB_SHIM_ID: 'x',
      SUB_RUN_ID: 'run-x',
      API_KEY: 'k',
      NODE_ENV: 'test',
    });
    await runSub(['ledgerd'], { cwd: folder, env });
    const { pid, http } = await status();
    const run = join(home, 'run');
    expect(statSync(run).mode & 0o777).toBe(0o700);
    for (const name of ['ledger.sock', 'ledgerd.log', 'ledger.json']) {
      expect(statSync(join(run, name)).mode & 0o777, name).toBe(0o600);
    }
    const address = JSON.parse(readFileSync(join(run, 'ledger.json'), 'utf8')) as {
      readonly pid: number;
      readonly url: string;
      readonly token: string;
    };
    expect(address).toMatchObject({ pid, url: http?.url });
    const ask = (token: string) =>
      fetch(`${address.url}/api/v1/stats`, { headers: { authorization: `Bearer ${token}` } });
    expect((await ask(address.token)).status).toBe(200);
    expect((await ask('x'.repeat(43))).status).toBe(401);
    if (!existsSync('/proc/self/environ')) return;
    const names = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    const kept = names.map((one) => one.split('=')[0] ?? '').filter((name) => name !== '');
    const others = new Set(['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR']);
    const stray = kept.filter((name) => !/^SUB_(HOME|LEDGER|RETENTION)/.test(name));
    expect(stray.filter((name) => !others.has(name))).toEqual([]);
    expect(readlinkSync(`/proc/${pid}/cwd`)).toBe('/');
    // State, parent, group, session: it leads its own, so that no terminal takes it along.
    const [, , group, session] =
      readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    expect([group, session]).toEqual([String(pid), String(pid)]);
  });

  test('serves alone: of several that start at once one stays', async () => {
    const starts = [0, 1, 2, 3].map(() => {
      const child = startSub(['ledgerd', '--foreground'], { cwd: folder, env: environment() });
      return { child, end: ended(child) };
    });
    const first = await Promise.race(starts.map(({ end }) => end));
    expect(first.code).toBe(0);
    expect(first.stderr).toContain('one runs already');
    await until(() => starts.filter(({ child }) => child.exitCode === null).length === 1);
    const { pid } = await status();
    const last = starts.find(({ child }) => child.exitCode === null);
    expect(last?.child.pid).toBe(pid);
    await sub('ledgerd', '--stop');
    expect(await last?.end).toMatchObject({ code: 0 });
    const auto = await Promise.all([sub('ledgerd'), sub('ledgerd'), sub('ledgerd')]);
    expect(auto.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(new Set(auto.map(({ stdout }) => /pid (\d+)/.exec(stdout)?.[1])).size).toBe(1);
  });

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('ends orderly by %s', async (signal) => {
    const { child, end } = await serving();
    await send(new CallEvents('a'), 50);
    child.kill(signal);
    const { code, stderr } = await end;
    expect(code).toBe(0);
    expect(stderr).toContain('ledgerd: ended');
    expect(existsSync(join(home, 'run', 'ledger.sock'))).toBe(false);
    expect(existsSync(join(home, 'run', 'ledger.json'))).toBe(false);
    expect(await json('ledger', 'verify')).toMatchObject({
      ok: true,
      events: 150,
      signed_seq: 150,
    });
  });

  test('verifies the ledger for a page in a process of its own, once at a time', async () => {
    const { child, end } = await serving();
    await send(new CallEvents('a'), 50);
    const { url, token } = JSON.parse(readFileSync(join(home, 'run', 'ledger.json'), 'utf8')) as {
      readonly url: string;
      readonly token: string;
    };
    const ask = async (path: string, body?: object) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
      const answer = await fetch(`${url}/api/v1/${path}`, { headers, ...sent });
      return { status: answer.status, body: await answer.json() };
    };
    const [first, second] = await Promise.all([ask('ledger/verify', {}), ask('ledger/verify', {})]);
    expect(new Set([first.status, second.status])).toEqual(new Set([200, 503]));
    const verify = async () =>
      ((await ask('ledger')).body as { readonly verify: { readonly state: string } }).verify;
    await until(async () => (await verify()).state !== 'running');
    expect(await verify()).toMatchObject({
      state: 'done',
      checked: 150,
      total: 150,
      error: null,
      report: { ok: true, events: 150, rows: 'compared', signatures: 'checked' },
    });
    child.kill('SIGTERM');
    expect(await end).toMatchObject({ code: 0 });
  });

  test('loses nothing that it answered for when it is killed, and starts again', async () => {
    const { child, end } = await serving();
    await send(new CallEvents('a'), 200);
    child.kill('SIGKILL');
    expect(await end).toMatchObject({ signal: 'SIGKILL' });
    expect(existsSync(join(home, 'run', 'ledger.sock'))).toBe(true);
    expect(await sub('ledgerd')).toMatchObject({ code: 0 });
    await send(new CallEvents('b'), 10);
    const { calls } = await json<{ calls: unknown[] }>('query', '--limit', '1000');
    expect(calls).toHaveLength(210);
    expect(await json('ledger', 'verify', '--deep')).toMatchObject({ ok: true });
  });

  test('is refused with flags that exclude each other', async () => {
    const both = await sub('ledgerd', '--stop', '--status');
    expect(both.code).toBe(2);
    expect(both.stderr).toContain('SUB_USAGE');
  });

  test('can be asked and ended though the configuration is broken', async () => {
    await sub('ledgerd');
    const { pid } = await status();
    writeFileSync(join(home, 'config.toml'), 'profile = "x"\nnonsense = 1\n', { mode: 0o600 });
    const asked = await sub('ledgerd', '--status');
    expect(asked.code).toBe(0);
    expect(asked.stdout).toContain(`pid ${pid}`);
    expect(asked.stderr).toContain('So the daemon is looked for on');
    const stopped = await sub('ledgerd', '--stop');
    expect(stopped).toMatchObject({ code: 0, stdout: `The daemon (pid ${pid}) has ended.\n` });
    // Everything else says each problem in a line of its own.
    const { code, stderr } = await sub('query');
    expect(code).toBe(2);
    expect(stderr.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^sub: .*config\.toml:\d+:\d+: .* \[SUB_CONFIG_\w+\]$/),
      expect.stringMatching(/^sub: .*config\.toml:\d+:\d+: .* \[SUB_CONFIG_\w+\]$/),
    ]);
  });

  test('says that the port of the HTTP API is taken', async () => {
    const other = createServer();
    onTestFinished(() => void other.close());
    await new Promise<void>((resolve) => void other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { readonly port: number };
    const env = environment({ SUB_LEDGER_HTTP: `127.0.0.1:${port}` });
    const started = await runSub(['ledgerd'], { cwd: folder, env });
    expect(started.code).toBe(0);
    expect(started.stdout).toMatch(/^The daemon runs now .*\nThe HTTP API is not served: .*in use/);
    expect((await sub('ledgerd', '--status')).stdout).toContain('The HTTP API is not served: ');
    expect(await status()).toMatchObject({
      http_error: expect.stringContaining(`${port}`) as string,
    });
  });

  test('counts lines that came under the number of another', async () => {
    await sub('ledgerd');
    await send(new CallEvents('a'), 1);
    // The same numbers, another time.
    await send(new CallEvents('a'), 1);
    expect(await status()).toMatchObject({ events_committed: 3, conflicts: 3 });
    expect((await sub('ledgerd', '--status')).stdout).toContain('3 lines were set aside');
    expect((await sub('doctor')).stdout).toContain('3 lines set aside');
  });

  test('does not take over a ledger that lost what was signed', async () => {
    await sub('ledgerd');
    await send(new CallEvents('a'), 10);
    await sub('ledgerd', '--stop');
    rmSync(join(home, 'ledger.head'));
    const failed = await sub('ledgerd');
    expect(failed.code).toBe(2);
    expect(failed.stderr).toMatch(/`ledger\.head` is missing/);
    expect(await sub('ledger', 'verify')).toMatchObject({ code: 1 });
    expect(await sub('ledger', 'accept', '--yes')).toMatchObject({ code: 0 });
    expect(await sub('ledgerd')).toMatchObject({ code: 0 });
    expect(await json('ledger', 'verify')).toMatchObject({ ok: true });
  });

  test('signs what it has written before it is proven', async () => {
    await sub('ledgerd');
    for (const name of ['a', 'b', 'c']) await send(new CallEvents(name), 5);
    expect(await json('ledger', 'verify')).toMatchObject({
      ok: true,
      signed_seq: 45,
      findings: [],
    });
  });

  test('says why it cannot start', async () => {
    mkdirSync(join(home, 'ledger.key'));
    const failed = await sub('ledgerd');
    expect(failed).toMatchObject({ code: 2, stdout: '' });
    expect(failed.stderr).toMatch(/ledger\.key is a directory.*\[SUB_LEDGER_IO\]/);
  });
});

describe('by need', () => {
  test('a first question finds what shims left on disk; the daemon then ends by itself', async () => {
    verifies('T-C', 'SL-11.4');
    spool(new CallEvents('a'), 20);
    const env = environment({ SUB_LEDGER_IDLE_EXIT_MS: '500' });
    const asked = await runSub(['query', '--json', '--limit', '100'], { cwd: folder, env });
    expect(asked).toMatchObject({ code: 0, stderr: '' });
    expect((JSON.parse(asked.stdout) as { calls: unknown[] }).calls).toHaveLength(20);
    expect(readdirSync(join(home, 'spool'))).toEqual([]);
    const address = join(home, 'run', 'ledger.json');
    await until(() => existsSync(address));
    const { pid } = JSON.parse(readFileSync(address, 'utf8')) as {
      readonly pid: number;
    };
    await until(() => !isRunning(pid));
    expect(readdirSync(join(home, 'run'))).toEqual(['ledgerd.log']);
    expect(await json('ledger', 'verify')).toMatchObject({ ok: true, events: 60, signed_seq: 60 });
  });

  test('a question finds what shims that still run have written while nobody listened', async () => {
    const socketPath = join(home, 'run', 'ledger.sock');
    const sink = ledgerSink({ socketPath, spoolDir: join(home, 'spool'), producer: 'live' });
    onTestFinished(() => sink.close(1_000));
    for (const { line } of new CallEvents('live').call('c')) sink.write({ kind: 'durable', line });
    await sink.flush(1_000);
    expect(readdirSync(join(home, 'spool'))).toEqual([expect.stringMatching(/\.part$/)]);
    const asked = await sub('query', '--json');
    expect(asked).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(asked.stdout)).toMatchObject({ calls: [{ run_id: 'run-live' }] });
  });

  test('without anything new, no daemon is started to answer', async () => {
    await record(new CallEvents('a'));
    expect(await sub('query')).toMatchObject({ code: 0, stderr: '' });
    expect(await sub('ledgerd', '--status')).toMatchObject({ code: 1 });
  });

  test('what is there can be read although no daemon can be started', async () => {
    await record(new CallEvents('a'));
    spool(new CallEvents('b'), 1);
    const notASocket = join(home, 'file');
    writeFileSync(notASocket, '');
    const env = environment({ SUB_LEDGER_SOCKET: notASocket });
    const asked = await runSub(['query'], { cwd: folder, env });
    expect(asked.code).toBe(0);
    expect(asked.stdout).toContain('run-a');
    expect(asked.stderr).toContain('could not be started');
  });

  /** Taken in by a command alone. */
  async function record(events: CallEvents): Promise<void> {
    const file = join(folder, 'events.jsonl');
    writeFileSync(
      file,
      `${events
        .call('c')
        .map(({ line }) => line)
        .join('\n')}\n`,
    );
    expect(await sub('ingest', file)).toMatchObject({ code: 0 });
  }
});

describe('one that was started by need', () => {
  /** A question about what waits on disk starts it. */
  async function startByNeed(): Promise<number> {
    spool(new CallEvents('a'), 1);
    expect(await sub('query')).toMatchObject({ code: 0, stderr: '' });
    const { pid, stays } = await status();
    expect(stays).toBe(false);
    return pid;
  }

  test('stays when the user asks for one, and says so', async () => {
    const pid = await startByNeed();
    expect((await sub('ledgerd', '--status')).stdout).toContain('It ends when nobody');
    const asked = await sub('ledgerd');
    expect(asked.stdout).toMatch(
      /\(pid \d+.*\nIt serves the page .*\nIt was started by need, and was told to stay\.\n/,
    );
    expect(await status()).toMatchObject({ pid, stays: true });
    expect((await sub('ledgerd')).stdout).not.toContain('by need');
  });

  test('makes room for one in the foreground, which a supervisor keeps', async () => {
    await startByNeed();
    const child = startSub(['ledgerd', '--foreground'], { cwd: folder, env: environment() });
    const end = ended(child);
    await until(async () => (await status()).pid === child.pid);
    expect(await status()).toMatchObject({ stays: true });
    // One that was chosen is left alone.
    const second = await sub('ledgerd', '--foreground');
    expect(second).toMatchObject({
      code: 0,
      stderr: 'sub ledgerd: one runs already for this home.\n',
    });
    child.kill('SIGTERM');
    expect(await end).toMatchObject({ code: 0 });
  });
});

describe('one of another version', () => {
  /** In this process, with a version of its own. */
  async function serveAs(version: string, auto: boolean): Promise<void> {
    const ending = new AbortController();
    const where = { env: environment(), cwd: '/', signal: ending.signal };
    const end = runLedgerd({ ...where, auto, version, log: () => undefined });
    closers.push(async () => {
      ending.abort();
      await end;
    });
    await until(async () => (await status()).running);
  }
  const closers: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
  });

  test('is told of, and replaced when it is older and nobody chose it', async () => {
    await serveAs('0.0.1', true);
    const told = (await sub('ledgerd', '--status')).stdout;
    expect(told).toContain('version 0.0.1)');
    expect(told).toMatch(/^This is version \d/m);
    const replaced = await sub('ledgerd');
    expect(replaced.stdout).toMatch(
      /^The daemon runs now .*\nIt serves the page .*\nIt replaces one of version 0\.0\.1\.\n$/,
    );
    const { pid, stays } = await status();
    expect(stays).toBe(true);
    expect(pid).not.toBe(process.pid);
  });

  test.each([
    ['0.0.1', false],
    ['999.0.0', true],
  ])('%s is left alone when it was chosen or is newer', async (version, auto) => {
    await serveAs(version, auto);
    const asked = await sub('ledgerd');
    expect(asked.stdout).toContain(`version ${version})`);
    expect(asked.stdout).toMatch(/^This is version \d/m);
    expect(await status()).toMatchObject({ pid: process.pid, stays: true });
  });
});

describe('a ledger that somebody else writes to', () => {
  test('is waited for', async () => {
    const file = join(folder, 'events.jsonl');
    writeFileSync(file, `${new CallEvents('b').call('c')[0]?.line ?? ''}\n`);
    const first = startSub(['ingest', '-'], { cwd: folder, env: environment() });
    const firstEnd = ended(first);
    await until(() => existsSync(join(home, 'ledger.db-wal')));
    const second = sub('ingest', file);
    // By need, between the two: it waits as well.
    const third = sub('ledgerd');
    first.stdin?.end(`${new CallEvents('a').call('c')[0]?.line ?? ''}\n`);
    expect(await firstEnd).toMatchObject({ code: 0 });
    expect(await second).toMatchObject({ code: 0, stderr: '' });
    expect(await third).toMatchObject({ code: 0 });
    expect(await json('ledger', 'verify')).toMatchObject({ ok: true, events: 2 });
  });
});

describe('while it runs', () => {
  test('everything else works as without it', async () => {
    verifies('T-C.2');
    await sub('ledgerd');
    const [old, now] = [new CallEvents('old'), new CallEvents('new')];
    const document = { format: 'subluminal.snapshot.v1', policy_id: 'p', rules: [] };
    const text = '{"format":"subluminal.snapshot.v1","policy_id":"p","rules":[]}';
    const policy_hash = createHash('sha256').update(text).digest('hex');
    const policy = { policy_id: 'p', policy_version: '1', policy_hash };
    const started_at = new Date().toISOString();
    const lines = [
      ...old.call('c'),
      now.line('run_start', { run: { started_at, mode: 'guardrails', policy } }),
      now.line('policy_loaded', { policy, mode: 'guardrails', document }),
      ...now.call('d'),
    ];
    const file = join(folder, 'events.jsonl');
    writeFileSync(file, `${lines.map(({ line }) => line).join('\n')}\nno event\n`);
    expect(await json('ingest', file)).toMatchObject({ accepted: 8, known: 0, rejected: 1 });
    expect(await json('ingest', file)).toMatchObject({ accepted: 0, known: 8 });
    spool(new CallEvents('late'), 2);
    expect(await json('ingest', join(home, 'spool'))).toMatchObject({ rejected: 0 });
    const { calls } = await json<{ calls: { run_id: string }[] }>('query', '--tool', 'log');
    expect(calls.map(({ run_id }) => run_id).toSorted()).toEqual([
      'run-late',
      'run-late',
      'run-new',
      'run-old',
    ]);
    const out = join(folder, 'trace');
    expect(await sub('export', 'run', 'run-new', '-o', out)).toMatchObject({ code: 0 });
    expect(JSON.parse(readFileSync(join(out, 'policy.json'), 'utf8'))).toEqual({
      ...policy,
      snapshot: document,
    });
    const prune = ['ledger', 'prune', '--keep-runs', '2'];
    expect(await sub(...prune, '--dry-run')).toMatchObject({ stdout: 'Would remove 1 run.\n' });
    expect(await sub(...prune)).toMatchObject({ code: 2 });
    expect(await sub(...prune, '--yes')).toMatchObject({
      code: 0,
      stdout: 'Removed 1 run (3 events).\n',
    });
    expect(await json('ledger', 'verify', '--deep')).toMatchObject({ ok: true, pruned: 3 });
    expect(await status()).toMatchObject({ running: true });
  });
});
