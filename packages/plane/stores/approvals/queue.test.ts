import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { approves } from './desk.ts';

import { type Ended, openQueue, type Queue } from './queue.ts';
import { Bench, CALL, ME, question, START_MS } from './testing/bench.ts';

let bench: Bench;
let queue: Queue;
beforeEach(() => {
  bench = new Bench();
  queue = bench.desk.queue;
});
afterEach(() => bench.end());

/** The next end of these. */
function ended(from: Queue, ...ids: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const watching = from.watch(ids, (end) => {
      watching.stop();
      resolve(end);
    });
  });
}

function listed(state?: 'pending' | 'approved' | 'expired') {
  const list = queue.list(state === undefined ? {} : { state });
  if (isFailure(list)) throw new Error(list.message);
  return list;
}

describe('a request', () => {
  test('is a private file that any process finds again', () => {
    const id = bench.ask();
    expect(statSync(bench.folder).mode & 0o777).toBe(0o700);
    expect(statSync(bench.file(id)).mode & 0o777).toBe(0o600);
    expect(readdirSync(bench.folder)).toEqual([`${id}.json`]);
    expect(bench.open().queue.get(id)).toMatchObject({
      kind: 'request',
      state: 'pending',
      outcome: null,
      request: { id, call: CALL, wait: 'hold', expires_at: '2026-01-31T12:01:00.000Z' },
    });
  });

  test('makes nothing on disk until it is asked', () => {
    expect(listed()).toEqual({ found: [], damaged: [], cut: false });
    expect(queue.get('x/../../y')).toEqual({ kind: 'missing' });
    expect(() => readdirSync(bench.home)).toThrow('ENOENT');
  });

  test('ends once: whoever is later learns who was first', () => {
    const id = bench.ask();
    expect(queue.end(id, { state: 'rejected', ...ME, note: 'no' })).toMatchObject({
      kind: 'ended',
      outcome: { state: 'rejected', by: 'ann', note: 'no', at: '2026-01-31T12:00:00.000Z' },
    });
    const before = readFileSync(bench.file(id, 'end'), 'utf8');
    expect(queue.end(id, { state: 'approved', by: 'bob', channel: 'x' })).toMatchObject({
      kind: 'already',
      outcome: { state: 'rejected', by: 'ann' },
    });
    expect(readFileSync(bench.file(id, 'end'), 'utf8')).toBe(before);
    expect(listed('pending').found).toEqual([]);
  });

  test('cannot be approved when its time is up, and ends as expired', () => {
    const id = bench.ask({ timeoutMs: 1_000 });
    bench.nowMs += 1_000;
    expect(queue.end(id, { state: 'approved', ...ME })).toMatchObject({
      kind: 'already',
      outcome: { state: 'expired', channel: 'clock' },
    });
    expect(queue.get(id)).toMatchObject({ state: 'expired' });
  });

  test('is withdrawn by who asked', () => {
    verifies('EC-STDIO-031');
    const id = bench.ask();
    expect(queue.end(id, { state: 'cancelled', by: 'client', channel: 'shim' }).kind).toBe('ended');
    expect(bench.desk.decide(id, { state: 'approved', ...ME })).toMatchObject({
      kind: 'already',
      outcome: { state: 'cancelled' },
    });
  });

  test('lets exactly its call pass, and no other', () => {
    const id = bench.ask();
    bench.desk.decide(id, { state: 'approved', ...ME });
    const entry = queue.get(id);
    if (entry.kind === 'missing') throw new Error('it is gone');
    expect(approves(entry, CALL)).toBe(true);
    const others = [
      { args_hash: 'c'.repeat(64) },
      { policy_hash: 'c'.repeat(64) },
      { server: 'other' },
      { tool: 'other' },
      { rule_id: 'other' },
      { run_id: 'other' },
      { call_id: 'other' },
    ];
    for (const other of others) expect(approves(entry, { ...CALL, ...other })).toBe(false);
  });

  test('lets nothing pass while it waits, or when it was rejected, expired or cancelled', () => {
    const open = queue.get(bench.ask());
    expect(open.kind !== 'missing' && approves(open, CALL)).toBe(false);
    for (const state of ['rejected', 'expired', 'cancelled'] as const) {
      const id = bench.ask();
      queue.end(id, { state, ...ME });
      const entry = queue.get(id);
      expect(entry.kind !== 'missing' && approves(entry, CALL)).toBe(false);
    }
  });

  test('is decided as it was seen: another request under its id is not', () => {
    const id = bench.ask();
    const seen = queue.get(id);
    const changed = readFileSync(bench.file(id), 'utf8').replace('src/main.ts', '/etc/passwd');
    const [line = ''] = changed.split('\n');
    const sealed = bench.seal('approvals').seal(`${id}.json`, line);
    if (typeof sealed !== 'string') throw new Error(sealed.message);
    writeFileSync(bench.file(id), sealed);
    const sha256 = seen.kind === 'request' ? seen.sha256 : '';
    expect(queue.end(id, { state: 'approved', ...ME, sha256 })).toEqual({ kind: 'changed' });
    expect(queue.get(id)).toMatchObject({ state: 'pending' });
  });
});

