// Bytes to lines, each within a limit.

const NEWLINE = 0x0a;

/** A line that was too long to be kept. */
export const TOO_LONG = Symbol('too long');

/** Parts from this size on are kept as they came; smaller ones are gathered in a block. */
const PART_BYTES_MIN = 16 * 1024;
const BLOCK_BYTES_MIN = 256;
const BLOCK_BYTES_MAX = 64 * 1024;

export class LineReader {
  bytesMax: number;
  #parts: Buffer[] = [];
  /** Where small parts go: each by itself would take many times its size. */
  #block: Buffer = Buffer.alloc(0);
  #used = 0;
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
    if (this.#length > this.bytesMax) return 0;
    return this.#length - this.#used + this.#block.length;
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
        take(this.#length > this.bytesMax ? TOO_LONG : this.#whole());
        this.#forget();
        this.#length = 0;
      }
      from = at + 1;
    }
    if (from < chunk.length) this.#add(chunk.subarray(from));
  }

  #whole(): string {
    return Buffer.concat([...this.#parts, this.#block.subarray(0, this.#used)]).toString();
  }

  #forget(): void {
    this.#parts = [];
    this.#block = Buffer.alloc(0);
    this.#used = 0;
  }

  #add(part: Buffer): void {
    this.#length += part.length;
    if (this.#length > this.bytesMax) this.#forget();
    else if (part.length >= PART_BYTES_MIN) {
      this.#endBlock();
      this.#parts.push(part);
    } else this.#gather(part);
  }

  #gather(part: Buffer): void {
    if (this.#used + part.length > BLOCK_BYTES_MAX) this.#endBlock();
    const needed = this.#used + part.length;
    if (needed > this.#block.length) {
      const size = Math.max(BLOCK_BYTES_MIN, 2 ** Math.ceil(Math.log2(needed)));
      const grown = Buffer.allocUnsafeSlow(size);
      this.#block.copy(grown, 0, 0, this.#used);
      this.#block = grown;
    }
    part.copy(this.#block, this.#used);
    this.#used = needed;
  }

  /** What was gathered becomes a part. */
  #endBlock(): void {
    if (this.#used > 0) this.#parts.push(this.#block.subarray(0, this.#used));
    this.#block = Buffer.alloc(0);
    this.#used = 0;
  }
}
