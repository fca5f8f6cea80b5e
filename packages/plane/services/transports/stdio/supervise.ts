// Supervises a running server and ends it in order: close its stdin, wait, SIGTERM, wait, SIGKILL, then the
// processes that escaped. It is done when none of them runs and the exit of the server is known.

import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import { constants } from 'node:os';
import { isFamilyGone, strike, survivorsOf } from './processes.ts';
import type { RunningServer } from './spawn.ts';

export interface SuperviseOptions {
  readonly server: RunningServer;
  /** From closing the server's stdin to SIGTERM. */
  readonly graceMs?: number;
  /** From SIGTERM to SIGKILL. */
  readonly termMs?: number;
  /** How long SIGKILL is tried on what remains. */
  readonly killMs?: number;
  /** How long the server's last output may wait for a reader that takes nothing. */
  readonly drainMs?: number;
  /** Closes the server's stdin after what still waits to be written; else it is just ended. */
  readonly closeInput?: () => void;
  /** Called once, when the end begins. */
  readonly onStop?: (reason: StopReason) => void;
  /** Called for every signal that asks this process to end. */
  readonly onSignal?: () => void;
  /** One of many servers: signals and the end of the parent are the business of whoever supervises all. */
  readonly isOneOfMany?: boolean;
}

export interface Supervisor {
  /** Begins the end; later calls change nothing. */
  stop(reason: StopReason): void;
  readonly done: Promise<ShimOutcome>;
}

interface Watch {
  readonly server: RunningServer;
  readonly times: Times;
  reason: StopReason | undefined;
  force: Force;
  readonly signals: Set<StopSignal>;
  /** Ends the current wait early. */
  wake: () => void;
}

type Times = Required<Pick<SuperviseOptions, 'graceMs' | 'termMs' | 'killMs' | 'drainMs'>>;

const POLL_MS = 50;
/** Signals in a row, without a pause in which a process could fork. */
const BLOWS = 10;
// Processes that a dead server leaves behind serve nobody: a short time to end by themselves is enough.
const ORPHAN_GRACE_MS = 250;
// A server that exits closes its stdout a moment before: don't mistake the one for the other.
const EXIT_AFTER_CLOSE_MS = 250;

// The rest of its stderr is worth waiting for only while it is read.
const STDERR_QUIET_MS = 250;

/** Takes charge of the server until nothing of it is left. */
export function supervise(options: SuperviseOptions): Supervisor {
  const { server, onStop, graceMs = 5_000, termMs = 2_000 } = options;
  const { killMs = 5_000, drainMs = 5_000, closeInput = () => server.stdin.end() } = options;
  const watch: Watch = {
    server,
    times: { graceMs, termMs, killMs, drainMs },
    reason: undefined,
    force: 'none',
    signals: new Set(),
    wake: () => {},
  };
  let begin: (reason: StopReason) => void = () => {};
  const stopped = new Promise<StopReason>((resolve) => {
    begin = resolve;
  });
  const stop = (reason: StopReason): void => {
    if (watch.reason !== undefined) return;
    watch.reason = reason;
    onStop?.(reason);
    begin(reason);
  };
  if (options.isOneOfMany !== true) {
    // Signals that came early reach a supervisor that is complete.
    queueMicrotask(() =>
      onSignal((signal) => {
        escalate(watch, signal, stop);
        options.onSignal?.();
      }),
    );
    watchParent(() => stop({ kind: 'parent_gone' }));
  }
  watchServer(watch, stop);
  const done = stopped.then(async (reason) => {
    closeInput();
    const left = await end(watch, reason);
    await server.guard.dismiss();
    const exit = endOf(server.child) ?? { code: null, signal: null };
    const exitCode = exitCodeFor(reason, exit, watch.force);
    return { reason, exitCode, server: exit, force: watch.force, left };
  });
  return { stop, done };
}

