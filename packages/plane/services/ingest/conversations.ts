// The three conversations on the daemon's socket.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isFailure } from '@subluminal/contracts';
import { OWN_PRODUCER } from '../../stores/ledger/chain/ledger-events.ts';
import type { EventRow } from '../../stores/ledger/index.ts';
import { type Intake, NO_NUMBER, type Sender } from './intake.ts';
import type { Peer, Talk } from './peer.ts';
import {
  type IngestLedger,
  LINE_BYTES_MAX,
  type PruneCounts,
  type PruneFilter,
  type Request,
  readRequest,
  type TakenLine,
} from './protocol.ts';
import type { IngestServer } from './server.ts';

const NUMBER_LENGTH_MAX = 15;
const [SPACE, ZERO, NINE] = [0x20, 0x30, 0x39];

// A shim's connection: numbered lines come in, counts of what is committed go back.

interface TakerOptions {
  readonly peer: Peer;
  readonly intake: Intake;
  readonly producer: string;
  /** Runs before the first line: the producer may have left older lines on disk. */
  readonly before: () => Promise<void>;
  readonly onClosed: () => void;
}

export class LineTaker implements Talk, Sender {
  readonly #options: TakerOptions;
  /** The first lines, until it is their turn: no more than one read from the socket holds. */
  #held: TakenLine[] | undefined = [];
  #received = 0;
  #committed = 0;
  #hasEnded = false;

  constructor(options: TakerOptions) {
    this.#options = options;
  }

  line(bytes: Buffer | undefined): void {
    this.#received += 1;
    const line = numbered(this.#options.producer, bytes);
    if (this.#held === undefined) this.#add(line);
    else if (this.#held.push(line) === 1) void this.#begin();
  }

  #add(line: TakenLine): void {
    const { intake, peer } = this.#options;
    intake.add(line, this);
    if (!intake.isFull || peer.isPaused) return;
    peer.pause();
    intake.whenRoom(() => peer.resume());
  }

  committed(count: number): void {
    this.#committed += count;
    this.#options.peer.writeLatest(`{"ack":${this.#committed}}\n`);
    this.#letGo();
  }

  ended(): void {
    this.#hasEnded = true;
    // It waits for the last count before it goes.
    this.#options.intake.hasten();
    this.#letGo();
  }

  closed(): void {
    this.#hasEnded = true;
    this.#options.onClosed();
  }

  /**
   * Only now: a shim says hello, completes its file and then sends, so that with its first line the
   * file is there to be found.
   */
  async #begin(): Promise<void> {
    const { intake, peer, before } = this.#options;
    peer.pause();
    await before();
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const line of held) intake.add(line, this);
    if (this.#hasEnded) intake.hasten();
    intake.whenRoom(() => peer.resume());
  }

  #letGo(): void {
    if (this.#hasEnded && this.#committed === this.#received) this.#options.peer.end();
  }
}

/** `SEQ<space>JSON`. Any other text goes on, too: the ledger keeps it with the rejects. */
function numbered(producer: string, bytes: Buffer | undefined): TakenLine {
  if (bytes === undefined) {
    return { producer, seq: NO_NUMBER, line: `a line of more than ${LINE_BYTES_MAX} bytes` };
  }
  let seq = 0;
  let at = 0;
  for (; at < NUMBER_LENGTH_MAX; at++) {
    const digit = bytes[at] ?? 0;
    if (digit < ZERO || digit > NINE) break;
    seq = seq * 10 + digit - ZERO;
  }
  if (at === 0 || bytes[at] !== SPACE) return { producer, seq: NO_NUMBER, line: bytes };
  return { producer, seq, line: bytes.subarray(at + 1) };
}

// Requests to the daemon itself, one answer per line.

export class Controller implements Talk {
  readonly #peer: Peer;
  readonly #server: IngestServer;
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;
  /** Of the requests that wait. */
  #length = 0;
  #hasEnded = false;
  #isStopping = false;

  constructor(peer: Peer, server: IngestServer) {
    this.#peer = peer;
    this.#server = server;
  }

