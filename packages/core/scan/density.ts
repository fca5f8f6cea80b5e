// Whether letters and digits alone tell a value's pieces.
import { plainForm } from './forms.ts';
import { PIECE_MIN } from './seeds.ts';
import { BREAK, LETTERS, squeeze } from './squeeze.ts';
import type { Range } from './types.ts';

/** Whether some piece of a zone has no run of letters and digits that is long enough. */
export function isSparse(value: string, zones: readonly Range[]): boolean {
  const { units, pieceLength } = plainForm(value);
  const { codes, placeOf } = squeeze(LETTERS, units);
  // For each place, where the last run of enough codes that ends before it begins.
  const lastStart = new Int32Array(value.length + 1).fill(-1);
  let run = 0;
  for (const [at, code] of codes.entries()) {
    run = code === BREAK ? 0 : run + 1;
    if (run >= PIECE_MIN) lastStart[placeOf(at) + 1] = placeOf(at - PIECE_MIN + 1);
  }
  for (let at = 1; at < lastStart.length; at++) {
    lastStart[at] = Math.max(lastStart[at] ?? -1, lastStart[at - 1] ?? -1);
  }
  return zones.some(({ start, end }) => {
    for (let from = start; from + pieceLength <= end; from++) {
      if ((lastStart[from + pieceLength] ?? -1) < from) return true;
    }
    return false;
  });
}
