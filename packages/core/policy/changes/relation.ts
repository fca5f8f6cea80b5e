// How two conditions relate: which of them lets more calls match.
import type { JsonObject, JsonValue } from '@subluminal/contracts';
import { isJsonObject, own } from '../match/match.ts';
import { coversNames, type NameSet, namesIn } from '../match/names.ts';

/** The second condition, seen from the first. */
export type Relation = 'same' | 'narrower' | 'wider' | 'different';
export type Value = JsonValue | undefined;
export type Relate = (before: Value, after: Value) => Relation;

/** From whether each condition covers the other. */
export function relation(covers: {
  readonly beforeCoversAfter: boolean;
  readonly afterCoversBefore: boolean;
}): Relation {
  const { beforeCoversAfter, afterCoversBefore } = covers;
  if (beforeCoversAfter) return afterCoversBefore ? 'same' : 'narrower';
  return afterCoversBefore ? 'wider' : 'different';
}

/** Conditions that must all hold: each may narrow or widen the whole. */
function allOf(relations: readonly Relation[]): Relation {
  const moving = new Set(relations.filter((one) => one !== 'same'));
  const [only] = moving;
  if (only === undefined) return 'same';
  return moving.size === 1 ? only : 'different';
}

/** A list of alternatives; a missing list stands for all there are. */
export function alternatives(before: Value, after: Value): Relation {
  return absent(before, after) ?? subsets(listOf(before), listOf(after));
}

/** A list of things that must all be there; a missing list asks for nothing. */
export function requirements(before: Value, after: Value): Relation {
  return flipped(subsets(listOf(before), listOf(after)));
}

/** An object of conditions by key, all of which must hold; a missing key asks for nothing. */
export function byKey(relate: Relate): Relate {
  return (before, after) => {
    const old = objectOf(before);
    const current = objectOf(after);
    const keys = new Set([...Object.keys(old), ...Object.keys(current)]);
    return allOf(
      [...keys].map((key) => {
        // Own keys only: a policy may well have a key called `constructor`.
        const [left, right] = [own(old, key), own(current, key)];
        return absent(left, right) ?? relate(left, right);
      }),
    );
  };
}

/** One exact value. */
export function exactly(before: Value, after: Value): Relation {
  return absent(before, after) ?? (isSame(before, after) ? 'same' : 'different');
}

/** A numeric range, its ends included; a missing end is open. */
export function range(before: Value, after: Value): Relation {
  const [old, current] = [endsOf(before), endsOf(after)];
  return relation({
    beforeCoversAfter: old.min <= current.min && old.max >= current.max,
    afterCoversBefore: current.min <= old.min && current.max >= old.max,
  });
}

/** Two long lists of names that share nothing are called different without comparing all with all. */
const NAME_STEPS_MAX = 20_000;

/** Two name matches as values; a missing one matches every name. */
export function nameRelation(before: Value, after: Value): Relation {
  const [old, current] = [nameSet(before), nameSet(after)];
  return relation({
    beforeCoversAfter: coversNames(old, current, NAME_STEPS_MAX),
    afterCoversBefore: coversNames(current, old, NAME_STEPS_MAX),
  });
}

function nameSet(value: Value): NameSet {
  if (!isJsonObject(value)) return namesIn(undefined);
  return namesIn({ glob: textsIn(value['glob']), regex: textsIn(value['regex']) });
}

export function textsIn(value: Value): readonly string[] {
  return listOf(value).filter((text) => typeof text === 'string');
}

/** What a missing condition means: it asks for nothing, so it is wider than any other. */
function absent(before: Value, after: Value): Relation | undefined {
  if (before === undefined) return after === undefined ? 'same' : 'narrower';
  return after === undefined ? 'wider' : undefined;
}

function subsets(before: readonly JsonValue[], after: readonly JsonValue[]): Relation {
  const [old, current] = [new Set(before), new Set(after)];
  return relation({
    beforeCoversAfter: after.every((value) => old.has(value)),
    afterCoversBefore: before.every((value) => current.has(value)),
  });
}

function flipped(one: Relation): Relation {
  if (one === 'narrower') return 'wider';
  return one === 'wider' ? 'narrower' : one;
}

function endsOf(value: Value): { readonly min: number; readonly max: number } {
  const ends = objectOf(value);
  const [min, max] = [own(ends, 'min'), own(ends, 'max')];
  return {
    min: typeof min === 'number' ? min : Number.NEGATIVE_INFINITY,
    max: typeof max === 'number' ? max : Number.POSITIVE_INFINITY,
  };
}

export function listOf(value: Value): readonly JsonValue[] {
  return isList(value) ? value : [];
}

function isList(value: Value): value is readonly JsonValue[] {
  return Array.isArray(value);
}

export function objectOf(value: Value): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Whether two JSON values are equal; the order of keys means nothing. */
export function isSame(left: Value, right: Value): boolean {
  if (left === right) return true;
  if (isList(left) && isList(right)) {
    return left.length === right.length && left.every((item, at) => isSame(item, right[at]));
  }
  if (!isJsonObject(left) || !isJsonObject(right)) return false;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && isSame(left[key], right[key]))
  );
}
