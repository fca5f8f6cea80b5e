// Which packed lines cannot hold a text. Every three bytes that follow each other in some blocks set one bit of many,
// by their hash; a text whose bits are not all set stands in none of them. Upper and lower case count as one.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseJson } from '../../../os/index.ts';
import { withoutNul } from '../chain/event-line.ts';
import { type Connection, inOneView } from './connection.ts';
import type { PlainLine } from './line-blocks.ts';
import { bytesCell, integerCell, integerOrNull } from './rows.ts';

export interface SeqRange {
  readonly firstSeq: number;
  readonly lastSeq: number;
}

export interface LineGrams extends SeqRange {
  readonly bits: Uint8Array;
}

/** Then about half of the bits are set. */
const BYTES_PER_BIT = 8;
const LOG2_BITS = { min: 13, max: 20 };
const THREE_BYTES = 0xff_ff_ff;
/** In each of the three bytes, the bit by which letters differ in case. */
const CASE_BITS = 0x20_20_20;
const MULTIPLIER = 0x9e_37_79_b1;
/** A letter by its number: behind an even number of backslashes, or it is a backslash and a letter. */
const [NUMBERED, IS_NUMBERED] = [String.raw`\u`, /(?<!\\)(?:\\\\)*\\u/];
/** Half of a letter of two units, which is shown as U+FFFD. */
const HALF_LETTER = /\\ud[89a-f][0-9a-f]{2}/g;
const ROWS_PER_TURN = 100;

/** Of blocks that follow each other. */
export function gramsOf(blocks: readonly (readonly PlainLine[])[]): LineGrams {
  const lines = blocks.flat();
  const length = lines.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const wanted = Math.ceil(Math.log2(length / BYTES_PER_BIT));
  const log2Bits = Math.min(Math.max(wanted, LOG2_BITS.min), LOG2_BITS.max);
  // A byte each is quicker to set than a bit.
  const isSet = new Uint8Array(2 ** log2Bits);
  for (const { bytes } of lines) {
    const line = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    setGrams(isSet, line);
    if (line.includes(NUMBERED)) setGrams(isSet, plainlySpelled(line.toString('utf8')));
  }
  const bits = new Uint8Array(isSet.length / 8);
  for (let at = 0; at < isSet.length; at++) {
    if (isSet[at] === 1) bits[at >> 3] = (bits[at >> 3] ?? 0) | (1 << (at & 7));
  }
  return { firstSeq: lines[0]?.seq ?? 0, lastSeq: lines.at(-1)?.seq ?? 0, bits };
}

function setGrams(isSet: Uint8Array, line: Uint8Array): void {
  const shift = 32 - Math.log2(isSet.length);
  let gram = 0;
  // By index: this runs for every byte that is recorded.
  for (let at = 0; at < line.length; at++) {
    gram = ((gram << 8) | (line[at] ?? 0)) & THREE_BYTES;
    isSet[Math.imul(gram | CASE_BITS, MULTIPLIER) >>> shift] = 1;
  }
}

function slotOf(gram: number, shift: number): number {
  return Math.imul(gram | CASE_BITS, MULTIPLIER) >>> shift;
}

/** JSON may write letters by their numbers: then as we would write them. */
function plainlySpelled(line: string): Buffer {
  const value = IS_NUMBERED.test(line) ? parseJson(withoutNul(line)) : undefined;
  return Buffer.from((JSON.stringify(value) ?? '').replaceAll(HALF_LETTER, '\uFFFD'), 'utf8');
}

/** What must be in a line that holds the text. */
function gramsOfText(text: string): readonly number[] {
  const written = JSON.stringify(text).slice(1, -1);
  // JSON may have a backslash before a slash.
  return written.split('/').flatMap((part) => {
    const bytes = Buffer.from(part, 'utf8');
    return Array.from({ length: Math.max(0, bytes.length - 2) }, (_, at) =>
      bytes.readUIntBE(at, 3),
    );
  });
}

/**
 * All places where a text may stand, the newest first, or undefined when they have more than `eventsMax` events: of
 * what was packed without grams, or not yet, nothing is known.
 */
export async function placesOf(
  connection: Connection,
  text: string,
  eventsMax: number,
): Promise<readonly SeqRange[] | undefined> {
  const grams = gramsOfText(text);
  if (grams.length === 0) return undefined;
  const places: SeqRange[] = [];
  let events = 0;
  const add = (firstSeq: number, lastSeq: number) => {
    if (firstSeq > lastSeq) return;
    places.push({ firstSeq, lastSeq });
    events += lastSeq - firstSeq + 1;
  };
  const tip = integerOrNull(connection.one('SELECT max(seq) AS seq FROM events'), 'seq') ?? 0;
  for (let before = tip + 1; ; ) {
    const known = inOneView(connection, () => gramsBefore(connection, before));
    for (const { firstSeq, lastSeq, bits } of known) {
      add(lastSeq + 1, before - 1);
      if (mayHold(bits, grams)) add(firstSeq, lastSeq);
      before = firstSeq;
      if (events > eventsMax) return undefined;
    }
    if (known.length < ROWS_PER_TURN) {
      add(1, before - 1);
      return events > eventsMax ? undefined : places;
    }
    await nextTurn();
  }
}

export function gramsBefore(connection: Connection, seq: number): readonly LineGrams[] {
  const sql = `SELECT first_seq, last_seq, bits FROM line_grams WHERE first_seq < ?
    ORDER BY first_seq DESC LIMIT ${ROWS_PER_TURN}`;
  return connection.all(sql, seq).map((row) => ({
    firstSeq: integerCell(row, 'first_seq'),
    lastSeq: integerCell(row, 'last_seq'),
    bits: bytesCell(row, 'bits'),
  }));
}

function mayHold(bits: Uint8Array, grams: readonly number[]): boolean {
  const shift = 32 - Math.log2(bits.length * 8);
  return grams.every((gram) => {
    const slot = slotOf(gram, shift);
    return ((bits[slot >> 3] ?? 0) & (1 << (slot & 7))) !== 0;
  });
}

// What the writer changes.

export function addGrams(connection: Connection, { firstSeq, lastSeq, bits }: LineGrams): void {
  const sql = 'INSERT INTO line_grams (first_seq, last_seq, bits) VALUES (?, ?, ?)';
  connection.run(sql, firstSeq, lastSeq, bits);
}

/** A line among them changes: what it held must not be told any more. Returns the lines whose grams these were. */
export function dropGrams(connection: Connection, seq: number): SeqRange | undefined {
  const sql = `DELETE FROM line_grams WHERE last_seq >= ?
    AND first_seq = (SELECT max(first_seq) FROM line_grams WHERE first_seq <= ?)
    RETURNING first_seq, last_seq`;
  const row = connection.get(sql, seq, seq);
  return row && { firstSeq: integerCell(row, 'first_seq'), lastSeq: integerCell(row, 'last_seq') };
}
