// The predicates over arguments that are more than a look at a value. Loaded only when a bundle has one.
import type { AnyArgMatch, CommandMatch, JsonObject, Match } from '@subluminal/contracts';
import type { Expansion, ProjectPaths } from '../../ports.ts';
import { withPatchNamed } from '../../shell/command-args.ts';
import type { CommandOutline } from '../../shell/index.ts';
import type { Call } from '../model/call.ts';
import type { RuleRole } from '../model/rule-role.ts';
import { anyArgJudge, needed } from './any-arg.ts';
import { anyOf, type Certainty } from './certainty.ts';
import { type Engines, textTests } from './match.ts';
import { type ArgsJudge, type DiskView, pathArgsJudge } from './path-args.ts';
import { PATH_FIELDS } from './path-patterns.ts';

/** A call with its arguments, as a rule of this role sees it. */
export interface JudgedCall {
  readonly call: Pick<Call, 'server_name' | 'tool_name'>;
  readonly args: JsonObject;
  readonly role: RuleRole;
  /** The disk is looked at only where a name may be that of a file. */
  readonly disk: () => DiskView;
  /** The shell commands in the arguments; undefined where there are none. */
  readonly command: () => CommandOutline | undefined;
}

/** A predicate over arguments that can be read in more than one way. */
export interface ArgPredicate {
  /** Where it stands in the match: `args.path_under.path`, `any_arg`, `command.program`. */
  readonly name: string;
  readonly patterns: readonly string[];
  readonly judge: (seen: JudgedCall) => Certainty;
  /** Each part of the call that it looks at, for an explanation. */
  readonly parts?: (seen: JudgedCall) => readonly JudgedPart[];
}

interface JudgedPart {
  readonly text: string;
  readonly judged: Certainty;
}

type CommandPredicates = (
  match: CommandMatch,
  paths: ProjectPaths | undefined,
) => readonly ArgPredicate[];

/** Judges the files that a command names, from the folder where it names them. */
type CommandFiles = (
  match: AnyArgMatch,
  paths: ProjectPaths | undefined,
) => (seen: JudgedCall) => Certainty;

interface PredicateParts extends Pick<Engines, 'regex'> {
  readonly paths: ProjectPaths | undefined;
  readonly commandPredicates: CommandPredicates;
  readonly commandFiles: CommandFiles;
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

/** The predicates about paths, about every text of the arguments, and about commands. */
function argPredicates(
  { args, any_arg, command }: Match,
  { regex, paths, commandPredicates, commandFiles }: PredicateParts,
): readonly ArgPredicate[] {
  const found: ArgPredicate[] = PATH_FIELDS.flatMap((field) =>
    Object.entries(args?.[field] ?? {}).map(([key, patterns]) => {
      const judge = judgingArgs(pathArgsJudge(key, { field, patterns }, needed(paths)));
      return { name: `args.${field}.${key}`, patterns, judge };
    }),
  );
  if (any_arg !== undefined) {
    const { ignore_case: _option, ...fields } = any_arg;
    const judgeArgs = anyArgJudge(any_arg, textTests(any_arg, { regex }), paths);
    const judgeFiles = commandFiles(any_arg, paths);
    const judge = (seen: JudgedCall) =>
      anyOf(
        [() => judgeArgs(withPatchNamed(seen.call, seen.args), seen.disk), () => judgeFiles(seen)],
        (one) => one(),
      );
    found.push({ name: 'any_arg', patterns: Object.values(fields).flat(), judge });
  }
  return command === undefined ? found : [...found, ...commandPredicates(command, paths)];
}

function judgingArgs(judge: ArgsJudge): ArgPredicate['judge'] {
  return ({ args, disk }) => judge(args, disk);
}
