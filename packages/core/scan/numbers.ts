// Keeps JSON valid where a marker takes the place of bare numbers, as in a list of bytes.
import type { Finding } from './ranges.ts';
import type { Range } from './types.ts';

const JSON_START = /^\s{0,64}[{["]/;
const NUMBERS = /^[\d\s,.+-]*$/;
const NUMBER_UNIT = /[\d.eE+-]/;
const BEFORE = /[[,:]\s{0,8}$/;
const BEHIND = /^\s{0,8}(?:[\],}]|$)/;
const CONTEXT = 9;

/** Puts quotes around the findings that are numbers of a JSON text, which starts outside a string. */
export function quoteNumbers(text: string, findings: readonly Finding[]): readonly Finding[] {
  const isNumbers = ({ start, end, quote }: Finding) =>
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
