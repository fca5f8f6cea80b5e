// The agent: started on the user's own terminal, and ended when somebody wants that.
import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { resolve as resolvePath } from 'node:path';
import { type AgentEnd, type Refused, refused } from './options.ts';
import { processesOf, type RunFamily, signalAll } from './run-processes.ts';

interface AgentCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

export type AgentStart =
  | { readonly kind: 'started'; readonly child: ChildProcess; readonly pid: number }
  | { readonly kind: 'failed'; readonly code: string };

/** Same terminal, same process group: for the agent nothing is different. */
export function startAgent({ command, args, env, cwd }: AgentCommand): Promise<AgentStart> {
  return new Promise((resolve) => {
    let child: ChildProcess;
    try {
      child = spawn(command, args, { stdio: 'inherit', env, cwd });
    } catch (cause) {
      resolve({ kind: 'failed', code: codeOf(cause) });
      return;
    }
    child.once('error', (cause) => resolve({ kind: 'failed', code: codeOf(cause) }));
    child.once('spawn', () => resolve({ kind: 'started', child, pid: child.pid ?? 0 }));
  });
}

function codeOf(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? code : 'UNKNOWN';
}

interface KeepOptions {
  readonly child: ChildProcess;
  readonly family: RunFamily;
  readonly signals: Signals;
  readonly isTerminal: boolean;
  /** From the first word to end until SIGKILL. */
  readonly graceMs: number;
}

export interface Keeper {
  /** Ends the agent because the policy says so. */
  terminate(): void;
  readonly done: Promise<AgentEnd>;
}

/** Two of a kind within this time are one person in a hurry. */
const REPEAT_MS = 2_000;
const POLL_MS = 50;
const KILL_MS = 5_000;

class AgentKeeper implements Keeper {
  readonly #options: KeepOptions;
  readonly done: Promise<AgentEnd>;
  #asked: AgentEnd['asked'] = null;
  #askedSignal: StopSignal | undefined;
  #last: { readonly signal: StopSignal; readonly atMs: number } | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: KeepOptions) {
    this.#options = options;
    this.done = this.#wait();
    options.signals.handle((signal) => this.#onSignal(signal));
  }

