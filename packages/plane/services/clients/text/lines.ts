// Lines of a text: where one starts, how it ends, and whether something stands alone on it.

import type { Format } from '../types.ts';

/** A line that holds something first: its indentation, and the line break before it. */
export interface LineHead {
  readonly indent: string;
  /** Undefined on the first line. */
  readonly breakBefore: { readonly start: number; readonly text: string } | undefined;
}

/** The head of the line when only blanks stand before the offset. */
export function headOf(text: string, offset: number): LineHead | undefined {
  const start = skipSpaceBack(text, offset);
  const indent = text.slice(start, offset);
  const before = text.charAt(start - 1);
  if (start === 0 || (start === 1 && before === '\uFEFF')) {
    return { indent, breakBefore: undefined };
  }
  if (before !== '\n' && before !== '\r') return undefined;
  const isPair = before === '\n' && text[start - 2] === '\r';
  const breakStart = isPair ? start - 2 : start - 1;
  return { indent, breakBefore: { start: breakStart, text: text.slice(breakStart, start) } };
}

/** Spaces and tabs before the offset, not further back than the floor. */
export function skipSpaceBack(text: string, offset: number, floor = 0): number {
  let at = offset;
  while (at > floor && (text[at - 1] === ' ' || text[at - 1] === '\t')) at -= 1;
  return at;
}

/** Where the line ends, when only blanks and comments that end on it follow; else undefined. */
export function restOfLine(text: string, offset: number, format: Format): number | undefined {
  let at = offset;
  for (;;) {
    const next = text.charAt(at);
    if (next === '' || next === '\n' || next === '\r') return at;
    if (next === ' ' || next === '\t') at += 1;
    else {
      const end = commentEnd(text, at, format);
      if (end === undefined) return undefined;
      at = end;
    }
  }
}

function commentEnd(text: string, at: number, format: Format): number | undefined {
  const lineMark = format === 'toml' ? '#' : '//';
  if (text.startsWith(lineMark, at)) {
    const found = /[\r\n]/g;
    found.lastIndex = at;
    return found.exec(text)?.index ?? text.length;
  }
  if (format === 'toml' || !text.startsWith('/*', at)) return undefined;
  const end = text.indexOf('*/', at + 2);
  if (end === -1 || /[\r\n]/.test(text.slice(at, end))) return undefined;
  return end + 2;
}

/** The first line break of the text, to write others like it. */
export function lineBreakOf(text: string): string {
  return /\r\n|\n|\r/.exec(text)?.[0] ?? '\n';
}
