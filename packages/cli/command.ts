// Commands are data: what a command is called, what it takes and what its exit codes mean. The code
// behind it is loaded only when the command is chosen.
import type { Failure } from './failure.ts';
import type { Io } from './io.ts';

interface ArgSpec<M extends boolean = boolean> {
  readonly doc: string;
  /** Takes one or more values instead of exactly one. */
  readonly many: M;
  /** May be left out; it is empty then. */
  readonly optional?: boolean;
}
type ArgSpecs = { readonly [name: string]: ArgSpec };

interface FlagSpec {
  readonly kind: 'flag';
  readonly doc: string;
}
interface TextSpec {
  readonly kind: 'text';
  readonly value: string;
  readonly doc: string;
  readonly short?: string;
}
/** May be given several times. */
interface TextsSpec {
  readonly kind: 'texts';
  readonly value: string;
  readonly doc: string;
}
interface ChoiceSpec<V extends string = string> {
  readonly kind: 'choice';
  readonly values: readonly V[];
  readonly doc: string;
}
type OptionSpec = FlagSpec | TextSpec | TextsSpec | ChoiceSpec;
/** The keys are the long flags without their dashes. */
type OptionSpecs = { readonly [name: string]: OptionSpec };

type ArgValues<A extends ArgSpecs> = {
  readonly [K in keyof A]: A[K] extends ArgSpec<true> ? readonly string[] : string;
};
type OptionValues<O extends OptionSpecs> = { readonly [K in keyof O]: OptionValue<O[K]> };
type OptionValue<S extends OptionSpec> = S extends FlagSpec
  ? boolean
  : S extends TextsSpec
    ? readonly string[]
    : S extends ChoiceSpec<infer V>
      ? V | undefined
      : string | undefined;

interface Input<A extends ArgSpecs = ArgSpecs, O extends OptionSpecs = OptionSpecs> {
  readonly args: ArgValues<A>;
  readonly options: OptionValues<O>;
}

interface Done {
  readonly kind: 'done';
  readonly exitCode: number;
}
type Outcome = Done | Failure;

type Run<A extends ArgSpecs, O extends OptionSpecs> = (
  input: Input<A, O>,
  io: Io,
) => Promise<Outcome>;

/**
 * `person`: refused inside a governed run. `terminal`: also needs a terminal that a person sits at.
 */
type Requirement = 'person' | 'terminal';

interface CommandSpec<A extends ArgSpecs, O extends OptionSpecs> {
  /** The words behind `sub`. */
  readonly path: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly args: A;
  readonly options: O;
  readonly examples: readonly string[];
  readonly exitCodes: { readonly [code: number]: string };
  /** Who may run it, when it loosens, approves, reveals or erases; a dry run needs nobody. */
  readonly requires?: Requirement;
  readonly load: () => Promise<{ readonly run: Run<A, O> }>;
}

/** A command as the program sees it: the same data, with nothing left to infer. */
interface Command {
  readonly path: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly args: ArgSpecs;
  readonly options: OptionSpecs;
  readonly examples: readonly string[];
  readonly exitCodes: { readonly [code: number]: string };
  readonly requires?: Requirement;
  readonly start: (values: RawValues, io: Io) => Promise<Outcome>;
}

/** What the parser of the command line found. */
interface RawValues {
  readonly args: { readonly [name: string]: unknown };
  readonly options: { readonly [name: string]: unknown };
}

function createCommand<const A extends ArgSpecs, const O extends OptionSpecs>(
  spec: CommandSpec<A, O>,
): Command {
  const { load, ...data } = spec;
  return Object.freeze({
    ...data,
    start: async (values: RawValues, io: Io) => {
      const { run } = await load();
      return run(readInput(spec, values), io);
    },
  });
}

/** Gives every declared name its value, so that commands never see what they did not declare. */
function readInput<A extends ArgSpecs, O extends OptionSpecs>(
  spec: CommandSpec<A, O>,
  values: RawValues,
): Input<A, O> {
  const args = mapValues(spec.args, (arg, name) => values.args[name] ?? (arg.many ? [] : ''));
  const options = mapValues(spec.options, ({ kind }, name) => {
    const value = values.options[name];
    if (kind === 'flag') return value === true;
    return kind === 'texts' ? (value ?? []) : value;
  });
  if (fitsArgs(spec.args, args) && fitsOptions(spec.options, options)) return { args, options };
  throw new Error(`the parser gave \`${spec.path.join(' ')}\` values of other types`);
}

type Values = { readonly [name: string]: unknown };

function fitsArgs<A extends ArgSpecs>(specs: A, values: Values): values is ArgValues<A> {
  return Object.entries(specs).every(([name, arg]) =>
    arg.many ? isTexts(values[name]) : typeof values[name] === 'string',
  );
}

function fitsOptions<O extends OptionSpecs>(specs: O, values: Values): values is OptionValues<O> {
  return Object.entries(specs).every(([name, spec]) => {
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

function one(doc: string): ArgSpec<false> {
  return { doc, many: false };
}

function maybe(doc: string): ArgSpec<false> {
  return { doc, many: false, optional: true };
}

function many(doc: string): ArgSpec<true> {
  return { doc, many: true };
}

function flag(doc: string): FlagSpec {
  return { kind: 'flag', doc };
}

function text(value: string, doc: string, short?: string): TextSpec {
  return { kind: 'text', value, doc, ...(short !== undefined && { short }) };
}

function texts(value: string, doc: string): TextsSpec {
  return { kind: 'texts', value, doc };
}

function choice<const V extends string>(values: readonly V[], doc: string): ChoiceSpec<V> {
  return { kind: 'choice', values, doc };
}

function done(exitCode: number): Done {
  return { kind: 'done', exitCode };
}

export type {
  ArgSpec,
  ArgSpecs,
  ChoiceSpec,
  Command,
  FlagSpec,
  Input,
  OptionSpec,
  OptionSpecs,
  Outcome,
  RawValues,
  Requirement,
  TextSpec,
  TextsSpec,
};
export { choice, createCommand, done, flag, many, maybe, one, text, texts };
