// The lines of a file of events: handed on while the file grows, or read when the run is over.
import { type FileHandle, open } from 'node:fs/promises';
import { EVENT_LINE_LENGTH_MAX } from '@subluminal/contracts';
import { LineReader } from '../../os/line-reader.ts';

const LOOK_EVERY_MS = 100;
const PIECE_BYTES = 262_144;
/** A character takes up to three bytes of its line. */
const LINE_BYTES_MAX = 3 * EVENT_LINE_LENGTH_MAX;

/** Hands on the whole lines of a file while it grows; lines that are too long are left out. */
export class FileFollower {
  readonly #path: string;
  readonly #take: (bytes: Uint8Array) => Promise<boolean>;
  readonly #reader = new LineReader(LINE_BYTES_MAX);
  #at: number;
  #isWanted = true;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();

  constructor(path: string, fromByte: number, take: (bytes: Uint8Array) => Promise<boolean>) {
    this.#path = path;
    this.#at = fromByte;
    this.#take = take;
    this.#schedule();
  }

  /** Hands on what is left, and stops. */
  async finish(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#looking;
    clearTimeout(this.#timer);
    await this.#look();
  }

  #schedule(): void {
    this.#timer = setTimeout(() => {
      this.#looking = this.#look().then(() => {
        if (this.#isWanted) this.#schedule();
      });
    }, LOOK_EVERY_MS);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    if (!this.#isWanted) return;
    let file: FileHandle | undefined;
    try {
      file = await open(this.#path, 'r');
      for await (const { lines, bytes } of pieces(file, this.#at, this.#reader)) {
        this.#at += bytes;
        const text = lines.map((line) => `${line}\n`).join('');
        if (text !== '') this.#isWanted = await this.#take(Buffer.from(text));
        if (!this.#isWanted) return;
      }
    } catch {
      // The file is gone: there is nothing more to hand on.
      this.#isWanted = false;
    } finally {
      await file?.close();
    }
  }
}

/**
 * The whole lines behind a place, without their newlines. The agent could have written to the file, so
 * it is read in pieces, and lines that are too long are left out.
 */
export async function* linesBehind(
  path: string,
  fromByte: number,
): AsyncGenerator<string, undefined, undefined> {
  const file = await open(path, 'r');
  try {
    const reader = new LineReader(LINE_BYTES_MAX);
    for await (const { lines } of pieces(file, fromByte, reader)) yield* lines;
  } finally {
    await file.close();
  }
  return undefined;
}

/** The lines that each piece of the file completes, and the length of the piece. */
async function* pieces(file: FileHandle, fromByte: number, reader: LineReader) {
  const piece = Buffer.alloc(PIECE_BYTES);
  for (let at = fromByte; ; ) {
    const { bytesRead: bytes } = await file.read(piece, 0, PIECE_BYTES, at);
    if (bytes === 0) return;
    at += bytes;
    const lines: string[] = [];
    reader.read(piece.subarray(0, bytes), (line) => {
      if (line !== undefined) lines.push(line);
    });
    yield { lines, bytes };
  }
}
