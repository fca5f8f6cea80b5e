// Events to one who follows, from the store and at that one's own pace: nothing is kept for it.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Peer, Talk } from './peer.ts';
import type { IngestLedger } from './ports.ts';

interface FollowWish {
  readonly after?: number;
  readonly backlog?: number;
}

const PAGE_EVENTS = 100;

export class Follower implements Talk {
  readonly #peer: Peer;
  readonly #ledger: IngestLedger;
  #isGone = false;
  /** There may be more than was read. */
  #isBehind = true;
  #wake: (() => void) | undefined;

  constructor(peer: Peer, ledger: IngestLedger) {
    this.#peer = peer;
    this.#ledger = ledger;
  }

  /** Until it is gone. */
  async feed({ after, backlog = 0 }: FollowWish): Promise<void> {
    let seq = after ?? Math.max(0, (await this.#ledger.lastSeq()) - backlog);
    while (!this.#isGone) {
      this.#isBehind = false;
      const rows = await this.#ledger.events(seq, PAGE_EVENTS);
      const last = rows.at(-1);
      if (last === undefined) {
        await this.#movedOn();
        continue;
      }
      seq = last.seq;
      this.#peer.write(rows.map(textOf).join(''));
      await this.#peer.drained();
      // One who is far behind must not keep the others waiting.
      await nextTurn();
    }
  }

  /** Events were committed. */
  moved(): void {
    this.#isBehind = true;
    this.#wake?.();
  }

  line(): void {
    // There is nothing more to say for one who follows.
  }

  ended(): void {
    this.closed();
    this.#peer.end();
  }

  closed(): void {
    this.#isGone = true;
    this.#wake?.();
  }

  #movedOn(): Promise<void> {
    if (this.#isBehind || this.#isGone) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

/** A line break inside of JSON is only white space; here it would end the line. */
function textOf({ seq, line }: { readonly seq: number; readonly line: string | null }): string {
  if (line === null) return '';
  const event = line.includes('\n') || line.includes('\r') ? line.replaceAll(/[\r\n]/g, ' ') : line;
  return `{"seq":${seq},"event":${event}}\n`;
}
