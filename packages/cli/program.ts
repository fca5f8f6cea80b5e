// From the catalog to a command line parser, and from arguments to what should happen. Runs nothing
// by itself.

import { type Failure, failure } from '@subluminal/contracts';
import { Command as Commander, CommanderError, Option } from 'commander';
import type { Command, OptionSpec, RawValues } from './input/command.ts';
import type { Colors } from './terminal/io.ts';

export interface Group {
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  /** The command of the group that is meant when none is named; without it, help is printed. */
  readonly fallback?: string;
}
export interface Catalog {
  readonly version: string;
  readonly description: string;
  readonly groups: readonly Group[];
  readonly commands: readonly Command[];
}
interface HelpStyle {
  readonly colors: Colors;
  readonly columns: number;
}

export type Intent =
  | { readonly kind: 'run'; readonly command: Command; readonly values: RawValues }
  | { readonly kind: 'print'; readonly text: string }
  /** Help instead of an answer: a command was expected and none was given. */
  | { readonly kind: 'missing'; readonly text: string }
  | (Failure & { readonly offered?: Offered });

/** What was written and what would have been taken; guessing is left to who reports it. */
export interface Offered {
  readonly word: string;
  readonly choices: readonly string[];
}

const HELP_COLUMNS_MAX = 100;

/** Reads the arguments behind `sub`. */
export function parseArguments(
  argv: readonly string[],
  catalog: Catalog,
  style: HelpStyle,
): Intent {
  const parse: Parse = { catalog, style, printed: '', chosen: undefined, failedAt: undefined };
  const program = buildProgram(parse);
  try {
    program.parse(argv, { from: 'user' });
  } catch (cause) {
    if (!(cause instanceof CommanderError)) throw cause;
    return intentOfExit(cause, parse);
  }
  return parse.chosen ?? { kind: 'missing', text: program.helpInformation() };
}

/** What the parser leaves behind while commander works. */
interface Parse {
  readonly catalog: Catalog;
  readonly style: HelpStyle;
  printed: string;
  chosen: Intent | undefined;
  failedAt: string | undefined;
}

function intentOfExit({ code, message }: CommanderError, parse: Parse): Intent {
  if (code === 'commander.help') return { kind: 'missing', text: parse.printed };
  if (code === 'commander.helpDisplayed' || code === 'commander.version') {
    return { kind: 'print', text: parse.printed };
  }
  const [first = '', second = ''] = message.replace(/^error: /, '').split('\n');
  // A name that is right somewhere else is a better guess than one that is only spelt alike.
  const guess = elsewhere(first, parse.catalog) ?? /^\((Did you mean .+\?)\)$/.exec(second)?.[1];
  const help = `Run \`${parse.failedAt ?? 'sub'} --help\` to see what it takes.`;
  const wrong = failure('SUB_USAGE', `${first.replace(/\.$/, '')}.`, guess ?? help);
  const offered = guess === undefined ? offeredIn(first) : undefined;
  return { ...wrong, ...(offered && { offered }) };
}

/** The name is right, but it stands in another place: `sub lint`. */
function elsewhere(message: string, { commands }: Catalog): string | undefined {
  const word = /^unknown command '(.+)'$/.exec(message)?.[1];
  const found = commands.find(({ path }) => path.at(-1) === word);
  return found && `Did you mean \`sub ${found.path.join(' ')}\`?`;
}

/** A value that an option does not take, and those it does. */
function offeredIn(message: string): Offered | undefined {
  const found = /argument '(.*)' is invalid\. Allowed choices are (.+?)\.?$/.exec(message);
  const [, word, choices] = found ?? [];
  return word === undefined || choices === undefined
    ? undefined
    : { word, choices: choices.split(', ') };
}

function buildProgram(parse: Parse): Commander {
  const { catalog } = parse;
  const program = configured(new Commander('sub'), parse)
    .description(catalog.description)
    .version(catalog.version, '-v, --version', 'print the version')
    .addOption(noColor());
  const groups = new Map<string, Commander>();
  for (const { name, summary, description } of catalog.groups) {
    const group = configured(new Commander(name), parse)
      .summary(summary)
      .description(description)
      .addOption(noColor());
    group.addCommand(helpCommand(group, parse));
    groups.set(name, group);
    program.addCommand(group);
  }
  for (const command of catalog.commands) {
    const [first = '', second] = command.path;
    const parent = second === undefined ? program : groups.get(first);
    if (parent === undefined) throw new Error(`the catalog has no group \`${first}\``);
    const { fallback } = catalog.groups.find(({ name }) => name === first) ?? {};
    const isDefault = second !== undefined && second === fallback;
    parent.addCommand(leafOf(command, parse), { isDefault });
  }
  program.addCommand(helpCommand(program, parse));
  return program;
}

