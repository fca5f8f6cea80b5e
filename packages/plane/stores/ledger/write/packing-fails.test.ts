// When lines cannot be packed, for example because there is no memory: nothing of them is lost.
import type * as Zlib from 'node:zlib';
import { afterEach, expect, test, vi } from 'vitest';
import { Shim } from '../testing/events.ts';
import { LedgerHome } from '../testing/temp-ledger.ts';

const zlib = vi.hoisted(() => ({ fails: false }));

vi.mock('node:zlib', async (importOriginal) => {
  const original = await importOriginal<typeof Zlib>();
  const deflateRaw = (bytes: Uint8Array, options: object, done: Zlib.CompressCallback): void => {
    if (zlib.fails) setImmediate(done, new Error('no memory'), Buffer.alloc(0));
    else original.deflateRaw(bytes, options, done);
  };
  return { ...original, deflateRaw };
});

afterEach(() => {
  zlib.fails = false;
});

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
  zlib.fails = true;
  await expect(ledger.ingest(lines)).rejects.toThrow('no memory');
  expect(await ledger.store.events({ afterSeq: 0, limit: 100 })).toEqual([]);
  zlib.fails = false;
  expect(await ledger.ingest(lines)).toMatchObject({ accepted: lines.length });
  await ledger.close();
  expect(await home.verify({ deep: true })).toMatchObject({ ok: true, events: lines.length });
});

test('a full disk is told as such when packing fails as well', async () => {
  const ledger = await new LedgerHome().open({ bytesMax: 300_000 });
  const shim = new Shim('a');
  await ledger.ingest(shim.call('c'));
  zlib.fails = true;
  const small = Array.from({ length: 2_000 }, (_, n) => shim.call(`c${n}`)).flat();
  await expect(ledger.ingest(small)).rejects.toMatchObject({ code: 'SUB_LEDGER_FULL' });
});

test('lines that are no longer new stay as they came, which is told', async () => {
  const home = new LedgerHome();
  const warnings: string[] = [];
  const ledger = await home.open({ onWarning: (message) => warnings.push(message) });
  // So many that they are packed beside the next ones.
  const lines = longLines(150);
  zlib.fails = true;
  for (const line of lines) await ledger.ingest([line]);
  await ledger.close();
  expect(warnings).toEqual(['Lines could not be packed, and stay as they came: Error: no memory']);
  expect(await home.verify({ deep: true })).toMatchObject({ ok: true, events: lines.length });
});
