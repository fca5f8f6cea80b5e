// The lines of one producer that the ledger has not confirmed yet, oldest first: those that were
// sent on the current connection, then those that were not.
import type { EventLine } from '@subluminal/core/ports';
import { bytesOf, type Place, Slabs } from './slabs.ts';

export interface Entry {
  readonly seq: number;
  /** As it stands on the wire and in the spool: `SEQ<space>JSON<newline>`. */
  readonly place: Place;
  /** Makes a line that takes less room, while there still is something to leave out. */
  lean: EventLine['lean'];
  /** A copy is on disk. */
  safe: boolean;
}

interface Piece {
  readonly bytes: Buffer;
  readonly entries: readonly Entry[];
}

/** Below this many dead slots, moving the rest to the front costs more than it frees. */
const SLACK_MAX = 1_024;

export class Ring {
  readonly #slabs = new Slabs();
  #entries: Entry[] = [];
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

  unsent(): readonly Entry[] {
    return this.#entries.slice(this.#unsent);
  }

  /** Everything that is neither confirmed nor on disk. */
  unsafe(): readonly Entry[] {
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
  send(): Piece {
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

  #forget(place: Place, isRead: boolean): void {
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
function lineOf({ seq, place }: Entry): string {
  return bytesOf(place).toString('utf8', String(seq).length + 1, sizeOf(place) - 1);
}

function sizeOf({ start, end }: Place): number {
  return end - start;
}
