// The predicates over arguments that are more than a look at a value. Loaded only when a bundle has one.
import type { Match } from '@subluminal/contracts';
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

/** The predicates about paths, and about every text of the arguments. */
export function argPredicates({ args, any_arg }: Match, engines: Engines): readonly ArgPredicate[] {
  const found: ArgPredicate[] = PATH_FIELDS.flatMap((field) =>
    Object.entries(args?.[field] ?? {}).map(([key, patterns]) => {
      const judge = pathArgsJudge(key, { field, patterns }, needed(engines.paths));
      return { name: `args.${field}.${key}`, patterns, judge };
    }),
  );
  if (any_arg === undefined) return found;
  const { ignore_case: _option, ...fields } = any_arg;
  const judge = anyArgJudge(any_arg, textTests(any_arg, engines), engines.paths);
  return [...found, { name: 'any_arg', patterns: Object.values(fields).flat(), judge }];
}
