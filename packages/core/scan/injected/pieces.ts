// Looks for injected values where exact shapes don't find them: in pieces, broken by separators, in
// other case, and behind escapes.

import {
  LEVELS_MAX,
  sourceRange,
  type UnescapedView,
  unescaped,
  unescapeOnce,
} from '../text/escapes.ts';
import { BREAK, type Hiding, LETTERS, type Probe, squeeze, UNITS } from '../text/keyword-search.ts';
import { isRandom, randomZones } from '../text/randomness.ts';
import type { Range, Scanned } from '../types.ts';
import { ENCODED_MIN, encodedForms, type Form, plainForm, reversedForm } from './encodings.ts';
import {
  createFinder,
  type Finder,
  type Needle,
  PIECE_MIN,
  scanUnits,
  zoneMap,
} from './piece-finder.ts';
import { createSetApartSearch } from './set-apart.ts';

type OnRange = (range: Range) => void;

export interface PieceSearch {
  /** For the pass over the text that others make too. */
  readonly probe: (task: Scanned, onPiece: OnRange) => Probe;
  /** What that pass can't see; `hiding` is what it returned. */
  readonly findHidden: (task: Scanned, hiding: Hiding, onPiece: OnRange) => void;
}

export type ViewScan = (task: Scanned, probe: Probe, onRange: OnRange) => Hiding;

function needlesOf(value: string): Needle[] {
  const found = randomZones(value);
  const zones = zoneMap(value.length, found);
  const plain = found.length > 0 || isRandom(value) ? [plainForm, reversedForm] : [];
  const needle = (form: Form, codesMin: number) => ({ form, zones, codesMin });
  return [
    ...plain.map((formOf) => needle(formOf(value), PIECE_MIN)),
    ...encodedForms(value).map((form) => needle(form, ENCODED_MIN)),
  ];
}

function findersOf(values: readonly string[]) {
  // Also what becomes of a value when the escapes around it are undone with its own.
  const all = [...new Set(values.flatMap((value) => [value, unescaped(value)]))];
  const sparse = all.filter((value) => isSparse(value, randomZones(value)));
  const units = sparse.flatMap((value) =>
    [plainForm(value), reversedForm(value)].map((form) => ({
      form,
      zones: zoneMap(value.length, randomZones(value)),
      codesMin: form.pieceLength,
    })),
  );
  return {
    apart: createSetApartSearch(values),
    letters: createFinder(all.flatMap(needlesOf), LETTERS),
    // Only where a value has many signs.
    units: units.length === 0 ? undefined : createFinder(units, UNITS),
  };
}

/** `scanView` looks for more in text whose escapes were undone, in one pass with the probe. */
export function createPieceSearch(values: readonly string[], scanView: ViewScan): PieceSearch {
  let made: ReturnType<typeof findersOf> | undefined;
  // Built when the first text comes: a start-up should not wait for it.
  const finders = () => (made ??= findersOf(values));
  return {
    probe: (task, onPiece) => finders().letters(task, onPiece),
    findHidden(task, hiding, onPiece) {
      const { apart, letters, units } = finders();
      const { truncated } = task;
      apart(task, hiding.isAscii, onPiece);
      const views: UnescapedView[] = [];
      const mapped: OnRange = (piece) => {
        onPiece(views.reduceRight((range, view) => sourceRange(view, range, truncated), piece));
      };
      let mayHide = scanSigns(units, task, mapped) || hiding.hasEscapes;
      for (let { text } = task; mayHide && views.length < LEVELS_MAX; ) {
        const view = unescapeOnce({ text, truncated });
        if (view === undefined) break;
        views.push(view);
        ({ text } = view);
        const inner = { text, truncated };
        const { hasEscapes, isAscii } = scanView(inner, letters(inner, mapped), mapped);
        apart(inner, isAscii, mapped);
        mayHide = scanSigns(units, inner, mapped) || hasEscapes;
      }
    },
  };
}

/** In values with many signs every backslash counts. */
function scanSigns(units: Finder | undefined, task: Scanned, onPiece: OnRange): boolean {
  if (units === undefined) return false;
  scanUnits(task.text, units(task, onPiece));
  return task.text.includes('\\');
}

/** Whether some piece of a zone has no run of letters and digits that is long enough. */
function isSparse(value: string, zones: readonly Range[]): boolean {
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
