// The lines of a file of events: handed on while the file grows, or read when the run is over.
import { type FileHandle, open } from 'node:fs/promises';
import { EVENT_LINE_LENGTH_MAX } from '@subluminal/contracts';
import { LineReader } from '../../os/line-reader.ts';

const LOOK_EVERY_MS = 100;
const PIECE_BYTES = 65_536;

/** Hands on the whole lines of a file while it grows. */
export class FileFollower {
  readonly #path: string;
  readonly #take: (bytes: Uint8Array) => Promise<boolean>;
  #at: number;
  #isWanted = true;
  #isTooLong = false;
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
      while (this.#isWanted && (await this.#handOver(file)));
    } catch {
      // The file is gone: there is nothing more to hand on.
      this.#isWanted = false;
    } finally {
      await file?.close();
    }
  }

  /** One piece up to its last newline; false when there is no whole line. */
  async #handOver(file: FileHandle): Promise<boolean> {
    for (let bytes = PIECE_BYTES; ; bytes = Math.min(bytes * 4, LINE_BYTES_MAX)) {
      const piece = await readAt(file, this.#at, bytes);
      if (this.#isTooLong) return this.#skip(piece);
      const end = piece.lastIndexOf(NEWLINE) + 1;
      if (end > 0) {
        this.#at += end;
        this.#isWanted = await this.#take(piece.subarray(0, end));
        return true;
      }
      if (piece.length < bytes) return false;
      this.#isTooLong = bytes === LINE_BYTES_MAX;
    }
  }

  /** Longer than any event, so no line of ours: its end is looked for piece by piece. */
  #skip(piece: Buffer): boolean {
    const end = piece.indexOf(NEWLINE) + 1;
    this.#isTooLong = end === 0;
    this.#at += this.#isTooLong ? piece.length : end;
    return piece.length > 0;
  }
}

async function readAt(file: FileHandle, at: number, bytes: number): Promise<Buffer> {
  const piece = Buffer.alloc(bytes);
  const { bytesRead } = await file.read(piece, 0, bytes, at);
  return piece.subarray(0, bytesRead);
}

export const NEWLINE = 0x0a;
const FILE_PIECE_BYTES = 262_144;
/** A character takes up to three bytes of its line. */
const LINE_BYTES_MAX = 3 * EVENT_LINE_LENGTH_MAX;

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
    const piece = Buffer.alloc(FILE_PIECE_BYTES);
    const reader = new LineReader(LINE_BYTES_MAX);
    for (let at = fromByte; ; ) {
      const { bytesRead } = await file.read(piece, 0, FILE_PIECE_BYTES, at);
      if (bytesRead === 0) return undefined;
      at += bytesRead;
      const lines: string[] = [];
      reader.read(piece.subarray(0, bytesRead), (line) => {
        if (line !== undefined) lines.push(line);
      });
      yield* lines;
    }
  } finally {
    await file.close();
  }
}
