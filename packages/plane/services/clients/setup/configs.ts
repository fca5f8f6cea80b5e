// The configs that a client has on this machine, read.
import { resolve } from 'node:path';
import {
  type Client,
  type ConfigFile,
  type ConfigProblem,
  clientOf,
  fileAt,
  leadsOut,
  type Place,
  type ReadConfig,
  type Scope,
} from '../index.ts';
import { readConfigFile } from '../store/config-file.ts';

export interface FoundConfig {
  readonly kind: 'found';
  readonly client: Client;
  readonly file: ConfigFile;
  /** The file behind all links. */
  readonly target: string;
  readonly config: ReadConfig;
}

interface Search {
  readonly place: Place;
  readonly clients: readonly Client[];
  /** This file, read as one of the first client's. */
  readonly configPath?: string | undefined;
}

export interface Configs {
  readonly found: readonly FoundConfig[];
  readonly problems: readonly ConfigProblem[];
  /** Every path that was looked at. */
  readonly looked: readonly string[];
}

export function findConfigs({ place, clients, configPath }: Search): Configs {
  const found: FoundConfig[] = [];
  const problems: ConfigProblem[] = [];
  const looked: string[] = [];
  const wanted: readonly Wanted[] =
    configPath === undefined
      ? clients.flatMap((client) =>
          client.files(place).map((file) => ({ client, path: file.path, file })),
        )
      : [namedConfig(clients[0] ?? clientOf('custom'), resolve(configPath), place)];
  for (const one of wanted) {
    looked.push(one.path);
    const read = readOne(one);
    if (read.kind === 'found') found.push(read);
    else if (read.kind === 'problem') problems.push(read);
    else if (configPath !== undefined) problems.push(notThere(one.path));
  }
  return { found, problems, looked };
}

interface Wanted {
  readonly client: Client;
  readonly path: string;
  /** Undefined: by what the file itself looks like. */
  readonly file: ConfigFile | undefined;
  readonly scope?: Scope | undefined;
}

/** A file that is one of the client's own belongs where the client has it. */
function namedConfig(client: Client, path: string, place: Place): Wanted {
  const own = client.files(place).find((file) => file.path === path);
  return { client, path, file: undefined, scope: own?.scope };
}

function readOne({
  client,
  path,
  file,
  scope,
}: Wanted): FoundConfig | ConfigProblem | { kind: 'missing' } {
  const read = readConfigFile(path);
  if (read.kind !== 'read') return read;
  const asFile = file ?? { ...fileAt(client, path, read.text), ...(scope && { scope }) };
  const outside = leadsOut(asFile, read.target);
  if (outside !== undefined) return outside;
  const config = client.read(asFile, read.text);
  if (config.kind === 'problem') return config;
  return { kind: 'found', client, file: asFile, target: read.target, config };
}

function notThere(path: string): ConfigProblem {
  return {
    kind: 'problem',
    path,
    message: `${path} does not exist.`,
    fix: 'Check the path.',
  };
}
