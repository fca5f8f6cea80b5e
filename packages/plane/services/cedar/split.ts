// A file of policies → one piece of text for each. In Cedar a semicolon ends a policy and stands
// nowhere else, but in strings and comments.
import type { Piece } from './problems.ts';

/** The pieces in the order of the file; what is only blanks and comments is none. */
export function splitPolicies(file: string, fileText: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let start = 0;
  let hasCode = false;
  const token = /\/\/[^\n]*|"(?:[^"\\]|\\[\s\S])*"?|;|[^\s/";]+|\//g;
  for (const match of fileText.matchAll(token)) {
    const [text] = match;
    if (text.startsWith('//')) continue;
    hasCode = true;
    if (text !== ';') continue;
    const end = match.index + 1;
    pieces.push(trimmed({ file, fileText, start, text: fileText.slice(start, end) }));
    start = end;
    hasCode = false;
  }
  if (hasCode) pieces.push(trimmed({ file, fileText, start, text: fileText.slice(start) }));
  return pieces;
}

/** Without the blanks and comments before it, so that a policy starts where it is seen to start. */
function trimmed(piece: Piece): Piece {
  const skipped = /^(?:\s+|\/\/[^\n]*(?:\n|$))*/.exec(piece.text)?.[0].length ?? 0;
  return { ...piece, start: piece.start + skipped, text: piece.text.slice(skipped) };
}
