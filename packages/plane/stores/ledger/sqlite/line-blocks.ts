// Lines of events that are no longer new stand packed with their neighbours: what repeats from event to event is
// stored once. A block is the lengths of its lines (one more than each, 0 where there is none), then their text.
import { deflateRaw, inflateRawSync } from 'node:zlib';
import { ledgerFailure } from '../chain/ledger-failure.ts';
import type { Connection } from './connection.ts';
import { addGrams, dropGrams, gramsOf, type LineGrams, type SeqRange } from './line-grams.ts';
import { bytesCell, integerCell, textOrNull } from './rows.ts';

export interface PlainLine {
  readonly seq: number;
  readonly bytes: Uint8Array;
}

export interface PackedBlock {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly bytes: Uint8Array;
}

export interface PackedLines {
  readonly blocks: readonly PackedBlock[];
  readonly grams: readonly LineGrams[];
}

const LENGTH_BYTES = 4;
/** Larger ones save little, and take longer to look into. */
export const BLOCK_BYTES = 64 * 1024;
/** So many of them share their grams: fewer bits to read, and more lines to look at where a text may stand. */
const BLOCKS_PER_GRAMS = 8;
/** How many numbers a block goes over, with those whose line is pruned. */
const BLOCK_SPAN = 4_096;
/** A block of one line may be as long as a line may be. */
const UNPACKED_BYTES_MAX = 64 * 1024 * 1024;
const CACHE_BYTES_MAX = 8 * 1024 * 1024;
/** Half of the time that the default takes; 4 % more bytes than level 4, which takes three quarters. */
const DEFLATE = { level: 1, memLevel: 8 };

/** Groups lines that follow each other; the last group may not be full. None goes over a block that is there. */
function groupLines(
  lines: readonly PlainLine[],
  blockAfter: (seq: number) => number,
): readonly (readonly PlainLine[])[] {
  const groups: PlainLine[][] = [];
  let [length, endSeq] = [0, 0];
  for (const line of lines) {
    const { seq, bytes } = line;
    const group = groups.at(-1);
    if (group === undefined || length >= BLOCK_BYTES || seq >= endSeq) {
      groups.push([line]);
      length = bytes.length;
      endSeq = Math.min(seq + BLOCK_SPAN, blockAfter(seq));
    } else {
      group.push(line);
      length += bytes.length;
    }
  }
  return groups;
}

function isFull(group: readonly PlainLine[]): boolean {
  return group.reduce((sum, { bytes }) => sum + bytes.length, 0) >= BLOCK_BYTES;
}

/** Packs as many of some new lines as make full blocks; the others are loose. */
export function packFull(lines: readonly PlainLine[]) {
  const groups = groupLines(lines, () => Number.POSITIVE_INFINITY);
  const last = groups.at(-1);
  const [full, loose] =
    last === undefined || isFull(last) ? [groups, []] : [groups.slice(0, -1), last];
  const packed = packGroups(full);
  // Whoever waits for it is told; nobody may be, when something else fails before.
  packed.catch(() => undefined);
  return { packed, loose };
}

export async function packGroups(groups: readonly (readonly PlainLine[])[]): Promise<PackedLines> {
  const blocks = Promise.all(groups.map(packLines));
  // While they are packed.
  const grams = adjacent(groups).map(gramsOf);
  return { blocks: await blocks, grams };
}

/** Groups that follow each other without a gap. */
function adjacent(groups: readonly (readonly PlainLine[])[]) {
  const found: (readonly PlainLine[])[][] = [];
  for (const group of groups) {
    const last = found.at(-1);
    const isNext = last?.at(-1)?.at(-1)?.seq === (group[0]?.seq ?? 0) - 1;
    if (last !== undefined && isNext && last.length < BLOCKS_PER_GRAMS) last.push(group);
    else found.push([group]);
  }
  return found;
}

/** Works beside this thread. */
export async function packLines(group: readonly PlainLine[]): Promise<PackedBlock> {
  const firstSeq = group[0]?.seq ?? 0;
  const lastSeq = group.at(-1)?.seq ?? 0;
  const lengths = Buffer.alloc((lastSeq - firstSeq + 1) * LENGTH_BYTES);
  for (const { seq, bytes } of group) {
    lengths.writeUInt32LE(bytes.length + 1, (seq - firstSeq) * LENGTH_BYTES);
  }
  const whole = Buffer.concat([lengths, ...group.map(({ bytes }) => bytes)]);
  return { firstSeq, lastSeq, bytes: await deflate(whole) };
}

function deflate(bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    deflateRaw(bytes, DEFLATE, (cause, packed) => {
      if (cause === null) resolve(packed);
      else reject(cause);
    });
  });
}

/** The lines of a block, by their numbers. */
class LineBlock {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly bytes: Buffer;
  readonly #starts: Float64Array;