/** The first signal of a kind moves the end one step on; a repeated one wants it at once. */
function escalate(watch: Watch, signal: StopSignal, stop: (reason: StopReason) => void): void {
  const isRepeated = watch.signals.has(signal);
  watch.signals.add(signal);
  if (watch.reason === undefined) {
    stop({ kind: 'signal', signal });
    return;
  }
  watch.force = isRepeated || watch.force !== 'none' ? 'kill' : 'term';
  watch.wake();
}

function watchServer(watch: Watch, stop: (reason: StopReason) => void): void {
  const { child, stdin, stdout } = watch.server;
  const ended = (): void => {
    stop({ kind: 'server_ended' });
    watch.wake();
  };
  if (endOf(child) === undefined) child.once('exit', ended);
  else ended();
  const pipeClosed = (): void => {
    if (endOf(child) !== undefined || watch.reason !== undefined) return;
    const timer = setTimeout(() => stop({ kind: 'server_closed_pipe' }), EXIT_AFTER_CLOSE_MS);
    child.once('exit', () => clearTimeout(timer));
  };
  stdout.once('close', pipeClosed);
  stdin.once('close', pipeClosed);
}

/** The sequence itself; returns the pids that nothing could end. */
async function end(watch: Watch, reason: StopReason): Promise<readonly number[]> {
  const { server, times } = watch;
  const graceMs = reason.kind === 'server_ended' ? ORPHAN_GRACE_MS : times.graceMs;
  const isGone =
    (await goneWithin(watch, 'none', Math.min(graceMs, times.graceMs))) ||
    (await termThenWait(watch)) ||
    (await killUntilGone(watch));
  await drain(watch);
  return isGone ? [] : survivorsOf(server.family);
}

async function termThenWait(watch: Watch): Promise<boolean> {
  if (watch.force === 'kill') return false;
  watch.force = 'term';
  watch.server.guard.termSent();
  strike(watch.server.family, 'SIGTERM');
  return goneWithin(watch, 'term', watch.times.termMs);
}

async function killUntilGone(watch: Watch): Promise<boolean> {
  watch.force = 'kill';
  const deadlineMs = performance.now() + watch.times.killMs;
  // Again and again: a process may fork between the look and the blow.
  while (performance.now() < deadlineMs) {
    for (let blow = 0; blow < BLOWS && strike(watch.server.family, 'SIGKILL'); blow++);
    if (await goneWithin(watch, 'kill', POLL_MS)) return true;
  }
  return false;
}

/** True when nothing is left; false when time is up or the next step is wanted. */
async function goneWithin(watch: Watch, force: Force, timeoutMs: number): Promise<boolean> {
  const { child, family } = watch.server;
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    const hasEnded = endOf(child) !== undefined;
    if (hasEnded && isFamilyGone(family)) return true;
    const leftMs = deadlineMs - performance.now();
    if (leftMs <= 0 || watch.force !== force) return false;
    // The exit of the server wakes us; processes that it left behind must be polled.
    await rest(watch, hasEnded ? Math.min(POLL_MS, leftMs) : leftMs);
  }
}

function rest(watch: Watch, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, timeoutMs);
    watch.wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}

/** Lets the last output through to a reader that takes it, then lets go of the pipes. */
async function drain(watch: Watch): Promise<void> {
  const { child, stdin, stdout } = watch.server;
  stdin.destroy();
  const isReaderGone =
    watch.reason?.kind === 'output_closed' || watch.reason?.kind === 'parent_gone';
  stdout.once('close', () => watch.wake());
  let quietMs = 0;
  let totalMs = 0;
  let before = bytesRead(watch);
  // A process that escaped may hold the pipe and write for ever, so the total time is bounded.
  const { drainMs } = watch.times;
  while (!stdout.closed && !isReaderGone && quietMs < drainMs && totalMs < 2 * drainMs) {
    if (watch.force === 'kill' && watch.signals.size > 0) break;
    await rest(watch, POLL_MS);
    const now = bytesRead(watch);
    quietMs = now === before ? quietMs + POLL_MS : 0;
    totalMs += POLL_MS;
    before = now;
  }
  if (!stdout.closed) stdout.destroy();
  child.unref();
  await watch.server.stderr?.drained(STDERR_QUIET_MS);
}

