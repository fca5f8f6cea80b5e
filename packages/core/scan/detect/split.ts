// A value that was cut and laid into several fields: the fields' ends are put together again, and
// what is found across a seam counts.
import { isCard, isSsn } from './id-numbers.ts';
import { hitsIn } from './scan-text.ts';
import type { DetectorHit, FindingClass, Strictness } from './types.ts';

export interface Piece<T> {
  readonly text: string;
  readonly of: T;
}

export interface SplitHit<T> {
  readonly hit: DetectorHit;
  readonly parts: readonly { readonly of: T; readonly start: number; readonly end: number }[];
}

interface Placed<T> {
  readonly of: T;
  /** Where the part stands in the joined text, and in its own. */
  readonly at: number;
  readonly from: number;
  readonly length: number;
}

interface Joined<T> {
  readonly text: string;
  readonly placed: readonly Placed<T>[];
}

interface SplitTask {
  readonly classes: ReadonlySet<FindingClass>;
  readonly strictness: Strictness;
}

interface SplitHits<T> {
  readonly found: readonly SplitHit<T>[];
  /** Fields that were not looked at with their neighbours, being too much work. */
  readonly skipped: number;
  readonly steps: number;
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
  `assignment authorization-header connection-string high-entropy basic-auth-url twilio-key`.split(
    /\s+/,
  ),
);

export function splitHits<T>(pieces: readonly Piece<T>[], task: SplitTask): SplitHits<T> {
  const found: SplitHit<T>[] = [];
  let skipped = 0;
  let steps = 0;
  for (let from = 0; from === 0 || from + OVERLAP < pieces.length; from += SLICE - OVERLAP) {
    const slice = hitsOfSlice(pieces.slice(from, from + SLICE), task);
    found.push(...slice.found);
    skipped += slice.skipped;
    steps += slice.steps;
  }
  if (task.classes.has('personal')) found.push(...splitNumbers(pieces));
  return { found, skipped, steps };
}

function hitsOfSlice<T>(used: readonly Piece<T>[], task: SplitTask): SplitHits<T> {
  const found: SplitHit<T>[] = [];
  let skipped = 0;
  let steps = 0;
  const look = (separator: string, classes: readonly FindingClass[]) => {
    const wanted = new Set(classes.filter((name) => task.classes.has(name)));
    if (wanted.size === 0) return;
    const joined = join(used, separator);
    const { text } = joined;
    const hits = hitsIn({
      text,
      classes: wanted,
      strictness: task.strictness,
      findingsMax: FINDINGS_MAX,
    });
    steps += hits.steps;
    if (hits.gaps.some(({ reason }) => reason === 'too_much_work')) skipped = used.length;
    for (const hit of hits.hits) {
      const parts = partsOf(joined, hit);
      if (hit.score > 1 && parts.length > 1 && !ACCIDENTAL.has(hit.rule))
        found.push({ hit, parts });
    }
  };
  look('', ['secret']);
  look(' ', ['injection']);
  return { found, skipped, steps };
}

function join<T>(pieces: readonly Piece<T>[], separator: string): Joined<T> {
  const placed: Placed<T>[] = [];
  const texts: string[] = [];
  let length = 0;
  const add = (text: string) => {
    texts.push(text);
    length += text.length;
  };
  for (const [index, { text, of }] of pieces.entries()) {
    if (index > 0) add(separator);
    if (text.length <= 2 * REACH) {
      placed.push({ of, at: length, from: 0, length: text.length });
      add(text);
      continue;
    }
    placed.push({ of, at: length, from: 0, length: REACH });
    add(text.slice(0, REACH) + BREAK);
    const from = text.length - REACH;
    placed.push({ of, at: length, from, length: REACH });
    add(text.slice(from));
  }
  return { text: texts.join(''), placed };
}

function partsOf<T>({ placed }: Joined<T>, { start, end }: DetectorHit) {
  return placed.flatMap(({ of, at, from, length }) => {
    const first = Math.max(start, at);
    const last = Math.min(end, at + length);
    return first < last ? [{ of, start: from + first - at, end: from + last - at }] : [];
  });
}

/** Fields of digits alone, side by side, that are a number together and no part of a longer row. */
function splitNumbers<T>(pieces: readonly Piece<T>[]): SplitHit<T>[] {
  const found: SplitHit<T>[] = [];
  for (let from = 0; from < pieces.length; from++) {
    let to = from;
    while (to < pieces.length && /^\d{1,18}$/.test(pieces[to]?.text ?? '')) to++;
    const row = pieces.slice(from, to);
    const hit = row.length > 1 ? numberOf(row.map(({ text }) => text)) : undefined;
    if (hit !== undefined) {
      const parts = row.map(({ of, text }) => ({ of, start: 0, end: text.length }));
      found.push({ hit, parts });
    }
    from = Math.max(from, to);
  }
  return found;
}

function numberOf(texts: readonly string[]): DetectorHit | undefined {
  const digits = texts.join('');
  const shape = texts.map(({ length }) => length).join('-');
  const hit = { class: 'personal', start: 0, end: digits.length, score: 2, value: digits } as const;
  if (isCard(digits)) {
    return {
      ...hit,
      rule: 'card-number',
      label: 'looks like the number of a payment card, in parts',
    };
  }
  if (shape === '3-2-4' && isSsn(digits)) {
    return { ...hit, rule: 'us-ssn', label: 'looks like a US social security number, in parts' };
  }
  return undefined;
}
