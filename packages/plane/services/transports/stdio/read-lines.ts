// Bytes in, lines out. A line that lies within one chunk is a view on it; one that is too long to
// inspect is passed on in parts, so that it is never held as a whole.
import type { Readable } from 'node:stream';

import { MAX_INSPECT_BYTES } from '@subluminal/contracts';
import type { Incoming } from '../types.ts';

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;

export interface FrameLimits {
  /** Up to here a line is delivered whole. */
  readonly inspectBytesMax?: number;
  /** Beyond this a line is refused; unlimited unless given. */
  readonly messageBytesMax?: number;
}

const HOLD_BYTES_MIN = 4_096;
/** Larger than two: each leap copies all that is held into memory that is new. */
const GROWTH = 4;
const NOTHING = new Uint8Array(0);

export function lineSplitter(limits: FrameLimits = {}) {
  const { inspectBytesMax = MAX_INSPECT_BYTES, messageBytesMax = Number.POSITIVE_INFINITY } =
    limits;
  const held = new HeldLine();
  let mode: 'line' | 'large' | 'skip' = 'line';
  let total = 0;

  function take(part: Uint8Array, newline: boolean, out: Incoming[]): void {
    if (mode === 'skip') {
      if (newline) mode = 'line';
      return;
    }
    if (mode === 'large') return takeLarge(part, newline, out);
    const length = held.length + part.length - (newline ? 1 : 0);
    if (length > inspectBytesMax) return startLarge(part, newline, out);
    if (!newline) return held.add(part);
    const bytes = held.length === 0 ? part : held.closeWith(part);
    if (!isBlank(bytes)) out.push({ kind: 'message', bytes });
  }

  function startLarge(part: Uint8Array, newline: boolean, out: Incoming[]): void {
    const missing = inspectBytesMax - held.length;
    const first = part.subarray(0, missing);
    out.push({ kind: 'head', bytes: held.length === 0 ? first : held.closeWith(first) });
    mode = 'large';
    total = inspectBytesMax;
    takeLarge(part.subarray(missing), newline, out);
  }

  function takeLarge(part: Uint8Array, newline: boolean, out: Incoming[]): void {
    const bytes = newline ? part.subarray(0, -1) : part;
    total += bytes.length;
    if (total > messageBytesMax) {
      out.push({ kind: 'too_large', bytesTotal: total });
      mode = newline ? 'line' : 'skip';
      return;
    }
    if (bytes.length > 0) out.push({ kind: 'piece', bytes });
    if (!newline) return;
    out.push({ kind: 'end', bytesTotal: total, isComplete: true });
    mode = 'line';
  }

  return {
    feed(chunk: Uint8Array): readonly Incoming[] {
      const out: Incoming[] = [];
      let from = 0;
      while (from < chunk.length) {
        const at = chunk.indexOf(LINE_FEED, from);
        const until = at === -1 ? chunk.length : at + 1;
        const whole = from === 0 && until === chunk.length;
        take(whole ? chunk : chunk.subarray(from, until), at !== -1, out);
        from = until;
      }
      return out;
    },
    /** The input has ended. */
    end(): readonly Incoming[] {
      const ended = mode;
      mode = 'line';
      if (ended === 'large') return [{ kind: 'end', bytesTotal: total, isComplete: false }];
      if (held.length === 0) return [];
      const bytes = held.closeWith(NOTHING);
      return isBlank(bytes) ? [] : [{ kind: 'partial', bytes }];
    },
  };
}

/** The start of a line whose end has not come yet. It grows by leaps: bytes may drip in one by one. */
class HeldLine {
  length = 0;
  #bytes: Uint8Array = NOTHING;

  add(part: Uint8Array): void {
    const needed = this.length + part.length;
    if (needed > this.#bytes.length) {
      const grown = Buffer.allocUnsafe(
        Math.max(needed, this.#bytes.length * GROWTH, HOLD_BYTES_MIN),
      );
      grown.set(this.#bytes.subarray(0, this.length));
      this.#bytes = grown;
    }
    this.#bytes.set(part, this.length);
    this.length = needed;
  }

  /** Everything held and this last part; the buffer now belongs to the caller. */
  closeWith(part: Uint8Array): Uint8Array {
    this.add(part);
    const whole = this.#bytes.subarray(0, this.length);
    this.#bytes = NOTHING;
    this.length = 0;
    return whole;
  }
}

function isBlank(line: Uint8Array): boolean {
  for (const byte of line) {
    if (byte !== SPACE && byte !== LINE_FEED && byte !== CARRIAGE_RETURN && byte !== TAB) {
      return false;
    }
  }
  return true;
}

export interface ChunkHandlers {
  chunk(chunk: Buffer): void;
  /** Called once, also when the stream broke. */
  end(cause?: Error): void;
}

export type ChunkReader = ReturnType<typeof readChunks>;

/** Reads a stream chunk by chunk, and can be held back by a writer that can't take more. */
export function readChunks(source: Readable, on: ChunkHandlers) {
  let holds = 0;
  let isOver = false;
  const finish = (cause?: Error): void => {
    if (isOver) return;
    isOver = true;
    on.end(cause);
  };
  const onData = (chunk: Buffer): void => on.chunk(chunk);
  source.on('data', onData);
  source.once('end', () => finish());
  // A reset of the pipe is an end too: the other side is gone.
  source.on('error', finish);
  source.once('close', () => finish());
  return {
    /** Stops reading until released as often as held: several writers may hold one reader. */
    hold(): void {
      if (++holds === 1) source.pause();
    },
    release(): void {
      if (holds === 0) throw new Error('released more often than held');
      if (--holds === 0 && !isOver) source.resume();
    },
    /** No more chunks and no end. */
    stop(): void {
      isOver = true;
      source.off('data', onData);
      source.pause();
    },
  };
}
