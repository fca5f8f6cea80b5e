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
function lineNamer(): (line: string) => Omit<IncomingLine, 'line'> {
  let chain: Buffer = Buffer.alloc(32);
  let inBlock = 0;
  let producer = '';
  return (line) => {
    chain = createHash('sha256').update(chain).update(line).digest();
    if (inBlock === 0) producer = `file-${chain.toString('hex')}`;
    const seq = inBlock * HASH_SPAN + (chain.readUIntBE(0, 6) % HASH_SPAN);
    inBlock = (inBlock + 1) % BLOCK_LINES;
    return { producer, seq };
  };
}

const newBatch = () => ({
  lines: [] as IncomingLine[],
  numbers: [] as number[],
  tooLong: [] as number[],
});

/** Blank lines are passed over. */
export async function* lineBatches(
  chunks: AsyncIterable<Uint8Array>,
  { linesMax, batchBytesMax, lineBytesMax }: LineLimits = LIMITS,
): AsyncGenerator<LineBatch, undefined> {
  const nameOf = lineNamer();
  let batch = newBatch();
  let batchBytes = 0;
  let parts: Buffer[] = [];
  let lineBytes = 0;
  let number = 0;
  /** Undefined for a line that is blank or too long. */
  const endLine = (): IncomingLine | undefined => {
    number++;
    if (lineBytes > lineBytesMax) batch.tooLong.push(number);
    const line = Buffer.concat(parts).toString('utf8').trim();
    batchBytes += line === '' ? 0 : lineBytes;
    parts = [];
    lineBytes = 0;
    return line === '' ? undefined : { ...nameOf(line), line };
  };
  for await (const chunk of chunks) {
    for (let start = 0; ; ) {
      const end = chunk.indexOf(NEWLINE, start);
      // A copy: the stream may use its buffer again.
      const part = Buffer.from(chunk.subarray(start, end === -1 ? chunk.length : end));
      lineBytes += part.length;
      if (lineBytes > lineBytesMax) parts = [];
      else parts.push(part);
      if (end === -1) break;
      const line = endLine();
      if (line !== undefined) {
        batch.lines.push(line);
        batch.numbers.push(number);
      }
      const count = batch.lines.length + batch.tooLong.length;
      if (count >= linesMax || batchBytes >= batchBytesMax) {
        yield batch;
        batch = newBatch();
        batchBytes = 0;
      }
      start = end + 1;
    }
  }
  const cut = endLine();
  yield cut === undefined ? batch : { ...batch, cut: { ...cut, number } };
  return undefined;
}
