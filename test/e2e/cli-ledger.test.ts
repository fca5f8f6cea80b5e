// From a file of events to answers, proofs and trace bundles, by the built `sub` alone.
import { createPublicKey } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { verifies } from '../requirements.ts';
import { askSub } from './ask-sub.ts';
import { ensureBuilt, ROOT, runSub } from './sub.ts';

const SESSION = readFileSync(`${ROOT}examples/events/session.jsonl`, 'utf8');
const LINES = SESSION.trimEnd().split('\n');
const RUN = 'run-2026-01-31';

interface Ingested {
  readonly accepted: number;
  readonly known: number;
  readonly rejected: number;
  readonly cut: number;
  readonly reasons: readonly { readonly line: number; readonly reason: string }[];
}
interface Call {
  readonly call_id: string;
  readonly tool_name: string;
  readonly decision: string | null;
}
interface Calls {
  readonly calls: readonly Call[];
  readonly next: string | null;
}
interface Verified {
  readonly ok: boolean;
  readonly events: number;
  readonly pruned: number;
  readonly signatures: string;
  readonly first: { readonly kind: string; readonly from_seq: number } | null;
}

let root = '';
let folder = '';
let count = 0;
beforeAll(() => {
  ensureBuilt();
  root = mkdtempSync(join(tmpdir(), 'sub-ledger-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));
beforeEach(() => {
  folder = join(root, String(++count));
  mkdirSync(folder);
  writeFileSync(join(folder, 'events.jsonl'), SESSION);
});

function sub(...args: readonly string[]) {
  return askSub(args, { cwd: folder, env: { SUB_HOME: join(folder, 'home') } });
}

/** A ledger that has the session: it is made once, for all that test something else. */
async function ingested(): Promise<void> {
  const [own, kept] = [join(folder, 'home'), join(root, 'kept')];
  if (existsSync(kept)) return cpSync(kept, own, { recursive: true });
  await sub('ingest', 'events.jsonl');
  cpSync(own, kept, { recursive: true });
}

async function json<T>(...args: readonly string[]): Promise<T> {
  return JSON.parse((await sub(...args, '--json')).stdout) as T;
}

/** What somebody with a database shell could do. */
function tamper(sql: string): void {
  const db = new DatabaseSync(join(folder, 'home', 'ledger.db'));
  db.exec(`PRAGMA foreign_keys = OFF; ${sql}`);
  db.close();
}

async function calls(...filters: readonly string[]): Promise<readonly string[]> {
  return (await json<Calls>('query', ...filters)).calls.map(({ call_id }) => call_id);
}

describe('sub ingest', () => {
  test('takes a file once, however often it is given', async () => {
    const first = await sub('ingest', 'events.jsonl');
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toContain(`${LINES.length} events taken`);
    expect(await json('ingest', 'events.jsonl')).toMatchObject({
      accepted: 0,
      known: LINES.length,
    });
  });

  test('takes only what is new of a file that has grown', async () => {
    const half = LINES.length / 2;
    writeFileSync(join(folder, 'events.jsonl'), `${LINES.slice(0, half).join('\n')}\n`);
    await sub('ingest', 'events.jsonl');
    appendFileSync(join(folder, 'events.jsonl'), `${LINES.slice(half).join('\n')}\n`);
    const grown = await json<Ingested>('ingest', 'events.jsonl');
    expect(grown).toMatchObject({ accepted: LINES.length - half, known: half, rejected: 0 });
  });

  test('leaves out what is no event, says why, and takes the rest', async () => {
    const text = [LINES[0], 'no event', '', LINES[1], '{"type":"run_start"}', '{"v":"0.'].join(
      '\n',
    );
    writeFileSync(join(folder, 'mixed.jsonl'), text);
    const mixed = await sub('ingest', 'mixed.jsonl', '--json');
    expect(mixed.code).toBe(1);
    const told = JSON.parse(mixed.stdout) as Ingested;
    expect(told).toMatchObject({ accepted: 2, rejected: 2, cut: 1 });
    expect(told.reasons.map(({ line }) => line)).toEqual([2, 5]);
    expect((await sub('ledger', 'verify', '--deep')).code).toBe(0);
  });

  test('reads standard input', async () => {
    const env = { SUB_HOME: join(folder, 'home') };
    const piped = await askSub(['ingest', '-'], { cwd: folder, env, input: SESSION });
    expect(piped.stdout).toContain(`${LINES.length} events taken`);
    expect(await json('ingest', 'events.jsonl')).toMatchObject({ accepted: 0 });
  });

  test('takes a spool in, and removes what it took', async () => {
    const spool = join(folder, 'spool');
    mkdirSync(spool);
    const numbered = LINES.map((line, index) => `${index + 1} ${line}\n`).join('');
    writeFileSync(join(spool, 'shim-1-1.jsonl'), numbered, { mode: 0o600 });
    expect(await json('ingest', 'spool')).toMatchObject({ accepted: LINES.length, rejected: 0 });
    expect(readdirSync(spool)).toEqual([]);
  });

  test('takes a bundle in by its events, and says what is neither that nor a spool', async () => {
    await ingested();
    await sub('export', 'run', RUN, '-o', 'bundle');
    rmSync(join(folder, 'home'), { recursive: true });
    expect(await json('ingest', 'bundle')).toMatchObject({ accepted: LINES.length, rejected: 0 });
    expect(readdirSync(join(folder, 'bundle'))).toContain('events.jsonl');
    mkdirSync(join(folder, 'other'));
    expect(await json('ingest', 'other')).toMatchObject({ accepted: 0 });
    writeFileSync(join(folder, 'other', 'events.jsonl'), SESSION);
    const told = await sub('ingest', 'other');
    expect(told).toMatchObject({ code: 2, stdout: '' });
    expect(told.stderr).toContain('other is neither a spool nor a bundle. Name the files');
  });

  test('takes several in at once, one after the other', async () => {
    const runs = ['a', 'b', 'c', 'd'];
    for (const run of runs) {
      writeFileSync(join(folder, `${run}.jsonl`), SESSION.replaceAll(RUN, run));
    }
    const options = { cwd: folder, env: { SUB_HOME: join(folder, 'home') } };
    const ingest = (run: string) => runSub(['ingest', `${run}.jsonl`], options);
    const taken = await Promise.all(runs.map(ingest));
    expect(taken.map(({ code, stderr }) => [code, stderr])).toEqual(runs.map(() => [0, '']));
    expect(await json('ledger', 'verify')).toMatchObject({ ok: true, events: 4 * LINES.length });
  });

  test('says that a line has the number of another', async () => {
    const [first = '', second = ''] = LINES;
    mkdirSync(join(folder, 'spool'));
    writeFileSync(join(folder, 'spool', 'shim-1.jsonl'), `1 ${first}\n`, { mode: 0o600 });
    await sub('ingest', 'spool');
    writeFileSync(join(folder, 'spool', 'shim-2.jsonl'), `1 ${second}\n`, { mode: 0o600 });
    const told = await sub('ingest', 'spool');
    expect(told.code).toBe(1);
    expect(told.stdout).toContain('1 line came under a number that another line has');
    expect(told.stderr).toContain('number 1 of shim');
    const verified = await sub('ledger', 'verify');
    expect(verified.code).toBe(0);
    expect(verified.stdout).toMatch(/warning: conflict: 1 line was set aside on \d{4}-/);
  });

  test('makes no ledger for a file that cannot be read', async () => {
    const missing = await sub('ingest', 'evnts.jsonl');
    expect(missing.code).toBe(2);
    expect(missing.stderr).toContain('Did you mean events.jsonl? [SUB_FILE_READ]');
    expect(readdirSync(folder)).toEqual(['events.jsonl']);
  });

  test('keeps the ledger and its key to its owner', async () => {
    await sub('ingest', 'events.jsonl');
    for (const name of ['ledger.db', 'ledger.key', 'ledger.head']) {
      expect(statSync(join(folder, 'home', name)).mode & 0o077, name).toBe(0);
    }
  });

  test('says who is in the way when another process writes', async () => {
    await ingested();
    const lock = new DatabaseSync(join(folder, 'home', 'ledger.db.lock'));
    lock.exec('BEGIN EXCLUSIVE');
    try {
      const locked = await sub('ingest', 'events.jsonl');
      expect(locked.code).toBe(2);
      expect(locked.stderr).toMatch(/another process writes to .+ \[SUB_LEDGER_LOCKED\]/);
      expect((await sub('query')).code).toBe(0);
    } finally {
      lock.close();
    }
  });
});

describe('without a ledger', () => {
  test.each([
    ['query'],
    ['ledger', 'verify'],
    ['ledger', 'prune', '--keep-runs', '1'],
    ['ledger', 'accept'],
    ['export', 'run', RUN, '-o', 'out'],
  ])('sub %s %s says how to get one', async (...args) => {
    const told = await sub(...args.filter((word) => word !== undefined));
    expect(told).toMatchObject({ code: 2, stdout: '' });
    expect(told.stderr).toMatch(/there is no ledger at .+sub ingest.+\[SUB_LEDGER_MISSING\]/);
    expect(readdirSync(folder)).toEqual(['events.jsonl']);
  });
});

describe('sub query', () => {
  beforeEach(ingested);

  test('shows the newest call first, in columns', async () => {
    const { stdout, code } = await sub('query', '--limit', '3');
    expect(code).toBe(0);
    const [head = '', first = '', second = '', third = ''] = stdout.split('\n');
    expect([first, second, third].map((line) => line.slice(0, 20))).toEqual([
      '2026-01-31T12:01:20Z',
      '2026-01-31T12:01:15Z',
      '2026-01-31T12:01:13Z',
    ]);
    for (const line of [first, second, third]) {
      expect(line.indexOf('github')).toBe(head.indexOf('SERVER'));
    }
  });

  test.each([
    [
      ['--decision', 'REFUSED'],
      ['call-16', 'call-6'],
    ],
    [['--rule', 'repeats', '--tool', 'get_file'], ['call-6']],
    [['--status', 'PENDING'], ['call-17']],
    [
      ['--since', '2026-01-31T12:01:10Z', '--until', '2026-01-31T12:01:20Z'],
      ['call-16', 'call-15'],
    ],
    [['--text', 'ACME/site', '--tool', 'list_issues'], ['call-1']],
    [['--server', 'none'], []],
    [['--agent', 'repo-keeper', '--run', RUN, '--limit', '1'], ['call-17']],
    [['--since', '1h'], []],
  ])('filters by %j', async (filters, found) => {
    verifies('T-E.3');
    expect(await calls(...filters)).toEqual(found);
  });

  test('goes on where the last answer ended', async () => {
    const first = await json<Calls>('query', '--limit', '10');
    const second = await json<Calls>('query', '--limit', '10', '--after', first.next ?? '');
    expect(new Set([...first.calls, ...second.calls].map(({ call_id }) => call_id)).size).toBe(17);
    expect(second.next).toBe(null);
  });

  test('prints CSV', async () => {
    const { stdout } = await sub('query', '--csv', '--decision', 'REFUSED');
    const [head = '', ...rows] = stdout.trimEnd().split('\r\n');
    expect(head).toMatch(/^time,run_id,call_id,/);
    expect(rows).toHaveLength(2);
    expect(rows[0]).toContain('"The same call came 5 times within 60000 ms."');
  });

  test('lists runs', async () => {
    expect((await sub('query', '--runs')).stdout).toMatch(
      /run-2026-01-31 +- +repo-keeper +RUNNING +17 +2 +0 +guardrails 1\.0\.0/,
    );
  });

  test('says that nothing fits', async () => {
    expect(await sub('query', '--tool', 'none')).toMatchObject({
      code: 0,
      stdout: 'No calls fit.\n',
    });
  });

  test.each([
    [['--since', 'yesterday'], 'is not a time'],
    [['--since', '2026-02-30'], 'is not a time'],
    [['--limit', '0'], 'is not a number from 1'],
    [['--after', 'x'], 'SUB_LEDGER_QUERY'],
    [['--runs', '--tool', 'x'], '--tool is about calls'],
    [['--status', 'RUNNING'], 'no call ends with RUNNING'],
    [['--json', '--csv'], 'exclude each other'],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await sub('query', ...args);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  test('shows hostile names without obeying them', async () => {
    const hostile = String.raw`=cmd()\u001b[31m\n::error::x`;
    const text = SESSION.replaceAll('"list_issues"', `"${hostile}"`).replaceAll(RUN, 'run-2');
    writeFileSync(join(folder, 'hostile.jsonl'), text);
    await sub('ingest', 'hostile.jsonl');
    const table = (await sub('query', '--run', 'run-2', '--text', 'cmd')).stdout;
    expect(table).toContain(String.raw`=cmd()\u{1b}[31m`);
    expect(table.split('\n')).toHaveLength(3);
    const csv = (await sub('query', '--run', 'run-2', '--text', 'cmd', '--csv')).stdout;
    expect(csv).toContain(`'=cmd()`);
    expect(table + csv).not.toContain('\u001b');
  });
});

describe('sub ledger verify', () => {
  beforeEach(ingested);

  test('finds nothing in what nobody touched', async () => {
    const clean = await json<Verified>('ledger', 'verify', '--deep');
    expect(clean).toMatchObject({
      ok: true,
      events: LINES.length,
      signatures: 'checked',
      first: null,
    });
  });

  test.each([
    [
      'changed',
      `UPDATE lines SET line = replace(line, 'create_issue', 'list_issues') WHERE seq = 20`,
    ],
    ['removed', 'DELETE FROM events WHERE seq = 20'],
  ])('names a row that was %s', async (kind, sql) => {
    tamper(sql);
    const told = await sub('ledger', 'verify');
    expect(told.code).toBe(1);
    expect(told.stdout).toMatch(/event 20\b/);
    const { ok, first } = await json<Verified>('ledger', 'verify');
    expect({ ok, first }).toMatchObject({ ok: false, first: { kind, from_seq: 20 } });
  });

  test('sees that the end was cut off', async () => {
    tamper(`DELETE FROM events WHERE seq = ${LINES.length}`);
    expect((await sub('ledger', 'verify')).code).toBe(1);
  });

  test('compares the rows that are shown, unless it shall be quick', async () => {
    tamper("UPDATE tool_calls SET decision = 'ALLOW' WHERE decision <> 'ALLOW'");
    const told = await sub('ledger', 'verify');
    expect(told.code).toBe(1);
    expect(told.stdout).toMatch(/✘ .*projection: tool_calls: .* has decision "ALLOW"/);
    const quick = await sub('ledger', 'verify', '--quick');
    expect(quick.code).toBe(0);
    expect(quick.stdout).toMatch(
      /✔ .*: no event was changed, removed or added; rows were only counted\./,
    );
    expect((await sub('ledger', 'verify', '--quick', '--deep')).code).toBe(2);
  });

  test('never says that nothing was removed over what was pruned', async () => {
    await sub('ledger', 'prune', '--keep-runs', '0', '--yes');
    const told = await sub('ledger', 'verify');
    expect(told.code).toBe(0);
    expect(told.stdout).toMatch(
      /nothing was changed or added, and nothing removed but what was pruned\.\n {2}pruned: \d{4}-.*Z, 50 events of 1 run, on request \(all, all but the newest 0 runs\)/,
    );
    expect(await json('ledger', 'verify')).toMatchObject({
      prunes: { total: 1, last: [{ runs: 1, events: 50, by: 'request' }] },
    });
  });

  test('compares with a copy of the head that was kept elsewhere', async () => {
    const head = join(folder, 'home', 'ledger.head');
    writeFileSync(join(folder, 'kept.head'), readFileSync(head));
    expect((await sub('ledger', 'verify', '--head', 'kept.head')).code).toBe(0);
    // Another history, and another key to sign it with.
    rmSync(join(folder, 'home'), { recursive: true });
    await sub('ingest', 'events.jsonl');
    expect((await sub('ledger', 'verify')).code).toBe(0);
    const told = await sub('ledger', 'verify', '--head', 'kept.head');
    expect(told.code).toBe(1);
    expect(told.stdout).toContain('kept outside the ledger');
    expect((await sub('ledger', 'verify', '--head', 'events.jsonl')).code).toBe(2);
  });

  test('trusts a public key that was given, and then no other', async () => {
    const own = readFileSync(join(folder, 'home', 'ledger.key'), 'utf8');
    const publicPem = (pem: string) =>
      createPublicKey(pem).export({ type: 'spki', format: 'pem' }).toString();
    writeFileSync(join(folder, 'ledger.pub'), publicPem(own));
    // Who checks it need not have the private part.
    rmSync(join(folder, 'home', 'ledger.key'));
    const checked = await json<Verified>('ledger', 'verify', '--key', 'ledger.pub');
    expect(checked).toMatchObject({ ok: true, signatures: 'checked', first: null });
    // Another history, which its own key makes look right.
    rmSync(join(folder, 'home'), { recursive: true });
    await sub('ingest', 'events.jsonl');
    expect((await sub('ledger', 'verify')).code).toBe(0);
    const other = await sub('ledger', 'verify', '--key', 'ledger.pub');
    expect(other.code).toBe(1);
    expect(other.stdout).toContain('✘');
    const wrong = await sub('ledger', 'verify', '--key', join('home', 'ledger.key'));
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('openssl pkey -in ledger.key -pubout');
    expect((await sub('ledger', 'verify', '--key', 'events.jsonl')).code).toBe(2);
  });

  test('is not content without the key, and nothing is signed anew then', async () => {
    rmSync(join(folder, 'home', 'ledger.key'));
    const told = await sub('ledger', 'verify');
    expect(told.code).toBe(1);
    expect(told.stdout).toContain('✘');
    expect(told.stdout).toContain('key: the key is missing');
    const { code, stderr } = await sub('ingest', 'events.jsonl');
    expect(code).toBe(2);
    expect(stderr).toContain('ledger.key is missing');
  });
});

describe('a ledger without its heads', () => {
  beforeEach(async () => {
    await ingested();
    tamper("DELETE FROM heads; DELETE FROM meta WHERE key = 'signed_head'");
    rmSync(join(folder, 'home', 'ledger.head'));
  });

  test('is not taken for one that nobody touched, nor signed by the next who writes', async () => {
    const told = await sub('ledger', 'verify');
    expect(told.code).toBe(1);
    expect(told.stdout).toMatch(/✘ .*: unsigned: events 1 to 50 are not signed by anybody/);
    const refused = await sub('ingest', 'events.jsonl');
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/no signed head at all.*sub ledger accept.*TAMPERED\]/);
    expect((await sub('ledger', 'verify')).code).toBe(1);
  });

  test('is gone on with only on purpose, which stays on record', async () => {
    const asked = await sub('ledger', 'accept');
    expect(asked.code).toBe(2);
    expect(asked.stderr).toMatch(/no signed head at all.*--yes/);
    expect((await sub('ledger', 'verify')).code).toBe(1);
    expect(await json('ledger', 'accept', '--yes')).toMatchObject({ accepted: true });
    expect(await json('ledger', 'accept', '--yes')).toEqual({ accepted: false });
    expect((await sub('ingest', 'events.jsonl')).code).toBe(0);
    const told = await sub('ledger', 'verify');
    expect(told.code).toBe(0);
    expect(told.stdout).toMatch(/warning: rollback: event 51 tells .* no signed head at all/);
    expect(told.stdout).toMatch(/warning: recovered: event 52 tells that events 1 to 50/);
  });
});

describe('sub ledger prune', () => {
  beforeEach(ingested);

  test('removes nothing without --yes', async () => {
    const asked = await sub('ledger', 'prune', '--older-than', '1d');
    expect(asked.code).toBe(2);
    expect(asked.stderr).toContain('1 run would be removed for good. Add --yes, or --dry-run.');
    const dry = await sub('ledger', 'prune', '--older-than', '1d', '--dry-run');
    expect(dry).toMatchObject({ code: 0, stdout: 'Would remove 1 run.\n' });
    expect(await calls()).toHaveLength(17);
  });

  test('leaves a ledger that still verifies', async () => {
    const gone = await sub('ledger', 'prune', '--keep-runs', '0', '--yes');
    expect(gone).toMatchObject({ code: 0, stdout: 'Removed 1 run (50 events).\n' });
    expect(await calls()).toEqual([]);
    const report = await json<Verified>('ledger', 'verify', '--deep');
    expect(report).toMatchObject({ ok: true, pruned: LINES.length });
  });

  test('can take the previews alone', async () => {
    await sub('ledger', 'prune', '--older-than', '1d', '--previews-only', '--yes');
    expect(await calls()).toHaveLength(17);
    expect(await calls('--text', 'acme/site')).toEqual([]);
    expect((await sub('ledger', 'verify', '--deep')).code).toBe(0);
  });
});

describe('sub export run', () => {
  beforeEach(ingested);
  const read = (name: string) => readFileSync(join(folder, 'out', 'trace', name), 'utf8');

  test('writes files that can be read, and taken in again', async () => {
    const { code } = await sub('export', 'run', RUN, '-o', 'out/trace');
    expect(code).toBe(0);
    expect(read('events.jsonl')).toBe(SESSION);
    expect(JSON.parse(read('summary.json'))).toMatchObject({
      run_id: RUN,
      totals: { calls_total: 17, calls_blocked: 2 },
    });
    expect(JSON.parse(read('policy.json'))).toMatchObject({ policy_id: 'guardrails' });
    expect(read('summary.md')).toContain(RUN);
    expect(readdirSync(join(folder, 'out', 'trace'))).toHaveLength(4);
    expect(await json('ingest', 'out/trace/events.jsonl')).toMatchObject({ accepted: 0 });
  });

  test('overwrites only with --force', async () => {
    mkdirSync(join(folder, 'out', 'trace'), { recursive: true });
    writeFileSync(join(folder, 'out', 'trace', 'summary.md'), 'mine');
    expect((await sub('export', 'run', RUN, '-o', 'out/trace')).stderr).toContain('--force');
    expect(read('summary.md')).toBe('mine');
    expect((await sub('export', 'run', RUN, '-o', 'out/trace', '--force')).code).toBe(0);
    expect(read('summary.md')).toContain(RUN);
  });

  test('says that there is no such run, and leaves no folder', async () => {
    const told = await sub('export', 'run', 'run-x', '-o', 'out');
    expect(told.code).toBe(2);
    expect(told.stderr).toContain('SUB_LEDGER_QUERY');
    expect(readdirSync(folder)).not.toContain('out');
  });
});