describe('a call that may be tried again', () => {
  test('is asked about once while it waits', () => {
    const id = bench.ask({ wait: 'hint' });
    const again = bench.open().queue.ask(question({ wait: 'hint' }, { call_id: 'call-2' }));
    expect(again).toMatchObject({ kind: 'waiting', id });
    const other = queue.ask(question({ wait: 'hint' }, { args_hash: 'c'.repeat(64) }));
    expect(other.kind).toBe('asked');
    queue.end(id, { state: 'rejected', ...ME });
    expect(queue.ask(question({ wait: 'hint' })).kind).toBe('asked');
  });
});

describe('the queue', () => {
  test('is bounded, and has room again when time has passed', () => {
    const { ports } = bench.desk;
    const small = openQueue({
      folder: bench.folder,
      ports,
      seal: bench.seal('approvals'),
      limits: { pendingMax: 2 },
    });
    if (isFailure(small)) throw new Error(small.message);
    expect([1, 2, 3].map(() => small.ask(question()).kind)).toEqual(['asked', 'asked', 'refused']);
    bench.nowMs += 60_000;
    expect(small.ask(question()).kind).toBe('asked');
    expect(listed('expired').found).toHaveLength(2);
  });

  test('one of many principals leaves half of it to others', () => {
    const { ports } = bench.desk;
    const small = openQueue({
      folder: bench.folder,
      ports,
      seal: bench.seal('approvals'),
      limits: { pendingMax: 4 },
    });
    if (isFailure(small)) throw new Error(small.message);
    const ask = (principal: string) => {
      const asked = question();
      const agent = { ...asked.agent, principal };
      return small.ask({ ...asked, agent, isOneOfMany: true }).kind;
    };
    const callers = ['ada', 'ada', 'ada', 'bob', 'ada', 'bob', 'bob'];
    expect(callers.map(ask)).toEqual([
      'asked',
      'asked',
      'refused',
      'asked',
      'refused',
      'asked',
      'refused',
    ]);
  });

  test('refuses what is too large or malformed, and keeps nothing of it', () => {
    const large = question({}, { args: { text: 'x'.repeat(300_000) } });
    expect(queue.ask(large)).toEqual({ kind: 'refused', why: 'too_large' });
    const wrong = question({}, { args_hash: 'no hash' });
    expect(queue.ask(wrong)).toEqual({ kind: 'refused', why: 'malformed' });
    expect(listed()).toMatchObject({ found: [], damaged: [] });
    const id = bench.ask();
    const long = queue.end(id, { state: 'approved', ...ME, note: 'x'.repeat(20_000) });
    expect(long).toEqual({ kind: 'too_large' });
    expect(queue.get(id)).toMatchObject({ state: 'pending' });
  });

  test('expires what is due, once', () => {
    const [short, long] = [bench.ask({ timeoutMs: 1_000 }), bench.ask({ timeoutMs: 9_000 })];
    expect(queue.expireDue(START_MS + 999)).toBe(0);
    expect(queue.expireDue(START_MS + 1_000)).toBe(1);
    expect(queue.expireDue(START_MS + 1_000)).toBe(0);
    expect(queue.get(short)).toMatchObject({ state: 'expired', outcome: { by: 'time' } });
    expect(queue.get(long)).toMatchObject({ state: 'pending' });
  });

  test('sweeps what ended long ago with its marks, and remains of crashes; never what waits', () => {
    const [old, open] = [bench.ask(), bench.ask({ timeoutMs: 7_200_000 })];
    queue.end(old, { state: 'approved', ...ME });
    queue.mark(old, 'slack-sent', {});
    const draft = join(bench.folder, '.left.draft');
    const orphan = bench.file('01890000-0000-7000-8000-000000000000', 'end');
    for (const path of [draft, orphan]) {
      writeFileSync(path, '{}', { mode: 0o600 });
      utimesSync(path, 0, 0);
    }
    bench.nowMs += 3_600_000;
    expect(queue.sweep(START_MS)).toBe(0);
    expect(queue.sweep(START_MS + 1)).toBe(1);
    expect(readdirSync(bench.folder)).toEqual([`${open}.json`]);
  });

  test('is not read from a folder that others may write to', () => {
    bench.ask();
    chmodSync(bench.folder, 0o777);
    expect(queue.list()).toMatchObject({ kind: 'failure', code: 'SUB_HOME_UNSAFE' });
    expect(queue.ask(question())).toMatchObject({ kind: 'failure', code: 'SUB_HOME_UNSAFE' });
    const { ports } = bench.desk;
    const seal = bench.seal('approvals');
    expect(openQueue({ folder: bench.folder, ports, seal })).toMatchObject({
      code: 'SUB_HOME_UNSAFE',
    });
  });

  test('says when the disk does not take a request', () => {
    mkdirSync(bench.home, { mode: 0o700 });
    writeFileSync(bench.folder, '');
    expect(queue.ask(question())).toMatchObject({ kind: 'failure' });
  });
});

