// Commands are data: what a command takes, what its exit codes mean, and the function that runs it.
import {
  catchFailure,
  type Failure,
  failure,
  isFailure,
  ThrownFailure,
} from '@subluminal/contracts';
import type { Io } from '../terminal/io.ts';
import { jsonText } from '../terminal/text.ts';

export interface ArgSpec<M extends boolean = boolean> {
  readonly doc: string;
  /** Takes one or more values instead of exactly one. */
  readonly many: M;
  /** May be left out; it is empty then. */
  readonly optional?: boolean;
}
/** A text alone documents an argument that takes exactly one value. */
type ArgSpecs = { readonly [name: string]: string | ArgSpec };

/** An option of the kind `texts` may be given several times. */
export interface TextSpec<K extends 'text' | 'texts'> {
  readonly kind: K;
  readonly value: string;
  readonly doc: string;
  readonly short?: string | undefined;
}
export interface ChoiceSpec<V extends string = string> {
  readonly kind: 'choice';
  readonly values: readonly V[];
  readonly doc: string;
}
export type OptionSpec =
  | { readonly kind: 'flag'; readonly doc: string }
  | TextSpec<'text'>
  | TextSpec<'texts'>
  | ChoiceSpec;
/** The keys are the long options without their dashes. A text alone documents a flag. */
type OptionSpecs = { readonly [name: string]: string | OptionSpec };

type ArgValues<A extends ArgSpecs> = {
  readonly [K in keyof A]: A[K] extends ArgSpec<true> ? readonly string[] : string;
};
/** Every command has `json`, which is false where a command does not take it. */
export type OptionValues<O extends OptionSpecs> = {
  readonly [K in keyof O]: OptionValue<O[K]>;
} & { readonly json: boolean };
type OptionValue<S extends string | OptionSpec> = S extends string
  ? boolean
  : S extends TextSpec<'texts'>
    ? readonly string[]
    : S extends ChoiceSpec<infer V>
      ? V | undefined
      : string | undefined;

export interface Input<A extends ArgSpecs = ArgSpecs, O extends OptionSpecs = OptionSpecs> {
  readonly args: ArgValues<A>;
  readonly options: OptionValues<O>;
}

/** The exit codes of `sub`. Every command documents which of these it uses. */
export const EXIT = {
  fine: 0,
  findings: 1,
  usage: 2,
  internal: 70,
  /** 128 + SIGPIPE: the reader of the output has gone. */
  brokenPipe: 141,
} as const;

export interface Done {
  readonly kind: 'done';
  readonly exitCode: number;
}
/** What a command prints: the document with --json, else the text. */
interface Printout {
  readonly kind: 'printout';
  readonly document: unknown;
  readonly text: string;
  readonly exitCode: number;
}
export type Outcome = Done | Printout | Failure;

/**
 * `person`: refused inside a governed run. `terminal`: also needs a terminal with a person.
 */
export type Requirement = 'person' | 'terminal';

interface CommandHelp {
  readonly description: string;
  readonly examples: readonly string[];
  readonly exitCodes: { readonly [code: number]: string };
  /** Set on a command that loosens, approves, reveals or erases; a dry run needs no person. */
  readonly requires?: Requirement;
}

interface CommandSpec<A extends ArgSpecs, O extends OptionSpecs> extends CommandHelp {
  readonly args?: A;
  readonly options?: O;
  /** Set on a command that has no document to print: it takes no --json. */
  readonly hasJson?: false;
  /** A failure that it throws, as `orThrow` does, is its outcome. */
  readonly run: (input: Input<A, O>, io: Io) => Promise<Outcome>;
}

/** A command as the program sees it: the same data, with nothing left to infer. */
export interface Command extends CommandHelp {
  readonly args: { readonly [name: string]: ArgSpec };
  readonly options: { readonly [name: string]: OptionSpec };
  readonly run: (values: RawValues, io: Io) => Promise<Done | Failure>;
}

export interface CommandEntry {
  /** The words behind `sub`. */
  readonly path: readonly string[];
  readonly summary: string;
  readonly load: () => Promise<{ readonly command: Command }>;
}

export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  /** The command that runs when none is named; without it, the group prints its help. */
  readonly fallback?: string;
  readonly commands: readonly CommandEntry[];
}

export interface HelpSection {
  readonly title: string;
  readonly entries: readonly (CommandEntry | CommandGroup)[];
}

