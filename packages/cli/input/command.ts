// Commands are data: what a command takes, what its exit codes mean, and the function that runs it.
import { type Failure, failure } from '@subluminal/contracts';
import type { Io } from '../terminal/io.ts';
import { jsonText } from '../terminal/text.ts';

export interface ArgSpec<M extends boolean = boolean> {
  readonly doc: string;
  /** Takes one or more values instead of exactly one. */
  readonly many: M;
  /** May be left out; it is empty then. */
  readonly optional?: boolean;
}
export type ArgSpecs = { readonly [name: string]: ArgSpec };

export interface FlagSpec {
  readonly kind: 'flag';
  readonly doc: string;
}
export interface TextSpec {
  readonly kind: 'text';
  readonly value: string;
  readonly doc: string;
  readonly short?: string;
}
/** May be given several times. */
export interface TextsSpec {
  readonly kind: 'texts';
  readonly value: string;
  readonly doc: string;
}
export interface ChoiceSpec<V extends string = string> {
  readonly kind: 'choice';
  readonly values: readonly V[];
  readonly doc: string;
}
export type OptionSpec = FlagSpec | TextSpec | TextsSpec | ChoiceSpec;
/** The keys are the long flags without their dashes. */
export type OptionSpecs = { readonly [name: string]: OptionSpec };

type ArgValues<A extends ArgSpecs> = {
  readonly [K in keyof A]: A[K] extends ArgSpec<true> ? readonly string[] : string;
};
export type OptionValues<O extends OptionSpecs> = { readonly [K in keyof O]: OptionValue<O[K]> };
type OptionValue<S extends OptionSpec> = S extends FlagSpec
  ? boolean
  : S extends TextsSpec
    ? readonly string[]
    : S extends ChoiceSpec<infer V>
      ? V | undefined
      : string | undefined;

export interface Input<A extends ArgSpecs = ArgSpecs, O extends OptionSpecs = OptionSpecs> {
  readonly args: ArgValues<A>;
  readonly options: OptionValues<O>;
}

/** What the shell is told. Every command documents which of these it uses. */
export const EXIT = {
  fine: 0,
  findings: 1,
  usage: 2,
  internal: 70,
  /** 128 + SIGPIPE: the reader of the output has gone. */
  brokenPipe: 141,
} as const;

interface Done {
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
  /** Set on a command that loosens, approves, reveals or erases; a dry run needs nobody. */
  readonly requires?: Requirement;
}

interface CommandSpec<A extends ArgSpecs, O extends OptionSpecs> extends CommandHelp {
  readonly args?: A;
  readonly options?: O;
  readonly run: (input: Input<A, O>, io: Io) => Promise<Outcome>;
}

/** A command as the program sees it: the same data, with nothing left to infer. */
export interface Command extends CommandHelp {
  readonly args: ArgSpecs;
  readonly options: OptionSpecs;
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

/** What the parser of the command line found. */
export interface RawValues {
  readonly args: { readonly [name: string]: unknown };
  readonly options: { readonly [name: string]: unknown };
}

/** A command that declares no arguments or options has none. */
type NoSpecs = { readonly [name: string]: never };

export function defineCommand<
  const A extends ArgSpecs = NoSpecs,
  const O extends OptionSpecs = NoSpecs,
>(spec: CommandSpec<A, O>): Command {
  const { args = {}, options = {} } = spec;
  return {
    ...spec,
    args,
    options,
    exitCodes: { ...spec.exitCodes, [EXIT.internal]: 'a defect in sub itself' },
    run: async (values, io) => {
      const outcome = await spec.run(readInput(spec, values), io);
      if (outcome.kind !== 'printout') return outcome;
      const { document, text, exitCode } = outcome;
      io.out.write(values.options['json'] === true ? jsonText(document) : text);
      return done(exitCode);
    },
  };
}

/** Gives every declared name its value, so that a command never sees what it did not declare. */
function readInput<A extends ArgSpecs, O extends OptionSpecs>(
  spec: CommandSpec<A, O>,
  values: RawValues,
): Input<A, O> {
  const args = mapValues(spec.args ?? {}, (arg, name) => values.args[name] ?? (arg.many ? [] : ''));
  const options = mapValues(spec.options ?? {}, ({ kind }, name) => {
    const value = values.options[name];
    if (kind === 'flag') return value === true;
    return kind === 'texts' ? (value ?? []) : value;
  });
  if (fitsArgs(spec.args, args) && fitsOptions(spec.options, options)) return { args, options };
  throw new Error('the parser returned values of other types than the command declares');
}

type Values = { readonly [name: string]: unknown };

function fitsArgs<A extends ArgSpecs>(
  specs: A | undefined,
  values: Values,
): values is ArgValues<A> {
  return Object.entries(specs ?? {}).every(([name, arg]) =>
    arg.many ? isTexts(values[name]) : typeof values[name] === 'string',
  );
}

function fitsOptions<O extends OptionSpecs>(
  specs: O | undefined,
  values: Values,
): values is OptionValues<O> {
  return Object.entries(specs ?? {}).every(([name, spec]) => {
    const value = values[name];
    if (spec.kind === 'flag') return typeof value === 'boolean';
    if (spec.kind === 'texts') return isTexts(value);
    if (value === undefined) return true;
    if (typeof value !== 'string') return false;
    return spec.kind === 'text' || spec.values.includes(value);
  });
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function mapValues<S>(
  specs: { readonly [name: string]: S },
  read: (spec: S, name: string) => unknown,
): Values {
  return Object.fromEntries(Object.entries(specs).map(([name, spec]) => [name, read(spec, name)]));
}

export function required(doc: string): ArgSpec<false> {
  return { doc, many: false };
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

export function flag(doc: string): FlagSpec {
  return { kind: 'flag', doc };
}

export function textOption(value: string, doc: string, short?: string): TextSpec {
  return { kind: 'text', value, doc, ...(short !== undefined && { short }) };
}

export function textsOption(value: string, doc: string): TextsSpec {
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

/** The number that `--limit` gives, from 1 to `max`. */
export function readLimit(text: string, max: number): number | Failure {
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= max) return limit;
  return badUsage(`--limit \`${text}\` is not a number from 1 to ${max}.`, 'Write such a number.');
}

export function badUsage(message: string, fix: string): Failure {
  return failure('SUB_USAGE', message, fix);
}
