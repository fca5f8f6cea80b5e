// Which names a match covers, as far as that can be told from its globs and expressions alone.
import type { Match, NameMatch } from '@subluminal/contracts';
import { compileGlob, type NameTest } from '../compile/glob.ts';
import { listOf, objectOf, type Relation, relation, type Value } from './relation.ts';

interface Alternative {
  readonly kind: 'glob' | 'regex';
  readonly text: string;
}

const EVERY_NAME: Alternative = { kind: 'glob', text: '*' };
const SPECIAL = /[*?[\]{}\\]/;
const SPECIAL_BUT_STAR = /[?[\]{}\\]/;

/** Every rule meets every other when rules are reordered; each is read once. */
const alternativesBy = new WeakMap<NameMatch, readonly Alternative[]>();
const TESTS_MAX = 1_024;
const tests = new Map<string, NameTest>();

/** Two name matches as values; a missing one matches every name. */
function nameRelation(before: Value, after: Value): Relation {
  const old = alternativesOf(before);
  const current = alternativesOf(after);
  return relation({
    beforeCoversAfter: current.every((one) => old.some((other) => covers(other, one))),
    afterCoversBefore: old.every((one) => current.some((other) => covers(other, one))),
  });
}

/** False only when no pair of names can match both. */
function mayOverlap(left: Match, right: Match): boolean {
  return (
    namesMayOverlap(left.server_name, right.server_name) &&
    namesMayOverlap(left.tool_name, right.tool_name)
  );
}

function namesMayOverlap(left: NameMatch | undefined, right: NameMatch | undefined): boolean {
  if (left === undefined || right === undefined) return true;
  const others = remembered(right);
  return remembered(left).some((one) => others.some((other) => meets(one, other)));
}

function remembered(names: NameMatch): readonly Alternative[] {
  const known = alternativesBy.get(names);
  if (known !== undefined) return known;
  const found = alternativesOf({ ...names });
  alternativesBy.set(names, found);
  return found;
}

function alternativesOf(names: Value): readonly Alternative[] {
  if (names === undefined) return [EVERY_NAME];
  const { glob, regex } = objectOf(names);
  return [...textsOf('glob', glob), ...textsOf('regex', regex)];
}

function textsOf(kind: Alternative['kind'], texts: Value): readonly Alternative[] {
  return listOf(texts).flatMap((text) => (typeof text === 'string' ? [{ kind, text }] : []));
}

/** Whether every name of the narrow one surely belongs to the wide one. */
function covers(wide: Alternative, narrow: Alternative): boolean {
  if (wide.kind === 'glob' && wide.text === '*') return true;
  if (wide.kind === narrow.kind && wide.text === narrow.text) return true;
  if (wide.kind === 'regex' || narrow.kind === 'regex') return false;
  if (!SPECIAL.test(narrow.text)) return globMatches(wide.text, narrow.text);
  // With stars only, a glob that matches the text of another also matches all that one matches:
  // only a star can take in the other's star.
  if (SPECIAL_BUT_STAR.test(wide.text) || SPECIAL_BUT_STAR.test(narrow.text)) return false;
  return globMatches(wide.text, narrow.text);
}

/** Whether some name may belong to both. */
function meets(left: Alternative, right: Alternative): boolean {
  if (left.kind === 'regex' || right.kind === 'regex') return true;
  if (!SPECIAL.test(left.text)) return globMatches(right.text, left.text);
  if (!SPECIAL.test(right.text)) return globMatches(left.text, right.text);
  const [one, other] = [fixedStart(left.text), fixedStart(right.text)];
  return one.startsWith(other) || other.startsWith(one);
}

function fixedStart(glob: string): string {
  const end = glob.search(SPECIAL);
  return end === -1 ? glob : glob.slice(0, end);
}

/** Rules are compared pair by pair, so the same globs come up again and again. */
function globMatches(glob: string, name: string): boolean {
  const known = tests.get(glob);
  if (known !== undefined) return known(name);
  const compiled = compileGlob(glob);
  if (!compiled.ok) throw new Error(`an invalid glob reached the diff: ${glob.slice(0, 100)}`);
  if (tests.size >= TESTS_MAX) tests.clear();
  tests.set(glob, compiled.test);
  return compiled.test(name);
}

export { mayOverlap, nameRelation };
