// What `${name…}` makes of the values of a variable.
import { UNKNOWN } from './word-texts.ts';

const REMOVAL = /^(%%?|##?)([\s\S]*)$/;
const REPLACEMENT = /^(\/\/?)([^/*?[\\]+)(?:\/([\s\S]*))?$/;
const SLICE = /^:\s*(\d{1,6})(?::(\d{1,6}))?$/;
const CASES: ReadonlyMap<string, (value: string) => string> = new Map([
  ['^^', (value: string) => value.toUpperCase()],
  [',,', (value: string) => value.toLowerCase()],
]);

/** Stands for more than its letters: the home folder, the working folder, or a pattern. */
const INEXACT = /^[~.]|[*?[]/;

/** The values after an operation such as `%.ts` or `:0:3`, or nothing where it is not understood. */
export function changedValues(
  values: readonly string[],
  operation: string,
): readonly string[] | undefined {
  // Of a list, any item may be meant.
  if (/^\[(?:[@*]|\d+)\]$/.test(operation)) return values;
  const change = changeBy(operation);
  if (change === undefined) return undefined;
  const isExact = /^%|^##\*\//.test(operation);
  return values.map((value) => {
    if (value.includes(UNKNOWN) || (!isExact && INEXACT.test(value))) return UNKNOWN;
    // The last name of a folder that only the running shell knows.
    return operation === '##*/' && /^[~.]$/.test(value) ? '*' : change(value);
  });
}

function changeBy(operation: string): ((value: string) => string) | undefined {
  const [, start, length] = SLICE.exec(operation) ?? [];
  if (start !== undefined) {
    const end = length === undefined ? undefined : Number(start) + Number(length);
    return (value) => value.slice(Number(start), end);
  }
  const [, all, from = '', to = ''] = REPLACEMENT.exec(operation) ?? [];
  if (all !== undefined) {
    return (value) =>
      all === '//' ? value.replaceAll(from, () => to) : value.replace(from, () => to);
  }
  const [, sign = '', pattern = ''] = REMOVAL.exec(operation) ?? [];
  return sign === '' ? CASES.get(operation) : removal(sign, pattern);
}

/** Patterns with one star at the side that is cut off; `%/*` leaves the folder of a path. */
function removal(sign: string, pattern: string): ((value: string) => string) | undefined {
  const isEnd = sign.startsWith('%');
  const isLong = sign.length === 2;
  const hasStar = isEnd ? pattern.endsWith('*') : pattern.startsWith('*');
  const text = hasStar ? (isEnd ? pattern.slice(0, -1) : pattern.slice(1)) : pattern;
  if (/[*?[\\"'$]/.test(text) || text === '') return undefined;
  return (value) => {
    if (!hasStar && isEnd) return value.endsWith(text) ? value.slice(0, -text.length) : value;
    if (!hasStar) return value.startsWith(text) ? value.slice(text.length) : value;
    const isFirst = isEnd === isLong;
    const at = isFirst ? value.indexOf(text) : value.lastIndexOf(text);
    if (at === -1) return value;
    return isEnd ? value.slice(0, at) : value.slice(at + text.length);
  };
}
