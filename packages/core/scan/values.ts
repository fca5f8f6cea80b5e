// Rules for the values that were injected: known exactly, found in every shape.
import type { Shape } from './encodings.ts';
import { halvesOf, shapesOf } from './encodings.ts';
import type { Match, Place, Rule, SecretValue } from './types.ts';

/** A value that can't be looked for; the caller must not inject it, or must say so. */
interface RefusedValue {
  readonly name: string;
  readonly reason: 'too_short' | 'too_long' | 'too_many';
}

interface ValueRules {
  readonly rules: readonly Rule[];
  readonly refused: readonly RefusedValue[];
}

const INJECTED = 'injected-secret';
const VALUES_MAX = 128;
const LENGTH_MIN = 4;
const LENGTH_MAX = 65_536;
/** From here on a half is long enough to be a secret too. */
const HALVED_FROM = 16;
/** So much of a shape is looked for by the prefilter. */
const ANCHOR_LENGTH = 8;

function refusalOf({ name, value }: SecretValue, index: number): RefusedValue | undefined {
  if (value.trim().length < LENGTH_MIN) return { name, reason: 'too_short' };
  if (value.length > LENGTH_MAX) return { name, reason: 'too_long' };
  return index < VALUES_MAX ? undefined : { name, reason: 'too_many' };
}

function valueRules(values: readonly SecretValue[]): ValueRules {
  const shapes = new Map<string, Shape>();
  const refused: RefusedValue[] = [];
  for (const [index, secret] of values.entries()) {
    const refusal = refusalOf(secret, index);
    if (refusal !== undefined) refused.push(refusal);
    else for (const shape of allShapes(secret.value)) shapes.set(keyOf(shape), shape);
  }
  return { rules: [...shapes.values()].map(shapeRule), refused };
}

/** A file's value often ends with a newline that the server strips. */
function allShapes(value: string): Shape[] {
  const forms = [...new Set([value, value.trim()])];
  const halves = forms.flatMap((form) => (form.length >= HALVED_FROM ? halvesOf(form) : []));
  return [...forms.flatMap(shapesOf), ...halves].filter(({ text }) => text.length >= LENGTH_MIN);
}

function keyOf({ text, anyCase, before, after }: Shape): string {
  return `${anyCase === true} ${before ?? 0} ${after ?? 0} ${text}`;
}

function shapeRule(shape: Shape): Rule {
  const { text: wanted, anyCase = false } = shape;
  const anchor = wanted.slice(0, ANCHOR_LENGTH);
  return {
    name: INJECTED,
    keywords: [anchor],
    anyCase,
    match: (place) => matchShape(place, shape),
  };
}

function matchShape({ text, at, truncated }: Place, shape: Shape): Match | undefined {
  const { text: wanted, anyCase = false, before = 0, after = 0 } = shape;
  const end = Math.min(text.length, at + wanted.length);
  if (end < at + wanted.length && !truncated) return undefined;
  if (!anyCase && end === at + wanted.length && !text.startsWith(wanted, at)) return undefined;
  const part = anyCase ? text.slice(at, end).toLowerCase() : text.slice(at, end);
  if (!wanted.startsWith(part)) return undefined;
  return { start: Math.max(0, at - before), end: Math.min(text.length, end + after), readTo: end };
}

/** The beginning of a shape at the end of a cut text, shorter than what the prefilter looks for. */
function cutValue(text: string, rules: readonly Rule[]): number | undefined {
  let start: number | undefined;
  for (const { keywords, anyCase } of rules) {
    const anchor = keywords[0] ?? '';
    for (let length = anchor.length - 1; length >= LENGTH_MIN; length--) {
      const tail = text.slice(-length);
      if (!anchor.startsWith(anyCase ? tail.toLowerCase() : tail)) continue;
      start = Math.min(start ?? text.length, text.length - tail.length);
    }
  }
  return start;
}

export type { RefusedValue };
export { cutValue, INJECTED, valueRules };
