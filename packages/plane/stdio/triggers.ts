// What from outside tells the shim to end: signals, and the death of the process that started it.

type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

interface Triggers {
  signal(signal: StopSignal): void;
  parentGone(): void;
}

const SIGNALS: readonly StopSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const PARENT_POLL_MS = 500;

/** Listens for the rest of the process's life, but keeps no process alive by itself. */
function listen(on: Triggers): void {
  // Never given back: a signal after the server's end must not cut off what is still to be flushed.
  for (const signal of SIGNALS) process.on(signal, () => on.signal(signal));
  // The end of stdin tells too, but not while reading pauses or another process holds the pipe.
  const parentPid = process.ppid;
  const poll = setInterval(() => {
    if (process.ppid === parentPid) return;
    clearInterval(poll);
    on.parentGone();
  }, PARENT_POLL_MS);
  poll.unref();
}

export type { StopSignal, Triggers };
export { listen };
