// The Unix socket of the daemon: for its owner alone, and never taken from one who answers on it.
import { chmodSync, lstatSync, unlinkSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';

export type Listening =
  | { readonly kind: 'listening'; readonly server: Server; readonly unlink: () => void }
  /** Somebody answers there already. */
  | { readonly kind: 'taken' }
  | { readonly kind: 'failed'; readonly code: string };

const BACKLOG = 1_024;
const PROBE_TIMEOUT_MS = 1_000;
const TRIES_MAX = 3;
const SOCKET_MODE = 0o600;

export async function listen(
  path: string,
  onConnection: (socket: Socket) => void,
): Promise<Listening> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const found = socketAt(path);
    const bound = await bind(path, onConnection);
    if (bound.kind !== 'failed' || bound.code !== 'EADDRINUSE') return bound;
    if (await answers(path)) return { kind: 'taken' };
    // Only a socket, and only what nobody answered on: another may have put its own there since.
    if (found === undefined) return bound;
    if (socketAt(path) === found) unlinkSync(path);
  }
  return { kind: 'taken' };
}

function bind(path: string, onConnection: (socket: Socket) => void): Promise<Listening> {
  return new Promise((resolve) => {
    // One who stops writing may still listen. And nothing is read ahead while a socket is paused:
    // an error would throw away what was read and not yet taken.
    const server = createServer({ allowHalfOpen: true, highWaterMark: 1 }, onConnection);
    server.on('error', (cause: NodeJS.ErrnoException) =>
      resolve({ kind: 'failed', code: cause.code ?? cause.message }),
    );
    server.listen({ path, backlog: BACKLOG }, () => {
      chmodSync(path, SOCKET_MODE);
      const own = socketAt(path);
      const unlink = () => {
        if (own !== undefined && socketAt(path) === own) unlinkSync(path);
      };
      resolve({ kind: 'listening', server, unlink });
    });
  });
}

/** Whether somebody takes connections there. */
export function answers(path: string, timeoutMs: number = PROBE_TIMEOUT_MS): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const finish = (isThere: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(isThere);
    };
    // One who is too busy to accept is there all the same.
    const timer = setTimeout(() => finish(true), timeoutMs);
    socket.on('connect', () => finish(true));
    socket.on('error', (cause: NodeJS.ErrnoException) => finish(cause.code === 'EAGAIN'));
  });
}

/** Which socket that is; undefined when it is none. */
function socketAt(path: string): bigint | undefined {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stats?.isSocket() === true ? stats.ino : undefined;
}
