// Whether one rule's match takes in everything that another's does. Only what is certain counts:
// a "no" may be a "yes" that would take a theorem prover to see.
import type { ArgsMatch, Match, NameMatch, Rule } from '@subluminal/contracts';

/** Whether a tag rule between the two adds a class: then the lower one may see more. */
type Tagged = (name: string) => boolean;

/** A rule, prepared once for being compared with a thousand others. Absent means "any". */
export interface Scope {
  readonly when: string | undefined;
  readonly server: Names | undefined;
  readonly tool: Names | undefined;
  readonly classes: ReadonlySet<string> | undefined;
  readonly keys: ReadonlySet<string>;
  /** For each predicate on an argument, by its name and key, its value as JSON. */
  readonly predicates: ReadonlyMap<string, string>;
  readonly hours: ReadonlySet<number> | undefined;
}

interface Names {
  readonly globs: ReadonlySet<string>;
  readonly regexes: ReadonlySet<string>;
  /** What the globs like `git*` start with. */
  readonly prefixes: readonly string[];
}

export function scopeOf({ match, when }: Pick<Rule, 'match' | 'when'>): Scope {
  return {
    when,
    server: namesOf(match.server_name),
    tool: namesOf(match.tool_name),
    classes: match.risk_class && new Set(match.risk_class),
    keys: new Set(match.args?.has_keys),
    predicates: predicatesOf(match.args),
    hours: match.time?.utc_hours && new Set(match.time.utc_hours),
  };
}

/** Nothing where every name fits. */
function namesOf(names: NameMatch | undefined): Names | undefined {
  if (names === undefined) return undefined;
  const { glob = [], regex = [] } = names;
  if (glob.some((pattern) => /^\*+$/.test(pattern)) || regex.some(isMatchAll)) return undefined;
  const prefixes = glob.flatMap((pattern) => /^([^*?[\]{}\\]*)\*+$/.exec(pattern)?.[1] ?? []);
  return { globs: new Set(glob), regexes: new Set(regex), prefixes };
}

function predicatesOf(args: ArgsMatch | undefined): ReadonlyMap<string, string> {
  const predicates = new Map<string, string>();
  for (const field of ['key_equals', 'key_in', 'numeric_range'] as const) {
    for (const [key, wanted] of Object.entries(args?.[field] ?? {})) {
      // Both come from the same shape; another spelling of the same only means "not sure".
      predicates.set(`${field} ${key}`, JSON.stringify(wanted));
    }
  }
  return predicates;
}

/** Whether every call that reaches and matches `lower` has matched `upper` before. */
export function covers(upper: Scope, lower: Scope, tagged: Tagged): boolean {
  if (upper.when !== undefined && upper.when !== lower.when) return false;
  return (
    coversNames(upper.server, lower.server) &&
    coversNames(upper.tool, lower.tool) &&
    coversClasses(upper.classes, lower.classes, tagged) &&
    includesAll(lower.keys, upper.keys) &&
    coversPredicates(upper.predicates, lower.predicates) &&
    (upper.hours === undefined ||
      (lower.hours !== undefined && includesAll(upper.hours, lower.hours)))
  );
}

/** Whether a match takes in every call. */
export function matchesAll(match: Match): boolean {
  return covers(scopeOf({ match }), scopeOf({ match: {} }), () => false);
}

function coversNames(above: Names | undefined, below: Names | undefined): boolean {
  if (above === undefined) return true;
  if (below === undefined) return false;
  return coversGlobs(above, below) && includesAll(above.regexes, below.regexes);
}

/** Beyond this, names are compared as they are written only: every pair takes too long. */
const PREFIX_PAIRS_MAX = 256;

/** `git*` takes in every glob that starts with `git`. */
function coversGlobs({ globs, prefixes }: Names, below: Names): boolean {
  const known = prefixes.length * below.globs.size <= PREFIX_PAIRS_MAX ? prefixes : [];
  for (const lower of below.globs) {
    if (!globs.has(lower) && !known.some((prefix) => lower.startsWith(prefix))) return false;
  }
  return true;
}

function includesAll<T>(above: ReadonlySet<T>, below: ReadonlySet<T>): boolean {
  if (below.size > above.size) return false;
  for (const item of below) if (!above.has(item)) return false;
  return true;
}

const MATCH_ALL_REGEX = /^(\^|\\A)?(\.\*)?(\$|\\z)?$/;

/** In names, `.` stands for line breaks as well. */
function isMatchAll(regex: string): boolean {
  // `^$` fits the empty name only.
  if (!MATCH_ALL_REGEX.test(regex)) return false;
  return regex.includes('.*') || !(/^(\^|\\A)/.test(regex) && /(\$|\\z)$/.test(regex));
}

function coversClasses(
  above: ReadonlySet<string> | undefined,
  below: ReadonlySet<string> | undefined,
  tagged: Tagged,
): boolean {
  if (above === undefined) return true;
  return below !== undefined && includesAll(above, below) && ![...below].some(tagged);
}

function coversPredicates(
  above: ReadonlyMap<string, string>,
  below: ReadonlyMap<string, string>,
): boolean {
  for (const [name, wanted] of above) if (below.get(name) !== wanted) return false;
  return true;
}
