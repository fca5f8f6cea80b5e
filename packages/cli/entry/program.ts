// Builds the command line parser from the list of commands, and turns arguments into an intent. Runs
// no command itself.

import { type Failure, failure } from '@subluminal/contracts';
import { Command as Commander, CommanderError, Option } from 'commander';
import {
  allEntries,
  type Command,
  type CommandEntry,
  type CommandGroup,
  type HelpSection,
  isGroup,
  type OptionSpec,
  type RawValues,
} from '../input/command.ts';
import type { Colors } from '../terminal/io.ts';

export interface Program {
  readonly version: string;
  readonly description: string;
  readonly startHere: string;
  readonly sections: readonly HelpSection[];
}

interface HelpStyle {
  readonly colors: Colors;
  readonly columns: number;
}

export type Intent =
  | {
      readonly kind: 'run';
      readonly path: readonly string[];
      readonly command: Command;
      readonly values: RawValues;
    }
  | { readonly kind: 'print'; readonly text: string }
  /** Help instead of an answer: a command was expected and none was given. */
  | { readonly kind: 'missing'; readonly text: string }
  | Failure;

const HELP_COLUMNS_MAX = 100;

/** Reads the arguments behind `sub`, and loads the command that they name. */
export async function parseArguments(
  argv: readonly string[],
  program: Program,
  style: HelpStyle,
): Promise<Intent> {
  const loaded = await loadNamed(argv, program);
  const state = { printed: '', chosen: undefined, failedAt: undefined };
  const parse: Parse = { program, loaded, style, ...state };
  const commander = buildProgram(parse);
  try {
    commander.parse(argv, { from: 'user' });
  } catch (cause) {
    if (!(cause instanceof CommanderError)) throw cause;
    return intentOfExit(meant(cause, argv, parse), parse);
  }
  return parse.chosen ?? { kind: 'missing', text: commander.helpInformation() };
}

type LoadedCommands = ReadonlyMap<CommandEntry, Command>;

/** Loads each command whose words are all in the arguments: the one that is meant is among them. */
async function loadNamed(argv: readonly string[], { sections }: Program): Promise<LoadedCommands> {
  const words = new Set(argv);
  const isNamed = ({ path }: CommandEntry) => path.every((word) => words.has(word));
  const named = sections.flatMap(({ entries }) =>
    entries.flatMap((entry) => {
      if (!isGroup(entry)) return isNamed(entry) ? [entry] : [];
      const { name, fallback, commands } = entry;
      return commands.filter(
        (one) => isNamed(one) || (words.has(name) && one.path.at(-1) === fallback),
      );
    }),
  );
  return new Map(
    await Promise.all(named.map(async (one) => [one, (await one.load()).command] as const)),
  );
}

/** The state of one parse, which the callbacks of commander fill. */
interface Parse {
  readonly program: Program;
  readonly loaded: LoadedCommands;
  readonly style: HelpStyle;
  printed: string;
  chosen: Intent | undefined;
  failedAt: string | undefined;
}

/** A word that no command of a group has goes to its fallback, which says nothing of commands. */
function meant(cause: CommanderError, argv: readonly string[], parse: Parse): CommanderError {
  const [, group, leaf] = (parse.failedAt ?? '').split(' ');
  const [name, word] = argv;
  const isAlone = cause.message.includes('Expected 0 arguments') && leaf !== undefined;
  if (!isAlone || name !== group || word === undefined || word === leaf || word.startsWith('-')) {
    return cause;
  }
  parse.failedAt = `sub ${group}`;
  return new CommanderError(1, 'commander.unknownCommand', `error: unknown command '${word}'`);
}

async function intentOfExit({ code, message }: CommanderError, parse: Parse): Promise<Intent> {
  if (code === 'commander.help') return { kind: 'missing', text: parse.printed };
  if (code === 'commander.helpDisplayed' || code === 'commander.version') {
    return { kind: 'print', text: parse.printed };
  }
  const [first = '', second = ''] = message.replace(/^error: /, '').split('\n');
  const guess =
    (await guessedCommand(first, parse)) ??
    /^\((Did you mean .+\?)\)$/.exec(second)?.[1] ??
    (await guessedChoice(first));
  const help = `Run \`${parse.failedAt ?? 'sub'} --help\` to see what it takes.`;
  return failure('SUB_USAGE', `${first.replace(/\.$/, '')}.`, guess ?? help);
}

/** A command beside it that is spelt alike; else one of that name in another place: `sub lint`. */
async function guessedCommand(
  message: string,
  { program: { sections }, failedAt }: Parse,
): Promise<string | undefined> {
  const word = /^unknown command '(.+)'$/.exec(message)?.[1];
  if (word === undefined) return undefined;
  const [, group] = (failedAt ?? '').split(' ');
  const entries = sections.flatMap((section) => section.entries);
  const commands = allEntries(sections);
  const beside =
    group === undefined
      ? entries.map((entry) => (isGroup(entry) ? entry.name : (entry.path[0] ?? '')))
      : commands.flatMap(({ path }) => (path[0] === group ? (path[1] ?? []) : []));
  const { nearest } = await import('../input/guess.ts');
  const near = nearest(word, beside);
  if (near !== undefined) return `Did you mean ${near}?`;
  const elsewhere = commands.filter(({ path }) => path.at(-1) === word);
  const named = elsewhere.map(({ path }) => `\`sub ${path.join(' ')}\``);
  return named.length === 0 ? undefined : `Did you mean ${named.join(' or ')}?`;
}

