// The agent: started on the user's own terminal, and ended when somebody wants that.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { failure } from '@subluminal/contracts';
import { codeOrText, hasSystemCode, isExecutable, programCandidates } from '../../os/index.ts';
import type { AgentEnd, AgentStartFailure, RunOptions } from './options.ts';
import { areGone, processesOf, type RunFamily, signalAll } from './run-processes.ts';

interface AgentCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

/** Same terminal, same process group: for the agent nothing is different. */
export async function startAgent({
  command,
  args,
  env,
  cwd,
}: AgentCommand): Promise<ChildProcess | AgentStartFailure> {
  try {
    const child = spawn(command, args, { stdio: 'inherit', env, cwd });
    await once(child, 'spawn');
    // A signal that cannot be sent must not end the run.
    child.on('error', () => undefined);
    return child;
  } catch (cause) {
    return notStarted(command, codeOrText(cause));
  }
}

interface KeepOptions {
  readonly child: ChildProcess;
  readonly family: RunFamily;
  readonly signals: Signals;
  readonly isTerminal: boolean;
  /** From the first request to end until SIGKILL. */
  readonly graceMs: number;
}

/** Two of a kind within this time are one person in a hurry. */
const REPEAT_MS = 2_000;
const POLL_MS = 50;
const KILL_MS = 5_000;

/** Watches over the agent until it has ended. */
export class AgentKeeper {
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

  /** Ends the agent because the policy says so. */
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

  /** A launcher may end before the process that it has launched. */
  async #endRest(): Promise<void> {
    const { family, graceMs } = this.#options;
    const agents = () => processesOf(family).agents;
    if (agents().length === 0) return;
    signalAll(agents(), 'SIGTERM');
    if (await areGone(agents, graceMs)) return;
    const deadlineMs = performance.now() + KILL_MS;
    // Again and again: a process may fork between the look and the blow.
    while (performance.now() < deadlineMs) {
      signalAll(agents(), 'SIGKILL');
      if (await areGone(agents, POLL_MS)) return;
    }
  }
}

export type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGQUIT';

/** The signals that reach `sub run`, from before the agent starts until after it has ended. */
export interface Signals {
  /** Takes the signals that have come so far, and all later ones. */
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

export type LocatedCommand = 'found' | 'not_found' | 'not_executable';

/** Whether the agent's command exists, before anything is made for its run. */
export function locateCommand(
  command: string,
  { env, cwd }: Pick<RunOptions, 'env' | 'cwd'>,
): LocatedCommand {
  const found = new Set(programCandidates(command, { cwd, path: env['PATH'] }).map(lookAt));
  if (found.has('found')) return 'found';
  return found.has('not_executable') ? 'not_executable' : 'not_found';
}

function lookAt(path: string): LocatedCommand {
  if (isExecutable(path)) return 'found';
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats === undefined ? 'not_found' : 'not_executable';
  } catch (cause) {
    return hasSystemCode(cause, 'EACCES') ? 'not_executable' : 'not_found';
  }
}

const EXIT_NOT_EXECUTABLE = 126;
const EXIT_NOT_FOUND = 127;

/** An agent that cannot be started, with the exit code of a shell. `why` may be a system code. */
export function notStarted(command: string, why: string): AgentStartFailure {
  const name = JSON.stringify(command.slice(0, 256));
  const failed = (message: string, fix: string) => failure('SUB_AGENT_START', message, fix);
  if (why === 'not_found' || why === 'ENOENT') {
    const failing = failed(`there is no command ${name}.`, 'Check the name and PATH.');
    return { ...failing, exitCode: EXIT_NOT_FOUND };
  }
  const failing =
    why === 'not_executable'
      ? failed(`${name} cannot be executed.`, 'Check that it is a program and may be run.')
      : failed(
          `${name} cannot be started (${why}).`,
          'Check that it is a program for this system, and the limits of the system.',
        );
  return { ...failing, exitCode: EXIT_NOT_EXECUTABLE };
}