  line(line: Buffer | undefined): void {
    const text = line?.toString('utf8');
    this.#waiting += 1;
    this.#length += text?.length ?? 0;
    this.#peer.holds(this.#length);
    // One after the other; the rest waits unread in the socket.
    this.#peer.pause();
    this.#last = this.#last.then(() => this.#answer(text));
  }

  ended(): void {
    this.#hasEnded = true;
    this.#letGo();
  }

  closed(): void {
    this.#hasEnded = true;
  }

  async #answer(text: string | undefined): Promise<void> {
    const request = text === undefined ? undefined : readRequest(text);
    const answer =
      request === undefined
        ? { ok: false, code: 'SUB_USAGE', error: 'the request is not one that is known' }
        : await this.#do(request).catch((cause: unknown) => refusal(cause));
    this.#peer.write(`${JSON.stringify(answer)}\n`);
    this.#waiting -= 1;
    this.#length -= text?.length ?? 0;
    this.#peer.holds(this.#length);
    if (this.#waiting === 0) this.#peer.resume();
    this.#letGo();
  }

  async #do(request: Request): Promise<object> {
    const server = this.#server;
    switch (request.do) {
      case 'sync':
        await server.sync();
        return { ok: true };
      case 'status':
        return { ok: true, status: await server.status(this.#peer) };
      case 'stay':
        server.stay();
        return { ok: true };
      case 'stop':
        this.#isStopping = true;
        server.stop(this.#peer);
        return { ok: true };
      case 'prune':
        return { ok: true, result: await server.prune(request.request, request.dry_run === true) };
      case 'ingest':
        return { ok: true, result: await server.take(request.lines, request.durable) };
    }
  }

  #letGo(): void {
    if (this.#hasEnded && this.#waiting === 0 && !this.#isStopping) this.#peer.end();
  }
}

function refusal(cause: unknown): object {
  if (isFailure(cause)) return { ok: false, code: cause.code, error: cause.message };
  return { ok: false, code: 'SUB_INTERNAL', error: String(cause) };
}

// Events for a follower, from the store and at its own pace: nothing is kept for it.

interface FollowStart {
  readonly after?: number;
  readonly backlog?: number;
}

const PAGE_EVENTS = 100;
const COUNTED_MAX = 1_000_000;

export class FollowerTalk implements Talk {
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
  async feed({ after, backlog = 0 }: FollowStart): Promise<void> {
    let seq = after ?? Math.max(0, (await this.#ledger.store.tip()).seq - backlog);
    while (!this.#isGone) {
      this.#isBehind = false;
      const rows = await this.#ledger.store.events({ afterSeq: seq, limit: PAGE_EVENTS });
      const last = rows.at(-1);
      if (last === undefined) {
        await this.#movedOn();
        continue;
      }
      seq = last.seq;
      this.#peer.write(rows.map(textOf).join(''));
      await this.#peer.drained();
      // A follower that is far behind must not keep the others waiting.
      await nextTurn();
    }
  }

  /** Events were committed. */
  moved(): void {
    this.#isBehind = true;
    this.#wake?.();
  }

  line(): void {
    // A follower has nothing more to say.
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

/** Empty for an event that was pruned, or that the ledger has written itself. */
function textOf({ seq, line, producer }: EventRow): string {
  if (line === null || producer === OWN_PRODUCER) return '';
  // A line break inside of JSON is only white space; here it would end the line.
  const event = line.includes('\n') || line.includes('\r') ? line.replaceAll(/[\r\n]/g, ' ') : line;
  return `{"seq":${seq},"event":${event}}\n`;
}

/** How many runs a prune would take. */
export async function countStale(
  { store }: Pick<IngestLedger, 'store'>,
  { olderThanMs: beforeMs, keepRuns, what }: PruneFilter,
): Promise<PruneCounts> {
  const withPreviews = what === 'previews';
  const stale = await store.transaction((transaction) =>
    transaction.staleRuns({ beforeMs, keepRuns, withPreviews, limit: COUNTED_MAX }),
  );
  return { runs: stale.length, events: null };
}
