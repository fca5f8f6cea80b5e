// Bytes in, lines out. A line that lies within one read is a view on it; one that is too long to
// inspect is passed on in parts, so that it is never held as a whole.
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

/** One read brings so much: what it holds is on its way while the next part is still being written. */
const READ_BYTES = 32 * 1024;
/** Of a long line, one read brings more. */
const LONG_READ_BYTES = 256 * 1024;
const HOLD_BYTES_MIN = 4_096;
/** Larger than two: each leap copies all that is held into memory that is new. */
const GROWTH = 8;
const NOTHING = Buffer.alloc(0);

/**
 * Splits the bytes of one side. They come as chunks, or are read into the memory of the splitter
 * (`room`, then `took`): then the parts of a long line are side by side without a copy. No memory is
 * used twice: a message may be waiting for as long as it likes.
 */
export class LineSplitter {
  readonly #inspectBytesMax: number;
  readonly #messageBytesMax: number;
  #memory: Buffer = NOTHING;
  /** The end of what is used of the memory. A line without its end stands right before it. */
  #used = 0;
  #heldBytes = 0;
  /** The bytes that are being split stand in the memory, right before the end of what is used. */
  #isInPlace = false;
  #isRoomGiven = false;
  #mode: 'line' | 'large' | 'skip' = 'line';
  #total = 0;

  constructor({ inspectBytesMax, messageBytesMax }: FrameLimits = {}) {
    this.#inspectBytesMax = inspectBytesMax ?? MAX_INSPECT_BYTES;
    this.#messageBytesMax = messageBytesMax ?? Number.POSITIVE_INFINITY;
  }

  /** Memory for the next bytes. */
  room(): Buffer {
    const isLarge = this.#mode !== 'line';
    const least = isLarge ? LONG_READ_BYTES : READ_BYTES;
    const free = this.#memory.length - this.#used;
    if (free < least / 2) this.#move(least);
    this.#isRoomGiven = true;
    // As much again as there is of the line.
    const wanted = Math.max(least, Math.min(this.#heldBytes, LONG_READ_BYTES));
    return this.#memory.subarray(this.#used, this.#used + wanted);
  }

  /** So many bytes are in the room that was given last. */
  took(bytes: number): readonly Incoming[] {
    return this.#split(this.#memory.subarray(this.#used, this.#used + bytes), true);
  }

  /** A chunk from elsewhere; it must not change any more. */
  feed(chunk: Uint8Array): readonly Incoming[] {
    if (this.#isRoomGiven) throw new Error('somebody may be reading into the room that was given');
    return this.#split(chunk, false);
  }

  /** The input has ended. */
  end(): readonly Incoming[] {
    const ended = this.#mode;
    this.#mode = 'line';
    if (ended === 'large') return [{ kind: 'end', bytesTotal: this.#total, isComplete: false }];
    if (this.#heldBytes === 0) return [];
    const bytes = this.#takeHeld();
    return isBlank(bytes) ? [] : [{ kind: 'partial', bytes }];
  }

  #split(chunk: Uint8Array, isInPlace: boolean): readonly Incoming[] {
    const out: Incoming[] = [];
    let bytes = chunk;
    let from = 0;
    this.#isInPlace = isInPlace;
    while (from < bytes.length) {
      const at = bytes.indexOf(LINE_FEED, from);
      const isEnd = at !== -1;
      const until = isEnd ? at + 1 : bytes.length;
      const part = from === 0 && until === bytes.length ? bytes : bytes.subarray(from, until);
      if (this.#isInPlace) this.#used += part.length;
      this.#take(part, isEnd, out);
      from = until;
      if (isEnd && this.#memory.length > READ_BYTES) {
        bytes = this.#leaveMemory(bytes.subarray(from));
        from = 0;
      }
    }
    return out;
  }

  #take(part: Uint8Array, isEnd: boolean, out: Incoming[]): void {
    if (this.#mode !== 'line') return this.#takeLarge(part, isEnd, out);
    const length = this.#heldBytes + part.length - (isEnd ? 1 : 0);
    if (length > this.#inspectBytesMax) return this.#startLarge(part, isEnd, out);
    const isWhole = isEnd && this.#heldBytes === 0;
    if (!isWhole) this.#hold(part);
    if (!isEnd) return;
    const bytes = isWhole ? part : this.#takeHeld();
    if (!isBlank(bytes)) out.push({ kind: 'message', bytes });
  }

  #startLarge(part: Uint8Array, isEnd: boolean, out: Incoming[]): void {
    const first = part.subarray(0, this.#inspectBytesMax - this.#heldBytes);
    const rest = part.subarray(first.length);
    if (this.#heldBytes === 0) out.push({ kind: 'head', bytes: first });
    else {
      // In place, the rest of the part stands behind the head.
      const behind = this.#isInPlace ? rest.length : 0;
      this.#used -= behind;
      this.#hold(first);
      out.push({ kind: 'head', bytes: this.#takeHeld() });
      this.#used += behind;
    }
    this.#mode = 'large';
    this.#total = this.#inspectBytesMax;
    this.#takeLarge(rest, isEnd, out);
  }

  #takeLarge(part: Uint8Array, isEnd: boolean, out: Incoming[]): void {
    if (this.#mode === 'skip') {
      if (isEnd) this.#mode = 'line';
      return;
    }
    const bytes = isEnd ? part.subarray(0, -1) : part;
    this.#total += bytes.length;
    if (this.#total > this.#messageBytesMax) {
      out.push({ kind: 'too_large', bytesTotal: this.#total });
      this.#mode = isEnd ? 'line' : 'skip';
      return;
    }
    if (bytes.length > 0) out.push({ kind: 'piece', bytes });
    if (!isEnd) return;
    out.push({ kind: 'end', bytesTotal: this.#total, isComplete: true });
    this.#mode = 'line';
  }

  /** Keeps a part of a line behind those before it. */
  #hold(part: Uint8Array): void {
    if (!this.#isInPlace) {
      if (this.#memory.length - this.#used < part.length) {
        this.#move(Math.max(this.#heldBytes + part.length, HOLD_BYTES_MIN));
      }
      this.#memory.set(part, this.#used);
      this.#used += part.length;
    }
    this.#heldBytes += part.length;
  }

  #takeHeld(): Uint8Array {
    const bytes = this.#memory.subarray(this.#used - this.#heldBytes, this.#used);
    this.#heldBytes = 0;
    return bytes;
  }

  /** A long line keeps its memory to itself: what follows it would keep all of it alive. */
  #leaveMemory(rest: Uint8Array): Uint8Array {
    this.#memory = NOTHING;
    this.#used = 0;
    if (!this.#isInPlace) return rest;
    this.#isInPlace = false;
    return Buffer.from(rest);
  }

  /** Goes on in new memory, of so many bytes at least. It grows by leaps: bytes may drip in one by one. */
  #move(bytesMin: number): void {
    const grown = Math.min(this.#heldBytes * GROWTH, this.#inspectBytesMax + READ_BYTES);
    const memory = Buffer.allocUnsafeSlow(Math.max(bytesMin, grown));
    const held = this.#heldBytes;
    if (held > 0) memory.set(this.#takeHeld());
    this.#memory = memory;
    this.#used = held;
    this.#heldBytes = held;
  }
}

function isBlank(line: Uint8Array): boolean {
  for (let at = 0; at < line.length; at++) {
    const byte = line[at];
    if (byte !== SPACE && byte !== LINE_FEED && byte !== CARRIAGE_RETURN && byte !== TAB) {
      return false;
    }
  }
  return true;
}
