// Starts a tool server in a process group of its own, with pipes on stdin, stdout and stderr.
import { type ChildProcess, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { type Family, familyOf, SHIM_MARK } from './processes.ts';
import { relayStderr, type StderrRelay } from './relay-stderr.ts';
import { catchSignals } from './supervise.ts';
import { type GuardTimes, type ServerWatchdog, startGuard } from './watchdog.ts';

export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: { readonly [name: string]: string | undefined };
  readonly cwd?: string;
  /** Marks all descendants; unique per shim. */
  readonly shimId: string;
  /** How long its guard lets it end by itself, should this process be killed. */
  readonly times: GuardTimes;
  /** Its stderr is read and dropped: ours is a terminal where a person talks with the agent. */
  readonly isQuiet?: boolean | undefined;
}

export interface RunningServer {
  readonly pid: number;
  readonly family: Family;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly child: ChildProcess;
  readonly guard: ServerWatchdog;
  /** Where its stderr is passed on to ours. */
  readonly stderr?: StderrRelay;
}

export type StartFault =
  | 'not_found'
  | 'no_access'
  | 'not_a_program'
  | 'no_folder'
  | 'bad_arguments'
  | 'no_resources';

export type SpawnResult =
  | { readonly kind: 'started'; readonly server: RunningServer }
  | {
      readonly kind: 'failed';
      readonly fault: StartFault;
      /** The system's own word, like `ENOENT`. */
      readonly code: string;
      /** One sentence with the cause and what to do. */
      readonly message: string;
    };

const SHIM_ID = /^[A-Za-z0-9_-]{1,128}$/;

const FAULTS: { readonly [code: string]: StartFault } = {
  ENOENT: 'not_found',
  EACCES: 'no_access',
  EPERM: 'no_access',
  ENOEXEC: 'not_a_program',
  ENOTDIR: 'not_found',
  ELOOP: 'not_found',
  E2BIG: 'bad_arguments',
  ERR_INVALID_ARG_VALUE: 'bad_arguments',
  ERR_INVALID_ARG_TYPE: 'bad_arguments',
};

const ADVICE: { readonly [fault in StartFault]: string } = {
  not_found: 'there is no such command, or its interpreter is missing; check the name and PATH',
  no_access: 'it is no executable file; check its permissions',
  not_a_program: 'it is not a program for this system',
  no_folder: 'the working folder does not exist',
  bad_arguments: 'its arguments or environment are too large or hold a NUL byte',
  no_resources: 'the system refused to start another process; check its limits',
};

/** Starts the server. Never rejects: a failure to start is a result. */
export function spawnServer(command: ServerCommand): Promise<SpawnResult> {
  if (!SHIM_ID.test(command.shimId)) throw new TypeError('shimId: letters, digits, _ and - only');
  catchSignals();
  return new Promise((resolve) => {
    let child: ChildProcess;
    let server: RunningServer | undefined;
    try {
      child = start(command);
      // At once: what is loaded next takes a while, in which this process may be killed.
      if (child.pid !== undefined) server = running(command, child);
    } catch (cause) {
      resolve(failed(command, cause));
      return;
    }
    child.once('error', (cause) => resolve(failed(command, cause)));
    // The readers and writers of the streams handle errors; here they must only not crash the process.
    child.on('error', ignore);
    child.stdin?.on('error', ignore);
    child.stdout?.on('error', ignore);
    child.once('spawn', () => {
      resolve({ kind: 'started', server: server ?? running(command, child) });
    });
  });
}

function start({ command, args, env, cwd, shimId }: ServerCommand): ChildProcess {
  return spawn(command, args, {
    // Its own session: a Ctrl+C on the terminal reaches the shim alone, which ends it in order.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...env, [SHIM_MARK]: shimId },
    ...(cwd === undefined ? {} : { cwd }),
  });
}

function running({ shimId, isQuiet, times }: ServerCommand, child: ChildProcess): RunningServer {
  const { pid, stdin, stdout, stderr } = child;
  if (pid === undefined || stdin === null || stdout === null) {
    throw new Error('a spawned server has a pid and pipes');
  }
  const family = familyOf(child, shimId);
  const guard = startGuard(family, times);
  if (isQuiet === true) stderr?.on('error', ignore).resume();
  const relay = stderr === null || isQuiet === true ? {} : { stderr: relayStderr(stderr) };
  return { pid, family, stdin, stdout, child, guard, ...relay };
}

function failed(command: ServerCommand, cause: unknown): SpawnResult {
  const code = codeOf(cause);
  const fault = isFolderMissing(command, code) ? 'no_folder' : (FAULTS[code] ?? 'no_resources');
  const name = JSON.stringify(command.command.slice(0, 256));
  const message = `The server ${name} can't start (${code}): ${ADVICE[fault]}.`;
  return { kind: 'failed', fault, code, message };
}

/** The system says ENOENT for a missing folder too. */
function isFolderMissing({ cwd }: ServerCommand, code: string): boolean {
  if (cwd === undefined || (code !== 'ENOENT' && code !== 'ENOTDIR')) return false;
  return statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true;
}

function codeOf(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? code : 'UNKNOWN';
}

function ignore(): void {}
