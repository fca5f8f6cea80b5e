// How a client would start a server: its command and its environment, from the client's config.

import { resolve } from 'node:path';
import { type Failure, failure, isFailure, isObject } from '@subluminal/contracts';
import {
  CLIENTS,
  type Client,
  clientIds,
  clientOf,
  type EffectiveServer,
  effectiveServers,
  expandText,
  findClient,
  type ServerEntry,
  unresolved,
} from '../clients/index.ts';
import { type AdoptionPlace, clientPlace } from '../clients/inspect/adoption-place.ts';
import { type FoundConfig, findConfigs } from '../clients/inspect/find-configs.ts';
import { remoteFlags } from '../clients/remote-entries.ts';
import { readDocument } from '../clients/text/document.ts';
import type { RemoteStart } from '../remote-server/index.ts';

interface ServerQuery {
  readonly server: string;
  readonly client: string | undefined;
  readonly place: AdoptionPlace;
}

export interface FoundServer {
  /** Empty for a server that is reached by an address. */
  readonly words: readonly string[];
  readonly remote?: RemoteStart;
  /** What its entry sets; may hold secrets. */
  readonly env: { readonly [name: string]: string };
  readonly cwd: string;
  readonly client: string;
  readonly path: string;
}

const BEHIND = 'Give its command behind `--`.';
const CORRECT = 'Change its entry in the config of the client.';
const NAMES_SHOWN_MAX = 20;

export function findServer(wanted: ServerQuery): FoundServer | Failure {
  const clients = clientsOf(wanted.client);
  if (isFailure(clients)) return clients;
  const { place, server } = wanted;
  const { found } = findConfigs({ place: clientPlace(place), clients });
  const all = clients.flatMap((client) => {
    const configs = found.filter((one) => one.client.id === client.id);
    const servers = effectiveServers(
      configs.map(({ config }) => config),
      place.project,
    );
    return servers.map((one) => ({ one, configs }));
  });
  const named = all.filter(({ one }) => nameOf(one.entry) === server || one.entry.name === server);
  if (named.length === 0)
    return unknown(server, [...new Set(all.map(({ one }) => nameOf(one.entry)))]);
  const read = named.map(({ one, configs }) => startOf(one, configs, place));
  const usable = read.flatMap((one) => (isFailure(one) ? [] : [one]));
  const [first] = usable;
  if (first === undefined) return read[0] ?? unknown(server, []);
  if (usable.every((one) => howOf(one) === howOf(first))) return first;
  const titles = [...new Set(usable.map(({ client }) => client))].join(', ');
  return notFound(
    `\`${server}\` is started in different ways by ${titles}.`,
    'Choose one with --client, or give its command behind `--`.',
  );
}

function clientsOf(word: string | undefined): readonly Client[] | Failure {
  if (word === undefined) return CLIENTS;
  const client = findClient(word);
  if (client !== undefined) return [client];
  return notFound(`there is no client ${word}.`, `Known are: ${clientIds().join(', ')}.`);
}

/** The name that policies and pins know it by. */
function nameOf({ name, governed }: ServerEntry): string {
  return governed?.serverName ?? name;
}

function howOf({ words, env, cwd, remote }: FoundServer): string {
  const names = Object.keys(env).toSorted();
  const own = names.map((name) => [name, env[name]]);
  // A folder says nothing of an address.
  return JSON.stringify(remote === undefined ? [words, own, cwd] : [remote, own]);
}

function unknown(server: string, names: readonly string[]): Failure {
  const known = names.slice(0, NAMES_SHOWN_MAX).join(', ');
  const rest = known === '' ? '' : ` Known are: ${known}.`;
  return notFound(`no client has a server \`${server}\`.`, `${BEHIND}${rest}`);
}

function notFound(message: string, fix: string): Failure {
  return failure('SUB_SERVER_UNKNOWN', message, fix);
}

