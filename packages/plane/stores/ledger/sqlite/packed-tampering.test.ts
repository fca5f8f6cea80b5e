// What somebody with a database shell can do to packed lines, and that it is found.
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Shim } from '../testing/events.ts';
import { LedgerHome } from '../testing/temp-ledger.ts';
import type { Database } from './load.ts';

interface Block {
  readonly id: number;
  readonly first: number;
  readonly last: number;
  readonly bytes: Uint8Array;
}

const CALLS = 200;
const [TRUE, FORGED] = ['What is said of it', 'Something else here'];

async function packedHome(): Promise<LedgerHome> {
  const home = new LedgerHome();
  const shim = new Shim('a', { run: 'run' });
  const text = `${TRUE}. `.repeat(20);
  await home.record(
    Array.from({ length: CALLS }, (_, n) => shim.callWith(`c${n}`, { text: `${text}${n}` })).flat(),
  );
  return home;
}

function blocksIn(db: Database): readonly [Block, Block] {
  const sql = 'SELECT id, first_seq AS first, last_seq AS last, bytes FROM line_blocks ORDER BY 2';
  const [one, two] = db.prepare(sql).all() as unknown as readonly Block[];
  if (one === undefined || two === undefined) throw new Error('too little is packed');
  return [one, two];
}

function put(db: Database, { id }: Block, bytes: Uint8Array): void {
  db.prepare('UPDATE line_blocks SET bytes = ? WHERE id = ?').run(bytes, id);
}

function forgedLine(db: Database, seq: number): string {
  const [block] = blocksIn(db);
  const whole = inflateRawSync(block.bytes);
  let start = 4 * (block.last - block.first + 1);
  for (let at = 0; at < seq - block.first; at++) start += whole.readUInt32LE(4 * at) - 1;
  const end = start + whole.readUInt32LE(4 * (seq - block.first)) - 1;
  return whole.toString('utf8', start, end).replace(TRUE, FORGED);
}

/** The number of a line in the middle of the first block that has arguments. */
const SEQ = 13;

const CHANGES: readonly (readonly [string, (db: Database) => unknown])[] = [
  [
    'a bit is turned in it',
    (db) => {
      const [block] = blocksIn(db);
      const bytes = Buffer.from(block.bytes);
      bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 4;
      put(db, block, bytes);
    },
  ],
  [
    'two of them change their places',
    (db) => {
      const [one, two] = blocksIn(db);
      put(db, one, two.bytes);
      put(db, two, one.bytes);
    },
  ],
  ['its end is cut off', (db) => put(db, blocksIn(db)[0], blocksIn(db)[0].bytes.subarray(0, -9))],
  [
    'it unpacks to far more than lines can be',
    (db) => put(db, blocksIn(db)[0], deflateRawSync(Buffer.alloc(300 * 1024 * 1024))),
  ],
  [
    'it goes over more numbers than it has lines',
    (db) => db.exec(`UPDATE line_blocks SET last_seq = ${Number.MAX_SAFE_INTEGER} WHERE id = 1`),
  ],
  ['it ends before it begins', (db) => db.exec('UPDATE line_blocks SET last_seq = 0 WHERE id = 1')],
  ['it is gone', (db) => db.exec('DELETE FROM line_blocks WHERE id = 1')],
  ['it begins elsewhere', (db) => db.exec('UPDATE line_blocks SET first_seq = 2 WHERE id = 1')],
];

/** Whoever reads all lines still sees the true one. */
const DOUBLES: readonly (readonly [string, (db: Database, line: string) => void])[] = [
  [
    'in another block',
    (db, line) => {
      const lengths = Buffer.alloc(4);
      lengths.writeUInt32LE(Buffer.byteLength(line) + 1);
      const bytes = deflateRawSync(Buffer.concat([lengths, Buffer.from(line)]));
      const sql = 'INSERT INTO line_blocks (first_seq, last_seq, bytes) VALUES (?, ?, ?)';
      db.prepare(sql).run(SEQ, SEQ, bytes);
    },
  ],
  [
    'beside its block',
    (db, line) => {
      const bare = line.replace(FORGED, TRUE);
      db.prepare('INSERT INTO lines (seq, line) VALUES (?, ?)').run(SEQ, bare);
    },
  ],
];

describe('verifying finds packed lines that were tampered with:', () => {
  it.each(CHANGES)('%s', async (_what, change) => {
    const home = await packedHome();
    expect(await home.verify()).toMatchObject({ ok: true, findings: [] });
    await home.tamper((db) => void change(db));
    expect(await home.verify()).toMatchObject({ ok: false });
  });

  it.each([
    "INSERT INTO lines (seq, line) VALUES (9000, '{}')",
    "INSERT INTO lines (seq, line) VALUES (0, '{}')",
    'INSERT INTO line_blocks (first_seq, last_seq, bytes) VALUES (9000, 9001, zeroblob(9))',
    'INSERT INTO line_grams (first_seq, last_seq, bits) VALUES (9000, 9001, zeroblob(1024))',
  ])('something stands under a number that no event has: %s', async (sql) => {
    const home = await packedHome();
    await home.tamper((db) => db.exec(sql));
    expect(await home.verify({ deep: true })).toMatchObject({ ok: false });
  });

  it.each(DOUBLES)('a line stands a second time, %s', async (_what, add) => {
    const home = await packedHome();
    await home.tamper((db) => add(db, forgedLine(db, SEQ)));
    const report = await home.verify();
    expect(report).toMatchObject({ ok: false, findings: [{ kind: 'added', fromSeq: SEQ }] });
  });
});
