/**
 * The same text, with memory of its own: a piece that was cut out of a longer text keeps all of that text. For what is
 * kept after the text is done with.
 */
export function detached(piece: string): string {
  return Array.from(piece).join('');
}
