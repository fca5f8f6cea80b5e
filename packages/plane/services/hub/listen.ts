// Where a hub listens: a private Unix socket, or a port of this machine alone.
import { once } from 'node:events';
import { chmod, lstat, stat, unlink } from 'node:fs/promises';
import { connect, type Server } from 'node:net';
import { dirname, isAbsolute } from 'node:path';
import { visible } from '@subluminal/core/visible';
import { isToken } from './guard.ts';
import type { HubListen, HubOpened } from './types.ts';

type Failed = Extract<HubOpened, { readonly kind: 'failed' }>;
type Listening = { readonly kind: 'listening'; readonly endpoint: string } | Failed;

const LOOPBACK = '127.0.0.1';
/** The smallest limit of the systems we run on. */
const SOCKET_PATH_BYTES_MAX = 103;
const OTHERS = 0o077;
const PRIVATE = 0o600;
const MESSAGE_LENGTH_MAX = 300;

export function listenAt(server: Server, listen: HubListen): Promise<Listening> {
  return listen.kind === 'unix' ? listenUnix(server, listen.path) : listenTcp(server, listen);
}

async function listenTcp(
  server: Server,
  { token, port = 0 }: Extract<HubListen, { readonly kind: 'tcp' }>,
): Promise<Listening> {
  if (!isToken(token)) {
    return failed('The token of the hub must have 32 to 512 visible ASCII characters.');
  }
  const problem = await bind(server, () =>
    server.listen({ host: LOOPBACK, port, exclusive: true }),
  );
  if (problem === 'EADDRINUSE') return failed(`Port ${port} on ${LOOPBACK} is in use.`);
  if (problem !== undefined) return failed(`Port ${port} on ${LOOPBACK}: ${problem}.`);
  return { kind: 'listening', endpoint: `http://${LOOPBACK}:${portOf(server)}` };
}

async function listenUnix(server: Server, path: string): Promise<Listening> {
  const unfit = await pathProblem(path);
  if (unfit !== undefined) return failed(unfit);
  const listen = () => server.listen({ path });
  let problem = await bind(server, listen);
  if (problem === 'EADDRINUSE' && (await isLeftover(path))) {
    await unlink(path);
    problem = await bind(server, listen);
  }
  if (problem === 'EADDRINUSE') return failed(`The socket ${path} is in use.`);
  if (problem !== undefined) return failed(`The socket ${path}: ${problem}.`);
  try {
    // Until here the folder has kept others out.
    await chmod(path, PRIVATE);
  } catch (cause) {
    server.close();
    return failed(`The socket ${path}: ${codeOf(cause)}.`);
  }
  return { kind: 'listening', endpoint: `unix:${path}` };
}

async function pathProblem(path: string): Promise<string | undefined> {
  if (!isAbsolute(path)) return `The path of a socket must be absolute: ${path}`;
  if (Buffer.byteLength(path) > SOCKET_PATH_BYTES_MAX) {
    return `The path of a socket has at most ${SOCKET_PATH_BYTES_MAX} bytes: ${path}`;
  }
  const folder = dirname(path);
  try {
    const { mode, uid } = await stat(folder);
    if ((mode & OTHERS) !== 0)
      return `Others can reach the folder ${folder}; its mode must be 0700.`;
    const isOurs = process.getuid === undefined || uid === process.getuid();
    return isOurs ? undefined : `The folder ${folder} belongs to another user.`;
  } catch (cause) {
    return `The folder ${folder}: ${codeOf(cause)}.`;
  }
}

/** A socket that nobody listens on: its hub was killed. */
async function isLeftover(path: string): Promise<boolean> {
  try {
    if (!(await lstat(path)).isSocket()) return false;
    const probe = connect({ path });
    await once(probe, 'connect').finally(() => probe.destroy());
    return false;
  } catch (cause) {
    return codeOf(cause) === 'ECONNREFUSED';
  }
}

/** The code of what went wrong, or nothing. */
async function bind(server: Server, listen: () => void): Promise<string | undefined> {
  const listening = once(server, 'listening');
  try {
    listen();
    await listening;
    return undefined;
  } catch (cause) {
    return codeOf(cause);
  }
}

/** The port that the system has given. */
export function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function codeOf(cause: unknown): string {
  if (!(cause instanceof Error)) return 'unknown';
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message;
}

function failed(message: string): Failed {
  const harmless = visible(message, MESSAGE_LENGTH_MAX);
  return { kind: 'failed', code: 'SUB_HUB_LISTEN', message: harmless };
}
