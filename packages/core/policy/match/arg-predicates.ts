// The predicates over arguments that are more than a look at a value. Loaded only when a bundle has one.
import type { Match } from '@subluminal/contracts';
import type { Expansion, ProjectPaths } from '../../ports.ts';
import { anyArgJudge, needed } from './any-arg.ts';
import { type Engines, textTests } from './match.ts';
import { type ArgsJudge, pathArgsJudge } from './path-args.ts';
import { PATH_FIELDS } from './path-patterns.ts';

/** A predicate over arguments that can be read in more than one way. */
export interface ArgPredicate {
  /** Where it stands in the match: `args.path_under.path`, `any_arg`. */
  readonly name: string;
  readonly patterns: readonly string[];
  readonly judge: ArgsJudge;
}

interface PredicateParts extends Pick<Engines, 'regex'> {
  readonly paths: ProjectPaths | undefined;
}

/** Compiles each match once: explanations judge by what decided. */
export function argEngine(parts: PredicateParts): Pick<Engines, 'argPredicates' | 'diskView'> {
  const known = new WeakMap<Match, readonly ArgPredicate[]>();
  return {
    argPredicates: (match) => {
      const found = known.get(match) ?? argPredicates(match, parts);
      known.set(match, found);
      return found;
    },
    diskView: () => {
      const paths = needed(parts.paths);
      return { resolve: paths.lookup(), expand: paths.expansion?.() ?? NO_EXPANSION };
    },
  };
}

const NO_EXPANSION = (): Expansion => ({ paths: [], isWhole: true });

/** The predicates about paths, and about every text of the arguments. */
function argPredicates(
  { args, any_arg }: Match,
  { regex, paths }: PredicateParts,
): readonly ArgPredicate[] {
  const found: ArgPredicate[] = PATH_FIELDS.flatMap((field) =>
    Object.entries(args?.[field] ?? {}).map(([key, patterns]) => {
      const judge = pathArgsJudge(key, { field, patterns }, needed(paths));
      return { name: `args.${field}.${key}`, patterns, judge };
    }),
  );
  if (any_arg === undefined) return found;
  const { ignore_case: _option, ...fields } = any_arg;
  const judge = anyArgJudge(any_arg, textTests(any_arg, { regex }), paths);
  return [...found, { name: 'any_arg', patterns: Object.values(fields).flat(), judge }];
}
