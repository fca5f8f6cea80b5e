// Shows the hub that the shim lives, and notices when the hub does not.

interface HeartbeatOptions {
  readonly heartbeatMs: number;
  readonly heartbeatRetryMs: number;
  readonly missesMax: number;
  /** Why it did not get through; undefined when it did. */
  readonly send: () => Promise<string | undefined>;
  readonly onLost: (reason: string) => void;
}

class Heartbeat {
  readonly #options: HeartbeatOptions;
  #timer: NodeJS.Timeout | undefined;
  #state: 'idle' | 'beating' | 'stopped' = 'idle';
  #misses = 0;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#state !== 'idle') return;
    this.#state = 'beating';
    void this.#beat();
  }

  stop(): void {
    this.#state = 'stopped';
    clearTimeout(this.#timer);
  }

  async #beat(): Promise<void> {
    const { heartbeatMs, heartbeatRetryMs, missesMax, send, onLost } = this.#options;
    const problem = await send();
    if (this.#isStopped()) return;
    this.#misses = problem === undefined ? 0 : this.#misses + 1;
    // Scheduled first: whatever the listener does, the hub may come back.
    const pauseMs = problem === undefined ? heartbeatMs : Math.min(heartbeatMs, heartbeatRetryMs);
    this.#timer = setTimeout(() => void this.#beat(), pauseMs);
    this.#timer.unref();
    if (problem !== undefined && this.#misses === missesMax) onLost(problem);
  }

  #isStopped(): boolean {
    return this.#state === 'stopped';
  }
}

export { Heartbeat };
