// Calls by time, as tests.
import { describe, expect, it } from 'vitest';
import { argFilter, pathAnywhereFilter } from '../args/parse-filters.ts';
import type { CallFilter } from '../store/query.ts';
import type { Ledger } from '../write/ledger.ts';
import { Shim, T0_MS } from './events.ts';
import { ids, type OpenStore, open } from './suite-tools.ts';

const HOUR_MS = 3_600_000;

export function timeSuite(openStore: OpenStore): void {
  /** An hour apart: three calls of `a`, of which one is refused; one of `b`, approved; two of `b`, one waits. */
  async function filled(): Promise<Ledger> {
    const ledger = await open(openStore);
    const shim = (n: number) =>
      new Shim(`s${n}`, { run: `run-${n}`, tool: n === 0 ? 'a' : 'b' }, T0_MS + n * HOUR_MS);
    const [first, second, third] = [shim(0), shim(1), shim(2)];
    await ledger.ingest([
      ...first.call('a1'),
      ...first.callWith('a2', { path: '/repo/.env' }),
      first.start('a3'),
      first.decision('a3', { action: 'BLOCK', rule_id: 'r' }),
      second.start('b1'),
      second.approval('b1', { rule_id: 'ask', state: 'approved', by: 'ada' }),
      second.approval('b1', { rule_id: 'ask-too', state: 'approved', by: 'ada' }),
      second.decision('b1'),
      second.end('b1'),
      third.start('b2'),
      third.approval('b2', { rule_id: 'ask', state: 'asked', id: 'x' }),
      third.start('b3'),
      third.approval('b3', { rule_id: 'ask', state: 'auto_approved' }),
      third.decision('b3'),
      third.end('b3'),
    ]);
    return ledger;
  }

  describe('a histogram', () => {
    it.each<[CallFilter, [number[], number[], number[]]]>([
      [
        {},
        [
          [3, 1, 2],
          [1, 0, 0],
          [0, 1, 1],
        ],
      ],
      [
        { toolName: 'b' },
        [
          [0, 1, 2],
          [0, 0, 0],
          [0, 1, 1],
        ],
      ],
      [
        { toolName: { glob: '?' }, runId: 'run-0' },
        [
          [3, 0, 0],
          [1, 0, 0],
          [0, 0, 0],
        ],
      ],
      [
        { decision: 'REFUSED' },
        [
          [1, 0, 0],
          [1, 0, 0],
          [0, 0, 0],
        ],
      ],
      [
        { decision: 'ALLOW' },
        [
          [2, 1, 1],
          [0, 0, 0],
          [0, 1, 0],
        ],
      ],
      [
        { decision: 'ASKED' },
        [
          [0, 1, 1],
          [0, 0, 0],
          [0, 1, 1],
        ],
      ],
      [
        { status: 'OK', approvedBy: 'ada' },
        [
          [0, 1, 0],
          [0, 0, 0],
          [0, 1, 0],
        ],
      ],
      [
        { text: '"a' },
        [
          [2, 0, 0],
          [1, 0, 0],
          [0, 0, 0],
        ],
      ],
      [
        { text: '"b', decision: 'ASKED' },
        [
          [0, 1, 1],
          [0, 0, 0],
          [0, 1, 1],
        ],
      ],
      [
        { path: pathAnywhereFilter('.env') },
        [
          [1, 0, 0],
          [0, 0, 0],
          [0, 0, 0],
        ],
      ],
      [
        { args: [argFilter('of=b*')] },
        [
          [0, 1, 2],
          [0, 0, 0],
          [0, 1, 1],
        ],
      ],
      [
        { model: 'm' },
        [
          [0, 0, 0],
          [0, 0, 0],
          [0, 0, 0],
        ],
      ],
    ])('of %j counts what fits by time', async (filter, [calls, refused, asked]) => {
      const ledger = await filled();
      const toMs = T0_MS + 3 * HOUR_MS;
      const request = { fromMs: T0_MS, toMs, buckets: 3 };
      expect(await ledger.store.histogram(filter, request)).toEqual({
        from_ms: T0_MS,
        to_ms: toMs,
        bucket_ms: HOUR_MS,
        calls,
        refused,
        asked,
        complete_from_ms: T0_MS,
      });
      await ledger.close();
    });

    it('begins with the oldest call, and has no more parts than milliseconds', async () => {
      const ledger = await filled();
      const toMs = T0_MS + 5;
      const histogram = await ledger.store.histogram({}, { toMs, buckets: 100 });
      expect(histogram).toMatchObject({ from_ms: T0_MS, bucket_ms: 1, calls: [1, 0, 0, 1, 0] });
      const asked = ledger.store.histogram({}, { fromMs: toMs, toMs, buckets: 1 });
      await expect(asked).rejects.toMatchObject({ code: 'SUB_LEDGER_QUERY' });
      await ledger.close();
    });

    it('of an empty ledger is empty', async () => {
      const ledger = await open(openStore);
      const histogram = await ledger.store.histogram({}, { toMs: T0_MS, buckets: 10 });
      expect(histogram).toMatchObject({ calls: [0], refused: [0], asked: [0] });
      await ledger.close();
    });
  });

  it('finds calls that needed a person or wait for one, newest first', async () => {
    const ledger = await filled();
    const asked = { decision: 'ASKED' } as const;
    expect(ids(await ledger.store.calls(asked, {}))).toEqual(['b2', 'b1']);
    expect(ids(await ledger.store.calls({ ...asked, runId: 'run-1' }, {}))).toEqual(['b1']);
    const page = await ledger.store.calls(asked, { limit: 1 });
    const rest = await ledger.store.calls(asked, { cursor: page.next ?? '' });
    expect([ids(page), ids(rest)]).toEqual([['b2'], ['b1']]);
    await ledger.close();
  });

  it('draws the activity of the runs that it knows, as they are asked for', async () => {
    const ledger = await filled();
    const rows = await ledger.store.activity(['run-2', 'nobody', 'run-0', 'run-2'], 4);
    expect(rows).toEqual([
      {
        run_id: 'run-2',
        from_ms: T0_MS + 2 * HOUR_MS,
        bucket_ms: 2,
        calls: [1, 1, 0, 0],
        refused: [0, 0, 0, 0],
      },
      { run_id: 'run-0', from_ms: T0_MS, bucket_ms: 2, calls: [1, 1, 0, 1], refused: [0, 0, 0, 1] },
    ]);
    await ledger.close();
  });

  it('tells how large it is', async () => {
    const ledger = await filled();
    expect(await ledger.store.size()).toMatchObject({
      runs: 3,
      calls: 6,
      pruned: 0,
      rejected: 0,
      oldest_ms: T0_MS,
      newest_ms: T0_MS + 2 * HOUR_MS + 5,
    });
    expect((await ledger.store.size()).size_bytes).toBeGreaterThan(4_096);
    await ledger.close();
  });
}
