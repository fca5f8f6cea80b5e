// What `sub tail` shows while agents work, by the built `sub` with its real daemon.
import type { ChildProcess } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { verifies } from '../requirements.ts';
import { askSub } from './ask-sub.ts';
import { ended, ensureBuilt, ROOT, startSub } from './sub.ts';

/** The example, as if it was recorded yesterday: what is old is not kept for ever. */
const DAY = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
const SESSION = readFileSync(`${ROOT}examples/events/session.jsonl`, 'utf8').replaceAll(
  /2026-01-31(?=T)/g,
  DAY,
);
const RUN = 'run-2026-01-31';
/** An MCP server that answers whatever it is asked. */
const SERVER = `
  const lines = require('node:readline').createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    const { id } = JSON.parse(line);
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: { content: [] } }));
  });`;
const POLICY = `policy_id: e2e
version: "1.0.0"
mode: guardrails
defaults: { decision_on_error: BLOCK }
selectors: {}
rules:
  - { rule_id: no-push, kind: deny, enabled: true, match: { tool_name: { glob: [push] } }, effect: { action: BLOCK, reason_code: NO_PUSH, message: Nobody pushes here. }, severity: warn }
`;

let root = '';
let folder = '';
let count = 0;
const running = new Set<ChildProcess>();
beforeAll(() => {
  ensureBuilt();
  root = mkdtempSync(join(tmpdir(), 'sub-tail-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));
beforeEach(() => {
  folder = join(root, String(++count));
  mkdirSync(folder);
  writeFileSync(join(folder, 'events.jsonl'), SESSION);
});
afterEach(async () => {
  for (const child of running) child.kill('SIGKILL');
  await Promise.all([...running].map((child) => new Promise((done) => child.once('close', done))));
  await sub('ledgerd', '--stop');
});

const env = () => ({ SUB_HOME: join(folder, 'home'), HOME: folder, TZ: 'UTC' });

function sub(...args: readonly string[]) {
  return askSub(args, { cwd: folder, env: env() });
}

/** A running `sub`, and what it has printed. */
function started(...args: readonly string[]) {
  const child = startSub(args, { cwd: folder, env: env() });
  running.add(child);
  child.once('close', () => running.delete(child));
  const end = ended(child);
  let text = '';
  const waiting = new Set<() => void>();
  child.stdout?.on('data', (chunk: string) => {
    text += chunk;
    for (const look of waiting) look();
  });
  const until = (part: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (!text.includes(part)) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      void end.then(() => reject(new Error(`it ended before it printed ${part}: ${text}`)));
      look();
    });
  return { child, end, until, lines: () => text.trimEnd().split('\n') };
}

interface Warning {
  readonly reason?: string;
}

/** Gives the next warning of a shim whose reason is the one that is waited for. */
function warnings({ stderr }: ChildProcess) {
  if (stderr === null) throw new Error('the shim has no output');
  const lines: AsyncIterator<string, undefined> = createInterface(stderr)[Symbol.asyncIterator]();
  return async (isIt: (reason: string) => boolean): Promise<Warning> => {
    for (;;) {
      const { value } = await lines.next();
      if (value === undefined) throw new Error('the shim has ended');
      const warning = JSON.parse(value) as Warning;
      if (isIt(warning.reason ?? '')) return warning;
    }
  };
}

function call(id: number, tool: string): string {
  const params = { name: tool, arguments: {} };
  return `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params })}\n`;
}

describe('sub tail', () => {
  test('starts the ledger where there is none, and shows calls while the session goes on', async () => {
    verifies('T-E', 'T-E.2');
    writeFileSync(join(folder, 'policy.yaml'), POLICY);
    writeFileSync(join(folder, 'server.cjs'), SERVER);
    const tail = started('tail');
    await followers(1);
    const shim = started(
      ...['shim', '--server-name', 'git', '--policy', 'policy.yaml'],
      ...['--', process.execPath, 'server.cjs'],
    );
    shim.child.stdin?.write(call(1, 'log'));
    await tail.until('git/log');
    shim.child.stdin?.write(call(2, 'push'));
    await tail.until('git/push');
    expect(shim.child.exitCode).toBeNull();
    shim.child.stdin?.end();
    await tail.until('□ run');
    tail.child.kill('SIGINT');
    expect(await tail.end).toMatchObject({ code: 0, signal: null, stderr: '' });
    const shown = tail.lines().map((line) => line.replace(/\s+/g, ' '));
    expect(shown).toEqual([
      expect.stringMatching(/^[\d:.]{12} ▶ run \S+ of .*, guardrails by e2e 1\.0\.0$/),
      expect.stringMatching(/^[\d:.]{12} ● ALLOW git\/log \d+ ms …\S+$/),
      expect.stringMatching(/^[\d:.]{12} ■ BLOCK git\/push …\S+ no-push Nobody pushes here\.$/),
      expect.stringMatching(/^[\d:.]{12} □ run \S+ SUCCEEDED: 2 calls, 1 allowed, 1 blocked, /),
    ]);
  });

  test('shows a policy that was reloaded, and whose; one that is broken is told by the shim', async () => {
    writeFileSync(join(folder, 'policy.yaml'), POLICY);
    writeFileSync(join(folder, 'server.cjs'), SERVER);
    const tail = started('tail');
    await followers(1);
    const shim = started(
      ...['shim', '--server-name', 'git', '--policy', 'policy.yaml'],
      ...['--', process.execPath, 'server.cjs'],
    );
    shim.child.stdin?.write(call(1, 'log'));
    await tail.until('git/log');
    writeFileSync(join(folder, 'policy.yaml'), POLICY.replace('1.0.0', '1.1.0'));
    await tail.until('↻ policy reloaded for git: e2e 1.1.0 (');
    const said = warnings(shim.child);
    writeFileSync(join(folder, 'policy.yaml'), 'policy_id: [');
    const message = 'the policy is broken; the last good one stays';
    const broken = await said((reason) => /policy\.yaml:1:13: error: /.test(reason));
    expect(broken).toMatchObject({ server_id: 'git', message });
    rmSync(join(folder, 'policy.yaml'));
    const gone = await said((reason) => reason.endsWith('Check the path. [SUB_FILE_READ]'));
    expect(gone).toMatchObject({ message });
    expect(gone.reason).toContain('policy.yaml does not exist. ');
    shim.child.stdin?.write(call(2, 'push'));
    await tail.until('■ BLOCK      git/push');
    shim.child.stdin?.end();
    await tail.until('□ run');
  });

  test('goes on when the daemon is restarted, without a gap and without a repeat', async () => {
    const lines = SESSION.trimEnd().split('\n');
    const part = (from: number, to: number) => `${lines.slice(from, to).join('\n')}\n`;
    writeFileSync(join(folder, 'events.jsonl'), part(0, 20));
    const tail = started('tail', '--json', '--backlog', '0');
    await followers(1);
    await sub('ingest', 'events.jsonl');
    await tail.until('"call-6"');
    for (const [from, to, last] of [
      [20, 35, '"call-11"'],
      [35, 50, '"call-16"'],
    ] as const) {
      await sub('ledgerd', '--stop');
      appendFileSync(join(folder, 'events.jsonl'), part(from, to));
      await ingested();
      await tail.until(last);
    }
    tail.child.kill('SIGTERM');
    expect(await tail.end).toMatchObject({ code: 0, stderr: '' });
    const ids = callsOf(tail.lines()).map(({ call_id }) => call_id);
    expect(ids).toEqual(Array.from({ length: 17 }, (_, index) => `call-${index + 1}`));
  });

  test('ends without a word when nobody reads on', async () => {
    await sub('ingest', 'events.jsonl');
    const tail = started('tail', '--backlog', '2');
    await tail.until('github/update_issue');
    tail.child.stdout?.destroy();
    appendFileSync(join(folder, 'events.jsonl'), SESSION.replaceAll(RUN, 'run-2'));
    await sub('ingest', 'events.jsonl');
    expect(await tail.end).toMatchObject({ code: 141, stderr: '' });
  });
});

/** A daemon that is just starting holds the ledger and does not answer yet. */
async function ingested(): Promise<void> {
  while ((await sub('ingest', 'events.jsonl')).code !== 0);
}

/** Resolves when the daemon has this many connections beside the one that asks. */
async function followers(wanted: number): Promise<void> {
  for (;;) {
    const { stdout } = await sub('ledgerd', '--status', '--json');
    const { connections = 0 } = JSON.parse(stdout) as { readonly connections?: number };
    if (connections >= wanted) return;
  }
}

interface Call {
  readonly kind: string;
  readonly call_id: string;
  readonly decision: string | null;
}

function callsOf(lines: readonly string[]): readonly Call[] {
  return lines
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Call)
    .filter(({ kind }) => kind === 'call');
}

describe('sub tail --no-follow', () => {
  async function shown(...args: readonly string[]): Promise<readonly string[]> {
    const { code, stdout, stderr } = await sub('tail', '--no-follow', '--json', ...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return callsOf(stdout.split('\n')).map(({ call_id }) => call_id);
  }

  test('prints the last calls that fit, and ends', async () => {
    await sub('ingest', 'events.jsonl');
    expect(await shown()).toHaveLength(10);
    expect(await shown('--backlog', '2')).toEqual(['call-16', 'call-17']);
    expect(await shown('--decision', 'REFUSED')).toEqual(['call-6', 'call-16']);
    expect(await shown('--decision', 'REFUSED', '--backlog', '1')).toEqual(['call-16']);
    expect(await shown('--tool', 'delete_repo')).toEqual(['call-9']);
    expect(await shown('--server', 'nobody')).toEqual([]);
    expect(await shown('--run', 'last', '--backlog', '1')).toEqual(['call-17']);
    expect(await shown('--since', `${DAY}T12:01:13Z`)).toEqual(['call-15', 'call-16', 'call-17']);
  });

  test.each([
    [['--backlog', 'x'], 'SUB_USAGE'],
    [['--since', 'x'], 'SUB_USAGE'],
    [['--since', '1h', '--backlog', '1'], 'SUB_USAGE'],
    [['--decision', 'NEVER'], 'SUB_USAGE'],
    [[], 'SUB_LEDGER_MISSING'],
  ])('with %j says what is wrong', async (args, code) => {
    const result = await sub('tail', '--no-follow', ...args);
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toContain(`[${code}]`);
  });

  test('knows no run but those that the ledger has', async () => {
    await sub('ingest', 'events.jsonl');
    const { code, stderr } = await sub('tail', '--no-follow', '--run', 'nobody');
    expect({ code, stderr }).toMatchObject({ code: 2 });
    expect(stderr).toContain('the ledger has no run `nobody`');
  });

  test('lets nothing of an event act on the terminal', async () => {
    const hostile = SESSION.replaceAll('"list_issues"', String.raw`"\u001b[2J\u202e"`);
    writeFileSync(join(folder, 'events.jsonl'), hostile);
    await sub('ingest', 'events.jsonl');
    for (const json of [[], ['--json']]) {
      const { stdout } = await sub('tail', '--no-follow', '--backlog', '100', ...json);
      expect(stdout).toMatch(/\\u\{?(?:00)?1b/);
      expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    }
  });
});
