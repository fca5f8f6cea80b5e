// The parts of one message on their way in: a whole message, or head, pieces and end of one that is too large.
import { MAX_INSPECT_BYTES } from '@subluminal/contracts';
import { GatheredBytes } from '../../../os/gathered-bytes.ts';
import { firstId, LastId } from '../large-ids.ts';
import { oneLine } from '../one-line.ts';
import type { Incoming } from '../types.ts';

export interface MessageLimits {
  /** Up to here a message is delivered whole. */
  readonly inspectBytesMax?: number;
  /** Beyond this a message is refused; unlimited unless given. */
  readonly messageBytesMax?: number;
}

export interface GatherHandlers {
  emit(incoming: Incoming): void;
  /** Whether a large message may begin. Others wait, because there is one at a time. */
  beginLarge(): boolean;
  /** `id`: the JSON of its id, if it shows it. */
  endLarge(how: LargeOutcome, id: string | undefined): void;
}

/** `too_large`: beyond the cap, and the rest of it is skipped. */
export type LargeOutcome = 'complete' | 'cut' | 'too_large';

export class MessageGatherer {
  readonly #inspectBytesMax: number;
  readonly #messageBytesMax: number;
  readonly #on: GatherHandlers;
  #mode: 'whole' | 'large' | 'skip' = 'whole';
  readonly #held = new GatheredBytes();
  #bytesTotal = 0;
  /** Of the large message. */
  #firstId: string | undefined;
  #lastId = new LastId();

  constructor(limits: MessageLimits, on: GatherHandlers) {
    this.#inspectBytesMax = limits.inspectBytesMax ?? MAX_INSPECT_BYTES;
    this.#messageBytesMax = limits.messageBytesMax ?? Number.POSITIVE_INFINITY;
    this.#on = on;
  }

  /** Takes a part; false when the message becomes large and has to wait: then nothing was taken. */
  add(part: Uint8Array): boolean {
    if (part.length === 0 || this.#mode === 'skip') return true;
    const bytesTotal = this.#bytesTotal + part.length;
    if (this.#mode === 'whole') {
      if (bytesTotal > this.#inspectBytesMax) return this.#begin(part);
      this.#held.add(part);
      this.#bytesTotal = bytesTotal;
      return true;
    }
    this.#piece(part);
    return true;
  }

  /** The message is over. One of blanks is none. */
  end(): void {
    const { mode, bytesTotal, whole, id } = this.#reset();
    if (mode === 'large') {
      this.#on.emit({ kind: 'end', bytesTotal, isComplete: true });
      this.#on.endLarge('complete', id);
    } else if (mode === 'whole' && !isBlank(whole)) {
      this.#on.emit({ kind: 'message', bytes: oneLine(whole) });
    }
  }

  /** The rest of the message does not come. */
  cut(): void {
    const { mode, bytesTotal, id } = this.#reset();
    if (mode !== 'large') return;
    this.#on.emit({ kind: 'end', bytesTotal, isComplete: false });
    this.#on.endLarge('cut', id);
  }

  #begin(part: Uint8Array): boolean {
    if (!this.#on.beginLarge()) return false;
    const missing = this.#inspectBytesMax - this.#bytesTotal;
    this.#held.add(part.subarray(0, missing));
    const head = this.#held.take();
    this.#firstId = firstId(head);
    this.#lastId = new LastId();
    this.#mode = 'large';
    this.#bytesTotal = this.#inspectBytesMax;
    this.#on.emit({ kind: 'head', bytes: oneLine(head) });
    this.#piece(part.subarray(missing));
    return true;
  }

  #piece(bytes: Uint8Array): void {
    this.#bytesTotal += bytes.length;
    this.#lastId.add(bytes);
    if (this.#bytesTotal <= this.#messageBytesMax) {
      if (bytes.length > 0) this.#on.emit({ kind: 'piece', bytes: oneLine(bytes) });
      return;
    }
    this.#mode = 'skip';
    this.#on.emit({ kind: 'too_large', bytesTotal: this.#bytesTotal });
    this.#on.endLarge('too_large', this.#firstId);
  }

  #reset() {
    const id = this.#mode === 'large' ? (this.#firstId ?? this.#lastId.json) : undefined;
    const before = { mode: this.#mode, bytesTotal: this.#bytesTotal, whole: this.#held.take(), id };
    this.#mode = 'whole';
    this.#bytesTotal = 0;
    return before;
  }
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d));
}
