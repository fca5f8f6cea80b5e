// Bytes to lines, each within a limit.

const NEWLINE = 0x0a;

/** A line that was too long to be kept. */
const TOO_LONG = Symbol('too long');

class LineReader {
  bytesMax: number;
  #parts: Buffer[] = [];
  #length = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** Bytes of a line that has no end yet. */
  get restLength(): number {
    return this.#length;
  }

  /** Calls `take` for each line that is whole by now. */
  read(chunk: Buffer, take: (line: string | typeof TOO_LONG) => void): void {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      // Most lines lie within one chunk: no copy.
      if (this.#length === 0 && at - from <= this.bytesMax) {
        take(chunk.toString('utf8', from, at));
      } else {
        this.#add(chunk.subarray(from, at));
        take(this.#length > this.bytesMax ? TOO_LONG : Buffer.concat(this.#parts).toString());
        this.#parts = [];
        this.#length = 0;
      }
      from = at + 1;
    }
    if (from < chunk.length) this.#add(chunk.subarray(from));
  }

  #add(part: Buffer): void {
    this.#length += part.length;
    if (this.#length <= this.bytesMax) this.#parts.push(part);
    else this.#parts = [];
  }
}

export { LineReader, TOO_LONG };
