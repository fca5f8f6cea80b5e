// When lines cannot be packed, for example because there is no memory: nothing of them is lost.
import { syncBuiltinESMExports } from 'node:module';
import zlib from 'node:zlib';
import { afterEach, expect, test, vi } from 'vitest';
import { GENESIS } from '../chain/hash-chain.ts';
import { Shim } from '../testing/events.ts';
import { LedgerHome } from '../testing/temp-ledger.ts';
import { append, ownEvent } from './append.ts';

afterEach(packAgain);

/** From now on; `fail` is called with what makes one packing fail. */
function packNoMore(fail: (failing: () => void) => void): void {
  // Other files of tests have loaded what packs: a mock of the module would come too late.
  vi.spyOn(zlib, 'deflateRaw').mockImplementation((_bytes, ...rest: readonly unknown[]) => {
    const done = rest.at(-1) as (cause: Error) => void;
    fail(() => done(new Error('no memory')));
  });
  syncBuiltinESMExports();
}

function packAgain(): void {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
}

/** Each of some 10 KB. */
function longLines(count: number) {
  const shim = new Shim('a');
  const preview = { truncated: false, args_preview: 'long '.repeat(2_000) };
  return Array.from({ length: count }, (_, n) => shim.start(`c${n}`, { preview }));
}

test('a batch is taken as a whole once it can be packed, and not before', async () => {
  const home = new LedgerHome();
  const ledger = await home.open();
  // More than one block.
  const lines = longLines(20);
  packNoMore(setImmediate);
  await expect(ledger.ingest(lines)).rejects.toThrow('no memory');
  expect(await ledger.store.events({ afterSeq: 0, limit: 100 })).toEqual([]);
  packAgain();
  expect(await ledger.ingest(lines)).toMatchObject({ accepted: lines.length });
  await ledger.close();
  expect(await home.verify({ deep: true })).toMatchObject({ ok: true, events: lines.length });
});

test('a full disk is told as such when packing fails as well', async () => {
  const ledger = await new LedgerHome().open({ bytesMax: 300_000 });
  const shim = new Shim('a');
  await ledger.ingest(shim.call('c'));
  packNoMore(setImmediate);
  const small = Array.from({ length: 2_000 }, (_, n) => shim.call(`c${n}`)).flat();
  await expect(ledger.ingest(small)).rejects.toMatchObject({ code: 'SUB_LEDGER_FULL' });
});

test('lines that are no longer new stay as they came, which is told', async () => {
  const home = new LedgerHome();
  const warnings: string[] = [];
  const ledger = await home.open({ onWarning: (message) => warnings.push(message) });
  // So many that they are packed beside the next ones.
  const lines = longLines(150);
  packNoMore(setImmediate);
  for (const line of lines) await ledger.ingest([line]);
  await ledger.close();
  expect(warnings).toEqual(['Lines could not be packed, and stay as they came: Error: no memory']);
  expect(await home.verify({ deep: true })).toMatchObject({ ok: true, events: lines.length });
});

const NOTE = { type: 'ledger_recovered', recovered: { from_seq: 1, to_seq: 1 } } as const;

// Vitest fails a run in which a rejection has no handler.
test('a block that cannot be packed is no unhandled rejection when its events could not be added', async () => {
  const home = new LedgerHome();
  const ledger = await home.open();
  let failLater = () => {};
  packNoMore((failing) => {
    failLater = failing;
  });
  const bytes = Buffer.from('x'.repeat(70_000));
  const event = { ...ownEvent(NOTE, 0), bytes, producer: 'a', producerSeq: 1 };
  const adding = ledger.store.transaction((transaction) =>
    append(
      { ...transaction, addEvents: () => Promise.reject(new Error('disk full')) },
      { seq: 0, hash: GENESIS },
      [event],
    ),
  );
  await expect(adding).rejects.toThrow('disk full');
  failLater();
  await new Promise(setImmediate);
  expect((await ledger.ingest(new Shim('b').call('c'))).accepted).toBe(3);
});
