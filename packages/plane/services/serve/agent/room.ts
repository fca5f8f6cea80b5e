// How many bytes are held for somebody. A room may be a part of a larger one: what is in it is in both.

export class Room {
  bytes = 0;
  readonly #bytesMax: number;
  readonly #within: Room | undefined;

  constructor(bytesMax: number, within?: Room) {
    this.#bytesMax = bytesMax;
    this.#within = within;
  }

  get isFull(): boolean {
    return this.bytes > this.#bytesMax || this.#within?.isFull === true;
  }

  /** Negative for what has left. */
  add(bytes: number): void {
    this.bytes += bytes;
    this.#within?.add(bytes);
  }
}

/** What all sessions of one caller hold together: each of them has much less, but there may be many. */
export interface CallerRooms {
  /** Messages that wait for a server that reads slowly. */
  readonly inbox: Room;
  /** Events that are kept for streams that come back. */
  readonly kept: Room;
}

const BYTES_MAX = 64 * 1024 * 1024;

export function callerRooms(): CallerRooms {
  return { inbox: new Room(BYTES_MAX), kept: new Room(BYTES_MAX) };
}
