// The smallest pieces of TOML: where a string, a bare value, a comment or a blank ends.

/** Spaces and tabs. */
export function skipSpace(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ' || text[at] === '\t') at += 1;
  return at;
}

/** Spaces, line ends and comments. */
export function skipBlank(text: string, from: number): number {
  let at = from;
  for (;;) {
    at = skipSpace(text, at);
    const next = text[at];
    if (next === '#') at = lineEnd(text, at);
    else if (next === '\n' || next === '\r') at += 1;
    else return at;
  }
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  if (end === -1) return text.length;
  return text[end - 1] === '\r' ? end - 1 : end;
}

/** Where the string that starts here ends; the same offset when it doesn't. */
export function scanString(text: string, start: number): number {
  const quote = text.charAt(start);
  const isMultiline = text.startsWith(quote.repeat(3), start);
  const isBasic = quote === '"';
  let at = start + (isMultiline ? 3 : 1);
  for (; at < text.length; at += 1) {
    const next = text[at];
    if (isBasic && next === '\\') at += 1;
    else if (!isMultiline && (next === '\n' || next === '\r')) return start;
    else if (next === quote && !isMultiline) return at + 1;
    else if (next === quote && text.startsWith(quote.repeat(3), at)) {
      return closeMultiline(text, at + 3, quote);
    }
  }
  return start;
}

/** One or two quotes before the closing three belong to the string. */
function closeMultiline(text: string, end: number, quote: string): number {
  let at = end;
  while (at < end + 2 && text[at] === quote) at += 1;
  return at;
}

/** A number, a date (which may hold one space), a boolean: up to what can't be part of it. */
export function scanBare(text: string, start: number, isNested: boolean): number {
  let at = start;
  while (at < text.length && !isBareEnd(text.charAt(at), isNested)) at += 1;
  while (at > start && (text[at - 1] === ' ' || text[at - 1] === '\t')) at -= 1;
  return at;
}

function isBareEnd(character: string, isNested: boolean): boolean {
  if (character === '\n' || character === '\r' || character === '#') return true;
  return isNested && (character === ',' || character === ']' || character === '}');
}
