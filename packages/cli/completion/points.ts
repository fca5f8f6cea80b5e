// What a shell can complete at each position, from the data of the commands.
import { CLIENTS } from '@subluminal/plane/clients';
import {
  allEntries,
  type Command,
  type CommandEntry,
  type CommandGroup,
  type HelpSection,
  isGroup,
  type OptionSpec,
} from '../input/command.ts';

export type CompletedValue =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'files' }
  /** Only the user knows the value. */
  | { readonly kind: 'text' };

export interface CompletedOption {
  /** With their dashes. */
  readonly flags: readonly string[];
  readonly doc: string;
  /** Undefined for one that takes no value. */
  readonly value?: CompletedValue;
}

export interface CompletionPoint {
  /** The words behind `sub`; none for `sub` itself. */
  readonly path: readonly string[];
  readonly commands: readonly { readonly name: string; readonly doc: string }[];
  readonly options: readonly CompletedOption[];
  readonly argument: CompletedValue;
}

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** Names of arguments and values that are paths. */
const FILE_NAMES = new Set([
  'file',
  'path',
  'dir',
  'key',
  'snapshot',
  'events',
  'old',
  'new',
  'out',
]);
const SHARED: readonly CompletedOption[] = [
  { flags: ['--no-color'], doc: 'Print without colours' },
  { flags: ['--help', '-h'], doc: 'Print the help' },
];

/** Every position that a shell completes: `sub`, its groups and its commands. */
export async function completionPoints(
  sections: readonly HelpSection[],
): Promise<readonly CompletionPoint[]> {
  const entries = sections.flatMap((section) => section.entries);
  const top = listPoint([], entries);
  const version = { flags: ['--version', '-v'], doc: 'Print the version' };
  const groups = entries.filter(isGroup).map(({ name, commands }) => listPoint([name], commands));
  const commands = await Promise.all(
    allEntries(sections).map(async ({ path, load }) => commandPoint(path, (await load()).command)),
  );
  const points = [{ ...top, options: [...top.options, version] }, ...groups, ...commands];
  for (const point of points) assertPlainWords(point);
  return points;
}

function listPoint(
  path: readonly string[],
  entries: readonly (CommandEntry | CommandGroup)[],
): CompletionPoint {
  const commands = entries.map((entry) => ({
    name: isGroup(entry) ? entry.name : (entry.path.at(-1) ?? ''),
    doc: entry.summary,
  }));
  const help = { name: 'help', doc: 'Print the help of a command' };
  return { path, commands: [...commands, help], options: SHARED, argument: { kind: 'text' } };
}

function commandPoint(path: readonly string[], command: Command): CompletionPoint {
  const options = Object.entries(command.options).map(([name, spec]) => optionOf(name, spec));
  const [first] = Object.keys(command.args);
  return {
    path,
    commands: [],
    options: [...options, ...SHARED],
    argument: first === undefined ? { kind: 'text' } : valueNamed(first),
  };
}

function optionOf(name: string, spec: OptionSpec): CompletedOption {
  const short = spec.kind === 'text' && spec.short !== undefined ? [`-${spec.short}`] : [];
  const option = { flags: [`--${name}`, ...short], doc: spec.doc };
  if (spec.kind === 'flag') return option;
  const value: CompletedValue =
    spec.kind === 'choice' ? { kind: 'words', words: spec.values } : valueNamed(spec.value);
  return { ...option, value };
}

function valueNamed(name: string): CompletedValue {
  if (name === 'shell') return { kind: 'words', words: SHELLS };
  if (name === 'client') return { kind: 'words', words: clientWords() };
  return { kind: FILE_NAMES.has(name.toLowerCase()) ? 'files' : 'text' };
}

/** Every word that names a client. */
function clientWords(): readonly string[] {
  return CLIENTS.flatMap(({ id, aliases }) => [id, ...aliases]);
}

/** How the path so far and the next word are compared: a first word has nothing before it. */
export function spacedPaths(points: readonly CompletionPoint[]): readonly string[] {
  const paths = points.map(({ path }) => path.join(' ')).filter((path) => path !== '');
  return paths.map((path) => (path.includes(' ') ? path : ` ${path}`));
}

const WORD = /^[A-Za-z0-9_-]+$/;

/** The words become shell code, so none may have a meaning there. */
function assertPlainWords({ path, commands, options, argument }: CompletionPoint): void {
  const values = [argument, ...options.map(({ value }) => value)];
  const words = [
    ...path,
    ...commands.map(({ name }) => name),
    ...options.flatMap(({ flags }) => flags),
    ...values.flatMap((value) => (value?.kind === 'words' ? value.words : [])),
  ];
  const bad = words.find((word) => !WORD.test(word));
  if (bad !== undefined) throw new Error(`\`${bad}\` cannot be completed`);
}