  terminate(): void {
    if (this.#asked === null) this.#asked = 'policy';
    signalAll(processesOf(this.#options.family).agents, 'SIGTERM');
    this.#killLater();
  }

  async #wait(): Promise<AgentEnd> {
    const { child } = this.#options;
    const ended = await new Promise<Pick<AgentEnd, 'code' | 'signal'>>((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) {
        resolve({ code: child.exitCode, signal: child.signalCode });
      } else child.once('exit', (code, signal) => resolve({ code, signal }));
    });
    // What an agent that ended by itself leaves running is its own business.
    if (this.#asked !== null) await this.#endRest();
    clearTimeout(this.#timer);
    return { ...ended, asked: this.#asked };
  }

  #onSignal(signal: StopSignal): void {
    const { child, isTerminal } = this.#options;
    const nowMs = performance.now();
    const isRepeated = this.#last?.signal === signal && nowMs - this.#last.atMs < REPEAT_MS;
    this.#last = { signal, atMs: nowMs };
    const isFromKeyboard = isTerminal && (signal === 'SIGINT' || signal === 'SIGQUIT');
    if (isFromKeyboard && !isRepeated) return;
    if (this.#askedSignal === signal && isRepeated) {
      this.#kill();
      return;
    }
    if (this.#asked === null) this.#asked = 'signal';
    this.#askedSignal = signal;
    child.kill(signal);
    this.#killLater();
  }

  #killLater(): void {
    this.#timer ??= setTimeout(() => this.#kill(), this.#options.graceMs);
  }

  #kill(): void {
    const { child, family } = this.#options;
    signalAll(processesOf(family).agents, 'SIGKILL');
    child.kill('SIGKILL');
  }

  /** A launcher may end before what it has launched. */
  async #endRest(): Promise<void> {
    const { family, graceMs } = this.#options;
    if (!isLeft(family)) return;
    signalAll(processesOf(family).agents, 'SIGTERM');
    if (await isGone(family, graceMs)) return;
    const deadlineMs = performance.now() + KILL_MS;
    // Again and again: a process may fork between the look and the blow.
    while (performance.now() < deadlineMs) {
      signalAll(processesOf(family).agents, 'SIGKILL');
      if (await isGone(family, POLL_MS)) return;
    }
  }
}

function isLeft(family: RunFamily): boolean {
  return processesOf(family).agents.length > 0;
}

async function isGone(family: RunFamily, timeoutMs: number): Promise<boolean> {
  const deadlineMs = performance.now() + timeoutMs;
  while (isLeft(family)) {
    if (performance.now() >= deadlineMs) return false;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return true;
}

/** Watches over the agent until it has ended. */
export function keepAgent(options: KeepOptions): Keeper {
  return new AgentKeeper(options);
}

// The signals that reach `sub run`, from before the agent is there until after it has gone.

export type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGQUIT';

export interface Signals {
  /** Takes what has come so far, and all that comes. */
  handle(take: (signal: StopSignal) => void): void;
}

const SIGNALS: readonly StopSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];
const EARLY_MAX = 16;

/** Never given back: a signal after the agent's end must not cut off what is still to be written. */
export function listenForSignals(): Signals {
  const early: StopSignal[] = [];
  let take = (signal: StopSignal): void => {
    if (early.length < EARLY_MAX) early.push(signal);
  };
  for (const signal of SIGNALS) process.on(signal, () => take(signal));
  return {
    handle(next) {
      take = next;
      for (const signal of early.splice(0)) next(signal);
    },
  };
}

// Whether the agent's command exists, before anything is made for its run.

export type Located = 'found' | 'not_found' | 'not_executable';

/** What execvp takes when there is no PATH. */
const PATH_DEFAULT = '/usr/bin:/bin';
const FOLDERS_MAX = 1_000;

export function locateCommand(
  command: string,
  {
    env,
    cwd,
  }: { readonly env: { readonly [name: string]: string | undefined }; readonly cwd: string },
): Located {
  if (command === '' || command.includes('\0')) return 'not_found';
  if (command.includes('/')) return lookAt(resolvePath(cwd, command));
  const folders = (env['PATH'] ?? PATH_DEFAULT).split(':').slice(0, FOLDERS_MAX);
  const looks = new Set(folders.map((folder) => lookAt(resolvePath(cwd, folder, command))));
  if (looks.has('found')) return 'found';
  return looks.has('not_executable') ? 'not_executable' : 'not_found';
}

function lookAt(path: string): Located {
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) {
      return path.endsWith('/') || !isFolder(path) ? 'not_found' : 'not_executable';
    }
    accessSync(path, constants.X_OK);
    return 'found';
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    return code === 'EACCES' ? 'not_executable' : 'not_found';
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

// An agent that cannot be started, in the words and with the exit codes of a shell.

const EXIT_NOT_EXECUTABLE = 126;
const EXIT_NOT_FOUND = 127;

export function notStarted(command: string, why: 'not_found' | 'not_executable'): Refused {
  const name = JSON.stringify(command.slice(0, 256));
  return why === 'not_found'
    ? {
        ...refused('SUB_AGENT_START', `there is no command ${name}.`, 'Check the name and PATH.'),
        exitCode: EXIT_NOT_FOUND,
      }
    : {
        ...refused(
          'SUB_AGENT_START',
          `${name} cannot be executed.`,
          'Check that it is a program and may be run.',
        ),
        exitCode: EXIT_NOT_EXECUTABLE,
      };
}

export function startFailed(command: string, code: string): Refused {
  if (code === 'ENOENT') return notStarted(command, 'not_found');
  const name = JSON.stringify(command.slice(0, 256));
  const message = `${name} cannot be started (${code}).`;
  const fix = 'Check that it is a program for this system, and the limits of the system.';
  return { ...refused('SUB_AGENT_START', message, fix), exitCode: EXIT_NOT_EXECUTABLE };
}
