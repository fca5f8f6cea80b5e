// Bytes in, lines out. A line that lies within one chunk is a view on it; one that is too long to
// inspect is handed on in parts, so that nobody has to hold it.

import { MAX_INSPECT_BYTES } from '@subluminal/contracts';
import { CARRIAGE_RETURN, LINE_FEED, SPACE, TAB } from '../json/units.ts';

export type Framed =
  /** A whole line with its newline, ready to be forwarded as it is. */
  | { readonly kind: 'line'; readonly bytes: Uint8Array }
  /** The first part of a line that is longer than the limit of inspection. */
  | { readonly kind: 'head'; readonly bytes: Uint8Array }
  | { readonly kind: 'piece'; readonly bytes: Uint8Array }
  /** The long line is over. Its newline is in no piece; without one, the input has ended. */
  | { readonly kind: 'end'; readonly bytesTotal: number; readonly newline: boolean }
  /** The long line has passed the cap: what follows of it is skipped, and no end is told. */
  | { readonly kind: 'too_large'; readonly bytesTotal: number }
  /** The input ended in the middle of a line. */
  | { readonly kind: 'partial'; readonly bytes: Uint8Array };

export interface FrameLimits {
  /** Up to here a line is delivered whole. */
  readonly inspectBytesMax?: number;
  /** Beyond this a line is refused; unlimited unless given. */
  readonly messageBytesMax?: number;
  /** Memory for lines that span chunks; the outside may have a faster kind. */
  readonly allocate?: (bytes: number) => Uint8Array;
}

export interface LineSplitter {
  feed(chunk: Uint8Array): readonly Framed[];
  /** The input has ended. */
  end(): readonly Framed[];
}

/** What `max_message_bytes` is in production, unless configured. */
export const MAX_MESSAGE_BYTES = 10_485_760;
const HOLD_BYTES_MIN = 4_096;
/** Larger than two: each leap copies all that is held into memory that is new. */
const GROWTH = 4;
const NOTHING = new Uint8Array(0);

export function lineSplitter(limits: FrameLimits = {}): LineSplitter {
  const { inspectBytesMax = MAX_INSPECT_BYTES, messageBytesMax = Number.POSITIVE_INFINITY } =
    limits;
  const held = new Held(limits.allocate ?? ((bytes) => new Uint8Array(bytes)));
  let mode: 'line' | 'large' | 'skip' = 'line';
  let total = 0;

  function take(part: Uint8Array, newline: boolean, out: Framed[]): void {
    if (mode === 'skip') {
      if (newline) mode = 'line';
      return;
    }
    if (mode === 'large') return takeLarge(part, newline, out);
    const length = held.length + part.length - (newline ? 1 : 0);
    if (length > inspectBytesMax) return startLarge(part, newline, out);
    if (!newline) return held.add(part);
    const bytes = held.length === 0 ? part : held.closeWith(part);
    if (!isBlank(bytes)) out.push({ kind: 'line', bytes });
  }

  function startLarge(part: Uint8Array, newline: boolean, out: Framed[]): void {
    const missing = inspectBytesMax - held.length;
    const first = part.subarray(0, missing);
    out.push({ kind: 'head', bytes: held.length === 0 ? first : held.closeWith(first) });
    mode = 'large';
    total = inspectBytesMax;
    takeLarge(part.subarray(missing), newline, out);
  }

  function takeLarge(part: Uint8Array, newline: boolean, out: Framed[]): void {
    const bytes = newline ? part.subarray(0, -1) : part;
    total += bytes.length;
    if (total > messageBytesMax) {
      out.push({ kind: 'too_large', bytesTotal: total });
      mode = newline ? 'line' : 'skip';
      return;
    }
    if (bytes.length > 0) out.push({ kind: 'piece', bytes });
    if (!newline) return;
    out.push({ kind: 'end', bytesTotal: total, newline });
    mode = 'line';
  }

  return {
    feed(chunk) {
      const out: Framed[] = [];
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
    end() {
      const ended = mode;
      mode = 'line';
      if (ended === 'large') return [{ kind: 'end', bytesTotal: total, newline: false }];
      if (held.length === 0) return [];
      const bytes = held.closeWith(NOTHING);
      return isBlank(bytes) ? [] : [{ kind: 'partial', bytes }];
    },
  };
}

/** The start of a line whose end has not come yet. It grows by leaps: bytes may drip in one by one. */
class Held {
  length = 0;
  private bytes: Uint8Array = NOTHING;
  private readonly allocate: (bytes: number) => Uint8Array;

  constructor(allocate: (bytes: number) => Uint8Array) {
    this.allocate = allocate;
  }

  add(part: Uint8Array): void {
    const needed = this.length + part.length;
    if (needed > this.bytes.length) {
      const grown = this.allocate(Math.max(needed, this.bytes.length * GROWTH, HOLD_BYTES_MIN));
      grown.set(this.bytes.subarray(0, this.length));
      this.bytes = grown;
    }
    this.bytes.set(part, this.length);
    this.length = needed;
  }

  /** Everything held and this last part; the buffer now belongs to whoever gets it. */
  closeWith(part: Uint8Array): Uint8Array {
    this.add(part);
    const whole = this.bytes.subarray(0, this.length);
    this.bytes = NOTHING;
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
