// Servers that the command line of an agent brings along: they stand in no config that is rewritten.
import { closeSync, openSync, readSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Client, Place } from '../index.ts';

interface CommandLine {
  readonly client: Client;
  /** The agent and its arguments. */
  readonly words: readonly string[];
  readonly place: Place;
  /** The configs that are rewritten. */
  readonly governed: readonly string[];
}

const SHOWN_MAX = 20;
const NAME_LENGTH_MAX = 200;
const PROFILE_BYTES_MAX = 1_048_576;
const PROFILE = /^[A-Za-z0-9_.-]{1,128}$/;

/** What brings them, as a person would call it; values that may hold secrets are not shown. */
export function serversBeside(line: CommandLine): readonly string[] {
  // Also behind a `--`: it may be that of a launcher, such as npx.
  const found = [...new Set(FINDERS[line.client.id]?.(line.words.slice(1), line) ?? [])];
  return found.slice(0, SHOWN_MAX).map((one) => one.slice(0, NAME_LENGTH_MAX));
}

type Finder = (words: readonly string[], line: CommandLine) => readonly string[];

const FINDERS: { readonly [id in Client['id']]?: Finder } = {
  'claude-code': ofClaude,
  codex: ofCodex,
  vscode: (words) => (valuesOf(words, ['--add-mcp']).length === 0 ? [] : ['--add-mcp']),
};

function ofClaude(words: readonly string[], { place, governed }: CommandLine): readonly string[] {
  const known = new Set(governed.map((path) => resolve(path)));
  const configs = listsOf(words, '--mcp-config')
    .filter((value) => !known.has(resolve(place.project, value)))
    // Not a path: the config itself, with whatever is in it.
    .map((value) => `--mcp-config ${/^\s*\{/.test(value) ? '{…}' : value}`);
  const isStrict = words.includes('--strict-mcp-config');
  return isStrict && configs.length > 0 ? [...configs, '--strict-mcp-config'] : configs;
}

function ofCodex(words: readonly string[], { client, place }: CommandLine): readonly string[] {
  const set = valuesOf(words, ['-c', '--config']).map(keyOf);
  const servers = set
    .filter(({ key }) => key[0] === 'mcp_servers')
    .map(({ key }) => `-c ${key.slice(0, 2).join('.')}`);
  const folders = new Set(client.files(place).map(({ path }) => dirname(path)));
  const profiles = [
    ...valuesOf(words, ['-p', '--profile']),
    ...set.flatMap(({ key, value }) => (key.join('.') === 'profile' ? [value] : [])),
  ];
  const files = profiles
    .filter((name) => PROFILE.test(name))
    .flatMap((name) => [...folders].map((folder) => join(folder, `${name}.config.toml`)))
    .filter(mayNameServers);
  return [...servers, ...files];
}

/** `a.b.c=value`; quotes around a part are not part of it. */
function keyOf(word: string): { readonly key: readonly string[]; readonly value: string } {
  const [name = '', ...rest] = word.split('=');
  const bare = (text: string): string => text.trim().replaceAll(/^["']|["']$/g, '');
  return { key: name.split('.').map(bare), value: bare(rest.join('=')) };
}

/** What cannot be read may hold anything. */
function mayNameServers(path: string): boolean {
  try {
    const fd = openSync(path, 'r');
    try {
      const bytes = Buffer.alloc(PROFILE_BYTES_MAX);
      const count = readSync(fd, bytes);
      return (
        count === PROFILE_BYTES_MAX || bytes.toString('utf8', 0, count).includes('mcp_servers')
      );
    } finally {
      closeSync(fd);
    }
  } catch (cause) {
    return !(cause instanceof Error && 'code' in cause && cause.code === 'ENOENT');
  }
}

/** `--flag value`, `--flag=value`, and `-fvalue` for a short one. */
function valuesOf(words: readonly string[], flags: readonly string[]): readonly string[] {
  return words.flatMap((word, at) => {
    if (flags.includes(word)) return words.slice(at + 1, at + 2);
    const flag = flags.find((one) => word.startsWith(one.startsWith('--') ? `${one}=` : one));
    return flag === undefined ? [] : [word.slice(flag.length).replace(/^=/, '')];
  });
}

/** All words behind the flag, up to the next one. */
function listsOf(words: readonly string[], flag: string): readonly string[] {
  return words.flatMap((word, at) => {
    if (word.startsWith(`${flag}=`)) return [word.slice(flag.length + 1)];
    if (word !== flag) return [];
    const rest = words.slice(at + 1);
    const end = rest.findIndex((one) => one.startsWith('-'));
    return rest.slice(0, end === -1 ? rest.length : end);
  });
}
