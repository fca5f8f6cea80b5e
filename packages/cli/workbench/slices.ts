// Long work in the daemon, in slices: between them it takes events in and answers others.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { failure, ThrownFailure } from '@subluminal/contracts';

const SLICE_MS = 8;

export class Slices {
  readonly #deadlineMs: number;
  readonly #signal: AbortSignal;
  #startedMs = performance.now();

  constructor(timeMs: number, signal: AbortSignal) {
    this.#deadlineMs = performance.now() + timeMs;
    this.#signal = signal;
  }

  get isLate(): boolean {
    return performance.now() > this.#deadlineMs;
  }

  /** Lets others work when this slice is used up. Throws when nobody waits for the result any more. */
  async pause(): Promise<void> {
    if (performance.now() - this.#startedMs < SLICE_MS) return;
    await nextTurn();
    if (this.#signal.aborted) {
      throw new ThrownFailure(failure('SUB_API_LIMIT', 'the client has gone.', 'Ask again.'));
    }
    this.#startedMs = performance.now();
  }
}
