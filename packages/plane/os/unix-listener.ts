// Listens on a Unix socket that is for its owner alone, and never takes one from a process that
// answers on it.
import { once } from 'node:events';
import { chmodSync, lstatSync, statSync, unlinkSync } from 'node:fs';
import { connect, type NetConnectOpts, type Server } from 'node:net';
import { dirname, isAbsolute } from 'node:path';
import { hasSystemCode, systemCode } from './system-error.ts';

export type UnixListening =
  /** `unlink` removes the socket unless another process has put its own there. */
  | { readonly kind: 'listening'; readonly unlink: () => void }
  /** Another process answers there. */
  | { readonly kind: 'taken' }
  /** `why` is a code of the system, or a sentence about the path. */
  | { readonly kind: 'failed'; readonly why: string };

export interface UnixListenOptions {
  /** Refuses a folder that others can look into, or that belongs to somebody else. */
  readonly isFolderPrivate?: boolean;
  readonly backlog?: number;
}

/** The smallest limit of the systems we run on. */
const SOCKET_PATH_BYTES_MAX = 103;
const BACKLOG = 511;
const PROBE_TIMEOUT_MS = 1_000;
const TRIES_MAX = 3;
const SOCKET_MODE = 0o600;
const OTHERS = 0o077;

export async function listenOnUnixSocket(
  server: Server,
  path: string,
  { isFolderPrivate = false, backlog = BACKLOG }: UnixListenOptions = {},
): Promise<UnixListening> {
  const unfit = isFolderPrivate ? pathProblem(path) : undefined;
  if (unfit !== undefined) return { kind: 'failed', why: unfit };
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const found = socketAt(path);
    const code = await bind(server, { path, backlog });
    if (code === undefined) return secured(server, path);
    if (code !== 'EADDRINUSE') return { kind: 'failed', why: code };
    if (await isAnswered(path)) return { kind: 'taken' };
    if (found === undefined) return { kind: 'failed', why: code };
    // Removes only the socket on which nobody answered: another may have put its own there since.
    if (socketAt(path) === found) unlinkSync(path);
  }
  return { kind: 'taken' };
}

/** Undefined when it listens, or the code of what went wrong. */
async function bind(
  server: Server,
  at: { readonly path: string; readonly backlog: number },
): Promise<string | undefined> {
  const listening = once(server, 'listening');
  try {
    server.listen(at);
    await listening;
    return undefined;
  } catch (cause) {
    return systemCode(cause);
  }
}

function secured(server: Server, path: string): UnixListening {
  try {
    chmodSync(path, SOCKET_MODE);
  } catch (cause) {
    server.close();
    return { kind: 'failed', why: systemCode(cause) };
  }
  const own = socketAt(path);
  const unlink = (): void => {
    if (own !== undefined && socketAt(path) === own) unlinkSync(path);
  };
  return { kind: 'listening', unlink };
}

function pathProblem(path: string): string | undefined {
  if (!isAbsolute(path)) return `The path of a socket must be absolute: ${path}`;
  if (Buffer.byteLength(path) > SOCKET_PATH_BYTES_MAX) {
    return `The path of a socket has at most ${SOCKET_PATH_BYTES_MAX} bytes: ${path}`;
  }
  const folder = dirname(path);
  try {
    const { mode, uid } = statSync(folder);
    if ((mode & OTHERS) !== 0) {
      return `Others can reach the folder ${folder}; its mode must be 0700.`;
    }
    const isOurs = process.getuid === undefined || uid === process.getuid();
    return isOurs ? undefined : `The folder ${folder} belongs to another user.`;
  } catch (cause) {
    return `The folder ${folder}: ${systemCode(cause)}.`;
  }
}

/** Whether a process takes connections on a socket path or a port. One that is too busy to answer in time counts. */
export function isAnswered(
  at: string | NetConnectOpts,
  timeoutMs: number = PROBE_TIMEOUT_MS,
): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(typeof at === 'string' ? { path: at } : at);
    const finish = (isThere: boolean): void => {
      socket.destroy();
      resolve(isThere);
    };
    socket.setTimeout(timeoutMs, () => finish(true));
    socket.on('connect', () => finish(true));
    socket.on('error', (cause) => finish(!hasSystemCode(cause, 'ECONNREFUSED', 'ENOENT')));
  });
}

/** The inode of the socket; undefined when there is something else, or nothing. */
function socketAt(path: string): bigint | undefined {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stats?.isSocket() === true ? stats.ino : undefined;
}
