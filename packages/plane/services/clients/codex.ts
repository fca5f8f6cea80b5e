import { dirname, join } from 'node:path';
import { readRegularFile } from '../../os/index.ts';
import { flagValues } from './command-line-flags.ts';
import { createClient } from './create-client.ts';
import { loginByHand } from './own-login.ts';
import { folderFromVariable, foldersInRepository } from './project-folders.ts';
import type { ClientPlace, CommandLine } from './types.ts';

const PROFILE_BYTES_MAX = 1_048_576;
const PROFILE = /^[A-Za-z0-9_.-]{1,128}$/;

export const codex = createClient({
  id: 'codex',
  title: 'Codex CLI',
  aliases: ['codex-cli'],
  builtInTools: ['shell', 'apply_patch', 'web_search'],
  mergesFiles: true,
  remoteKeys: {
    addresses: ['url'],
    headers: 'http_headers',
    envHeaders: 'env_http_headers',
    bearerEnv: 'bearer_token_env_var',
    variables: 'env_vars',
    refused: {
      oauth: loginByHand,
      oauth_resource: loginByHand,
      bearer_token: 'is refused by Codex itself: use bearer_token_env_var',
      experimental_environment: 'has Codex start its command on another machine',
    },
  },
  commands: ['codex'],
  packages: ['@openai/codex'],
  // Codex reads all but the first only in projects that the user trusts.
  eventName: 'codex',
  format: 'toml',
  userFiles: (place) => [join(homeOf(place), 'config.toml')],
  projectFiles: ['.codex/config.toml'],
  projectsAbove: ({ project }) => foldersInRepository(project),
  serversBeside: serversOnLine,
  folders: (place) => [homeOf(place)],
  inside: [['mcp_servers']],
  containers: () => [{ path: ['mcp_servers'] }],
});

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

/** A file that cannot be read may hold anything. */
function mayNameServers(path: string): boolean {
  const read = readRegularFile(path, { bytesMax: PROFILE_BYTES_MAX });
  if (read.kind !== 'read') return read.kind !== 'missing';
  return read.bytes.includes('mcp_servers');
}
