// One stream: first what is stored, then what is new. While its client keeps up, events go straight
// from the feed to the socket. When it lags, they are dropped here and read from the store once there
// is room again: nothing but a few bytes waits in memory, and nothing is left out or sent twice.
import { type ApiStreamQuery, parseEventLine } from '@subluminal/contracts';
import type { WebSocket } from 'ws';
import { EventPages } from '../event-pages.ts';
import type { ApiReader, Feed, FeedItem, StoredEvent } from '../types.ts';
import { type Wants, wantsOf } from './filter.ts';

interface SubscriberOptions {
  readonly socket: WebSocket;
  readonly query: ApiStreamQuery;
  readonly reader: Pick<ApiReader, 'events'>;
  readonly feed: Feed;
  readonly bytesMax: number;
  readonly pingMs: number;
  readonly onWarning: (cause: unknown) => void;
}

/** `live` takes from the feed, `stored` from the store. */
type Source = 'live' | 'stored' | 'ended';

/** How long a client has to take what it was sent, and the goodbye behind it. */
const GOODBYE_MS = 5_000;

const CLOSE = {
  away: { code: 1001, reason: 'The API closes.' },
  policy: { code: 1008, reason: 'This stream only sends.' },
  stalled: { code: 1013, reason: 'Nothing was taken for too long; come back with `after`.' },
  unreadable: { code: 1013, reason: 'The ledger cannot be read; come back with `after`.' },
} as const;

export class Subscriber {
  readonly #options: SubscriberOptions;
  readonly #wants: Wants;
  #source: Source = 'stored';
  /** Everything up to here was sent, or is not wanted. */
  #doneSeq: number;
  /** The last event that the feed has told of. */
  #announcedSeq: number;
  #isAlive = true;
  #wake: (() => void) | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #unsubscribe: () => void;

  constructor(options: SubscriberOptions) {
    const { socket, query, feed, pingMs } = options;
    this.#options = options;
    this.#wants = wantsOf(query);
    this.#announcedSeq = feed.tip();
    this.#doneSeq = query.after ?? this.#announcedSeq;
    if (this.#doneSeq >= this.#announcedSeq) this.#source = 'live';
    this.#unsubscribe = feed.subscribe((items) => this.#take(items));
    this.#timer = setInterval(() => this.#check(), pingMs);
    this.#timer.unref();
    socket.on('message', () => this.#end(CLOSE.policy));
    socket.on('pong', () => {
      this.#isAlive = true;
    });
    socket.on('close', () => this.#stop());
    // What it says is of no use; `close` follows.
    socket.on('error', () => undefined);
    if (this.#source === 'stored') this.#catchUp();
  }

  /** From the feed. */
  #take(items: readonly FeedItem[]): void {
    this.#announcedSeq = Math.max(this.#announcedSeq, items.at(-1)?.seq ?? 0);
    for (const item of items) {
      if (this.#source !== 'live') return;
      if (item.seq <= this.#doneSeq) continue;
      this.#doneSeq = item.seq;
      if (this.#wants(item.event)) this.#send(item);
      if (!this.#hasRoom) this.#fallBack();
    }
  }

  #fallBack(): void {
    this.#source = 'stored';
    this.#catchUp();
  }

  #catchUp(): void {
    this.#readOn().catch((cause: unknown) => {
      if (this.#source === 'ended') return;
      this.#options.onWarning(cause);
      this.#end(CLOSE.unreadable);
    });
  }

  /** From the store, until nothing is left that the feed has told of. */
  async #readOn(): Promise<void> {
    const { reader, query } = this.#options;
    const run = query.run === undefined ? {} : { runId: query.run };
    const pages = new EventPages({ reader, afterSeq: this.#doneSeq, ...run });
    while (this.#source === 'stored') {
      await this.#room();
      // What was announced before the read is committed, so the read sees it.
      const announcedSeq = this.#announcedSeq;
      const { rows, isLast } = await pages.next();
      for (const row of rows) await this.#sendStored(row);
      if (!isLast) continue;
      this.#doneSeq = Math.max(this.#doneSeq, announcedSeq);
      if (this.#announcedSeq <= this.#doneSeq && this.#source === 'stored') this.#source = 'live';
    }
  }

  async #sendStored({ seq, line }: StoredEvent): Promise<void> {
    await this.#room();
    if (this.#source === 'ended') return;
    this.#doneSeq = Math.max(this.#doneSeq, seq);
    if (line === null) return;
    const parsed = parseEventLine(line);
    if (parsed.ok && this.#wants(parsed.event)) this.#send({ seq, event: parsed.event });
  }

  #send({ seq, event }: FeedItem): void {
    this.#options.socket.send(JSON.stringify({ seq, event }), () => {
      this.#isAlive = true;
      if (this.#hasRoom) this.#wakeUp();
    });
  }

  get #hasRoom(): boolean {
    return this.#options.socket.bufferedAmount < this.#options.bytesMax;
  }

  /** Waits until the client has taken enough, or is gone. */
  #room(): Promise<void> | undefined {
    if (this.#hasRoom || this.#source === 'ended') return undefined;
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #wakeUp(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  /** Whoever neither answers nor takes anything is gone. */
  #check(): void {
    if (!this.#isAlive) return this.#end(CLOSE.stalled);
    this.#isAlive = false;
    this.#options.socket.ping();
  }

  goAway(): void {
    this.#end(CLOSE.away);
  }

  #end({ code, reason }: { readonly code: number; readonly reason: string }): void {
    const { socket } = this.#options;
    this.#stop();
    socket.close(code, reason);
    const timer = setTimeout(() => socket.terminate(), GOODBYE_MS);
    timer.unref();
    socket.once('close', () => clearTimeout(timer));
  }

  #stop(): void {
    if (this.#source === 'ended') return;
    this.#source = 'ended';
    clearInterval(this.#timer);
    this.#unsubscribe();
    this.#wakeUp();
  }
}
