// What can be written where, from the data of the commands; the same for every shell.
import { SHELLS } from '../catalog/about.ts';
import type { Command, OptionSpec } from '../input/command.ts';
import type { Catalog } from '../program.ts';

export type Value =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'files' }
  /** Nobody but the user knows. */
  | { readonly kind: 'text' };

export interface CompletedOption {
  /** With their dashes. */
  readonly flags: readonly string[];
  readonly doc: string;
  /** Undefined for one that takes no value. */
  readonly value?: Value;
}

export interface Place {
  /** The words behind `sub`; none for `sub` itself. */
  readonly path: readonly string[];
  readonly commands: readonly { readonly name: string; readonly doc: string }[];
  readonly options: readonly CompletedOption[];
  readonly argument: Value;
}

/** Names of arguments and values that are paths. */
const FILE_NAMES = new Set(['file', 'dir', 'key', 'snapshot', 'events', 'old', 'new', 'out']);
const SHARED: readonly CompletedOption[] = [
  { flags: ['--no-color'], doc: 'print without colours' },
  { flags: ['--help', '-h'], doc: 'print the help' },
];

export function placesOf(catalog: Catalog): readonly Place[] {
  const own = catalog.commands.map(placeOf);
  const groups = catalog.groups.map(({ name }) => groupOf([name], catalog));
  const top = groupOf([], catalog);
  const version = { flags: ['--version', '-v'], doc: 'print the version' };
  return [{ ...top, options: [...top.options, version] }, ...groups, ...own].map(checked);
}

function groupOf(path: readonly string[], { groups, commands }: Catalog): Place {
  const below = commands
    .filter((one) => one.path.length === path.length + 1)
    .filter((one) => path.every((word, index) => one.path[index] === word))
    .map((one) => ({ name: one.path.at(-1) ?? '', doc: one.summary }));
  const inner =
    path.length === 0 ? groups.map(({ name, summary }) => ({ name, doc: summary })) : [];
  const help = { name: 'help', doc: 'print the help of a command' };
  return {
    path,
    commands: [...below, ...inner, help],
    options: SHARED,
    argument: { kind: 'text' },
  };
}

function placeOf(command: Command): Place {
  const options = Object.entries(command.options).map(([name, spec]) => optionOf(name, spec));
  const [first] = Object.keys(command.args);
  return {
    path: command.path,
    commands: [],
    options: [...options, ...SHARED],
    argument: first === undefined ? { kind: 'text' } : valueNamed(first),
  };
}

function optionOf(name: string, spec: OptionSpec): CompletedOption {
  const { doc } = spec;
  switch (spec.kind) {
    case 'flag':
      return { flags: [`--${name}`], doc };
    case 'choice':
      return { flags: [`--${name}`], doc, value: { kind: 'words', words: spec.values } };
    case 'texts':
      return { flags: [`--${name}`], doc, value: valueNamed(spec.value) };
    case 'text': {
      const short = spec.short === undefined ? [] : [`-${spec.short}`];
      return { flags: [`--${name}`, ...short], doc, value: valueNamed(spec.value) };
    }
  }
}

function valueNamed(name: string): Value {
  if (name === 'shell') return { kind: 'words', words: SHELLS };
  return { kind: FILE_NAMES.has(name.toLowerCase()) ? 'files' : 'text' };
}

const WORD = /^[A-Za-z0-9_-]+$/;

/** The words become code of a shell: nothing in them may mean something there. */
function checked(place: Place): Place {
  const { path, commands, options, argument } = place;
  const values = [argument, ...options.map(({ value }) => value)];
  const words = [
    ...path,
    ...commands.map(({ name }) => name),
    ...options.flatMap(({ flags }) => flags),
    ...values.flatMap((value) => (value?.kind === 'words' ? value.words : [])),
  ];
  const bad = words.find((word) => !WORD.test(word));
  if (bad !== undefined) throw new Error(`\`${bad}\` cannot be completed`);
  return place;
}
