// Keeps something connected: again and again, with growing pauses, and one word of trouble for each
// time that it is away.

export type ConnectionEnd =
  /** `wasUp`: it worked for a while. */
  | { readonly kind: 'ended'; readonly why: string; readonly wasUp: boolean }
  /** To try again makes no sense. */
  | { readonly kind: 'refused'; readonly why: string }
  /** Nothing is left to do. */
  | { readonly kind: 'finished' };

interface LoopOptions {
  /** Resolves when the connection has ended, for whatever reason. */
  readonly connect: (signal: AbortSignal) => Promise<ConnectionEnd>;
  readonly trouble: (message: string) => void;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

const FAILED: ConnectionEnd = { kind: 'ended', why: 'The channel has failed.', wasUp: false };
const WAIT_MIN_MS = 1_000;
const WAIT_MAX_MS = 60_000;

export class ConnectionLoop {
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(options: LoopOptions) {
    this.#running = this.#run(options);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run({ connect, trouble, wait }: LoopOptions): Promise<void> {
    const { signal } = this.#stop;
    let failures = 0;
    while (!signal.aborted) {
      const end = await connect(signal).catch(() => FAILED);
      if (signal.aborted || end.kind === 'finished') return;
      if (end.kind === 'refused') return trouble(end.why);
      failures = end.wasUp ? 0 : failures + 1;
      if (failures === 1) trouble(end.why);
      const pauseMs = Math.min(WAIT_MAX_MS, WAIT_MIN_MS * 2 ** Math.min(failures, 10));
      // Timers of Node reject when they are broken off.
      await wait(pauseMs, signal).catch(() => undefined);
    }
  }
}
