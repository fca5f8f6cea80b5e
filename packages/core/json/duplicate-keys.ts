// Keys that stand twice in one object: of these we see the last, and others may see the first.
import { BACKSLASH } from './units.ts';

/** Whether an object of this text has a key twice; `value` is what the text was parsed to. */
export function hasDuplicateKeys(text: string, value: unknown): boolean {
  return writtenMembers(text) !== membersIn(value);
}

/** The colons outside of strings: each belongs to a member. */
function writtenMembers(text: string): number {
  let count = 0;
  let colon = text.indexOf(':');
  let at = 0;
  while (colon !== -1) {
    const quote = text.indexOf('"', at);
    if (quote === -1 || colon < quote) {
      count++;
      at = colon + 1;
      // Behind a colon at the latest a string may begin: only what is outside is counted.
      colon = text.indexOf(':', at);
      continue;
    }
    at = stringEnd(text, quote);
    if (at === -1) return count;
    if (colon < at) colon = text.indexOf(':', at);
  }
  return count;
}

/** Behind the quote that ends the string which starts here; -1 when there is none. */
export function stringEnd(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (quote !== -1) {
    let before = quote - 1;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    if ((quote - before) % 2 === 1) return quote + 1;
    quote = text.indexOf('"', quote + 1);
  }
  return -1;
}

function membersIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const parts: readonly unknown[] = Object.values(value);
  let count = Array.isArray(value) ? 0 : parts.length;
  for (const part of parts) if (typeof part === 'object') count += membersIn(part);
  return count;
}
