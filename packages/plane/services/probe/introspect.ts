// Starts a server, asks it what it offers, and ends it: nothing of it is left when this is over.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  type RunningServer,
  readChunks,
  SHIM_MARK,
  type StopReason,
  supervise,
} from '../transports/stdio/index.ts';
import { readProcess } from '../transports/stdio/processes.ts';
import { startGuard } from '../transports/stdio/watchdog.ts';
import { converse, Dialogue, type ServerListing } from './conversation.ts';

interface IntrospectOptions extends ServerTask {
  readonly timeoutMs: number;
  /** Of `sub`, which is the client here. */
  readonly version: string;
}

type Introspected =
  | { readonly kind: 'seen'; readonly seen: ServerListing }
  | {
      readonly kind: 'failed';
      /** As the end of a sentence about the server. */
      readonly why: string;
      /** It could not be started, ended too early, or did not answer the questions. */
      readonly stage: 'start' | 'ended' | 'talk';
      /** The last of its standard error. */
      readonly said: string;
    }
  | { readonly kind: 'interrupted'; readonly exitCode: number };

const ENDING = { graceMs: 1_000, termMs: 1_000, killMs: 5_000, drainMs: 500 };
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export async function introspect(options: IntrospectOptions): Promise<Introspected> {
  const started = await startServer(options);
  if ('why' in started) return { kind: 'failed', ...started, stage: 'start', said: '' };
  const { server, said } = started;
  const giveBack = keepSignals();
  const dialogue = new Dialogue((text) => void server.stdin.write(text));
  const supervisor = supervise({
    server,
    ...ENDING,
    onStop: (reason) => dialogue.end(stopWords(reason)),
  });
  const { timeoutMs, version } = options;
  const late = `has not told all within ${timeoutMs / 1_000} s`;
  const timer = setTimeout(() => dialogue.end(late), timeoutMs);
  readChunks(server.stdout, { chunk: (chunk) => dialogue.feed(chunk), end: () => {} });
  const conversed = await converse(dialogue, version);
  clearTimeout(timer);
  supervisor.stop({ kind: 'asked', exitCode: 0 });
  const { reason, exitCode } = await supervisor.done;
  giveBack();
  if (reason.kind === 'signal') return { kind: 'interrupted', exitCode };
  if (!('why' in conversed)) return { kind: 'seen', seen: conversed };
  const stage = reason.kind === 'server_ended' ? 'ended' : 'talk';
  return { kind: 'failed', ...conversed, stage, said: said() };
}

function stopWords({ kind }: StopReason): string {
  return kind === 'server_ended' ? 'has ended by itself' : 'has closed its output';
}

/** The supervisor listens for as long as a shim lives; a command has a life after it. */
function keepSignals(): () => void {
  const before = SIGNALS.map((signal) => [signal, new Set(process.listeners(signal))] as const);
  return () => {
    for (const [signal, known] of before) {
      const added = process.listeners(signal).filter((listener) => !known.has(listener));
      for (const listener of added) process.off(signal, listener);
    }
  };
}

// Starts a server to look at it. Its standard error is kept, not shown: it is
// hostile text, and a shim's client would not show it on a terminal either.

export interface ServerTask {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: { readonly [name: string]: string | undefined };
  readonly cwd: string;
}

interface StartedServer {
  readonly server: RunningServer;
  /** The end of its standard error. */
  readonly said: () => string;
}

const SAID_BYTES_MAX = 4_096;

async function startServer({
  command,
  args,
  env,
  cwd,
}: ServerTask): Promise<StartedServer | { readonly why: string }> {
  const shimId = randomUUID();
  try {
    const child = spawn(command, args, {
      // Its own session: a Ctrl+C on the terminal reaches us alone, and we end it in order.
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...env, [SHIM_MARK]: shimId },
      cwd,
    });
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', ignore);
    const said = lastOf(child);
    await once(child, 'spawn');
    child.on('error', ignore);
    return { server: running(child, shimId), said };
  } catch (cause) {
    return { why: whyOf(cause) };
  }
}

function running(child: ChildProcess, shimId: string): RunningServer {
  const { pid, stdin, stdout } = child;
  if (pid === undefined || stdin === null || stdout === null) {
    throw new Error('a spawned server has a pid and pipes');
  }
  const family = { pgid: pid, shimId, startTicks: readProcess(pid)?.startTicks };
  return { pid, family, stdin, stdout, child, guard: startGuard(family, ENDING) };
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
