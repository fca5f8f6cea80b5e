// The lines of one producer that the ledger has not confirmed yet, oldest first: those that were
// sent on the current connection, then those that were not.
import type { EventLine } from '@subluminal/core/ports';

export interface WaitingLine {
  readonly seq: number;
  /** As it stands on the wire and in the spool: `SEQ<space>JSON<newline>`. */
  readonly place: SlabSpan;
  /** Makes a line that takes less room, while there still is something to leave out. */
  lean: EventLine['lean'];
  /** A copy is on disk. */
  safe: boolean;
}

interface SentPiece {
  readonly bytes: Buffer;
  readonly entries: readonly WaitingLine[];
}

/** Below this many dead slots, moving the rest to the front costs more than it frees. */
const SLACK_MAX = 1_024;

export class Ring {
  readonly #slabs = new Slabs();
  #entries: WaitingLine[] = [];
  #head = 0;
  #unsent = 0;
  #bytes = 0;

  /** How many lines wait. */
  get count(): number {
    return this.#entries.length - this.#head;
  }

  /** How many of them wait on the ledger's word. */
  get sentCount(): number {
    return this.#unsent - this.#head;
  }

  get unsentCount(): number {
    return this.#entries.length - this.#unsent;
  }

  /** What they take. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The oldest line that waits; beyond every number when none does. */
  get headSeq(): number {
    return this.#entries[this.#head]?.seq ?? Number.MAX_SAFE_INTEGER;
  }

  add(seq: number, event: EventLine): void {
    const place = this.#slabs.put(wireText(seq, event.line));
    const lean = event.kind === 'preview' ? event.lean : undefined;
    this.#entries.push({ seq, place, lean, safe: false });
    this.#bytes += sizeOf(place);
  }

  unsent(): readonly WaitingLine[] {
    return this.#entries.slice(this.#unsent);
  }

  /** Everything that is neither confirmed nor on disk. */
  unsafe(): readonly WaitingLine[] {
    return this.#entries.slice(this.#head).filter(({ safe }) => !safe);
  }

  /** Whether all up to this line is confirmed or on disk. */
  isSettled(seq: number): boolean {
    for (let at = this.#head; at < this.#entries.length; at++) {
      const entry = this.#entries[at];
      if (entry === undefined || entry.seq > seq) return true;
      if (!entry.safe) return false;
    }
    return true;
  }

  /** The next unsent lines that stand side by side in memory; they count as sent from now on. */
  send(): SentPiece {
    const first = this.#unsent;
    const place = this.#entries[first]?.place;
    if (place === undefined) throw new Error('there is nothing to send');
    const { slab, start } = place;
    let { end } = place;
    for (this.#unsent++; this.#unsent < this.#entries.length; this.#unsent++) {
      const next = this.#entries[this.#unsent]?.place;
      if (next?.slab !== slab || next.start !== end) break;
      end = next.end;
    }
    const entries = this.#entries.slice(first, this.#unsent);
    return { bytes: bytesOf({ slab, start, end }), entries };
  }

  /** The connection is gone, and what it carried may be too. */
  unsend(): void {
    this.#unsent = this.#head;
  }

  /** Forgets the oldest lines that were sent; `isRead` when the kernel has all that was sent. */
  confirm(count: number, isRead: boolean): void {
    for (let left = Math.min(count, this.sentCount); left > 0; left--) {
      const place = this.#entries[this.#head]?.place;
      if (place !== undefined) this.#forget(place, isRead);
      this.#head++;
    }
    if (this.#head === this.#entries.length || this.#head > SLACK_MAX) {
      this.#entries = this.#entries.slice(this.#head);
      this.#unsent -= this.#head;
      this.#head = 0;
    }
  }

  /** Forgets the newest unsent lines until the rest fits; says how many. */
  forgetUnsent(bytesMax: number): number {
    let forgotten = 0;
    while (this.#entries.length > this.#unsent && this.#bytes > bytesMax) {
      const place = this.#entries.pop()?.place;
      // A connection that is gone may have left a write of it behind.
      if (place !== undefined) this.#forget(place, false);
      forgotten++;
    }
    return forgotten;
  }

