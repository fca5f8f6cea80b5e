// A value that was cut and laid into several fields: the fields' ends are put together again, and
// what is found across a seam counts.
import { isDigit } from '../../json/byte-scanner.ts';
import type { Range } from '../types.ts';
import { isCard, isRareCard, isSsn } from './id-numbers.ts';
import { hitsIn, type ScanPlan } from './scan-text.ts';
import type { DetectorHit, FindingClass } from './types.ts';

/** The text of a field. */
interface Piece {
  readonly text: string;
  readonly path: string;
}

interface SplitHit {
  readonly hit: DetectorHit;
  readonly parts: readonly (Range & { readonly path: string })[];
}

/** A stretch of a field: where it stands in the joined text, and in its own. */
interface Stretch {
  readonly path: string;
  readonly at: number;
  readonly from: number;
  readonly length: number;
}

interface SplitHits {
  readonly found: SplitHit[];
  /** Fields that were not looked at with their neighbours, being too much work. */
  skipped: number;
  steps: number;
}

/** No more of a field than this is needed at either end: a secret or a phrase isn't longer. */
const REACH = 256;
const BREAK = '\n\n';
/** A long row is put together slice by slice; what one value fills lies whole in one of them. */
const SLICE = 4_096;
const OVERLAP = 512;
const FINDINGS_MAX = 1_000;
/** Found by a word before the value: two fields side by side make such a pair by accident. */
const ACCIDENTAL: ReadonlySet<string> = new Set(
  `assignment authorization-header connection-string high-entropy basic-auth-url
   twilio-key`.split(/\s+/),
);
/** What stands between two fields, by what is looked for. */
const JOINTS = [
  { name: 'secret', separator: '', classes: new Set<FindingClass>(['secret']) },
  { name: 'injection', separator: ' ', classes: new Set<FindingClass>(['injection']) },
] as const;

export function splitHits(pieces: readonly Piece[], plan: ScanPlan): SplitHits {
  const hits: SplitHits = { found: [], skipped: 0, steps: 0 };
  for (let from = 0; from === 0 || from + OVERLAP < pieces.length; from += SLICE - OVERLAP) {
    const slice = pieces.length <= SLICE ? pieces : pieces.slice(from, from + SLICE);
    let isSkipped = false;
    for (const { classes, name, separator } of JOINTS) {
      if (!plan.classes.has(name)) continue;
      const text = joined(slice, separator);
      const own = hitsIn(text, { classes, strictness: plan.strictness, findingsMax: FINDINGS_MAX });
      hits.steps += own.steps;
      isSkipped ||= own.gaps.some(({ reason }) => reason === 'too_much_work');
      if (own.hits.length === 0) continue;
      const stretches = stretchesOf(slice, separator);
      for (const hit of own.hits) {
        const parts = partsOf(stretches, hit);
        const isSplit = hit.score > 1 && parts.length > 1 && !ACCIDENTAL.has(hit.rule);
        if (isSplit) hits.found.push({ hit, parts });
      }
    }
    if (isSkipped) hits.skipped += slice.length;
  }
  if (plan.classes.has('personal')) addSplitNumbers(pieces, hits.found);
  return hits;
}

/** The ends of the pieces; of a short one, all of it. */
function joined(pieces: readonly Piece[], separator: string): string {
  let text = '';
  for (const [index, { text: own }] of pieces.entries()) {
    if (index > 0) text += separator;
    text += own.length <= 2 * REACH ? own : own.slice(0, REACH) + BREAK + own.slice(-REACH);
  }
  return text;
}

/** The stretches that the text is joined from. */
function stretchesOf(pieces: readonly Piece[], separator: string): readonly Stretch[] {
  const stretches: Stretch[] = [];
  let at = 0;
  for (const { path, text } of pieces) {
    const { length } = text;
    if (length <= 2 * REACH) stretches.push({ path, at, from: 0, length });
    else {
      stretches.push({ path, at, from: 0, length: REACH });
      at += REACH + BREAK.length;
      stretches.push({ path, at, from: length - REACH, length: REACH });
    }
    at += (stretches.at(-1)?.length ?? 0) + separator.length;
  }
  return stretches;
}

function partsOf(stretches: readonly Stretch[], { start, end }: Range): SplitHit['parts'] {
  return stretches.flatMap(({ path, at, from, length }) => {
    const first = Math.max(start, at);
    const last = Math.min(end, at + length);
    return first < last ? [{ path, start: from + first - at, end: from + last - at }] : [];
  });
}

/** Fields of digits alone, side by side, that are a number together and no part of a longer row. */
function addSplitNumbers(pieces: readonly Piece[], found: SplitHit[]): void {
  for (let from = 0; from < pieces.length; from++) {
    let to = from;
    while (to < pieces.length && isDigits(pieces[to]?.text ?? '')) to++;
    if (to - from > 1) {
      const row = pieces.slice(from, to);
      const hit = numberOf(row.map(({ text }) => text));
      const parts = row.map(({ path, text }) => ({ path, start: 0, end: text.length }));
      if (hit !== undefined) found.push({ hit, parts });
    }
    from = Math.max(from, to);
  }
}

function isDigits(text: string): boolean {
  return isDigit(text.charCodeAt(0)) && /^\d{1,18}$/.test(text);
}

function numberOf(texts: readonly string[]): DetectorHit | undefined {
  const value = texts.join('');
  const shape = texts.map(({ length }) => length).join('-');
  const hit = { class: 'personal', start: 0, end: value.length, score: 2, value } as const;
  if (isCard(value) && !isRareCard(value)) {
    const label = 'looks like the number of a payment card, in parts';
    return { ...hit, rule: 'card-number', label };
  }
  if (shape !== '3-2-4' || !isSsn(value)) return undefined;
  return { ...hit, rule: 'us-ssn', label: 'looks like a US social security number, in parts' };
}
