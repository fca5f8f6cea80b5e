// Reads the options that the commands of adoption share.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Failure, failure } from '@subluminal/contracts';
import { CLIENTS, type Client, clientIds, clientOf, findClient } from '@subluminal/plane/clients';
import {
  type Env,
  type HomePaths,
  homePaths,
  type LoadResult,
  loadConfig,
  type Servers,
  userHome,
} from '@subluminal/plane/config';

export interface Whereabouts {
  readonly kind: 'whereabouts';
  readonly env: Env;
  readonly project: string;
  readonly paths: HomePaths;
  /** Of the configuration, as far as that can be read: a config comes back without it, too. */
  readonly redactPatterns: readonly string[];
  /** What config.toml says about single servers; nothing where it cannot be read. */
  readonly bound: Servers;
  /** What config.toml says; a variable of this terminal reaches no server of a client. */
  readonly userProfile: string;
}

export async function whereabouts(project: string | undefined): Promise<Whereabouts | Failure> {
  const { env } = process;
  if (project === '') return failure('SUB_USAGE', '--project is empty.', 'Name a folder.');
  const folder = resolve(project ?? '.');
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    return failure('SUB_FILE_READ', `${folder} is no folder.`, 'Check the path.');
  }
  const loaded = await loadConfig({ env, flags: {}, cwd: process.cwd() });
  return {
    kind: 'whereabouts',
    env,
    project: folder,
    paths: loaded.ok ? loaded.paths : homePaths(env),
    redactPatterns: loaded.ok ? loaded.config['redact.extra_patterns'] : [],
    bound: loaded.ok ? loaded.servers : new Map(),
    userProfile: profileInFile(loaded),
  };
}

/** `production` where the file does not say otherwise. */
export function profileInFile(loaded: LoadResult): string {
  return loaded.ok && loaded.origins.profile === 'file' ? loaded.config.profile : 'production';
}

interface ChosenClient {
  readonly kind: 'chosen';
  /** Undefined: all of them. */
  readonly client: Client | undefined;
  readonly configPath: string | undefined;
}

/** A file that is one of a client's own is read as that client reads it. */
export async function chosenClient(
  word: string,
  configPath: string | undefined,
  { env, project }: Whereabouts,
): Promise<ChosenClient | Failure> {
  if (configPath === '') return failure('SUB_USAGE', '--config-path is empty.', 'Name a file.');
  const path = configPath === undefined ? undefined : resolve(configPath);
  if (word === '') {
    if (path === undefined) return { kind: 'chosen', client: undefined, configPath: path };
    const place = { platform: process.platform, userHome: userHome(env), project, env };
    const owner = CLIENTS.find((one) => one.files(place).some((file) => file.path === path));
    return { kind: 'chosen', client: owner ?? clientOf('custom'), configPath: path };
  }
  const client = findClient(word);
  if (client === undefined) {
    // Guessing loads more than the rest together.
    const { guessed } = await import('../input/guess.ts');
    const words = CLIENTS.flatMap(({ id, aliases }) => [id, ...aliases]);
    const guess = guessed(word, words);
    const fix = `${guess === undefined ? '' : `Did you mean ${guess}? `}Known are: ${clientIds().join(', ')}.`;
    return failure('SUB_CLIENT_UNKNOWN', `there is no client ${word}.`, fix);
  }
  return { kind: 'chosen', client, configPath: path };
}
