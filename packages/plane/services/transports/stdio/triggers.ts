// What from outside tells the shim to end: signals, and the death of the process that started it.

export type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

export interface Triggers {
  signal(signal: StopSignal): void;
  parentGone(): void;
}

const SIGNALS: readonly StopSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const PARENT_POLL_MS = 500;
const EARLY_MAX = 16;

/** What came before anybody took it. */
const early: StopSignal[] = [];
const takers: ((signal: StopSignal) => void)[] = [];
let isCatching = false;

/**
 * From here on no signal ends this process unheard: it would leave a server behind that nobody
 * watches yet. Never given back: a signal after the server's end must not cut off what is still to
 * be flushed.
 */
export function catchSignals(): void {
  if (isCatching) return;
  isCatching = true;
  for (const signal of SIGNALS) process.on(signal, () => heard(signal));
}

function heard(signal: StopSignal): void {
  if (takers.length === 0 && early.length < EARLY_MAX) early.push(signal);
  for (const take of takers) take(signal);
}

/** Takes what has come so far, and all that comes. */
export function onSignal(take: (signal: StopSignal) => void): void {
  catchSignals();
  takers.push(take);
  for (const signal of early.splice(0)) take(signal);
}

/** Listens for the rest of the process's life, but keeps no process alive by itself. */
export function listen(on: Triggers): void {
  // What came early is heard by a supervisor that is whole.
  queueMicrotask(() => onSignal((signal) => on.signal(signal)));
  // The end of stdin tells too, but not while reading pauses or another process holds the pipe.
  const parentPid = process.ppid;
  const poll = setInterval(() => {
    if (process.ppid === parentPid) return;
    clearInterval(poll);
    on.parentGone();
  }, PARENT_POLL_MS);
  poll.unref();
}
