// A value that was cut and laid into several fields: the fields' ends are put together again, and
// what is found across a seam counts.
import { isDigit } from '../../json/byte-scanner.ts';
import { FORMATS } from '../formats/index.ts';
import type { Range } from '../types.ts';
import { seedStart } from './disguised.ts';
import { isCard, isRareCard, isSsn } from './id-numbers.ts';
import { type KeywordsByState, NO_KEYWORDS, scanKeywords } from './keywords.ts';
import { hitsIn, type ScanPlan } from './scan-text.ts';
import { survey, type TextSurvey } from './survey.ts';
import type { DetectorHit, FindingClass } from './types.ts';

/** The text of a field. */
interface Piece {
  readonly text: string;
  readonly path: string;
  /** It may hold an order in rot13, which turns the letters around it as well. */
  readonly mayBeTurned: boolean;
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
    for (const joint of JOINTS) {
      const { classes, name, separator } = joint;
      if (!plan.classes.has(name) || !mayCross(slice, joint)) continue;
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

/** More than what a secret has before its keyword. */
const BEHIND_SEAM = 96;
/** A keyword may go on in a word with swapped letters, when it begins before a seam. */
const KEYWORD_MAX = 32;

/**
 * Whether anything can begin before the last piece and go on in it. Most rows are a few short fields and then the
 * text of the message, which was looked at already: only its beginning is, once more. What is decoded farther on
 * changes nothing of what stands before it, unless it is turned.
 */
function mayCross(pieces: readonly Piece[], { name, separator }: (typeof JOINTS)[number]): boolean {
  const last = pieces.at(-1);
  if (last === undefined || last.text.length < 2 * REACH) return true;
  const before = joined(pieces.slice(0, -1), separator) + separator;
  if (before.length > REACH) return true;
  const seam = before.length;
  const head = before + last.text.slice(0, BEHIND_SEAM);
  const seen = survey(head);
  const isBefore = ({ start }: Pick<Range, 'start'>) => start < seam;
  if (!seen.isAscii || seen.hasEscapes || [...seen.spaced, ...seen.blobs].some(isBefore))
    return true;
  const { formats, phrases } = scanKeywords();
  if (name === 'secret') {
    const isSplit = (keyword: KeywordPlace) => {
      const rule = FORMATS[keyword.rule];
      const isAccident = rule === undefined || ACCIDENTAL.has(rule.name);
      return !isAccident && (rule.looksBack === true || isBefore(keyword));
    };
    return keywordsIn(seen, formats).some(isSplit);
  }
  if (last.mayBeTurned || seen.words.some(({ start }) => start < seam + KEYWORD_MAX)) return true;
  if (seen.seeds.some((seed) => seedStart(head, seed.last) < seam)) return true;
  return keywordsIn(seen, phrases).some(isBefore);
}

interface KeywordPlace {
  readonly rule: number;
  readonly start: number;
}

function keywordsIn({ keywords }: TextSurvey, known: KeywordsByState): readonly KeywordPlace[] {
  const places: KeywordPlace[] = [];
  for (let at = 0; at < keywords.length; at += 2) {
    for (const { rule, text } of known.get(keywords[at + 1] ?? 0) ?? NO_KEYWORDS) {
      places.push({ rule, start: (keywords[at] ?? 0) - text.length });
    }
  }
  return places;
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
