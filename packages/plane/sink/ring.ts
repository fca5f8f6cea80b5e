// The lines of one producer that the ledger has not confirmed yet, oldest first: those that were
// sent on the current connection, then those that were not.
import type { EventLine } from '@subluminal/core/ports';
import type { Wire } from './wire.ts';

interface Entry {
  readonly seq: number;
  /** As it stands on the wire and in the spool: `SEQ<space>JSON<newline>`. */
  text: string;
  /** What takes less room, while there still is something to leave out. */
  lean: (() => string) | undefined;
  /** A copy is on disk. */
  safe: boolean;
}

/** Below this many dead slots, moving the rest to the front costs more than it frees. */
const SLACK_MAX = 1_024;

class Ring {
  #entries: Entry[] = [];
  #head = 0;
  #unsent = 0;
  #length = 0;

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

  /** Characters held. A character takes one or two bytes of memory, one to three on the wire. */
  get length(): number {
    return this.#length;
  }

  /** The oldest line that waits; beyond every number when none does. */
  get headSeq(): number {
    return this.#entries[this.#head]?.seq ?? Number.MAX_SAFE_INTEGER;
  }

  add(seq: number, event: EventLine): void {
    const text = wireText(seq, event.line);
    const lean = event.kind === 'preview' ? event.lean : undefined;
    this.#entries.push({ seq, text, lean, safe: false });
    this.#length += text.length;
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

  /** Puts the next unsent lines on the wire, as many as it takes, and counts them as sent. */
  send(wire: Wire): readonly Entry[] {
    const first = this.#unsent;
    for (; this.#unsent < this.#entries.length; this.#unsent++) {
      const entry = this.#entries[this.#unsent];
      if (entry !== undefined && !wire.add(entry.text)) break;
    }
    return this.#entries.slice(first, this.#unsent);
  }

  /** The connection is gone, and what it carried may be too. */
  unsend(): void {
    this.#unsent = this.#head;
  }

  /** Forgets the oldest lines that were sent. */
  confirm(count: number): void {
    for (let left = Math.min(count, this.sentCount); left > 0; left--) {
      this.#length -= this.#entries[this.#head]?.text.length ?? 0;
      this.#head++;
    }
    if (this.#head === this.#entries.length || this.#head > SLACK_MAX) {
      this.#entries = this.#entries.slice(this.#head);
      this.#unsent -= this.#head;
      this.#head = 0;
    }
  }

  /** Forgets the newest unsent lines until the rest fits; says how many. */
  forgetUnsent(lengthMax: number): number {
    let forgotten = 0;
    while (this.#entries.length > this.#unsent && this.#length > lengthMax) {
      this.#length -= this.#entries.pop()?.text.length ?? 0;
      forgotten++;
    }
    return forgotten;
  }

  /** Takes the previews out of unsent lines that no disk has yet; says out of how many. */
  leanUnsent(): number {
    let leaned = 0;
    for (let at = this.#unsent; at < this.#entries.length; at++) {
      const entry = this.#entries[at];
      if (entry?.lean === undefined || entry.safe) continue;
      const text = wireText(entry.seq, entry.lean());
      this.#length += text.length - entry.text.length;
      entry.text = text;
      entry.lean = undefined;
      leaned++;
    }
    return leaned;
  }
}

function wireText(seq: number, line: string): string {
  return `${seq} ${line}\n`;
}

export type { Entry };
export { Ring };
