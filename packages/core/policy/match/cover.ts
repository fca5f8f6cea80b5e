// Whether one rule matches every call that another matches. Only certainty counts: a "no" may be a
// "yes" that would take a theorem prover to see.
import type { Match, Rule } from '@subluminal/contracts';
import { windowOf } from './match.ts';
import { coversNames, isSubset, type NameSet, namePatterns, namesIn } from './names.ts';
import { PATH_FIELDS } from './path-patterns.ts';

/** Whether a tag rule between the two adds a class: then the lower one may see more. */
type Tagged = (name: string) => boolean;

/** A rule, prepared once for being compared with a thousand others. Absent means "any". */
export interface RuleScope {
  readonly when: string | undefined;
  readonly subjects: ReadonlySet<string>;
  readonly server: NameSet;
  readonly tool: NameSet;
  readonly classes: ReadonlySet<string> | undefined;
  readonly keys: ReadonlySet<string>;
  /** For each predicate on an argument, by its name and key, its value as JSON. */
  readonly predicates: ReadonlyMap<string, string>;
  readonly hours: ReadonlySet<number> | undefined;
}

type ScopedRule = Pick<Rule, 'match' | 'when'> & { readonly kind?: Rule['kind'] };

export function scopeOf({ match, when, kind }: ScopedRule): RuleScope {
  const { server, tool } = namePatterns(match);
  return {
    when,
    subjects: new Set(match.subjects ?? ['tool']),
    server: namesIn(server),
    tool: namesIn(tool),
    classes: match.risk_class && new Set(match.risk_class),
    keys: new Set(match.args?.has_keys),
    predicates: predicatesOf(match, kind),
    hours: match.time?.utc_hours && new Set(match.time.utc_hours),
  };
}

function predicatesOf(
  { args, any_arg, command, time }: Match,
  kind: Rule['kind'] | undefined,
): ReadonlyMap<string, string> {
  const predicates = new Map<string, string>();
  for (const field of ['key_equals', 'key_in', 'numeric_range', ...PATH_FIELDS] as const) {
    for (const [key, wanted] of Object.entries(args?.[field] ?? {})) {
      // Both come from the same shape; another spelling of the same only means "not sure".
      predicates.set(`${field} ${key}`, JSON.stringify(wanted));
    }
  }
  if (any_arg !== undefined) predicates.set('any_arg', JSON.stringify(any_arg));
  for (const field of ['hours', 'not_hours'] as const) {
    const window = time?.[field];
    if (window !== undefined) predicates.set(field, JSON.stringify(windowOf(window)));
  }
  for (const [field, wanted] of Object.entries(command ?? {})) {
    // An allow needs all of a command to match, a deny one part of it.
    predicates.set(`command ${kind} ${field}`, JSON.stringify(wanted));
  }
  return predicates;
}

/** A policy has up to half a million pairs of rules, so each gets few comparisons. */
const NAME_STEPS_MAX = 128;

/** Whether every call that reaches and matches `lower` has matched `upper` before. */
export function covers(upper: RuleScope, lower: RuleScope, tagged: Tagged): boolean {
  if (upper.when !== undefined && upper.when !== lower.when) return false;
  return (
    isSubset(lower.subjects, upper.subjects) &&
    coversNames(upper.server, lower.server, NAME_STEPS_MAX) &&
    coversNames(upper.tool, lower.tool, NAME_STEPS_MAX) &&
    coversClasses(upper.classes, lower.classes, tagged) &&
    isSubset(upper.keys, lower.keys) &&
    coversPredicates(upper.predicates, lower.predicates) &&
    (upper.hours === undefined || (lower.hours !== undefined && isSubset(lower.hours, upper.hours)))
  );
}

/** Whether a match takes in every call. */
export function matchesAll(match: Match): boolean {
  return covers(scopeOf({ match }), scopeOf({ match: {} }), () => false);
}

function coversClasses(
  above: ReadonlySet<string> | undefined,
  below: ReadonlySet<string> | undefined,
  tagged: Tagged,
): boolean {
  if (above === undefined) return true;
  return below !== undefined && isSubset(below, above) && ![...below].some(tagged);
}

function coversPredicates(
  above: ReadonlyMap<string, string>,
  below: ReadonlyMap<string, string>,
): boolean {
  return [...above].every(([name, wanted]) => below.get(name) === wanted);
}
