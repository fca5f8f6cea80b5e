// A peer that is no process and no connection: what it sends is handed over, and what it gets is handed back.
import { GatheredBytes } from '../../../os/index.ts';
import { oneLine } from '../one-line.ts';
import { LineSplitter } from '../stdio/index.ts';
import type { Transport, TransportHandlers } from '../types.ts';

export interface MemoryPeer {
  /** A whole message for the peer. */
  readonly received: (message: Uint8Array) => void;
  /** A large message for the peer was broken off. */
  readonly broken: () => void;
}

export interface MessageLimits {
  readonly inspectBytesMax: number;
  readonly messageBytesMax: number;
}

const NEWLINE = Buffer.from('\n');

/** How many messages wait is bounded by its user: nothing here holds anybody back. */
export class MemoryTransport implements Transport {
  readonly #peer: MemoryPeer;
  /** Large messages go in parts, as they do on stdio. */
  readonly #lines: LineSplitter;
  readonly #parts = new GatheredBytes();
  readonly #inspectBytesMax: number;
  #on: TransportHandlers | undefined;

  constructor(limits: MessageLimits, peer: MemoryPeer) {
    this.#peer = peer;
    this.#lines = new LineSplitter(limits);
    this.#inspectBytesMax = limits.inspectBytesMax;
  }

  /** A message of the peer. */
  send(message: Uint8Array): void {
    const bytes = oneLine(message);
    const isLarge = bytes.length > this.#inspectBytesMax;
    const whole = { kind: 'message', bytes } as const;
    this.#on?.incoming(isLarge ? this.#lines.feed(Buffer.concat([bytes, NEWLINE])) : [whole]);
  }

  read(on: TransportHandlers): void {
    this.#on = on;
  }

  stop(): void {
    this.#on = undefined;
  }

  write(message: Uint8Array): void {
    this.#peer.received(message);
  }

  writePart(bytes: Uint8Array): void {
    this.#parts.add(bytes);
  }

  endParts(): void {
    this.#peer.received(this.#parts.take());
  }

  abortParts(): void {
    this.#parts.clear();
    this.#peer.broken();
  }

  hold(): void {}
  release(): void {}
  holds(): void {}
  end(): void {}

  close(): Promise<boolean> {
    this.stop();
    return Promise.resolve(true);
  }
}
