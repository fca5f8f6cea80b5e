// Files of events as numbered lines, in batches of bounded size.
import { createHash } from 'node:crypto';
import type { IncomingLine } from '@subluminal/plane/ledger';

export interface LineBatch {
  readonly lines: readonly IncomingLine[];
  /** For messages: the number in the file of each line. */
  readonly numbers: readonly number[];
  /** Numbers of lines that were too long to be kept. */
  readonly tooLong: readonly number[];
  /** The last line of the file, when it has no end: its writer may be in the middle of it. */
  readonly cut?: IncomingLine & { readonly number: number };
}

export interface LineLimits {
  readonly linesMax: number;
  readonly batchBytesMax: number;
  readonly lineBytesMax: number;
}

const LIMITS: LineLimits = {
  linesMax: 2_000,
  batchBytesMax: 4_194_304,
  lineBytesMax: 33_554_432,
};
const NEWLINE = 0x0a;
const BLOCK_LINES = 1_024;
const HASH_SPAN = 2 ** 43;

/**
 * Gives each line a name that depends on all lines before it: the same file has the same names, a
 * file that has grown keeps those of its old lines, and any other file has others. A block of lines
 * shares a producer; the number of a line in it starts with its place and ends with its hash.
 */
class LineNames {
  #chain: Buffer = Buffer.alloc(32);
  #inBlock = 0;
  #producer = '';

  next(line: Buffer): Omit<IncomingLine, 'line'> {
    this.#chain = createHash('sha256').update(this.#chain).update(line).digest();
    if (this.#inBlock === 0) this.#producer = `file-${this.#chain.toString('hex')}`;
    const seq = this.#inBlock * HASH_SPAN + (this.#chain.readUIntBE(0, 6) % HASH_SPAN);
    this.#inBlock = (this.#inBlock + 1) % BLOCK_LINES;
    return { producer: this.#producer, seq };
  }
}

/** Blank lines are passed over. */
export async function* lineBatches(
  chunks: AsyncIterable<Uint8Array>,
  limits: LineLimits = LIMITS,
): AsyncGenerator<LineBatch, undefined> {
  const batcher = new Batcher(limits);
  for await (const chunk of chunks) {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start);
      batcher.add(chunk.subarray(start, end === -1 ? chunk.length : end));
      if (end === -1) break;
      batcher.endLine();
      if (batcher.isFull) yield batcher.take();
      start = end + 1;
    }
  }
  yield batcher.finish();
  return undefined;
}

class Batcher {
  readonly #limits: LineLimits;
  readonly #names = new LineNames();
  #lines: IncomingLine[] = [];
  #numbers: number[] = [];
  #tooLong: number[] = [];
  #bytes = 0;
  #parts: Buffer[] = [];
  #lineBytes = 0;
  #number = 1;

  constructor(limits: LineLimits) {
    this.#limits = limits;
  }

  get isFull(): boolean {
    const { linesMax, batchBytesMax } = this.#limits;
    const count = this.#lines.length + this.#tooLong.length;
    return count >= linesMax || this.#bytes >= batchBytesMax;
  }

  add(part: Uint8Array): void {
    this.#lineBytes += part.length;
    if (this.#lineBytes > this.#limits.lineBytesMax) this.#parts = [];
    // A copy: the stream may use its buffer again.
    else if (part.length > 0) this.#parts.push(Buffer.from(part));
  }

  endLine(): void {
    const line = this.#takeLine();
    const number = this.#number++;
    if (line === 'too long') this.#tooLong.push(number);
    else if (line !== undefined) {
      this.#lines.push(line);
      this.#numbers.push(number);
    }
  }

  take(): LineBatch {
    const batch = { lines: this.#lines, numbers: this.#numbers, tooLong: this.#tooLong };
    this.#lines = [];
    this.#numbers = [];
    this.#tooLong = [];
    this.#bytes = 0;
    return batch;
  }

  finish(): LineBatch {
    const number = this.#number;
    const line = this.#takeLine();
    if (line === 'too long') this.#tooLong.push(number);
    const batch = this.take();
    return typeof line === 'object' ? { ...batch, cut: { ...line, number } } : batch;
  }

  #takeLine(): IncomingLine | 'too long' | undefined {
    const isTooLong = this.#lineBytes > this.#limits.lineBytesMax;
    const bytes = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#lineBytes = 0;
    if (isTooLong) return 'too long';
    const line = bytes.toString('utf8').trim();
    if (line === '') return undefined;
    this.#bytes += bytes.length;
    return { ...this.#names.next(Buffer.from(line)), line };
  }
}
