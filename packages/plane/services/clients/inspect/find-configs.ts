// The configs that a client has on this machine, read.

import { resolve } from 'node:path';
import { type Failure, failure } from '@subluminal/contracts';
import {
  type Client,
  type ClientPlace,
  type ConfigFailure,
  type ConfigFile,
  clientOf,
  fileAt,
  linkOutOfProject,
  projectOfFile,
  type ReadConfig,
} from '../index.ts';
import { readPriorState } from '../store/apply-change.ts';
import { type ChangeStore, configFailure, configKey } from '../store/change-store.ts';
import { readConfigFile } from '../store/config-file.ts';
import { type FoundRecord, listRecords } from '../store/records.ts';
import { withCode } from './adoption-place.ts';

export interface FoundConfig {
  readonly kind: 'found';
  readonly client: Client;
  readonly file: ConfigFile;
  /** The file behind all links. */
  readonly target: string;
  readonly config: ReadConfig;
}

interface ConfigSearch {
  readonly place: ClientPlace;
  readonly clients: readonly Client[];
  /** This file, read as one of the first client's. */
  readonly configPath?: string | undefined;
}

export interface Configs {
  readonly found: readonly FoundConfig[];
  readonly problems: readonly ConfigFailure[];
  /** Every path that was looked at. */
  readonly looked: readonly string[];
}

export function findConfigs({ place, clients, configPath }: ConfigSearch): Configs {
  const found: FoundConfig[] = [];
  const problems: ConfigFailure[] = [];
  const looked: string[] = [];
  const [first = clientOf('custom')] = clients;
  const wanted: readonly ConfigToRead[] =
    configPath === undefined
      ? filesOf(clients, place)
      : [namedConfig(first, resolve(configPath), place)];
  for (const { client, ...one } of wanted) {
    looked.push(one.path);
    const read = readOne(client, one);
    if (read.kind === 'found') found.push(read);
    else if (read.kind === 'failure') problems.push(read);
    else if (configPath !== undefined) {
      problems.push(configFailure(one.path, `${one.path} does not exist.`, 'Check the path.'));
    }
  }
  return { found, problems, looked };
}

/** A file that two clients read is that of the first. */
function filesOf(clients: readonly Client[], place: ClientPlace): readonly ConfigToRead[] {
  const files = new Map<string, ConfigToRead>();
  for (const client of clients) {
    for (const file of client.files(place)) {
      if (!files.has(file.path)) files.set(file.path, { ...file, client });
    }
  }
  return [...files.values()];
}

/** Without a format: by what the file itself looks like. */
type FileToRead = Pick<ConfigFile, 'path' | 'scope'> & Partial<ConfigFile>;
type ConfigToRead = Omit<FileToRead, 'client'> & { readonly client: Client };

/** A file that is one of the client's own belongs where the client has it. */
function namedConfig(client: Client, path: string, place: ClientPlace): ConfigToRead {
  const own = client.files(place).find((file) => file.path === path);
  return { client, path, scope: own?.scope ?? 'user' };
}

function readOne(
  client: Client,
  wanted: FileToRead,
): FoundConfig | ConfigFailure | { readonly kind: 'missing' } {
  const read = readConfigFile(wanted.path);
  if (read.kind !== 'read') return read;
  const file = { ...fileAt(client, wanted.path, read.text), ...wanted };
  const outside = linkOutOfProject(file, read.target);
  if (outside !== undefined) return outside;
  const config = client.read(file, read.text);
  if (config.kind === 'failure') return config;
  return { kind: 'found', client, file, target: read.target, config };
}

// Configs that are known by their records alone: named by their path once, or of another project.

/** Without those whose keys or paths are known already. */
export function recordedConfigs(
  { paths }: ChangeStore,
  known: ReadonlySet<string>,
): readonly (FoundConfig | ConfigFailure)[] {
  return listRecords(paths).flatMap((one) => {
    if (one.kind === 'failure') return [one];
    if (known.has(one.key) || known.has(one.record.path) || hasNoServers(one)) return [];
    return [recorded(one)];
  });
}

/** The projects whose configs are governed, each once. */
export function projectsOnRecord(paths: ChangeStore['paths']): readonly string[] {
  const folders = listRecords(paths).flatMap((one) => {
    return one.kind === 'failure' ? [] : (projectOfFile(one.record) ?? []);
  });
  return [...new Set(folders)];
}

/** A record of hooks or of settings: servers have one as well where they were changed. */
function hasNoServers({ record: { hooks, settings, changes } }: FoundRecord): boolean {
  return (hooks !== undefined || settings !== undefined) && changes.length === 0;
}

function recorded({ record }: FoundRecord): FoundConfig | ConfigFailure {
  const { path, format } = record;
  const client = clientOf(record.client);
  const isInProject = projectOfFile({ client: client.id, path }) !== undefined;
  const read = readOne(client, { path, scope: isInProject ? 'project' : 'user', format });
  if (read.kind !== 'missing') return read;
  const message = `${path} is gone, and there is a record of how sub has changed it.`;
  return configFailure(path, message, `See \`sub restore ${client.id}\`.`);
}

// A config as it would be without our edits.

export function readBaseText({ target, file }: FoundConfig, store: ChangeStore): string | Failure {
  const config = readConfigFile(file.path);
  if (config.kind === 'missing') {
    return failure('SUB_CLIENT_CONFIG', `${file.path} is gone.`, 'Try again.');
  }
  if (config.kind === 'failure') return withCode('SUB_CLIENT_CONFIG', config);
  const before = readPriorState(config, configKey(target), store);
  return before.kind === 'failure' ? withCode('SUB_CLIENT_RESTORE', before) : before.text;
}