  #forget(place: SlabSpan, isRead: boolean): void {
    this.#bytes -= sizeOf(place);
    this.#slabs.free(place, isRead);
  }

  /** Takes the previews out of unsent lines that no disk has yet; says out of how many. */
  leanUnsent(): number {
    let leaned = 0;
    for (let at = this.#unsent; at < this.#entries.length; at++) {
      const entry = this.#entries[at];
      if (entry?.lean === undefined || entry.safe) continue;
      const { place, seq, lean } = entry;
      entry.lean = undefined;
      const before = sizeOf(place);
      // A preview may be shorter than the word that there was one.
      if (!this.#slabs.shorten(place, wireText(seq, lean(lineOf(entry))))) continue;
      this.#bytes += sizeOf(place) - before;
      leaned++;
    }
    return leaned;
  }
}

function wireText(seq: number, line: string): string {
  return `${seq} ${line}\n`;
}

/** The line without its number and its newline. */
function lineOf({ seq, place }: WaitingLine): string {
  return bytesOf(place).toString('utf8', String(seq).length + 1, sizeOf(place) - 1);
}

function sizeOf({ start, end }: SlabSpan): number {
  return end - start;
}

// Where lines wait as bytes until the ledger has confirmed them: in large pieces of memory beside
// the heap, which are used again. As strings they would be moved about by every collection.

interface Slab {
  readonly bytes: Buffer;
  /** Where the next line goes. */
  used: number;
  /** How many lines in it still wait. */
  lines: number;
}

/** What goes to the kernel at once: less than its buffer has room for when it is empty. */
const SLAB_BYTES = 131_072;
/** More than a calm ledger ever leaves us with. */
const SPARE_MAX = 4;

export interface SlabSpan {
  readonly slab: Slab;
  start: number;
  end: number;
}

class Slabs {
  #current: Slab | undefined;
  readonly #spare: Slab[] = [];

  /** Puts a line where there is room for it. */
  put(text: string): SlabSpan {
    const bytes = Buffer.byteLength(text);
    const slab = this.#roomFor(bytes);
    const start = slab.used;
    write(slab.bytes, { text, start, bytes });
    slab.used += bytes;
    slab.lines++;
    return { slab, start, end: slab.used };
  }

  /** Puts a shorter line in the place of another; false when it is not shorter. */
  shorten(place: SlabSpan, text: string): boolean {
    const bytes = Buffer.byteLength(text);
    if (bytes >= place.end - place.start) return false;
    write(place.slab.bytes, { text, start: place.start, bytes });
    place.end = place.start + bytes;
    return true;
  }

  /** A line no longer waits; `isRead` when nobody else can still be reading its memory. */
  free({ slab }: SlabSpan, isRead: boolean): void {
    if (--slab.lines > 0) return;
    if (slab === this.#current) {
      if (isRead) slab.used = 0;
      return;
    }
    if (!isRead || slab.bytes.length !== SLAB_BYTES || this.#spare.length >= SPARE_MAX) return;
    slab.used = 0;
    this.#spare.push(slab);
  }

  #roomFor(bytes: number): Slab {
    const current = this.#current;
    if (current !== undefined && current.used + bytes <= current.bytes.length) return current;
    const spare = bytes <= SLAB_BYTES ? this.#spare.pop() : undefined;
    this.#current = spare ?? newSlab(Math.max(bytes, SLAB_BYTES));
    return this.#current;
  }
}

function newSlab(bytes: number): Slab {
  return { bytes: Buffer.allocUnsafeSlow(bytes), used: 0, lines: 0 };
}

function write(
  target: Buffer,
  { text, start, bytes }: { readonly text: string; readonly start: number; readonly bytes: number },
): void {
  // Almost every line is plain ASCII, which is copied as it is.
  target.write(text, start, bytes === text.length ? 'latin1' : 'utf8');
}

export function bytesOf({ slab, start, end }: SlabSpan): Buffer {
  return slab.bytes.subarray(start, end);
}