describe('damage', () => {
  const damages: readonly [string, (path: string) => void][] = [
    ['is empty', (path) => writeFileSync(path, '')],
    ['is no JSON', (path) => writeFileSync(path, '{"v":1')],
    ['is another thing', (path) => writeFileSync(path, '{"state":"approved"}')],
    ['has another field', (path) => change(path, (one) => ({ ...one, extra: 1 }))],
    ['is of a newer form', (path) => change(path, (one) => ({ ...one, v: 2 }))],
    ['is not UTF-8', (path) => writeFileSync(path, Buffer.from([0xff, 0xfe]))],
    ['is too large', (path) => writeFileSync(path, ' '.repeat(300_000))],
    ['may be written by others', (path) => chmodSync(path, 0o666)],
    [
      'is a link',
      (path) => {
        copyFileSync(path, `${path}-real`);
        rmSync(path);
        symlinkSync(`${path}-real`, path);
      },
    ],
    [
      'is a folder',
      (path) => {
        rmSync(path);
        mkdirSync(path);
      },
    ],
  ];

  function change(path: string, how: (one: object) => object): void {
    const [line = '', seal] = readFileSync(path, 'utf8').split('\n');
    writeFileSync(path, `${JSON.stringify(how(JSON.parse(line) as object))}\n${seal}\n`);
  }

  test.each(damages)('of an end that %s approves nothing and is told', async (_name, damage) => {
    const id = bench.ask();
    queue.end(id, { state: 'approved', ...ME });
    damage(bench.file(id, 'end'));
    const end = await ended(queue, id);
    expect(end).toMatchObject({ kind: 'damaged', id, file: bench.file(id, 'end') });
    expect(approves(end, CALL)).toBe(false);
    expect(listed()).toMatchObject({ found: [], damaged: [{ id }] });
    expect(listed('pending')).toMatchObject({ found: [], damaged: [{ id }] });
    expect(queue.end(id, { state: 'approved', ...ME })).toMatchObject({ kind: 'damaged' });
  });

  test.each(damages)('of a request that %s cannot be approved', async (_name, damage) => {
    const id = bench.ask();
    damage(bench.file(id));
    expect(bench.desk.decide(id, { state: 'approved', ...ME })).toMatchObject({ kind: 'damaged' });
    expect(approves(await ended(queue, id), CALL)).toBe(false);
  });

  test('by copying the end of another request approves nothing', () => {
    const [one, other] = [bench.ask(), bench.ask({}, { tool: 'delete_all' })];
    queue.end(one, { state: 'approved', ...ME });
    const text = readFileSync(bench.file(one, 'end'), 'utf8').replaceAll(one, other);
    writeFileSync(bench.file(other, 'end'), text, { mode: 0o600 });
    const why = 'its signature does not hold: somebody else wrote it';
    expect(queue.get(other)).toMatchObject({ kind: 'damaged', why });
  });

  test('by changing a request after it was approved takes the approval away', () => {
    const id = bench.ask();
    queue.end(id, { state: 'approved', ...ME });
    const text = readFileSync(bench.file(id), 'utf8').replace('write_file', 'delete_all');
    writeFileSync(bench.file(id), text);
    expect(queue.get(id)).toMatchObject({ kind: 'damaged' });
  });

  test('of any kind never approves and never throws', () => {
    const id = bench.ask();
    queue.end(id, { state: 'approved', ...ME });
    const whole = readFileSync(bench.file(id, 'end'));
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.nat(255), (at, byte) => {
        const bytes = Buffer.from(whole);
        bytes[at] = byte;
        writeFileSync(bench.file(id, 'end'), bytes);
        const entry = queue.get(id);
        if (entry.kind !== 'request') return;
        // Only texts that say who and when may differ; what was approved may not.
        expect(entry.request.call).toEqual(CALL);
        expect(entry.outcome?.request_sha256).toBe(entry.sha256);
      }),
      { numRuns: 300 },
    );
  });
});

