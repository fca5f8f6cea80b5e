// Which names a match covers, as far as that can be told from its globs and expressions alone.
import type { Match, NameMatch } from '@subluminal/contracts';
import { compileGlob, type NameTest } from '../../patterns/glob.ts';
import { isJsonObject } from '../match/match.ts';
import { listOf, objectOf, type Relation, relation, type Value } from './relation.ts';

/** How many comparisons are left; below zero, what was not compared counts as overlapping. */
export interface Steps {
  left: number;
}

/** The alternatives of one match, read and compiled once. */
interface Names {
  readonly everything: boolean;
  readonly regexes: ReadonlySet<string>;
  readonly literals: ReadonlySet<string>;
  readonly patterns: ReadonlyMap<string, Pattern>;
}

/** A glob that is more than a name. */
interface Pattern {
  readonly text: string;
  readonly fixedStart: string;
  readonly onlyStars: boolean;
  readonly test: NameTest;
}

const SPECIAL = /[*?[\]{}\\]/;
const SPECIAL_BUT_STAR = /[?[\]{}\\]/;
/** Two long lists that share nothing are called different without comparing all with all. */
const RELATION_STEPS_MAX = 20_000;
const EVERYTHING: Names = {
  everything: true,
  regexes: new Set(),
  literals: new Set(),
  patterns: new Map(),
};

const namesBy = new WeakMap<object, Names>();

/** Two name matches as values; a missing one matches every name. */
export function nameRelation(before: Value, after: Value): Relation {
  const old = namesOf(before);
  const current = namesOf(after);
  return relation({
    beforeCoversAfter: coversAll(old, current),
    afterCoversBefore: coversAll(current, old),
  });
}

/** False only when no pair of names can match both. */
export function mayOverlap(left: Match, right: Match, steps: Steps): boolean {
  return (
    namesMayOverlap(left.server_name, right.server_name, steps) &&
    namesMayOverlap(left.tool_name, right.tool_name, steps)
  );
}

function namesMayOverlap(
  left: NameMatch | undefined,
  right: NameMatch | undefined,
  steps: Steps,
): boolean {
  steps.left -= 1;
  if (left === undefined || right === undefined || steps.left < 0) return true;
  const [one, other] = [remembered(left), remembered(right)];
  if (isOpen(one) || isOpen(other)) return true;
  return (
    literalsMeet(one, other, steps) ||
    literalsFit(one, other, steps) ||
    literalsFit(other, one, steps) ||
    patternsMeet(one, other, steps) ||
    steps.left < 0
  );
}

/** Whether no name can be ruled out; what an expression matches is not looked into. */
function isOpen({ everything, regexes }: Names): boolean {
  return everything || regexes.size > 0;
}

function literalsMeet(one: Names, other: Names, steps: Steps): boolean {
  const [few, many] = one.literals.size < other.literals.size ? [one, other] : [other, one];
  for (const name of few.literals) {
    steps.left -= 1;
    if (many.literals.has(name)) return true;
  }
  return false;
}

function literalsFit({ literals }: Names, { patterns }: Names, steps: Steps): boolean {
  if (patterns.size === 0) return false;
  for (const name of literals) {
    for (const { test } of patterns.values()) {
      steps.left -= 1;
      if (steps.left < 0 || test(name)) return true;
    }
  }
  return false;
}

function patternsMeet(one: Names, other: Names, steps: Steps): boolean {
  for (const { fixedStart: left } of one.patterns.values()) {
    for (const { fixedStart: right } of other.patterns.values()) {
      steps.left -= 1;
      if (steps.left < 0 || left.startsWith(right) || right.startsWith(left)) return true;
    }
  }
  return false;
}

/** Whether every name of the narrow one surely belongs to the wide one. */
function coversAll(wide: Names, narrow: Names): boolean {
  if (wide.everything) return true;
  if (narrow.everything) return false;
  const steps = { left: RELATION_STEPS_MAX };
  for (const text of narrow.regexes) if (!wide.regexes.has(text)) return false;
  for (const text of narrow.literals) {
    if (!wide.literals.has(text) && !someFits(wide, text, steps)) return false;
  }
  for (const pattern of narrow.patterns.values()) {
    if (!wide.patterns.has(pattern.text) && !someCovers(wide, pattern, steps)) return false;
  }
  return true;
}

function someFits({ patterns }: Names, name: string, steps: Steps): boolean {
  for (const { test } of patterns.values()) {
    steps.left -= 1;
    if (steps.left < 0) return false;
    if (test(name)) return true;
  }
  return false;
}

/**
 * With stars only, a glob that matches the text of another also matches all that one matches: only
 * a star can take in the other's star.
 */
function someCovers({ patterns }: Names, narrow: Pattern, steps: Steps): boolean {
  if (!narrow.onlyStars) return false;
  for (const { onlyStars, test } of patterns.values()) {
    steps.left -= 1;
    if (steps.left < 0) return false;
    if (onlyStars && test(narrow.text)) return true;
  }
  return false;
}

function namesOf(value: Value): Names {
  return isJsonObject(value) ? remembered(value) : EVERYTHING;
}

function remembered(names: NameMatch): Names {
  const known = namesBy.get(names);
  if (known !== undefined) return known;
  const { glob, regex } = objectOf({ ...names });
  const globs = textsOf(glob);
  const found: Names = {
    everything: globs.includes('*'),
    regexes: new Set(textsOf(regex)),
    literals: new Set(globs.filter((text) => !SPECIAL.test(text))),
    patterns: new Map(globs.filter((text) => SPECIAL.test(text)).map((text) => [text, read(text)])),
  };
  namesBy.set(names, found);
  return found;
}

function read(text: string): Pattern {
  const compiled = compileGlob(text);
  if (!compiled.ok) throw new Error(`an invalid glob reached the diff: ${text.slice(0, 100)}`);
  return {
    text,
    fixedStart: text.slice(0, text.search(SPECIAL)),
    onlyStars: !SPECIAL_BUT_STAR.test(text),
    test: compiled.test,
  };
}

function textsOf(texts: Value): readonly string[] {
  return listOf(texts).filter((text) => typeof text === 'string');
}
