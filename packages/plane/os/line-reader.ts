// Bytes to lines, each within a limit.

const NEWLINE = 0x0a;
const NONE = Buffer.alloc(0);
const HELD_BYTES_MIN = 256;

export class LineReader {
  bytesMax: number;
  /** The start of a line that has no end yet; more room than it needs, so that it grows in few steps. */
  #held: Buffer = NONE;
  #length = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** Bytes of a line that has no end yet. */
  get restLength(): number {
    return this.#length;
  }

  /** Bytes of memory that it takes. */
  get heldBytes(): number {
    return this.#held.length;
  }

  /** Calls `take` for each line that is whole by now; with undefined for one that is too long. */
  read(chunk: Buffer, take: (line: string | undefined) => void): void {
    this.readBytes(chunk, (line) => take(line?.toString('utf8')));
  }

  /** The same without reading the text: most lines are a part of the chunk itself. */
  readBytes(chunk: Buffer, take: (line: Buffer | undefined) => void): void {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      // Most lines lie within one chunk: no copy.
      if (this.#length === 0 && at - from <= this.bytesMax) {
        take(chunk.subarray(from, at));
      } else {
        this.#add(chunk.subarray(from, at));
        const isWhole = this.#length <= this.bytesMax;
        const line = isWhole ? this.#held.subarray(0, this.#length) : undefined;
        this.#held = NONE;
        this.#length = 0;
        take(line);
      }
      from = at + 1;
    }
    if (from < chunk.length) this.#add(chunk.subarray(from));
  }

  #add(part: Buffer): void {
    const length = this.#length + part.length;
    if (length > this.bytesMax) this.#held = NONE;
    else {
      if (length > this.#held.length) {
        const size = Math.max(HELD_BYTES_MIN, 2 ** Math.ceil(Math.log2(length)));
        const grown = Buffer.allocUnsafeSlow(Math.min(size, this.bytesMax));
        this.#held.copy(grown, 0, 0, this.#length);
        this.#held = grown;
      }
      part.copy(this.#held, this.#length);
    }
    this.#length = length;
  }
}