export function isGroup(entry: CommandEntry | CommandGroup): entry is CommandGroup {
  return 'commands' in entry;
}

/** All commands, those of groups as well. */
export function allEntries(sections: readonly HelpSection[]): readonly CommandEntry[] {
  return sections.flatMap(({ entries }) =>
    entries.flatMap((entry) => (isGroup(entry) ? entry.commands : [entry])),
  );
}

/** The values of the command line: one for each argument and option that the command declares. */
export interface RawValues {
  readonly args: { readonly [name: string]: unknown };
  readonly options: { readonly [name: string]: unknown };
}

/** A command that declares no arguments or options has none. */
type NoSpecs = { readonly [name: string]: never };

const JSON_OPTION = { json: 'Print one JSON document instead of text' };

export function defineCommand<
  const A extends ArgSpecs = NoSpecs,
  const O extends OptionSpecs = NoSpecs,
>(spec: CommandSpec<A, O>): Command {
  const { args = {}, options = {}, hasJson = true } = spec;
  const allOptions = hasJson && !('json' in options) ? { ...options, ...JSON_OPTION } : options;
  const specs = {
    args: fullSpecs<ArgSpec>(args, (doc) => ({ doc, many: false })),
    options: fullSpecs<OptionSpec>(allOptions, (doc) => ({ kind: 'flag', doc })),
  };
  return {
    ...spec,
    ...specs,
    exitCodes: { ...spec.exitCodes, [EXIT.internal]: 'a defect in sub itself' },
    run: async (values, io) => {
      if (!isInput<A, O>(specs, values)) {
        throw new Error('the parser returned values of other types than the command declares');
      }
      const outcome = await catchFailure(() => spec.run(values, io));
      if (outcome.kind !== 'printout') return outcome;
      const { document, text, exitCode } = outcome;
      io.out.write(values.options['json'] === true ? jsonText(document) : text);
      return done(exitCode);
    },
  };
}

function isInput<A extends ArgSpecs, O extends OptionSpecs>(
  { args, options }: Pick<Command, 'args' | 'options'>,
  values: RawValues,
): values is RawValues & Input<A, O> {
  const isText = (value: unknown) => typeof value === 'string';
  const areTexts = (value: unknown) => Array.isArray(value) && value.every(isText);
  return (
    Object.entries(args).every(([name, { many: isMany }]) =>
      (isMany ? areTexts : isText)(values.args[name]),
    ) &&
    Object.entries(options).every(([name, option]) => {
      const value = values.options[name];
      if (option.kind === 'flag') return typeof value === 'boolean';
      if (option.kind === 'texts') return areTexts(value);
      if (value === undefined) return true;
      return option.kind === 'text' ? isText(value) : option.values.some((one) => one === value);
    })
  );
}

/**
 * The value itself; a failure is thrown. For a command, whose failures `sub` prints however deep they
 * happen. Code that others call as well returns its failures.
 */
export function orThrow<T>(value: T): Exclude<T, Failure> {
  if (isFailure(value)) throw new ThrownFailure(value);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- The line above leaves nothing else.
  return value as Exclude<T, Failure>;
}

function fullSpecs<S extends object>(
  specs: { readonly [name: string]: string | S },
  fromText: (doc: string) => S,
): { readonly [name: string]: S } {
  return Object.fromEntries(
    Object.entries(specs).map(([name, spec]) => [
      name,
      typeof spec === 'string' ? fromText(spec) : spec,
    ]),
  );
}

export function optional(doc: string): ArgSpec<false> {
  return { doc, many: false, optional: true };
}

export function many(doc: string): ArgSpec<true> {
  return { doc, many: true };
}

export function optionalMany(doc: string): ArgSpec<true> {
  return { doc, many: true, optional: true };
}

export function textOption(value: string, doc: string, short?: string): TextSpec<'text'> {
  return { kind: 'text', value, doc, short };
}

export function textsOption(value: string, doc: string): TextSpec<'texts'> {
  return { kind: 'texts', value, doc };
}

export function choice<const V extends string>(values: readonly V[], doc: string): ChoiceSpec<V> {
  return { kind: 'choice', values, doc };
}

export function done(exitCode: number): Done {
  return { kind: 'done', exitCode };
}

export function printout(document: unknown, text: string, exitCode: number = EXIT.fine): Printout {
  return { kind: 'printout', document, text, exitCode };
}

export function badUsage(message: string, fix: string): Failure {
  return failure('SUB_USAGE', message, fix);
}
