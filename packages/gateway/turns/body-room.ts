// What the bodies of all turns under way take together: each is bounded, and there may be many.

export class BodyRoom {
  readonly #bytesMax: number;
  #takenBytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** A place for one body, for as long as its turn takes. */
  open(): BodyPlace {
    let ownBytes = 0;
    return {
      take: (bytes) => {
        if (this.#takenBytes + bytes > this.#bytesMax) return false;
        this.#takenBytes += bytes;
        ownBytes += bytes;
        return true;
      },
      leave: () => {
        this.#takenBytes -= ownBytes;
        ownBytes = 0;
      },
    };
  }
}

export interface BodyPlace {
  /** False when there is no room for so many bytes more. */
  take(bytes: number): boolean;
  leave(): void;
}
