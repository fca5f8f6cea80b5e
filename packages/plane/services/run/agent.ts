// The agent: started on the user's own terminal, and ended when somebody wants that.
import { type ChildProcess, spawn } from 'node:child_process';
import type { AgentEnd } from './options.ts';
import { processesOf, type RunFamily, signalAll } from './processes.ts';
import type { Signals, StopSignal } from './signals.ts';

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
