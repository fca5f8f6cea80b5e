// A large message on its way out: its parts wait here until the connection takes them.
import { GatheredBytes } from '../../../os/gathered-bytes.ts';
import type { Holdable } from '../types.ts';

const BYTES_HIGH = 1024 * 1024;
/** A connection that takes nothing for so long is given up. */
const STILL_MS = 60_000;

export class PartQueue implements AsyncIterable<Uint8Array> {
  readonly #sources: readonly Holdable[];
  readonly #stalled: () => void;
  #timer: NodeJS.Timeout | undefined;
  readonly #parts = new GatheredBytes();
  #isHolding = false;
  #state: 'open' | 'whole' | 'aborted' | 'unwanted' = 'open';
  #wake: () => void = () => {};
  #settle: (isWhole: boolean) => void = () => {};
  /** Whether all of it was there; false when the message was broken off. */
  readonly done: Promise<boolean>;

  /** `stalled`: the connection takes nothing any more. */
  constructor(sources: readonly Holdable[], stalled: () => void) {
    this.#sources = sources;
    this.#stalled = stalled;
    this.done = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  push(part: Uint8Array): void {
    if (this.#state !== 'open') return;
    this.#parts.add(part);
    if (!this.#isHolding && this.#parts.length > BYTES_HIGH) {
      this.#isHolding = true;
      this.#timer = setTimeout(this.#stalled, STILL_MS).unref();
      for (const source of this.#sources) source.hold();
    }
    this.#wake();
  }

  end(): void {
    if (this.#state === 'open') this.#state = 'whole';
    this.#settle(true);
    this.#wake();
  }

  abort(): void {
    this.#state = 'aborted';
    this.#settle(false);
    this.#drop();
  }

  /** Nobody reads it any more; further parts are dropped. */
  discard(): void {
    if (this.#state !== 'aborted') this.#state = 'unwanted';
    this.#drop();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    for (;;) {
      const part = this.#take();
      if (part !== undefined) {
        yield part;
        continue;
      }
      if (this.#state === 'whole') return;
      // The body has no end then, so no server takes it for a message.
      if (this.#state !== 'open') throw new Error('broken off');
      await this.#more();
    }
  }

  #take(): Uint8Array | undefined {
    const parts = this.#parts.take();
    this.#timer?.refresh();
    this.#relieve();
    return parts.length === 0 ? undefined : parts;
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #drop(): void {
    this.#parts.clear();
    this.#relieve();
    this.#wake();
  }

  #relieve(): void {
    if (!this.#isHolding) return;
    this.#isHolding = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const source of this.#sources) source.release();
  }
}
