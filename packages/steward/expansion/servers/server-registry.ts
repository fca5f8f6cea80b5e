// A registry of MCP servers in the format of the official one: at an address, or in a file. What it says was written
// by the authors of the servers.
import { isAbsolute, join } from 'node:path';
import { type Failure, isFailure, isObject, tableFailure } from '@subluminal/contracts';
import { decodeUtf8, parseJson, readRegularFile } from '@subluminal/plane/os';
import { isFault, openUpstream, proxyOf, readAnswerBody } from '@subluminal/plane/upstream';
import { type RegistryServer, readRegistryServer } from './registry-server.ts';

export interface Registry {
  search(query: string, signal: AbortSignal): Promise<readonly RegistryServer[] | Failure>;
  find(name: string, signal: AbortSignal): Promise<RegistryServer | undefined | Failure>;
  close(): Promise<void>;
}

export interface RegistryOptions {
  /** An address such as `https://registry.example.com`, or the path of a file. */
  readonly source: string;
  /** The folder that the path of a file starts from. */
  readonly folder: string;
  readonly env: { readonly [name: string]: string | undefined };
}

const BYTES_MAX = 4_194_304;
const ANSWER_MS = 15_000;
const LISTED_MAX = 100;
const FOUND_MAX = 20;

type ListServers = (
  search: string,
  signal: AbortSignal,
) => Promise<readonly RegistryServer[] | Failure>;

export function openRegistry({ source, folder, env }: RegistryOptions): Registry {
  const isAddress = /^https?:\/\//i.test(source);
  const upstream = openUpstream({ connectionsMax: 2, proxy: proxyOf(env) });
  const file = isAbsolute(source) ? source : join(folder, source);
  const list: ListServers = isAddress
    ? listAt(source, upstream)
    : () => Promise.resolve(listIn(file));
  return {
    search: async (query, signal) => {
      const listed = await list(query, signal);
      if (isFailure(listed)) return listed;
      // A registry may search by names alone, and a file not at all.
      const words = query.toLowerCase().split(/\s+/);
      const isFound = ({ name, title = '', description }: RegistryServer) =>
        words.some((word) => `${name} ${title} ${description}`.toLowerCase().includes(word));
      return listed.filter(isFound).slice(0, FOUND_MAX);
    },
    find: async (name, signal) => {
      const listed = await list(name, signal);
      return isFailure(listed) ? listed : listed.find((one) => one.name === name);
    },
    close: () => upstream.close(),
  };
}

function listAt(base: string, upstream: ReturnType<typeof openUpstream>): ListServers {
  return async (search, signal) => {
    const url = new URL(`${base.replace(/\/+$/, '')}/v0/servers`);
    const asked = { search, version: 'latest', limit: String(LISTED_MAX) };
    for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value);
    const answer = await upstream.call({
      method: 'GET',
      url: url.href,
      headers: { accept: 'application/json' },
      timeoutMs: ANSWER_MS,
      signal,
    });
    if (isFault(answer)) return failed(answer.message);
    const body = await readAnswerBody(answer.body, BYTES_MAX);
    if (isFault(body)) return failed(body.message);
    if (answer.status !== 200) return failed(`It answered with status ${answer.status}.`);
    return serversIn(body);
  };
}

function listIn(file: string): readonly RegistryServer[] | Failure {
  const read = readRegularFile(file, { bytesMax: BYTES_MAX });
  return read.kind === 'read' ? serversIn(read.bytes) : failed('Its file cannot be read.');
}

function serversIn(bytes: Uint8Array): readonly RegistryServer[] | Failure {
  const list = parseJson(decodeUtf8(bytes) ?? '');
  const servers = isObject(list) ? list['servers'] : undefined;
  if (!Array.isArray(servers)) return failed('It has no list of servers.');
  return servers.slice(0, LISTED_MAX).flatMap((one) => readRegistryServer(one) ?? []);
}

function failed(why: string): Failure {
  return tableFailure(
    'SUB_STEWARD_EXPANSION',
    `The registry of MCP servers cannot be asked. ${why}`,
  );
}
