// Text with its escapes undone, and the way back to where each unit came from. JSON's and
// JavaScript's escapes, octal, percent-encoding and HTML's references are undone alike, since one
// text may mix them; what is escaped twice takes two rounds.
import type { Escape } from './escapes.ts';
import { isIntroducer, readEscape, restIsPartOfEscape } from './escapes.ts';
import type { Range, Scanned } from './types.ts';

export interface View {
  readonly text: string;
  /** The places of the units that were escapes, and what each was in the source. */
  readonly places: readonly number[];
  readonly sources: readonly Range[];
  readonly sourceLength: number;
}

const BYTE_MIN = 0x80;
export const LEVELS_MAX = 4;

/** How many bytes follow the first one of a character in UTF-8. */
function followers(byte: number): number {
  if (byte >= 0xc2 && byte < 0xe0) return 1;
  if (byte >= 0xe0 && byte < 0xf0) return 2;
  return byte >= 0xf0 && byte < 0xf5 ? 3 : 0;
}

/** Joins escaped bytes to the character that they are in UTF-8. */
function joined(text: string, first: Escape): Escape {
  const count = first.isByte && first.point >= BYTE_MIN ? followers(first.point) : 0;
  if (count === 0) return first;
  let point = first.point & (0x3f >> count);
  let { end } = first;
  for (let at = 0; at < count; at++) {
    const next = readEscape(text, end);
    if (next === undefined || !next.isByte || (next.point & 0xc0) !== 0x80) return first;
    point = (point << 6) | (next.point & 0x3f);
    end = next.end;
  }
  return point > 0x10_ffff ? first : { point, end, isByte: false };
}

/** The text with one level of escapes undone, or nothing when it has none. */
export function unescapeOnce({ text, truncated }: Scanned): View | undefined {
  const places: number[] = [];
  const sources: Range[] = [];
  let out = '';
  let done = 0;
  for (let at = 0; at < text.length; at++) {
    if (!isIntroducer(text.charCodeAt(at))) continue;
    const read = readEscape(text, at);
    if (read === undefined) {
      if (!truncated || !restIsPartOfEscape(text, at)) continue;
      // What was cut in an escape must not stand between a value and the end.
      const cut = { text: out + text.slice(done, at), places, sources };
      return { ...cut, sourceLength: text.length };
    }
    const { point, end } = joined(text, read);
    out += text.slice(done, at);
    const units = String.fromCodePoint(point);
    for (let unit = 0; unit < units.length; unit++) {
      places.push(out.length + unit);
      sources.push({ start: at, end });
    }
    out += units;
    done = end;
    at = end - 1;
  }
  if (done === 0) return undefined;
  return { text: out + text.slice(done), places, sources, sourceLength: text.length };
}

/** Where the range of a view stands in its source; what reaches the end of a cut text still does. */
export function sourceRange(view: View, { start, end }: Range, truncated: boolean): Range {
  const isCut = truncated && end === view.text.length;
  return {
    start: sourceOf(view, start).start,
    end: isCut ? view.sourceLength : sourceOf(view, end - 1).end,
  };
}

function sourceOf({ places, sources }: View, place: number): Range {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((places[middle] ?? 0) <= place) low = middle + 1;
    else high = middle;
  }
  const before = places[low - 1];
  const source = sources[low - 1];
  if (before === undefined || source === undefined) return { start: place, end: place + 1 };
  if (before === place) return source;
  const start = source.end + place - before - 1;
  return { start, end: start + 1 };
}

/** The text with all its escapes undone. */
export function unescaped(text: string): string {
  let plain = text;
  for (let level = 0; level < LEVELS_MAX; level++) {
    const view = unescapeOnce({ text: plain, truncated: false });
    if (view === undefined) break;
    plain = view.text;
  }
  return plain;
}
