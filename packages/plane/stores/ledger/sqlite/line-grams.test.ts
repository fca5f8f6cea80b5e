import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Shim } from '../testing/events.ts';
import { LedgerHome } from '../testing/temp-ledger.ts';
import { connect } from './connection.ts';
import { gramsOf, placesOf, type SeqRange } from './line-grams.ts';
import { integerCell } from './rows.ts';

const EVENTS_MAX = 15_000;
const FILLER = 'The quick brown fox jumps over the lazy dog. '.repeat(40);

/** More calls than one search looks at one by one would be too many for a test: these fill some blocks. */
function calls(count: number, argsOf: (n: number) => string = () => FILLER) {
  const shim = new Shim('a');
  return Array.from({ length: count }, (_, n) => {
    const preview = { truncated: false, args_preview: argsOf(n) };
    return shim.start(`c${n}`, { preview });
  });
}

async function placesIn(home: LedgerHome, text: string) {
  const connection = await connect(home.file, { readOnly: true });
  try {
    return await placesOf(connection, text, EVENTS_MAX);
  } finally {
    connection.close();
  }
}

function countOf(places: readonly SeqRange[] | undefined): number | undefined {
  return places?.reduce((sum, { firstSeq, lastSeq }) => sum + lastSeq - firstSeq + 1, 0);
}

describe('the grams of lines', () => {
  it('never hide a text that a search finds', async () => {
    const home = new LedgerHome();
    const ledger = await home.open();
    const texts: string[] = [];
    const text = fc.string({ unit: 'grapheme', minLength: 3, maxLength: 12 });
    fc.assert(
      fc.property(text, (one) => void texts.push(one)),
      { numRuns: 200 },
    );
    await ledger.ingest(calls(200, (n) => `${FILLER}${texts[n] ?? ''}`));
    for (const [n, one] of texts.entries()) {
      const { rows } = await ledger.store.calls({ text: one }, { limit: 200 });
      expect(
        rows.map(({ call_id }) => call_id),
        one,
      ).toContain(`c${n}`);
    }
    await ledger.close();
  });

  it.each([
    ['another case', 'ABCXYZ', 'a line with abcxyz'],
    ['a letter by its number', 'größe', String.raw`a line of gr\u00f6\u00DFe`],
    ['a slash behind a backslash', 'src/xyz/file', String.raw`a path src\/xyz\/file`],
    ['half a letter by its number', 'ab\uFFFDcd', String.raw`ab\ud800cd`],
    ['an escaped NUL', 'ab\uFFFDcd', String.raw`ab\u0000cd`],
  ])('find a text in a line that has it in %s', async (_, text, written) => {
    const home = new LedgerHome();
    const ledger = await home.open();
    const lines = calls(120, (n) => (n === 60 ? `${FILLER}HERE` : FILLER));
    const spelled = lines.map((line) => ({ ...line, line: line.line.replace('HERE', written) }));
    await ledger.ingest(spelled);
    const { rows, next } = await ledger.store.calls({ text }, {});
    expect(rows.map(({ call_id }) => call_id)).toEqual(['c60']);
    expect(next).toBeNull();
    await ledger.close();
  });

  it('leave out all blocks that cannot hold a text, and none of which nothing is known', async () => {
    const home = new LedgerHome();
    const ledger = await home.open();
    await ledger.ingest(calls(300));
    await ledger.close();
    // Those that fill no block.
    expect(countOf(await placesIn(home, 'qzxjvw'))).toBeLessThan(60);
    expect(countOf(await placesIn(home, 'lazy dog'))).toBe(300);
    expect(await placesIn(home, 'zx')).toBeUndefined();
    await home.tamper((db) => db.exec('DELETE FROM line_grams'));
    expect(await placesIn(home, 'qzxjvw')).toEqual([{ firstSeq: 1, lastSeq: 300 }]);
  });

  it('are made anew for all lines that stood beside a pruned one', async () => {
    const home = new LedgerHome();
    const ledger = await home.open();
    const covered = async (): Promise<number> => {
      const connection = await connect(home.file, { readOnly: true });
      const sql = 'SELECT coalesce(sum(last_seq - first_seq + 1), 0) AS seq FROM line_grams';
      const row = connection.one(sql);
      connection.close();
      return integerCell(row, 'seq');
    };
    const old = new Shim('old', { run: 'old' }).start('pruned', {});
    await ledger.ingest([...calls(150), old, ...calls(600)]);
    const before = await covered();
    expect(before).toBeGreaterThan(600);
    expect(await ledger.prune({ keepRuns: 1 })).toMatchObject({ runs: 1 });
    await ledger.ingest(new Shim('more').call('c'));
    await expect.poll(covered).toBeGreaterThan(before - 40);
    await ledger.close();
    expect(await home.verify({ deep: true })).toMatchObject({ ok: true });
  });

  it('find calls by what stands in columns only', async () => {
    const home = new LedgerHome();
    const ledger = await home.open();
    await ledger.ingest([...new Shim('b').call('early'), ...calls(100)]);
    await ledger.ingest(new Shim('c').call('late'));
    const { rows, next } = await ledger.store.calls({ text: 'no rule DECIDED' }, {});
    expect(rows.map(({ call_id }) => call_id).toSorted()).toEqual(['early', 'late']);
    expect(next).toBeNull();
    await ledger.close();
  });

  it.each([
    ['bits = zeroblob(1024)'],
    [`last_seq = ${Number.MAX_SAFE_INTEGER}`],
    ['bits = zeroblob(0), last_seq = first_seq - 1'],
  ])('that were changed are found: %s', async (change) => {
    const home = new LedgerHome();
    await home.record(calls(100));
    expect(await home.verify({ deep: true })).toMatchObject({ ok: true });
    await home.tamper((db) => db.exec(`UPDATE line_grams SET ${change}`));
    const [finding] = (await home.verify({ deep: true })).findings;
    expect(finding).toMatchObject({ kind: 'index' });
    const statement = /DELETE .*$/.exec(finding?.message ?? '')?.[0] ?? '';
    await home.tamper((db) => db.exec(statement));
    expect(await home.verify({ deep: true })).toMatchObject({ ok: true });
  });

  it('of many lines have more bits than those of few', () => {
    const lines = (count: number) =>
      Array.from({ length: count }, (_, seq) => ({ seq, bytes: Buffer.alloc(1_000, 'a') }));
    expect(gramsOf([lines(10)]).bits).toHaveLength(1_024);
    expect(gramsOf([lines(64), lines(64)]).bits).toHaveLength(2_048);
    expect(gramsOf([lines(525)]).bits).toHaveLength(16_384);
  });
});
