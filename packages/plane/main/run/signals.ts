// The signals that reach `sub run`, from before the agent is there until after it has gone.

type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGQUIT';

interface Signals {
  /** Takes what has come so far, and all that comes. */
  handle(take: (signal: StopSignal) => void): void;
}

const SIGNALS: readonly StopSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];
const EARLY_MAX = 16;

/** Never given back: a signal after the agent's end must not cut off what is still to be written. */
function listenForSignals(): Signals {
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

export type { Signals, StopSignal };
export { listenForSignals };
