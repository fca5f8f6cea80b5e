// How two conditions relate: which of them lets more calls match.
import {
  HOURS,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseAs,
} from '@subluminal/contracts';
import { readHours, untilOpenMs } from '../../text/quantities.ts';
import { own } from '../match/match.ts';
import { coversNames, isSubset, type NameSet, namesIn } from '../match/names.ts';

/** The second condition, seen from the first. */
type Relation = 'same' | 'narrower' | 'wider' | 'different';
export type Value = JsonValue | undefined;
export type Relate = (before: Value, after: Value) => Relation;

/** From whether each condition covers the other. */
function related<T>(covers: (wide: T, narrow: T) => boolean, before: T, after: T): Relation {
  const isCovered = covers(before, after);
  if (covers(after, before)) return isCovered ? 'same' : 'wider';
  return isCovered ? 'narrower' : 'different';
}

/** Two sets of alternatives. */
export function relatedSets<T>(before: ReadonlySet<T>, after: ReadonlySet<T>): Relation {
  return related((wide, narrow) => isSubset(narrow, wide), before, after);
}

/** A list of alternatives; a missing list stands for all there are. */
export function alternatives(before: Value, after: Value): Relation {
  return absent(before, after) ?? relatedSets(new Set(listOf(before)), new Set(listOf(after)));
}

/** The subjects that a rule sees; a missing list stands for tools. */
export function subjectRelation(before: Value, after: Value): Relation {
  const subjects = (value: Value) => new Set(value === undefined ? ['tool'] : textsIn(value));
  return relatedSets(subjects(before), subjects(after));
}

/** A list of things that must all be there: the longer it is, the narrower. */
export function requirements(before: Value, after: Value): Relation {
  return relatedSets(new Set(listOf(after)), new Set(listOf(before)));
}

/** A list of which none may hold: the longer it is, the narrower. */
export function exclusions(before: Value, after: Value): Relation {
  return absent(before, after) ?? requirements(before, after);
}

const ANY_OF = ['glob', 'regex', 'path_under', 'path_matches'];

/** What is looked for in any argument: each entry is one more way to match. */
export function anyArgRelation(before: Value, after: Value): Relation {
  return absent(before, after) ?? related(coversAnyArg, objectOf(before), objectOf(after));
}

function coversAnyArg(wide: JsonObject, narrow: JsonObject): boolean {
  const setOf = (match: JsonObject, field: string) => new Set(textsIn(own(match, field)));
  if (!ANY_OF.every((field) => isSubset(setOf(narrow, field), setOf(wide, field)))) return false;
  if (own(narrow, 'ignore_case') === true && own(wide, 'ignore_case') !== true) return false;
  // Outside of more folders is fewer places.
  if (own(narrow, 'not_path_under') === undefined) return true;
  return (
    own(wide, 'not_path_under') !== undefined &&
    isSubset(setOf(wide, 'not_path_under'), setOf(narrow, 'not_path_under'))
  );
}

/** An object of conditions by key, all of which must hold; a missing key asks for nothing. */
export function byKey(relate: Relate): Relate {
  return (before, after) => {
    const [old, current] = [objectOf(before), objectOf(after)];
    const keys = new Set([...Object.keys(old), ...Object.keys(current)]);
    const relations = [...keys].map((key) => {
      // Own keys only: a policy may well have a key called `constructor`.
      const [left, right] = [own(old, key), own(current, key)];
      return absent(left, right) ?? relate(left, right);
    });
    const [only = 'same', ...others] = new Set(relations.filter((one) => one !== 'same'));
    return others.length === 0 ? only : 'different';
  };
}

/** One exact value. */
export function exactly(before: Value, after: Value): Relation {
  return absent(before, after) ?? (isSame(before, after) ? 'same' : 'different');
}

/** A numeric range, its ends included; a missing end is open. */
export function range(before: Value, after: Value): Relation {
  const end = (value: Value, name: string, open: number) => {
    const given = own(objectOf(value), name);
    return typeof given === 'number' ? given : open;
  };
  const covers = (wide: Value, narrow: Value) =>
    end(wide, 'min', -Infinity) <= end(narrow, 'min', -Infinity) &&
    end(wide, 'max', Infinity) >= end(narrow, 'max', Infinity);
  return related(covers, before, after);
}

/** Two windows of the day; a missing one is always open. */
export function hoursRelation(before: Value, after: Value): Relation {
  return absent(before, after) ?? relatedSets(openMinutes(before), openMinutes(after));
}

/** Two windows that a call must be outside of: the longer it is, the narrower. */
export function outsideHours(before: Value, after: Value): Relation {
  return absent(before, after) ?? relatedSets(openMinutes(after), openMinutes(before));
}

const MINUTE_MS = 60_000;
const WEEK_MINUTES = 7 * 24 * 60;

/** The minutes of a week in which a window is open; a text that is no window opens never. */
function openMinutes(value: Value): ReadonlySet<number> {
  const parsed = parseAs(HOURS, value);
  const hours = parsed.ok ? readHours(parsed.value) : 'from';
  if (typeof hours === 'string') return new Set();
  const minutes = Array.from({ length: WEEK_MINUTES }, (_, minute) => minute);
  return new Set(minutes.filter((minute) => untilOpenMs(hours, minute * MINUTE_MS) === 0));
}

/** Two long lists of names that share nothing are called different without comparing all with all. */
const NAME_STEPS_MAX = 20_000;

/** Two name matches as values; a missing one matches every name. */
export function nameRelation(before: Value, after: Value): Relation {
  const covers = (wide: NameSet, narrow: NameSet) => coversNames(wide, narrow, NAME_STEPS_MAX);
  return related(covers, nameSet(before), nameSet(after));
}

function nameSet(value: Value): NameSet {
  if (!isJsonObject(value)) return namesIn(undefined);
  const { glob, regex, ignore_case } = value;
  return namesIn({
    glob: textsIn(glob),
    regex: textsIn(regex),
    ignore_case: ignore_case === true,
  });
}

export function textsIn(value: Value): readonly string[] {
  return listOf(value).filter((text) => typeof text === 'string');
}

/** A missing condition asks for nothing, so it is wider than any other. */
function absent(before: Value, after: Value): Relation | undefined {
  if (before === undefined) return after === undefined ? 'same' : 'narrower';
  return after === undefined ? 'wider' : undefined;
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
