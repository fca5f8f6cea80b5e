import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { flagValues } from './command-line-flags.ts';
import { createClient } from './create-client.ts';
import {
  configFiles,
  folderFromVariable,
  foldersAbove,
  realPath,
  repositoryOf,
} from './project-folders.ts';

import type { ClientPlace, CommandLine, ConfigScope } from './types.ts';

const PROFILE_BYTES_MAX = 1_048_576;
const PROFILE = /^[A-Za-z0-9_.-]{1,128}$/;

export const codex = createClient({
  id: 'codex',
  title: 'Codex CLI',
  aliases: ['codex-cli'],
  mergesFiles: true,
  commands: ['codex'],
  packages: ['@openai/codex'],
  // Codex reads all but the first only in projects that the user trusts.
  files: (place) =>
    configFiles({ client: 'codex', format: 'toml' }, [
      ['user', join(homeOf(place), 'config.toml')],
      ...filesAbove(place),
      ['project', fileIn(place.project)],
    ]),
  serversBeside: serversOnLine,
  folders: (place) => [homeOf(place)],
  inside: [['mcp_servers']],
  containers: () => [{ path: ['mcp_servers'] }],
});

/** Those between the top of the repository and the project count too, and the nearest wins. */
function filesAbove(place: ClientPlace): readonly (readonly [ConfigScope, string])[] {
  const project = realPath(place.project);
  const top = repositoryOf(project);
  const above = foldersAbove(project);
  const from = top === undefined ? -1 : above.indexOf(top);
  const own = join(homeOf(place), 'config.toml');
  return (from === -1 ? [] : above.slice(from))
    .map(fileIn)
    .filter((path) => path !== own && existsSync(path))
    .map((path) => ['project', path]);
}

function fileIn(folder: string): string {
  return join(folder, '.codex', 'config.toml');
}

function homeOf(place: ClientPlace): string {
  return folderFromVariable(place, 'CODEX_HOME', join(place.userHome, '.codex'));
}

function serversOnLine(words: readonly string[], { place }: CommandLine): readonly string[] {
  const set = flagValues(words, ['-c', '--config']).map(parseSetting);
  const servers = set
    .filter(({ key }) => key[0] === 'mcp_servers')
    .map(({ key }) => `-c ${key.slice(0, 2).join('.')}`);
  const folders = new Set(codex.files(place).map(({ path }) => dirname(path)));
  const profiles = [
    ...flagValues(words, ['-p', '--profile']),
    ...set.flatMap(({ key, value }) => (key.join('.') === 'profile' ? [value] : [])),
  ];
  const files = profiles
    .filter((name) => PROFILE.test(name))
    .flatMap((name) => [...folders].map((folder) => join(folder, `${name}.config.toml`)))
    .filter(mayNameServers);
  return [...servers, ...files];
}

/** `a.b.c=value`; quotes around a part are not part of it. */
function parseSetting(word: string): { readonly key: readonly string[]; readonly value: string } {
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
