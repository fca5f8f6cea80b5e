// Whether one rule's match takes in everything that another's does. Only what is certain counts:
// a "no" may be a "yes" that would take a theorem prover to see.
import type { ArgsMatch, Match, NameMatch, Rule } from '@subluminal/contracts';

/** Whether a tag rule between the two adds a class: then the lower one may see more. */
type Tagged = (name: string) => boolean;

/** Whether every call that reaches and matches `lower` has matched `upper` before. */
function covers(upper: Rule, lower: Rule, tagged: Tagged): boolean {
  if (upper.when !== undefined && upper.when !== lower.when) return false;
  const { match: above } = upper;
  const { match: below } = lower;
  return (
    coversNames(above.server_name, below.server_name) &&
    coversNames(above.tool_name, below.tool_name) &&
    coversClasses(above.risk_class, below.risk_class, tagged) &&
    coversArgs(above.args, below.args) &&
    coversHours(above.time?.utc_hours, below.time?.utc_hours)
  );
}

/** Whether a match takes in every call. */
function matchesAll(match: Match): boolean {
  return (
    coversNames(match.server_name, undefined) &&
    coversNames(match.tool_name, undefined) &&
    match.risk_class === undefined &&
    coversArgs(match.args, undefined) &&
    match.time?.utc_hours === undefined
  );
}

const MATCH_ALL_REGEX = /^(\^|\\A)?(\.\*)?(\$|\\z)?$/;

function coversNames(above: NameMatch | undefined, below: NameMatch | undefined): boolean {
  if (above === undefined) return true;
  const { glob = [], regex = [] } = above;
  if (glob.some((pattern) => /^\*+$/.test(pattern))) return true;
  if (regex.some((pattern) => isMatchAll(pattern))) return true;
  if (below === undefined) return false;
  return coversGlobs(glob, below.glob ?? []) && includesAll(regex, below.regex ?? []);
}

/** Longer lists than these are compared by set only: every pair of a long list takes too long. */
const PREFIX_GLOBS_MAX = 32;

function coversGlobs(above: readonly string[], below: readonly string[]): boolean {
  if (includesAll(above, below)) return true;
  if (above.length > PREFIX_GLOBS_MAX) return false;
  return below.every((lower) => above.some((upper) => coversGlob(upper, lower)));
}

function includesAll<T>(above: readonly T[], below: readonly T[]): boolean {
  const known = new Set(above);
  return below.every((item) => known.has(item));
}

function isMatchAll(regex: string): boolean {
  // `^$` fits the empty name only.
  if (!MATCH_ALL_REGEX.test(regex)) return false;
  return regex.includes('.*') || !(/^(\^|\\A)/.test(regex) && /(\$|\\z)$/.test(regex));
}

/** `git*` takes in every glob that starts with `git`. */
function coversGlob(upper: string, lower: string): boolean {
  if (upper === lower) return true;
  const prefix = /^([^*?[\]{}\\]*)\*+$/.exec(upper)?.[1];
  return prefix !== undefined && lower.startsWith(prefix);
}

function coversClasses(
  above: readonly string[] | undefined,
  below: readonly string[] | undefined,
  tagged: Tagged,
): boolean {
  if (above === undefined) return true;
  return below !== undefined && includesAll(above, below) && !below.some(tagged);
}

function coversArgs(above: ArgsMatch | undefined, below: ArgsMatch | undefined): boolean {
  if (above === undefined) return true;
  const { has_keys: keys = [], ...records } = above;
  if (!includesAll(below?.has_keys ?? [], keys)) return false;
  const fields = ['key_equals', 'key_in', 'numeric_range'] as const;
  return fields.every((field) => {
    const lower = below?.[field];
    return Object.entries(records[field] ?? {}).every(([key, wanted]) => {
      return lower !== undefined && Object.hasOwn(lower, key) && same(wanted, lower[key]);
    });
  });
}

function coversHours(
  above: readonly number[] | undefined,
  below: readonly number[] | undefined,
): boolean {
  if (above === undefined) return true;
  return below !== undefined && includesAll(above, below);
}

/** Both come from the same shape; a different spelling of the same thing only means "not sure". */
function same(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

export { covers, matchesAll };
