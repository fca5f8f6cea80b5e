// From findings to what is replaced.
import { definedFields } from '@subluminal/contracts';
import type { Range } from '../types.ts';

export interface RedactedRange extends Range {
  readonly rule: string;
  /** The lowest names an overlap. */
  readonly rank: number;
  readonly quote?: string;
}

const BACKSLASH = '\\';
const ESCAPE_LENGTH = 6;
const HEX4 = /[0-9A-Fa-f]{4}/y;

/** Joins what overlaps; a finding inside an earlier marker is no finding. */
export function merged(
  findings: readonly RedactedRange[],
  markers: readonly Range[],
): RedactedRange[] {
  const out: RedactedRange[] = [];
  let next = 0;
  const whole = findings.toSorted(inOrder).flatMap((finding) => {
    while (next < markers.length && (markers[next]?.end ?? 0) <= finding.start) next++;
    return withMarkers(finding, markers, next) ?? [];
  });
  for (const finding of whole.toSorted(inOrder)) {
    const last = out.at(-1);
    const isSame = finding.start === last?.end && finding.rule === last.rule;
    if (last !== undefined && (finding.start < last.end || isSame)) {
      out[out.length - 1] = union(last, finding);
    } else out.push(finding);
  }
  return out;
}

function inOrder(a: Range, b: Range): number {
  return a.start - b.start || b.end - a.end;
}

/** Takes in a marker that is touched in part, so that none is left broken. */
function withMarkers(
  finding: RedactedRange,
  markers: readonly Range[],
  from: number,
): RedactedRange | undefined {
  let { start, end } = finding;
  const first = markers[from];
  if (first !== undefined && first.start <= start && end <= first.end) return undefined;
  for (let at = from; at < markers.length; at++) {
    const marker = markers[at];
    if (marker === undefined || marker.start >= end) break;
    start = Math.min(start, marker.start);
    end = Math.max(end, marker.end);
  }
  return { ...finding, start, end };
}

function union(a: RedactedRange, b: RedactedRange): RedactedRange {
  const { rule, rank } = a.rank <= b.rank ? a : b;
  const start = Math.min(a.start, b.start);
  const end = Math.max(a.end, b.end);
  const quote = [a, b].find((one) => one.start === start && one.end === end && one.quote)?.quote;
  return { start, end, rule, rank, ...definedFields({ quote }) };
}

/** Widens a range that cuts through a JSON escape, so that JSON stays JSON. */
export function onEscapes(text: string, { start, end }: Range): Range {
  const first = openEscape(text, start);
  const last = openEscape(text, end);
  return { start: first?.start ?? start, end: last === undefined ? end : Math.max(end, last.end) };
}

/** The escape that a place is inside of. */
function openEscape(text: string, place: number): Range | undefined {
  for (let start = place - 1; start >= 0 && start > place - ESCAPE_LENGTH; start--) {
    if (text[start] !== BACKSLASH) continue;
    if (!isOdd(text, start)) return undefined;
    HEX4.lastIndex = start + 2;
    const long = text[start + 1] === 'u' && HEX4.test(text);
    const end = Math.min(text.length, start + (long ? ESCAPE_LENGTH : 2));
    return place < end ? { start, end } : undefined;
  }
  return undefined;
}

/** Whether the backslash begins an escape, being the first, third, … of its run. */
function isOdd(text: string, at: number): boolean {
  let start = at;
  while (start > 0 && text[start - 1] === BACKSLASH) start--;
  return (at - start) % 2 === 0;
}

// Keeps JSON valid where a marker takes the place of bare numbers, as in a list of bytes.

const JSON_START = /^\s{0,64}[{["]/;
const NUMBERS = /^[\d\s,.+-]*$/;
const NUMBER_UNIT = /[\d.eE+-]/;
const BEFORE = /[[,:]\s{0,8}$/;
const BEHIND = /^\s{0,8}(?:[\],}]|$)/;
const CONTEXT = 9;

/** Puts quotes around the findings that are numbers of a JSON text, which starts outside a string. */
export function quoteNumbers(
  text: string,
  findings: readonly RedactedRange[],
): readonly RedactedRange[] {
  const isNumbers = ({ start, end, quote }: RedactedRange) =>
    quote === undefined && NUMBERS.test(text.slice(start, end));
  if (!findings.some(isNumbers) || !JSON_START.test(text)) return findings;
  let inString = false;
  let seen = 0;
  let done = 0;
  return findings.map((finding) => {
    for (; seen < finding.start; seen++) {
      if (text[seen] === '"') inString = !inString;
      else if (inString && text[seen] === '\\') seen++;
    }
    const whole = isNumbers(finding) && !inString ? wholeNumbers(text, finding, done) : undefined;
    done = (whole ?? finding).end;
    return whole === undefined ? finding : { ...finding, ...whole, quote: '"' };
  });
}

/** The range with the rest of its first and last number, where it stands as a value. */
function wholeNumbers(text: string, range: Range, from: number): Range | undefined {
  let { start, end } = range;
  while (start > from && NUMBER_UNIT.test(text[start - 1] ?? '')) start--;
  while (end < text.length && NUMBER_UNIT.test(text[end] ?? '')) end++;
  const isValue =
    BEFORE.test(text.slice(Math.max(0, start - CONTEXT), start)) &&
    BEHIND.test(text.slice(end, end + CONTEXT));
  return isValue ? { start, end } : undefined;
}
