// Which parts of a value look drawn by lot. Twelve characters of such a part stand in no other text
// by chance; twelve characters of words, addresses or dates do.
import { isDigit } from '../../json/byte-scanner.ts';
import type { Range } from '../types.ts';

/** The letters that often follow each letter in English and in names of programs. */
const FOLLOWERS =
  'bcdgiklmnprstuwxy aejlouy aehiklorty aegilos acdeflmnopqrstvwxy aefiortu eist aeiou cdefglmnoprstv es ein adeilostuy abeimops acdegiklostuy bcdefiklmnoprstuvw aeilorstu u acdegimnorstuvy acehiknopstuwy acehiorstuy abeilmnrst aei aehinor pt npst -'.split(
    ' ',
  );
const SEPARATORS = ' \t\r\n-_./:,;="\'\\{}[]()<>';
/** So many characters are judged at once. */
const SPAN = 16;
/** In tenths of a bit for each character. English has 26, hex digits have 38, tokens 45 or more. */
const SURPRISE_MIN = 32.5;
const DISTINCT_MIN = 7;
const SHORT_DISTINCT_MIN = 6;
const SHORT_MIN = 8;
/** The shortest piece that is looked for. */
const PIECE = 12;
/** A value's first and last characters may look tame by chance. */
const EDGE = 5;

const isLetter = (unit: number) => unit >= 0x61 && unit <= 0x7a;

const isSeparator = (unit: number) => SEPARATORS.includes(String.fromCharCode(unit));

/** How little a character was to be expected behind another, in tenths of a bit. */
function surprise(before: number, unit: number): number {
  if (unit === before) return 5;
  if (isLetter(unit)) {
    if (isLetter(before)) {
      const usual = FOLLOWERS[before - 0x61] ?? '';
      return usual.includes(String.fromCharCode(unit)) ? 22 : 60;
    }
    if (isDigit(before)) return 50;
    return isSeparator(before) ? 25 : 45;
  }
  if (isDigit(unit)) {
    if (isDigit(before)) return 33;
    return isSeparator(before) ? 30 : 45;
  }
  return isSeparator(unit) ? 20 : 50;
}

/** Sums of surprise, so that each part's is a difference. */
function sumsOf(folded: string): Int32Array {
  const sums = new Int32Array(folded.length + 1);
  let before = 0x20;
  for (let at = 0; at < folded.length; at++) {
    const unit = folded.charCodeAt(at);
    sums[at + 1] = (sums[at] ?? 0) + surprise(before, unit);
    before = unit;
  }
  return sums;
}

/** Whether a short value as a whole looks drawn by lot. */
export function isRandom(value: string): boolean {
  const folded = value.toLowerCase();
  if (folded.length < SHORT_MIN || new Set(folded).size < SHORT_DISTINCT_MIN) return false;
  return (sumsOf(folded)[folded.length] ?? 0) >= folded.length * SURPRISE_MIN;
}

/** The parts that look drawn by lot, in order and apart. */
export function randomZones(value: string): Range[] {
  const folded = value.toLowerCase();
  if (folded.length !== value.length || folded.length < SPAN) return [];
  const sums = sumsOf(folded);
  const seen = new Map<string, number>();
  const zones: Range[] = [];
  for (let end = 1; end <= folded.length; end++) {
    count(seen, folded[end - 1] ?? '', 1);
    const start = end - SPAN;
    if (start < 0) continue;
    if (start > 0) count(seen, folded[start - 1] ?? '', -1);
    if (seen.size >= DISTINCT_MIN && isSurprising(sums, { start, end })) {
      addZone(zones, { start, end });
    }
  }
  return zones.flatMap((zone) => trimmed(sums, zone));
}

function isSurprising(sums: Int32Array, { start, end }: Range): boolean {
  return (sums[end] ?? 0) - (sums[start] ?? 0) >= (end - start) * SURPRISE_MIN;
}

/** At the value's own ends a little more; elsewhere less, until no piece at the edge is tame. */
function trimmed(sums: Int32Array, zone: Range): Range[] {
  const length = sums.length - 1;
  let { start, end } = zone;
  const isTame = (from: number) => !isSurprising(sums, { start: from, end: from + PIECE });
  if (start <= EDGE) start = 0;
  else while (start + PIECE < end && isTame(start)) start++;
  if (end >= length - EDGE) end = length;
  else while (start + PIECE < end && isTame(end - PIECE)) end--;
  return end - start > PIECE ? [{ start, end }] : [];
}

function count(seen: Map<string, number>, char: string, by: number): void {
  const now = (seen.get(char) ?? 0) + by;
  if (now === 0) seen.delete(char);
  else seen.set(char, now);
}

function addZone(zones: Range[], zone: Range): void {
  const last = zones.at(-1);
  if (last === undefined || zone.start > last.end) zones.push(zone);
  else zones[zones.length - 1] = { start: last.start, end: Math.max(last.end, zone.end) };
}
