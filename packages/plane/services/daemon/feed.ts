// Events as they are committed, for listeners in this process.
import { parseEventLine } from '@subluminal/contracts';
import type { Ledger } from '../../stores/ledger/index.ts';
import type { FeedItem } from '../api/index.ts';
import type { IngestServer } from '../ingest/server.ts';

type Listener = (events: readonly FeedItem[]) => void;

const PAGE_EVENTS = 500;

export class LedgerFeed {
  readonly #ledger: Ledger;
  readonly #server: IngestServer;
  readonly #log: (message: string) => void;
  readonly #listeners = new Map<Listener, () => void>();
  #tip: number;
  #isReading = false;
  #isBehind = false;

  constructor(ledger: Ledger, server: IngestServer, log: (message: string) => void) {
    this.#ledger = ledger;
    this.#server = server;
    this.#log = log;
    // From here on; what was committed before is history.
    this.#tip = ledger.lastSeq;
    server.onAdded(() => this.#moved());
  }

  tip(): number {
    return this.#tip;
  }

  /** A listener keeps the daemon running. */
  subscribe(listener: Listener): () => void {
    const release = this.#server.hold();
    this.#listeners.set(listener, release);
    return () => {
      this.#listeners.delete(listener);
      release();
    };
  }

  #moved(): void {
    this.#isBehind = true;
    if (this.#isReading) return;
    // Nobody listens: only the place is kept.
    if (this.#listeners.size === 0) {
      this.#tip = this.#ledger.lastSeq;
      return;
    }
    this.#isReading = true;
    this.#read()
      .catch((cause: unknown) => this.#log(`events could not be announced: ${String(cause)}`))
      .finally(() => {
        this.#isReading = false;
      });
  }

  async #read(): Promise<void> {
    while (this.#isBehind) {
      this.#isBehind = false;
      const rows = await this.#ledger.store.events({ afterSeq: this.#tip, limit: PAGE_EVENTS });
      const last = rows.at(-1);
      if (last === undefined) continue;
      this.#isBehind = true;
      this.#tip = last.seq;
      const items = rows.flatMap(({ seq, line }) => {
        const parsed = line === null ? undefined : parseEventLine(line);
        return parsed?.ok === true ? [{ seq, event: parsed.event }] : [];
      });
      for (const listener of this.#listeners.keys()) listener(items);
    }
  }
}
