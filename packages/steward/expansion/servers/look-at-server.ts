// Lists what a server offers, to write its manifest: started or reached once, in a bounded time, and ended.
import { isIP } from 'node:net';
import { type Failure, isFailure, tableFailure } from '@subluminal/contracts';
import {
  guardedLookup,
  isPublicAddress,
  type ResolveHost,
} from '@subluminal/plane/os/public-address';
import { type ProbeOptions, probeServer, type ServerListing } from '@subluminal/plane/probe';
import type { RemoteServer, ServerEntry } from '@subluminal/plane/serve/config';
import { openUpstream, proxyOf, type Upstream } from '@subluminal/plane/upstream';

export interface SeenServer {
  readonly kind: 'seen';
  readonly transport: 'stdio' | 'http' | 'sse';
  readonly listing: Pick<ServerListing, 'tools' | 'prompts' | 'resources' | 'serverInfo'>;
}

/** An address that a registry has chosen must not make us look into our own network. */
export type LookAtServer = (
  entry: ServerEntry,
  chosenBy: 'user' | 'registry',
) => Promise<SeenServer | Failure>;

export interface LookOptions {
  readonly env: { readonly [name: string]: string | undefined };
  readonly version: string;
  readonly resolve?: ResolveHost;
}

const LOOK_MS = 60_000;
/** What a program needs to start; nothing else of our environment is shown to it. */
const VARIABLES = ['PATH', 'HOME', 'SUB_HOME', 'LANG', 'TMPDIR', 'SystemRoot', 'APPDATA'];

export function serverLooker(options: LookOptions): LookAtServer {
  return async (entry, chosenBy) => {
    if (entry.kind !== 'remote') return lookAtProgram(entry, options);
    if (chosenBy === 'user') return lookAtAddress(entry, options);
    const { hostname } = new URL(entry.url);
    const host = hostname.replaceAll(/^\[|\]$/g, '');
    // Nothing is looked up for a number: it is judged here.
    if (isIP(host) !== 0 && !isPublicAddress(host)) {
      const why = 'Its address does not lead to the open internet.';
      return tableFailure('SUB_STEWARD_EXPANSION', why);
    }
    const lookup = guardedLookup(isPublicAddress, options.resolve);
    const upstream = openUpstream({ proxy: proxyOf(options.env), lookup });
    try {
      return await lookAtAddress(entry, options, upstream);
    } finally {
      await upstream.close();
    }
  };
}

function lookAtProgram(
  { name, command, env, cwd }: Exclude<ServerEntry, RemoteServer>,
  options: LookOptions,
): Promise<SeenServer | Failure> {
  const kept = Object.fromEntries(VARIABLES.map((variable) => [variable, options.env[variable]]));
  const { version } = options;
  return look({ server: name, command, env: { ...kept, ...env }, cwd, version });
}

function lookAtAddress(
  entry: RemoteServer,
  { env, version }: LookOptions,
  upstream?: Upstream,
): Promise<SeenServer | Failure> {
  const remote = remoteStartOf(entry);
  return look({ server: entry.name, remote, env, cwd: process.cwd(), version, upstream });
}

async function look(options: Omit<ProbeOptions, 'timeoutMs'>): Promise<SeenServer | Failure> {
  const looked = await probeServer({ ...options, timeoutMs: LOOK_MS });
  if (isFailure(looked)) return looked;
  if (looked.kind === 'interrupted') {
    return tableFailure('SUB_STEWARD_EXPANSION', 'The look at the server was interrupted.');
  }
  return { kind: 'seen', transport: looked.transport, listing: looked.seen };
}

function remoteStartOf({ url, transport, headers, headerEnv, bearerEnv }: RemoteServer) {
  return {
    url,
    headers: Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    headerVariables: Object.entries(headerEnv).map(([name, value]) => `${name}=${value}`),
    bearerVariable: bearerEnv,
    transport: transport === 'auto' ? undefined : transport,
  };
}
