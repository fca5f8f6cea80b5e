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