function bytesRead({ server: { stdout } }: Watch): number {
  return stdout instanceof Socket ? stdout.bytesRead : 0;
}

// Why a shim ended and with which exit code.

export type StopReason =
  /** The agent closed our stdin. */
  | { readonly kind: 'input_closed' }
  /** The agent no longer reads our stdout. */
  | { readonly kind: 'output_closed' }
  | { readonly kind: 'parent_gone' }
  | { readonly kind: 'signal'; readonly signal: StopSignal }
  | { readonly kind: 'server_ended' }
  /** The server closed a pipe but lives. */
  | { readonly kind: 'server_closed_pipe' }
  /** The hub or a policy asks. */
  | { readonly kind: 'asked'; readonly exitCode: number };

export type Force = 'none' | 'term' | 'kill';

export interface ServerEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ShimOutcome {
  readonly reason: StopReason;
  readonly exitCode: number;
  readonly server: ServerEnd;
  /** How far it had to go. */
  readonly force: Force;
  /** Pids that outlived even SIGKILL, such as those of another user; empty in all but odd cases. */
  readonly left: readonly number[];
}

/** How the server ended; undefined while it lives. */
function endOf({ exitCode, signalCode }: ChildProcess): ServerEnd | undefined {
  if (exitCode === null && signalCode === null) return undefined;
  return { code: exitCode, signal: signalCode };
}

/** The server's own code when it ended by itself, 128 + signal when we were signalled, else 0. */
function exitCodeFor(reason: StopReason, server: ServerEnd, force: Force): number {
  switch (reason.kind) {
    case 'signal':
      return signalExit(reason.signal);
    case 'asked':
      return reason.exitCode;
    case 'server_ended':
      return ownCode(server);
    case 'server_closed_pipe':
      return force === 'none' ? ownCode(server) : 1;
    default:
      return 0;
  }
}

/** The exit code of a process that a signal has ended. */
export function signalExit(signal: StopSignal): number {
  return 128 + constants.signals[signal];
}

function ownCode({ code, signal }: ServerEnd): number {
  return signal === null ? (code ?? 1) : 128 + constants.signals[signal];
}

// The shim ends by signals, and when the process that started it is gone.

export type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

const SIGNALS: readonly StopSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const PARENT_POLL_MS = 500;
const EARLY_MAX = 16;

/** Signals that came before there was a handler. */
const early: StopSignal[] = [];
const takers: ((signal: StopSignal) => void)[] = [];
let isCatching = false;

/**
 * From here on no signal ends this process at once: it would leave an unsupervised server behind. The handlers
 * stay: a signal after the end of the server must not cut off what is still to be flushed.
 */
export function catchSignals(): void {
  if (isCatching) return;
  isCatching = true;
  for (const signal of SIGNALS) process.on(signal, () => dispatch(signal));
}

function dispatch(signal: StopSignal): void {
  if (takers.length === 0 && early.length < EARLY_MAX) early.push(signal);
  for (const take of takers) take(signal);
}

/** Calls `take` for the signals so far, and for every later one. */
export function onSignal(take: (signal: StopSignal) => void): void {
  catchSignals();
  takers.push(take);
  for (const signal of early.splice(0)) take(signal);
}

/** Notices when the process that started this one is gone; keeps no process alive by itself. */
export function watchParent(gone: () => void): void {
  // The end of stdin shows it, too, but not while reading pauses or another process holds the pipe.
  const parentPid = process.ppid;
  const poll = setInterval(() => {
    if (process.ppid === parentPid) return;
    clearInterval(poll);
    gone();
  }, PARENT_POLL_MS);
  poll.unref();
}
