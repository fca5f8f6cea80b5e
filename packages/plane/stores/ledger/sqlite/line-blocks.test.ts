// Lines that stand packed with their neighbours: exact, found, proven, and gone when they are pruned.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { inflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Shim } from '../testing/events.ts';
import { LedgerHome } from '../testing/temp-ledger.ts';
import type { Ledger } from '../write/ledger.ts';
import { packLines } from './line-blocks.ts';

const TEXT = 'A “text” with\nlines, \\ signs and ünïcode \u0007 of call ';

/** Many whole calls of two runs in turns: some 400 KB. */
function manyLines() {
  const [one, two] = [new Shim('a', { run: 'run-a' }), new Shim('b', { run: 'run-b' })];
  const lines = Array.from({ length: 150 }, (_, n) =>
    [one, two].flatMap((shim) => shim.callWith(`c${n}`, { text: `${shim.producer} ${TEXT}${n}` })),
  );
  return lines.flat();
}

interface BlockRow {
  readonly first_seq: number;
  readonly last_seq: number;
  readonly bytes: Uint8Array;
}

async function blocksOf(home: LedgerHome): Promise<readonly BlockRow[]> {
  let rows: readonly BlockRow[] = [];
  await home.tamper((db) => {
    const sql = 'SELECT first_seq, last_seq, bytes FROM line_blocks ORDER BY first_seq';
    rows = db.prepare(sql).all() as unknown as readonly BlockRow[];
  });
  return rows;
}

/** No more than so many blocks wait to be packed. */
async function settled(ledger: Ledger, blocks = 0): Promise<void> {
  while ((await ledger.store.linesToPack()).groups.length > blocks) await nextTurn();
}

describe('packed lines', () => {
  it('are the exact lines, for every reader', async () => {
    const home = new LedgerHome();
    const lines = manyLines();
    const ledger = await home.open();
    await ledger.ingest(lines);
    const { store } = ledger;
    const events = await store.events({ afterSeq: 0, limit: 10_000 });
    expect(events.map(({ line }) => line)).toEqual(lines.map(({ line }) => line));
    const ofRun = await store.events({ afterSeq: 0, limit: 10_000, runId: 'run-b' });
    expect(ofRun.map(({ line }) => line)).toEqual(
      lines.filter(({ producer }) => producer === 'b').map(({ line }) => line),
    );
    const args_preview = JSON.stringify({ text: `a ${TEXT}7` });
    expect(await store.call('run-a', 'c7')).toMatchObject({ args_preview });
    const found = await store.calls({ text: 'SIGNS AND ünïcode' }, { limit: 1_000 });
    expect(found.rows).toHaveLength(300);
    expect((await store.calls({ text: 'of call 149' }, {})).rows).toHaveLength(2);
    expect((await store.calls({ text: 'signs and ÜnÏcode' }, {})).rows).toHaveLength(0);
    // Each of them is known, and another line under its number is not taken for it.
    expect(await ledger.ingest(lines)).toMatchObject({ accepted: 0, duplicates: lines.length });
    const other = lines.slice(0, 1).map((line) => ({ ...line, line: `${line.line} ` }));
    expect(await ledger.ingest(other)).toMatchObject({ conflicts: 1 });
    await ledger.close();
    const blocks = await blocksOf(home);
    expect(blocks.length).toBeGreaterThan(3);
    expect(await home.verify({ deep: true })).toMatchObject({ ok: true, events: 901 });
  });

  it('are made of lines that came one by one, too, while others come in', async () => {
    const home = new LedgerHome();
    const ledger = await home.open();
    const shim = new Shim('a');
    const preview = { truncated: false, args_preview: 'long '.repeat(2_000) };
    const lines = Array.from({ length: 150 }, (_, n) => shim.start(`c${n}`, { preview }));
    for (const line of lines) await ledger.ingest([line]);
    await settled(ledger, 16);
    const events = await ledger.store.events({ afterSeq: 0, limit: 1_000 });
    expect(events.map(({ line }) => line)).toEqual(lines.map(({ line }) => line));
    await ledger.close();
    expect((await blocksOf(home)).length).toBeGreaterThan(5);
    expect(await home.verify({ deep: true })).toMatchObject({ ok: true, events: 150 });
  });

  it.each(['all', 'previews'] as const)('leave nothing of what is pruned: %s', async (what) => {
    const home = new LedgerHome();
    const ledger = await home.open();
    await ledger.ingest(manyLines());
    await ledger.ingest(new Shim('late', { run: 'run-b' }, Date.parse('2027-01-01')).call('late'));
    const before = await blocksOf(home);
    expect(await ledger.prune({ keepRuns: 1, what })).toMatchObject({ runs: 1 });
    await settled(ledger);
    const kept = await ledger.store.call('run-b', 'c7');
    expect(kept?.args_preview).toBe(JSON.stringify({ text: `b ${TEXT}7` }));
    await ledger.close();
    const after = await blocksOf(home);
    expect(after.length).toBeGreaterThan(0);
    for (const { bytes } of after) {
      expect(inflateRawSync(bytes).includes('a A “text”')).toBe(false);
    }
    // No page has the old blocks, or the text of a block that was taken apart.
    for (const name of readdirSync(home.folder)) {
      const file = readFileSync(join(home.folder, name));
      expect(file.includes('a A “text”'), name).toBe(false);
      for (const { bytes } of before) {
        expect(file.includes(Buffer.from(bytes.subarray(1_000, 1_100))), name).toBe(false);
      }
    }
    expect(await home.verify({ deep: true })).toMatchObject({ ok: true });
  });

  it('that were damaged or changed are found', async () => {
    const home = new LedgerHome();
    await home.record(manyLines());
    const [block] = await blocksOf(home);
    const { first_seq: firstSeq = 0, last_seq: lastSeq = 0 } = block ?? {};
    const reader = await home.open();
    const rows = await reader.store.events({ afterSeq: firstSeq - 1, limit: lastSeq });
    await reader.close();
    const changed = rows.map(({ seq, line }) => ({
      seq,
      bytes: Buffer.from(seq === 12 ? String(line).replace('log', 'gol') : String(line)),
    }));
    const { bytes } = await packLines(changed);
    const put = async (forged: Uint8Array) => {
      await home.tamper((db) => {
        db.prepare('UPDATE line_blocks SET bytes = ? WHERE first_seq = ?').run(forged, firstSeq);
      });
      return (await home.verify()).findings[0];
    };
    expect(await put(bytes)).toMatchObject({ kind: 'changed', fromSeq: 12 });
    expect(await put(Buffer.from('not packed'))).toMatchObject({ kind: 'unreadable' });
    expect(await put(Buffer.alloc(0))).toMatchObject({ kind: 'unreadable' });
    await home.tamper((db) => db.exec('DELETE FROM line_blocks'));
    expect((await home.verify()).findings[0]).toMatchObject({ kind: 'changed', fromSeq: 1 });
  });
});