function startOf(
  { entry, file, isSplit }: EffectiveServer,
  configs: readonly FoundConfig[],
  { env, project }: AdoptionPlace,
): FoundServer | Failure {
  const client = clientOf(file.client);
  const where = `\`${nameOf(entry)}\` in ${file.path}`;
  const words = wordsOf(entry);
  const fix = entry.transport === 'remote' ? CORRECT : BEHIND;
  // Its secrets would be asked for by what its entry sets.
  if (entry.obstacle !== undefined && (words !== undefined || entry.transport === 'remote')) {
    return notFound(`${where} is not looked at: ${entry.obstacle}.`, fix);
  }
  if (words === undefined || isSplit) {
    return notFound(`${where} does not say what it starts.`, fix);
  }
  const missing = unresolved(entry, client, env);
  if (missing.length > 0) {
    const how =
      fix === CORRECT ? 'Set it.' : 'Set it, or give the command of the server behind `--`.';
    return notFound(`${where} needs ${missing.join(', ')}, which is not set.`, how);
  }
  if (entry.variables.some(({ syntax }) => syntax === 'input')) {
    return notFound(`${where} needs values that only its client can ask for.`, fix);
  }
  const own = ownOf(
    entry,
    configs.find((one) => one.file.path === file.path),
  );
  const expand = (text: string): string => {
    const placed = client.expandsWorkspace ? text.replaceAll('${workspaceFolder}', project) : text;
    return expandText(placed, client, env);
  };
  const start = remoteStart(entry, own.env);
  return {
    words: start === undefined ? words.map(expand) : [],
    ...(start !== undefined && { remote: { ...start, url: expand(start.url) } }),
    env: Object.fromEntries(Object.entries(own.env).map(([name, value]) => [name, expand(value)])),
    cwd: own.cwd === undefined ? project : resolve(project, expand(own.cwd)),
    client: client.title,
    path: file.path,
  };
}

/** How a shim reaches a server by its address, or would. */
function remoteStart(
  { remote, governed }: ServerEntry,
  env: EntryEnvironment['env'],
): RemoteStart | undefined {
  const flags = remote === undefined ? governed?.remote?.flags : remoteFlags(remote, []);
  if (flags === undefined) return undefined;
  const values = (name: string) =>
    flags.flatMap((word, at) => {
      if (word === `--${name}`) return flags.slice(at + 1, at + 2);
      return word.startsWith(`--${name}=`) ? [word.slice(name.length + 3)] : [];
    });
  return {
    url: remote?.url ?? governed?.remote?.url ?? env[values('url-env').at(-1) ?? ''] ?? '',
    headers: values('header'),
    headerVariables: values('header-env'),
    bearerVariable: values('bearer-env').at(-1),
    transport: values('transport').at(-1),
  };
}

/** The server's own command, also behind a shim; no words for a server with an address. */
function wordsOf({
  command,
  args = [],
  governed,
  remote,
}: ServerEntry): readonly string[] | undefined {
  if (remote !== undefined || governed?.remote !== undefined) return [];
  if (governed !== undefined) return governed.command.length > 0 ? governed.command : undefined;
  return command === undefined ? undefined : [command, ...args];
}

interface EntryEnvironment {
  readonly env: { readonly [name: string]: string };
  readonly cwd: string | undefined;
}

/** An entry keeps nothing of its environment, so it is read once more. */
function ownOf({ path, remote }: ServerEntry, found: FoundConfig | undefined): EntryEnvironment {
  if (found === undefined) return { env: {}, cwd: undefined };
  const { text, file } = found.config;
  const read = readDocument(text, file.format, [path]);
  if (remote !== undefined) {
    const values = remote.headers.flatMap(({ variable, path: place }) => {
      const value = place && read.kind === 'document' && read.document.valueAt(place);
      return typeof value === 'string' ? [[variable, value] as const] : [];
    });
    return { env: Object.fromEntries(values), cwd: undefined };
  }
  const server = read.kind === 'document' ? read.document.valueAt(path) : undefined;
  if (!isObject(server)) return { env: {}, cwd: undefined };
  const { env, cwd, command } = server;
  // Older settings of Zed keep it beside the command.
  const inner = isObject(command) ? command['env'] : undefined;
  const values = { ...(isObject(env) ? env : {}), ...(isObject(inner) ? inner : {}) };
  return {
    env: Object.fromEntries(Object.entries(values).flatMap(textEntry)),
    cwd: typeof cwd === 'string' ? cwd : undefined,
  };
}

function textEntry([name, value]: readonly [string, unknown]): readonly [string, string][] {
  const isPlain = ['string', 'number', 'boolean'].includes(typeof value);
  return isPlain ? [[name, String(value)]] : [];
}
