// Starts a server to look at it. What it says on its standard error is kept, not shown: it is
// hostile text, and a shim's client would not show it on a terminal either.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { type RunningServer, SHIM_MARK } from '../transports/stdio/index.ts';
import { readProcess } from '../transports/stdio/processes.ts';

export interface ServerTask {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: { readonly [name: string]: string | undefined };
  readonly cwd: string;
}

type StartedServer =
  | {
      readonly kind: 'started';
      readonly server: RunningServer;
      /** The last that it has said on its standard error. */
      readonly said: () => string;
    }
  | { readonly kind: 'failed'; readonly why: string };

const SAID_BYTES_MAX = 4_096;

export function startServer({ command, args, env, cwd }: ServerTask): Promise<StartedServer> {
  const shimId = randomUUID();
  return new Promise((resolve) => {
    const fail = (cause: unknown): void => resolve({ kind: 'failed', why: whyOf(cause) });
    let child: ChildProcess;
    try {
      child = spawn(command, args, {
        // Its own session: a Ctrl+C on the terminal reaches us alone, and we end it in order.
        detached: true,
        stdio: ['pipe', 'pipe', 'pipe'],
        env: { ...env, [SHIM_MARK]: shimId },
        cwd,
      });
    } catch (cause) {
      fail(cause);
      return;
    }
    child.on('error', fail);
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', ignore);
    const said = lastOf(child);
    child.once('spawn', () => resolve({ kind: 'started', server: running(child, shimId), said }));
  });
}

function running(child: ChildProcess, shimId: string): RunningServer {
  const { pid, stdin, stdout } = child;
  if (pid === undefined || stdin === null || stdout === null) {
    throw new Error('a spawned server has a pid and pipes');
  }
  const family = { pgid: pid, shimId, startTicks: readProcess(pid)?.startTicks };
  return { pid, family, stdin, stdout, child };
}

function lastOf({ stderr }: ChildProcess): () => string {
  let last: Buffer = Buffer.alloc(0);
  stderr?.on('data', (chunk: Buffer) => {
    last = Buffer.concat([last, chunk.subarray(-SAID_BYTES_MAX)]).subarray(-SAID_BYTES_MAX);
  });
  return () => last.toString('utf8');
}

function whyOf(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'UNKNOWN';
  if (code === 'ENOENT') return 'cannot start: there is no such command (ENOENT)';
  if (code === 'EACCES') return 'cannot start: it is no executable file (EACCES)';
  return `cannot start (${code})`;
}

function ignore(): void {}
