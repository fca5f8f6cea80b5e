// Hands the lines of a growing file on while the run goes on: whole lines only.
import { type FileHandle, open } from 'node:fs/promises';
import { LINE_BYTES_MAX, NEWLINE } from './lines.ts';

export interface Follower {
  /** Hands on what is left, and stops. */
  finish(): Promise<void>;
}

const LOOK_EVERY_MS = 100;
const PIECE_BYTES = 65_536;

class FileFollower implements Follower {
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

export function followFile(
  path: string,
  fromByte: number,
  take: (bytes: Uint8Array) => Promise<boolean>,
): Follower {
  return new FileFollower(path, fromByte, take);
}
