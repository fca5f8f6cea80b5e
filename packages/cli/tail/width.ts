// Text in a given number of cells of a terminal. Names and reasons come from others: made harmless
// first, then measured, because an escape is longer than what it stands for.
import { displayWidth, harmless } from '../terminal/text.ts';

const CUT = '…';
/** A base may carry many marks in one cell; more than this is cut off with the cell. */
const MARKS_PER_CELL_MAX = 8;
/** Where there is no terminal, a line may be as long as this. */
const LENGTH_MAX = 8_192;
/** One of our escapes, or a character with the marks on it. */
const UNIT = /\\u\{[0-9a-f]+\}|\P{M}\p{M}*|\p{M}/gu;

/** Harmless, and at most so many cells wide; no escape and no wide character is shown in part. */
export function fitted(text: string, cellsMax: number): string {
  if (cellsMax <= 0) return '';
  const lengthMax = Math.min(LENGTH_MAX, cellsMax * MARKS_PER_CELL_MAX);
  const isWhole = text.length <= lengthMax;
  const shown = harmless(isWhole ? text : text.slice(0, lengthMax));
  return isWhole && displayWidth(shown) <= cellsMax ? shown : cut(shown, cellsMax);
}

function cut(text: string, cellsMax: number): string {
  const room = cellsMax - displayWidth(CUT);
  let cells = 0;
  let end = 0;
  for (const [unit] of text.matchAll(UNIT)) {
    cells += displayWidth(unit);
    if (cells > room) break;
    end += unit.length;
  }
  return text.slice(0, end) + CUT;
}

/** Fitted, and filled up with spaces to exactly that width. */
export function padded(text: string, cells: number, side: 'left' | 'right' = 'left'): string {
  const shown = fitted(text, cells);
  const space = ' '.repeat(Math.max(0, cells - displayWidth(shown)));
  return side === 'left' ? shown + space : space + shown;
}