  constructor({ firstSeq, lastSeq, bytes }: PackedBlock) {
    this.firstSeq = firstSeq;
    this.lastSeq = lastSeq;
    this.bytes = unpacked(firstSeq, bytes);
    const count = lastSeq - firstSeq + 1;
    if (!(count > 0 && count * LENGTH_BYTES <= this.bytes.length)) throw damaged(firstSeq);
    this.#starts = new Float64Array(count + 1);
    let start = count * LENGTH_BYTES;
    for (let at = 0; at < count; at++) {
      this.#starts[at] = start;
      start += Math.max(0, this.bytes.readUInt32LE(at * LENGTH_BYTES) - 1);
    }
    this.#starts[count] = start;
    if (start !== this.bytes.length) throw damaged(firstSeq);
  }

  has(seq: number): boolean {
    return seq >= this.firstSeq && seq <= this.lastSeq;
  }

  /** Where the bytes of a line are; undefined where there is none. */
  line(seq: number): Buffer | undefined {
    const at = seq - this.firstSeq;
    if (this.bytes.readUInt32LE(at * LENGTH_BYTES) === 0) return undefined;
    return this.bytes.subarray(this.#starts[at], this.#starts[at + 1]);
  }
}

function unpacked(firstSeq: number, bytes: Uint8Array): Buffer {
  try {
    return inflateRawSync(bytes, { maxOutputLength: UNPACKED_BYTES_MAX });
  } catch (cause) {
    throw damaged(firstSeq, cause);
  }
}

function damaged(seq: number, cause?: unknown): Error {
  const detail = `The packed lines from event ${seq} on are damaged.`;
  return ledgerFailure('SUB_LEDGER_CORRUPT', detail, cause);
}

/** By the id of the block, which is never given again: what was changed has another one. */
type Blocks = Map<number, LineBlock>;
const caches = new WeakMap<Connection, Blocks>();

/** What finds the line of an event; null where none is. It is for one look: what changes meanwhile it may not see. */
export type LineFinder = (seq: number) => Buffer | null;

export function lineFinder(connection: Connection): LineFinder {
  let block: LineBlock | undefined;
  let nothingTo = Number.NEGATIVE_INFINITY;
  let nothingFrom = Number.POSITIVE_INFINITY;
  return (seq) => {
    if (block?.has(seq) !== true) {
      if (seq >= nothingFrom && seq <= nothingTo) return null;
      block = blockOf(connection, seq);
      if (block === undefined) {
        [nothingFrom, nothingTo] = [seq, nextBlockAfter(connection, seq) - 1];
        return null;
      }
    }
    return block.line(seq) ?? null;
  };
}

/** Where the next block begins. */
function nextBlockAfter(connection: Connection, seq: number): number {
  const sql = 'SELECT first_seq FROM line_blocks WHERE first_seq > ? ORDER BY first_seq LIMIT 1';
  const row = connection.get(sql, seq);
  return row === undefined ? Number.POSITIVE_INFINITY : integerCell(row, 'first_seq');
}

function blockOf(connection: Connection, seq: number): LineBlock | undefined {
  const sql = `SELECT id, first_seq, last_seq FROM line_blocks
    WHERE first_seq <= ? ORDER BY first_seq DESC LIMIT 1`;
  const row = connection.get(sql, seq);
  if (row === undefined) return undefined;
  const [id, firstSeq, lastSeq] = [
    integerCell(row, 'id'),
    integerCell(row, 'first_seq'),
    integerCell(row, 'last_seq'),
  ];
  if (seq > lastSeq) return undefined;
  const cache = caches.get(connection) ?? new Map<number, LineBlock>();
  caches.set(connection, cache);
  const known = cache.get(id);
  if (known !== undefined) return known;
  const packed = connection.get('SELECT bytes FROM line_blocks WHERE id = ?', id);
  // Another process has changed it just now.
  if (packed === undefined) return undefined;
  const block = new LineBlock({ firstSeq, lastSeq, bytes: bytesCell(packed, 'bytes') });
  remember(cache, id, block);
  return block;
}

/** The oldest go first. */
function remember(cache: Blocks, id: number, block: LineBlock): void {
  let bytes = block.bytes.length;
  for (const one of cache.values()) bytes += one.bytes.length;
  for (const [oldId, old] of cache) {
    if (bytes <= CACHE_BYTES_MAX) break;
    cache.delete(oldId);
    bytes -= old.bytes.length;
  }
  cache.set(id, block);
}

/** The text of the line of an event, wherever it stands. */
export function lineAt(connection: Connection, seq: number, packed: LineFinder): string | null {
  const sql = `SELECT COALESCE(l.line, e.line) AS line FROM events e
    LEFT JOIN lines l ON l.seq = e.seq WHERE e.seq = ?`;
  const row = connection.get(sql, seq);
  const plain = row === undefined ? null : textOrNull(row, 'line');
  return plain ?? packed(seq)?.toString('utf8') ?? null;
}

/** A line, or a block of them, beside the numbers of all events. */
export function straySeq(connection: Connection): number | undefined {
  const tip = '(SELECT coalesce(max(seq), 0) FROM events)';
  const sql = `SELECT seq FROM lines WHERE seq < 1 OR seq > ${tip} UNION ALL
    SELECT first_seq FROM line_blocks WHERE first_seq < 1 OR last_seq > ${tip} LIMIT 1`;
  const row = connection.get(sql);
  return row && integerCell(row, 'seq');
}

/**
 * The first event of which a line may stand in two places; undefined when each stands once. Who reads all lines and
 * who looks for one would else read different ones.
 */
export function doubledSeq(connection: Connection): number | undefined {
  const blocks = `SELECT first_seq AS seq FROM (
      SELECT first_seq, last_seq, lag(last_seq) OVER (ORDER BY first_seq, last_seq) AS before FROM line_blocks)
    WHERE first_seq <= before OR last_seq < first_seq LIMIT 1`;
  const lines = `SELECT l.seq FROM lines l WHERE l.seq <= (SELECT last_seq FROM line_blocks
    WHERE first_seq <= l.seq ORDER BY first_seq DESC LIMIT 1) LIMIT 1`;
  const row = connection.get(blocks) ?? connection.get(lines);
  return row && integerCell(row, 'seq');
}

/** The lines between two events, packed or not. */
export function* linesIn(
  connection: Connection,
  { firstSeq, lastSeq }: SeqRange,
): Generator<PlainLine & { readonly bytes: Buffer }> {
  const packed = lineFinder(connection);
  for (let seq = firstSeq; seq <= lastSeq; seq++) {
    const bytes = packed(seq);
    if (bytes !== null) yield { seq, bytes };
    else {
      const line = lineAt(connection, seq, packed);
      if (line !== null) yield { seq, bytes: Buffer.from(line, 'utf8') };
    }
  }
}

// What the writer changes.

/** So many lines are packed in one go, or so much. */
const LINES_MAX = 2_000;
const LINES_BYTES_MAX = 2 * 1024 * 1024;

export interface LinesToPack {
  readonly groups: readonly (readonly PlainLine[])[];
  /** There are others behind them. */
  readonly hasMore: boolean;
}

/** The oldest lines that are not packed yet, in groups. The newest wait until they make a full block. */
export function linesToPack(connection: Connection): LinesToPack {
  const sql = 'SELECT seq, CAST(line AS BLOB) AS bytes FROM lines ORDER BY seq LIMIT ?';
  const lines: PlainLine[] = [];
  let length = 0;
  for (const row of connection.all(sql, LINES_MAX)) {
    const line = { seq: integerCell(row, 'seq'), bytes: bytesCell(row, 'bytes') };
    lines.push(line);
    length += line.bytes.length;
    if (length >= LINES_BYTES_MAX) break;
  }
  const groups = groupLines(lines, (seq) => nextBlockAfter(connection, seq));
  const hasMore = lines.length === LINES_MAX || length >= LINES_BYTES_MAX;
  const last = groups.at(-1);
  return { groups: last === undefined || isFull(last) ? groups : groups.slice(0, -1), hasMore };
}

/** Puts blocks in the place of the lines that they hold. */
export function addBlocks(connection: Connection, { blocks, grams }: PackedLines): void {
  for (const one of grams) addGrams(connection, one);
  for (const { firstSeq, lastSeq, bytes } of blocks) {
    const add = 'INSERT INTO line_blocks (first_seq, last_seq, bytes) VALUES (?, ?, ?)';
    connection.run(add, firstSeq, lastSeq, bytes);
    connection.run('DELETE FROM lines WHERE seq BETWEEN ? AND ?', firstSeq, lastSeq);
  }
}

/**
 * The block around an event becomes lines again, so that one of them can be changed. So do those that share its grams:
 * the grams of all of them are made when they are packed again.
 */
export function unpackAround(connection: Connection, seq: number): void {
  if (blockOf(connection, seq) === undefined) return;
  const { firstSeq, lastSeq } = dropGrams(connection, seq) ?? { firstSeq: seq, lastSeq: seq };
  for (let at = firstSeq; at <= lastSeq; ) {
    const block = blockOf(connection, at);
    if (block !== undefined) unpack(connection, block);
    at = block === undefined ? nextBlockAfter(connection, at) : block.lastSeq + 1;
  }
}

function unpack(connection: Connection, block: LineBlock): void {
  connection.run('DELETE FROM line_blocks WHERE first_seq = ?', block.firstSeq);
  for (let one = block.firstSeq; one <= block.lastSeq; one++) {
    const line = block.line(one);
    if (line !== undefined) addLine(connection, one, line);
  }
}

export function addLine(connection: Connection, seq: number, line: string | Uint8Array): void {
  connection.run('INSERT INTO lines (seq, line) VALUES (?, CAST(? AS TEXT))', seq, line);
}