describe('who waits', () => {
  test('hears of an end that another makes, and of one that was there before', async () => {
    const [one, two] = [bench.ask(), bench.ask()];
    const waiting = ended(queue, one);
    bench.open().queue.end(one, { state: 'approved', ...ME });
    expect(await waiting).toMatchObject({ state: 'approved' });
    queue.end(two, { state: 'rejected', ...ME });
    expect(await ended(bench.open().queue, two)).toMatchObject({ state: 'rejected' });
  });

  test('hears that time is up, and that the request is gone', async () => {
    const [one, two] = [bench.ask({ timeoutMs: 1_000 }), bench.ask({ timeoutMs: 9_000 })];
    const both = [ended(queue, one), ended(bench.open().queue, one)];
    bench.nowMs += 1_000;
    for (const end of await Promise.all(both)) {
      expect(end).toMatchObject({ state: 'expired', outcome: { by: 'time' } });
    }
    rmSync(bench.file(two));
    expect(await ended(queue, two)).toEqual({ kind: 'missing', id: two });
  });

  test('is called once for each id, and not at all after it has stopped', async () => {
    const ids = [bench.ask(), bench.ask(), bench.ask()];
    const seen: Ended[] = [];
    const stopped = queue.watch(ids, () => seen.push({ kind: 'missing', id: 'stopped' }));
    stopped.stop();
    await new Promise<void>((resolve) => {
      queue.watch(ids, (end) => {
        seen.push(end);
        if (seen.length === ids.length) resolve();
      });
      for (const id of ids) queue.end(id, { state: 'approved', ...ME });
    });
    const idOf = (end: Ended) => (end.kind === 'request' ? end.request.id : end.id);
    expect(seen.map(idOf).toSorted()).toEqual(ids.toSorted());
  });

  test('follows what comes and what ends', async () => {
    const first = bench.ask();
    const seen: string[] = [];
    let look = () => {};
    const until = (wanted: number) =>
      new Promise<void>((resolve) => {
        look = () => {
          if (seen.length >= wanted) resolve();
        };
        look();
      });
    const following = queue.follow({
      onRequest: ({ request }) => {
        seen.push(`+${request.id}`);
        look();
      },
      onEnd: (end) => {
        seen.push(`-${end.kind === 'request' ? end.request.id : end.id}`);
        look();
      },
    });
    await until(1);
    const second = bench.ask();
    await until(2);
    bench.open().queue.end(first, { state: 'approved', ...ME });
    await until(3);
    following.stop();
    expect(seen).toEqual([`+${first}`, `+${second}`, `-${first}`]);
  });
});
