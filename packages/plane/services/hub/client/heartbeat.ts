// Shows the hub that the shim lives, and notices when the hub does not.

/** Why the hub cannot be reached. */
export interface Loss {
  readonly reason: string;
  /** Nobody listens there any more; else it may only be slow. */
  readonly isGone: boolean;
}

interface HeartbeatOptions {
  readonly heartbeatMs: number;
  readonly heartbeatRetryMs: number;
  readonly goneRetryMs: number;
  readonly missesMax: number;
  /** Why it did not get through; undefined when it did. */
  readonly send: () => Promise<Loss | undefined>;
  readonly onLost: (loss: Loss) => void;
}

/** One refusal may come from a system that is short of something; the second is believed. */
const REFUSALS_MAX = 2;

export class Heartbeat {
  readonly #options: HeartbeatOptions;
  #timer: NodeJS.Timeout | undefined;
  #isStarted = false;
  #isStopped = false;
  #misses = 0;
  /** How often in a row nobody was there. */
  #refusals = 0;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#isStarted || this.#isStopped) return;
    this.#isStarted = true;
    void this.#beat();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  async #beat(): Promise<void> {
    const { missesMax, send, onLost } = this.#options;
    const loss = await send();
    if (this.#isStopped) return;
    this.#misses = loss === undefined ? 0 : this.#misses + 1;
    this.#refusals = loss?.isGone === true ? this.#refusals + 1 : 0;
    // Scheduled first: whatever the listener does, the hub may come back.
    this.#timer = setTimeout(() => void this.#beat(), this.#pauseMs(loss));
    this.#timer.unref();
    if (loss === undefined) return;
    const { reason } = loss;
    if (this.#refusals === REFUSALS_MAX) onLost({ reason, isGone: true });
    // A hub that is gone has been reported already.
    else if (this.#misses === missesMax && this.#refusals < REFUSALS_MAX)
      onLost({ reason, isGone: false });
  }

  #pauseMs(loss: Loss | undefined): number {
    const { heartbeatMs, heartbeatRetryMs, goneRetryMs } = this.#options;
    if (loss === undefined) return heartbeatMs;
    return Math.min(heartbeatMs, this.#refusals === 1 ? goneRetryMs : heartbeatRetryMs);
  }
}
