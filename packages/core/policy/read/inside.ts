// Where the nth character of a string stands in the source, for errors inside patterns.
import type { ScalarTree } from './tree.ts';

/** The offset in the source of a character of the value; the start of the value if unknowable. */
export function sourceOffset(tree: ScalarTree, inside: number): number {
  const { value, raw, style, offset } = tree;
  if (typeof value !== 'string' || inside < 0 || inside > value.length) return offset;
  if (style === 'literal') return offset + (literalOffset(value, raw, inside) ?? 0);
  // Folding joins lines, so that columns after the first break cannot be told.
  if (style === 'folded' || raw.includes('\n')) return offset;
  if (style === 'double') return offset + escapedOffset(raw, inside);
  if (style === 'plain') return offset + inside;
  return raw.includes("''") ? offset : offset + 1 + inside;
}

/** In `|` text, each line of the value is one line of the source behind the same indentation. */
function literalOffset(value: string, raw: string, inside: number): number | undefined {
  const before = value.slice(0, inside);
  const lineIndex = before.split('\n').length - 1;
  const column = inside - (before.lastIndexOf('\n') + 1);
  let start = raw.indexOf('\n') + 1;
  for (let line = 0; line < lineIndex; line++) start = raw.indexOf('\n', start) + 1;
  if (start === 0) return undefined;
  const end = raw.indexOf('\n', start);
  const source = raw.slice(start, end === -1 ? raw.length : end);
  const text = value.split('\n')[lineIndex] ?? '';
  const indent = source.indexOf(text);
  return indent === -1 ? undefined : start + indent + column;
}

const ESCAPE_LENGTHS: { readonly [letter: string]: number } = { x: 4, u: 6, U: 10 };

function escapedOffset(raw: string, inside: number): number {
  let at = 1;
  for (let unit = 0; unit < inside && at < raw.length - 1; unit++) {
    if (raw[at] === '\\') {
      const letter = raw[at + 1] ?? '';
      const length = ESCAPE_LENGTHS[letter] ?? 2;
      // Eight hex digits may spell a character of two units.
      if (letter === 'U' && Number.parseInt(raw.slice(at + 2, at + 10), 16) > 0xffff) unit++;
      at += length;
    } else at++;
  }
  return at;
}