/** What holds for every command: our own output, errors thrown, no colours but ours. */
function configured(commander: Commander, parse: Parse): Commander {
  const { colors, columns } = parse.style;
  const helpColumns = Math.min(columns, HELP_COLUMNS_MAX);
  const collect = (text: string) => {
    parse.printed += text;
  };
  return commander
    .helpCommand(false)
    .helpOption('-h, --help', 'print this help')
    .configureHelp({ styleTitle: (title) => colors.bold(title), subcommandTerm })
    .configureOutput({
      writeOut: collect,
      writeErr: collect,
      outputError: () => undefined,
      getOutHelpWidth: () => helpColumns,
      getErrHelpWidth: () => helpColumns,
      getOutHasColors: () => colors.isColorSupported,
      getErrHasColors: () => colors.isColorSupported,
    })
    .exitOverride((cause) => {
      parse.failedAt = pathOf(commander);
      throw cause;
    });
}

function noColor(): Option {
  return new Option('--no-color', 'print without colours');
}

/** Every command has options, so naming them in a list of commands says nothing. */
function subcommandTerm(commander: Commander): string {
  const args = commander.registeredArguments.map((argument) => {
    const name = argument.name() + (argument.variadic ? '...' : '');
    if (!argument.required) return ` [${name}]`;
    return isCommandLine(argument.name(), argument.variadic) ? ` -- <${name}>` : ` <${name}>`;
  });
  return commander.name() + args.join('');
}

/** The words of another program have options of their own: they stand behind `--`. */
function isCommandLine(name: string, isMany: boolean): boolean {
  return isMany && name === 'command';
}

function pathOf(commander: Commander): string {
  const parent = commander.parent;
  return parent === null ? commander.name() : `${pathOf(parent)} ${commander.name()}`;
}

function leafOf(command: Command, parse: Parse): Commander {
  const leaf = configured(new Commander(command.path.at(-1)), parse)
    .summary(command.summary)
    .description(command.description)
    .addHelpText('after', () => afterHelp(command, parse.style.colors));
  for (const [name, { doc, many, optional }] of Object.entries(command.args)) {
    const words = many ? `${name}...` : name;
    leaf.argument(optional === true ? `[${words}]` : `<${words}>`, doc);
    if (isCommandLine(name, many)) leaf.usage(`[options] -- <${name}...>`);
  }
  for (const [name, spec] of Object.entries(command.options)) leaf.addOption(optionOf(name, spec));
  leaf.addOption(noColor());
  leaf.action(() => {
    const { processedArgs } = leaf;
    const given = leaf.opts<{ readonly [name: string]: unknown }>();
    const args = new Map<string, unknown>();
    for (const [index, name] of Object.keys(command.args).entries()) {
      args.set(name, processedArgs[index]);
    }
    const options = Object.keys(command.options).map(
      (name) => [name, valueOf(name, given)] as const,
    );
    const values = { args: Object.fromEntries(args), options: Object.fromEntries(options) };
    parse.chosen = { kind: 'run', command, values };
  });
  return leaf;
}

function optionOf(name: string, spec: OptionSpec): Option {
  switch (spec.kind) {
    case 'flag':
      return new Option(`--${name}`, spec.doc);
    case 'text': {
      const short = spec.short === undefined ? '' : `-${spec.short}, `;
      return new Option(`${short}--${name} <${spec.value}>`, spec.doc);
    }
    case 'texts': {
      const option = new Option(`--${name} <${spec.value}>`, spec.doc);
      const add = (value: string, previous: readonly string[] | undefined) => [
        ...(previous ?? []),
        value,
      ];
      return option.argParser(add);
    }
    case 'choice':
      return new Option(`--${name} <${name}>`, spec.doc).choices(spec.values);
  }
}

/** Commander reads `--no-x` as an `x` that is false. */
function valueOf(name: string, given: { readonly [name: string]: unknown }): unknown {
  const positive = /^no-(.+)$/.exec(name)?.[1];
  return positive === undefined ? given[camel(name)] : given[camel(positive)] === false;
}

function camel(name: string): string {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function afterHelp({ examples, exitCodes }: Command, colors: Colors): string {
  const codes = Object.entries(exitCodes).map(([code, doc]) => `  ${code.padEnd(3)} ${doc}`);
  return [
    '',
    colors.bold('Examples:'),
    ...examples.map((example) => `  $ ${example}`),
    '',
    colors.bold('Exit codes:'),
    ...codes,
  ].join('\n');
}

/** `sub help policy lint` and `sub policy help lint` are `sub policy lint --help`. */
function helpCommand(parent: Commander, parse: Parse): Commander {
  const help = configured(new Commander('help'), parse)
    .summary('print the help of a command')
    .description('Prints the help of a command.')
    .argument('[command...]', 'the words of the command')
    .addOption(noColor());
  return help.action((words: readonly string[]) => {
    let found = parent;
    for (const word of words) {
      const next = found.commands.find((command) => command.name() === word);
      if (next === undefined) return missing(found, word);
      found = next;
    }
    found.outputHelp();
    parse.chosen = { kind: 'print', text: parse.printed };
  });
}

/** Commander itself knows how to say that a group has no such command, and what is near. */
function missing(found: Commander, word: string): void {
  if (found.commands.length > 0) found.parse([word], { from: 'user' });
  else found.error(`\`${pathOf(found)}\` has no command \`${word}\``);
}
