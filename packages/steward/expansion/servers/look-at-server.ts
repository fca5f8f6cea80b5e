// Lists what a server offers, to write its manifest: started or reached once, in a bounded time, and ended.
import { lookup } from 'node:dns/promises';
import { type Failure, isFailure, tableFailure } from '@subluminal/contracts';
import { isPublicAddress } from '@subluminal/plane/os/public-address';
import { probeServer, type ServerListing } from '@subluminal/plane/probe';
import type { RemoteServer, ServerEntry } from '@subluminal/plane/serve/config';

export interface SeenServer {
  readonly kind: 'seen';
  readonly transport: 'stdio' | 'http' | 'sse';
  readonly listing: Pick<ServerListing, 'tools' | 'prompts' | 'resources' | 'serverInfo'>;
}

export type LookAtServer = (entry: ServerEntry) => Promise<SeenServer | Failure>;

export interface LookOptions {
  readonly env: { readonly [name: string]: string | undefined };
  readonly version: string;
  readonly resolve?: (host: string) => Promise<readonly string[]>;
}

const LOOK_MS = 60_000;
/** What a program needs to start; nothing else of our environment is shown to it. */
const VARIABLES = ['PATH', 'HOME', 'SUB_HOME', 'LANG', 'TMPDIR', 'SystemRoot', 'APPDATA'];

export function serverLooker({ env, version, resolve = addressesOf }: LookOptions): LookAtServer {
  const kept = Object.fromEntries(VARIABLES.map((name) => [name, env[name]]));
  return async (entry) => {
    const isRemote = entry.kind === 'remote';
    if (isRemote && !(await isPublic(entry, resolve))) {
      const why = 'Its address does not lead to the open internet.';
      return tableFailure('SUB_STEWARD_EXPANSION', why);
    }
    const looked = await probeServer({
      server: entry.name,
      ...(isRemote ? { remote: remoteStartOf(entry) } : { command: entry.command }),
      env: isRemote ? env : { ...kept, ...entry.env },
      cwd: isRemote ? process.cwd() : entry.cwd,
      timeoutMs: LOOK_MS,
      version,
    });
    if (isFailure(looked)) return looked;
    if (looked.kind === 'interrupted') {
      return tableFailure('SUB_STEWARD_EXPANSION', 'The look at the server was interrupted.');
    }
    return { kind: 'seen', transport: looked.transport, listing: looked.seen };
  };
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

/** The registry chose the address: it must not make us look into our own network. */
async function isPublic(
  { url }: RemoteServer,
  resolve: NonNullable<LookOptions['resolve']>,
): Promise<boolean> {
  const { hostname } = new URL(url);
  const addresses = await resolve(hostname.replaceAll(/^\[|\]$/g, '')).catch(() => []);
  return addresses.length > 0 && addresses.every(isPublicAddress);
}

async function addressesOf(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}
