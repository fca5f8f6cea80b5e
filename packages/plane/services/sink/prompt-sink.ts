// Where events go, and the callers that wait until they have arrived.
import type { EventSink, SinkStats } from '@subluminal/core/ports';

export interface PromptSinkStats extends SinkStats {
  /** Lines that neither the ledger nor the disk could take. */
  readonly linesLost: number;
}

/** A sink that gathers the lines of a tick; `push` hands them over before the tick ends. */
export interface BatchingSink extends EventSink {
  /**
   * Hands over what was written, now. When it returns, a kill of this process loses nothing of
   * it: the kernel or the disk has it. Call it before an act that the events must outlive.
   */
  push(): void;
  stats(): PromptSinkStats;
}

/** Tells the person in front of the machine, on one line. */
export type Warn = (text: string) => void;

export function warnOnStderr(text: string): void {
  process.stderr.write(`sub: ${text}\n`);
}

/** For `events.sink = "off"`. */
export function offSink(): BatchingSink {
  const stats = { queued: 0, spooled: 0, previewsDropped: 0, linesLost: 0 };
  return {
    write() {},
    push() {},
    flush: () => Promise.resolve(),
    close: () => Promise.resolve(),
    stats: () => stats,
  };
}

interface Waiter {
  readonly isDone: () => boolean;
  readonly resolve: (isDone: boolean) => void;
  readonly timer: NodeJS.Timeout;
}

export class Waiters {
  readonly #waiting = new Set<Waiter>();

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** Resolves with true when it is done, with false when time is up. */
  wait(isDone: () => boolean, timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#end(waiter, false), timeoutMs);
      const waiter: Waiter = { isDone, resolve, timer };
      this.#waiting.add(waiter);
    });
  }

  /** Something has changed: resolves the waiters whose condition holds now. */
  check(): void {
    if (this.#waiting.size === 0) return;
    for (const waiter of this.#waiting) {
      if (waiter.isDone()) this.#end(waiter, true);
    }
  }

  #end(waiter: Waiter, isDone: boolean): void {
    clearTimeout(waiter.timer);
    this.#waiting.delete(waiter);
    waiter.resolve(isDone);
  }
}