/** A value that an option does not take may be near to one that it does. */
async function guessedChoice(message: string): Promise<string | undefined> {
  const found = /argument '(.*)' is invalid\. Allowed choices are (.+?)\.?$/.exec(message);
  const [, word = '', choices] = found ?? [];
  if (choices === undefined) return undefined;
  // Loaded only for this: printing help should load little.
  const { guessed } = await import('../input/guess.ts');
  const guess = guessed(word, choices.split(', '));
  return guess && `Did you mean ${guess}?`;
}

function buildProgram(parse: Parse): Commander {
  const { version, description, startHere, sections } = parse.program;
  const program = configured(new Commander('sub'), parse)
    .description(description)
    .version(version, '-v, --version', 'Print the version')
    .addHelpText('after', `\n${startHere}`)
    .addOption(noColor());
  for (const { title, entries } of sections) {
    program.commandsGroup(`${title}:`);
    for (const entry of entries) {
      program.addCommand(isGroup(entry) ? groupOf(entry, parse) : leafOf(entry, parse));
    }
  }
  program.addCommand(helpCommand(program, parse));
  return program;
}

function groupOf({ name, summary, fallback, commands }: CommandGroup, parse: Parse): Commander {
  const alone = fallback === undefined ? '' : ` Without a command: \`sub ${name} ${fallback}\`.`;
  const group = configured(new Commander(name), parse)
    .summary(summary)
    .description(`${summary}.${alone}`)
    .addOption(noColor());
  for (const entry of commands) {
    group.addCommand(leafOf(entry, parse), { isDefault: entry.path.at(-1) === fallback });
  }
  return group.addCommand(helpCommand(group, parse));
}

/** Settings of every command: output collected, errors thrown, our own colours. */
function configured(commander: Commander, parse: Parse): Commander {
  const { colors, columns } = parse.style;
  const helpColumns = Math.min(columns, HELP_COLUMNS_MAX);
  const collect = (text: string) => {
    parse.printed += text;
  };
  return commander
    .helpCommand(false)
    .helpOption('-h, --help', 'Print this help')
    .configureHelp({
      styleTitle: (title) => colors.bold(title),
      // Only the name, as `gh` and `docker` list commands.
      subcommandTerm: (subcommand) => subcommand.name(),
    })
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
  return new Option('--no-color', 'Print without colours');
}

function pathOf(commander: Commander): string {
  const parent = commander.parent;
  return parent === null ? commander.name() : `${pathOf(parent)} ${commander.name()}`;
}

type Values = { [name: string]: unknown };

/** A command that is not loaded has only its name and summary, for lists. */
function leafOf(entry: CommandEntry, parse: Parse): Commander {
  const leaf = configured(new Commander(entry.path.at(-1)), parse).summary(entry.summary);
  const command = parse.loaded.get(entry);
  if (command === undefined) return leaf;
  leaf
    .description(command.description)
    .addHelpText('after', () => afterHelp(command, parse.style.colors));
  for (const [name, { doc, many, optional }] of Object.entries(command.args)) {
    const words = many ? `${name}...` : name;
    leaf.argument(optional === true ? `[${words}]` : `<${words}>`, doc);
    // The words of another program have options of their own: they stand behind `--`.
    if (many && name === 'command') leaf.usage(`[options] -- <${name}...>`);
  }
  const named = new Set<string>();
  for (const [name, spec] of Object.entries(command.options)) {
    leaf.addOption(optionOf(name, spec)).on(`option:${name}`, () => named.add(name));
  }
  leaf.addOption(noColor());
  leaf.action(() => {
    const given = leaf.opts<Values>();
    const args: Values = {};
    for (const [index, [name, { many }]] of Object.entries(command.args).entries()) {
      const value: unknown = leaf.processedArgs[index];
      args[name] = value ?? (many ? [] : '');
    }
    const options: Values = { json: false };
    for (const [name, spec] of Object.entries(command.options)) {
      // Commander takes `--x` and `--no-x` for one option, and of both only the last.
      options[name] = spec.kind === 'flag' ? named.has(name) : valueOf(name, spec, given);
    }
    const values = { args, options };
    parse.chosen = { kind: 'run', path: entry.path, command, values };
  });
  return leaf;
}

function optionOf(name: string, spec: OptionSpec): Option {
  const { doc } = spec;
  switch (spec.kind) {
    case 'flag':
      return new Option(`--${name}`, doc);
    case 'text': {
      const short = spec.short === undefined ? '' : `-${spec.short}, `;
      return new Option(`${short}--${name} <${spec.value}>`, doc);
    }
    case 'texts':
      return new Option(`--${name} <${spec.value}>`, doc).argParser(
        (value: string, previous: readonly string[] | undefined) => [...(previous ?? []), value],
      );
    case 'choice':
      return new Option(`--${name} <${name}>`, doc).choices(spec.values);
  }
}

function valueOf(name: string, { kind }: OptionSpec, given: Values): unknown {
  const value = given[camel(name)];
  return kind === 'texts' ? (value ?? []) : value;
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
    .summary('Print the help of a command')
    .description('Prints the help of a command.')
    .argument('[command...]', 'The words of the command')
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

/** Commander itself reports that a group has no such command, and which one is near. */
function missing(found: Commander, word: string): void {
  if (found.commands.length > 0) found.parse([word], { from: 'user' });
  else found.error(`\`${pathOf(found)}\` has no command \`${word}\``);
}
