// Rules for the values that were injected: known exactly, found in every shape.

import { unescaped } from '../text/escapes.ts';
import { askRules, createPrefilter, type Prefilter } from '../text/keyword-search.ts';
import type { KeywordPlace, Match, Range, Rule, Scanned, SecretValue } from '../types.ts';
import type { Shape } from './encodings.ts';
import { halvesOf, shapesOf, wholeShape } from './encodings.ts';
import type { PieceSearch, ViewScan } from './pieces.ts';
import { createPieceSearch } from './pieces.ts';

/** A value that can't be looked for; the caller must not inject it, or must say so. */
export interface RefusedValue {
  readonly name: string;
  readonly reason: 'too_short' | 'too_long' | 'too_many';
}

interface ValueRules {
  /** The values and their encodings as they stand. */
  readonly rules: readonly Rule[];
  readonly refused: readonly RefusedValue[];
  /** How everything else that shows a value is found; absent when there is none. */
  readonly search: ValueSearch | undefined;
}

type CutFinder = (task: Scanned, onRange: (range: Range) => void) => void;

export interface ValueSearch extends PieceSearch {
  /** Finds the beginning of a value at the end of a cut text. */
  readonly findCut: CutFinder;
}

export const INJECTED = 'injected-secret';
const VALUES_MAX = 128;
const LENGTH_MIN = 4;
const LENGTH_MAX = 65_536;
const LENGTH_MAX_OF_ALL = 1_048_576;
/** From here on a half is long enough to be a secret too. */
const HALVED_FROM = 16;
/** So much of a shape is looked for by the prefilter. */
const ANCHOR_LENGTH = 8;

function refusalOf({ name, value }: SecretValue, length: number): RefusedValue | undefined {
  if (value.trim().length < LENGTH_MIN) return { name, reason: 'too_short' };
  if (value.length > LENGTH_MAX) return { name, reason: 'too_long' };
  return length <= LENGTH_MAX_OF_ALL ? undefined : { name, reason: 'too_many' };
}

export function valueRules(values: readonly SecretValue[]): ValueRules {
  const kept: string[] = [];
  const refused: RefusedValue[] = [];
  let length = 0;
  for (const [index, secret] of values.entries()) {
    length += secret.value.length;
    const refusal = refusalOf(secret, index < VALUES_MAX ? length : Number.POSITIVE_INFINITY);
    if (refusal === undefined) kept.push(secret.value);
    else refused.push(refusal);
  }
  // A file's value often ends with a newline that the server strips.
  const forms = [...new Set(kept.flatMap((value) => [value, value.trim()]))];
  const rules = rulesOf([...forms.flatMap(shapesOf), ...forms.flatMap(halves)]);
  if (forms.length === 0) return { rules, refused, search: undefined };
  const pieces = createPieceSearch(forms, viewScan(forms));
  return { rules, refused, search: { ...pieces, findCut: cutFinder(rules) } };
}

function halves(form: string): Shape[] {
  return form.length >= HALVED_FROM ? halvesOf(form) : [];
}

/** Looks for values in text whose escapes were undone: as they stand, halved, or cut at the end. */
function viewScan(forms: readonly string[]): ViewScan {
  const plain = [...new Set(forms.flatMap((form) => [form, unescaped(form)]))];
  const rules = rulesOf(plain.flatMap((form) => [wholeShape(form), ...halves(form)]));
  const cut = cutFinder(rules);
  let prefilter: Prefilter | undefined;
  return (task, probe, onRange) => {
    const onHit = askRules(rules, task, (_, match) => {
      if (match !== undefined) onRange(match);
    });
    cut(task, onRange);
    prefilter ??= createPrefilter(rules);
    return prefilter.scanBoth(task.text, onHit, probe);
  };
}

function rulesOf(shapes: readonly Shape[]): Rule[] {
  const byKey = new Map<string, Shape>();
  for (const shape of shapes) {
    const { text, anyCase = false, before = 0, after = 0 } = shape;
    if (text.length >= LENGTH_MIN) byKey.set(`${anyCase} ${before} ${after} ${text}`, shape);
  }
  return [...byKey.values()].map((shape) => ({
    name: INJECTED,
    keywords: [shape.text.slice(0, ANCHOR_LENGTH)],
    anyCase: shape.anyCase ?? false,
    match: (place) => matchShape(place, shape),
  }));
}

function matchShape({ text, at, truncated }: KeywordPlace, shape: Shape): Match | undefined {
  const { text: wanted, anyCase = false, before = 0, after = 0 } = shape;
  const end = Math.min(text.length, at + wanted.length);
  if (end < at + wanted.length && !truncated) return undefined;
  if (!(anyCase ? isFolded(wanted, text, at) : wanted.startsWith(text.slice(at, end)))) {
    return undefined;
  }
  return { start: Math.max(0, at - before), end: Math.min(text.length, end + after), readTo: end };
}

/** Whether a text goes on like this as far as it goes, apart from the case of ASCII letters. */
function isFolded(wanted: string, text: string, from: number): boolean {
  const length = Math.min(wanted.length, text.length - from);
  for (let at = 0; at < length; at++) {
    const unit = text.charCodeAt(from + at);
    const folded = unit >= 0x41 && unit <= 0x5a ? unit + 0x20 : unit;
    if (folded !== wanted.charCodeAt(at)) return false;
  }
  return true;
}

/** Finds the beginning of a shape at the end of a cut text, shorter than what the prefilter looks for. */
function cutFinder(rules: readonly Rule[]): CutFinder {
  const exact = new Set<string>();
  const folded = new Set<string>();
  for (const { keywords, anyCase } of rules) {
    const anchor = keywords[0] ?? '';
    for (let length = LENGTH_MIN; length < anchor.length; length++) {
      (anyCase ? folded : exact).add(anchor.slice(0, length));
    }
  }
  return ({ text, truncated }, onRange) => {
    for (let length = ANCHOR_LENGTH - 1; truncated && length >= LENGTH_MIN; length--) {
      const tail = text.slice(-length);
      if (!exact.has(tail) && !folded.has(tail.toLowerCase())) continue;
      onRange({ start: text.length - tail.length, end: text.length });
      return;
    }
  };
}
