// Which names a match covers, judged by its globs and expressions alone.
import type { Match, NameMatch } from '@subluminal/contracts';
import { compileGlob, type NameTest } from '../../patterns/glob.ts';
import { isForTurns } from '../model/subjects.ts';

/** How many comparisons are left; below zero, names that were not compared count as overlapping. */
export interface Steps {
  left: number;
}

/** The alternatives of one match, read and compiled once. */
export interface NameSet {
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
const MATCH_ALL_GLOB = /^\*+$/;
/** In names, `.` stands for line breaks as well. Only `^$` is left out: it fits the empty name. */
const MATCH_ALL_REGEX = /^(?:\^|\\A)?\.\*(?:\$|\\z)?$|^(?:\^|\\A|\$|\\z)?$/;
const EVERYTHING: NameSet = {
  everything: true,
  regexes: new Set(),
  literals: new Set(),
  patterns: new Map(),
};

const known = new WeakMap<NameMatch, NameSet>();

/** A missing match covers every name. */
export function namesIn(names: NameMatch | undefined): NameSet {
  if (names === undefined) return EVERYTHING;
  const found = known.get(names) ?? readNames(names);
  known.set(names, found);
  return found;
}

function readNames({ glob = [], regex = [], ignore_case = false }: NameMatch): NameSet {
  const isAll = (text: string) => MATCH_ALL_GLOB.test(text);
  if (ignore_case) {
    // Compared as whole texts, as expressions are.
    const { everything } = readNames({ glob, regex });
    const texts = [...glob.map((text) => `glob ${text}`), ...regex];
    return { ...EVERYTHING, everything, regexes: new Set(texts.map((text) => `(?i)${text}`)) };
  }
  return {
    everything: glob.some(isAll) || regex.some((text) => MATCH_ALL_REGEX.test(text)),
    regexes: new Set(regex),
    literals: new Set(glob.filter((text) => !SPECIAL.test(text))),
    patterns: new Map(glob.filter((text) => SPECIAL.test(text)).map((text) => [text, read(text)])),
  };
}

function read(text: string): Pattern {
  const compiled = compileGlob(text);
  if (!compiled.ok) throw new Error(`an invalid glob was to be compared: ${text.slice(0, 100)}`);
  return {
    text,
    fixedStart: text.slice(0, text.search(SPECIAL)),
    onlyStars: !SPECIAL_BUT_STAR.test(text),
    test: compiled.test,
  };
}

/** The names that a match tests: of a turn, the provider stands for the server and the model for the tool. */
export function namePatterns(match: Match): {
  readonly server: NameMatch | undefined;
  readonly tool: NameMatch | undefined;
} {
  return isForTurns(match)
    ? { server: match.provider, tool: match.model }
    : { server: match.server_name, tool: match.tool_name };
}

/** False only when no pair of names can match both. */
export function mayOverlap(left: Match, right: Match, steps: Steps): boolean {
  if (isForTurns(left) !== isForTurns(right)) return false;
  const [one, other] = [namePatterns(left), namePatterns(right)];
  return (
    namesMayOverlap(namesIn(one.server), namesIn(other.server), steps) &&
    namesMayOverlap(namesIn(one.tool), namesIn(other.tool), steps)
  );
}

function namesMayOverlap(one: NameSet, other: NameSet, steps: Steps): boolean {
  steps.left -= 1;
  if (steps.left < 0 || isOpen(one) || isOpen(other)) return true;
  return (
    literalsMeet(one, other, steps) ||
    literalsFit(one, other, steps) ||
    literalsFit(other, one, steps) ||
    patternsMeet(one, other, steps) ||
    steps.left < 0
  );
}

/** Whether no name can be ruled out: an expression is not looked into. */
function isOpen({ everything, regexes }: NameSet): boolean {
  return everything || regexes.size > 0;
}

function literalsMeet(one: NameSet, other: NameSet, steps: Steps): boolean {
  const [few, many] = one.literals.size < other.literals.size ? [one, other] : [other, one];
  steps.left -= few.literals.size;
  return [...few.literals].some((name) => many.literals.has(name));
}

function literalsFit({ literals }: NameSet, { patterns }: NameSet, steps: Steps): boolean {
  if (patterns.size === 0) return false;
  for (const name of literals) {
    for (const { test } of patterns.values()) {
      steps.left -= 1;
      if (steps.left < 0 || test(name)) return true;
    }
  }
  return false;
}

function patternsMeet(one: NameSet, other: NameSet, steps: Steps): boolean {
  for (const { fixedStart: left } of one.patterns.values()) {
    for (const { fixedStart: right } of other.patterns.values()) {
      steps.left -= 1;
      if (steps.left < 0 || left.startsWith(right) || right.startsWith(left)) return true;
    }
  }
  return false;
}

/** Whether every name of the narrow set surely belongs to the wide one; false when in doubt. */
export function coversNames(wide: NameSet, narrow: NameSet, stepsMax: number): boolean {
  if (wide.everything) return true;
  if (narrow.everything) return false;
  let steps = stepsMax;
  const some = (fits: (pattern: Pattern) => boolean) =>
    [...wide.patterns.values()].some((pattern) => --steps >= 0 && fits(pattern));
  return (
    isSubset(narrow.regexes, wide.regexes) &&
    [...narrow.literals].every(
      (name) => wide.literals.has(name) || some(({ test }) => test(name)),
    ) &&
    [...narrow.patterns.values()].every(
      (pattern) => wide.patterns.has(pattern.text) || some((one) => coversPattern(one, pattern)),
    )
  );
}

export function isSubset<T>(narrow: ReadonlySet<T>, wide: ReadonlySet<T>): boolean {
  return narrow.size <= wide.size && [...narrow].every((item) => wide.has(item));
}

/**
 * A star at the end takes in all that starts alike. And with stars only, a glob that matches the text
 * of another matches all that one matches: only a star can take in the other's star.
 */
function coversPattern(wide: Pattern, narrow: Pattern): boolean {
  if (!wide.onlyStars) return false;
  const isPrefix = wide.text.slice(wide.fixedStart.length) === '*';
  if (isPrefix && narrow.fixedStart.startsWith(wide.fixedStart)) return true;
  return narrow.onlyStars && wide.test(narrow.text);
}
