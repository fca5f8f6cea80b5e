// An agent that speaks HTTP, as a transport: its POSTs are the incoming messages, and what is written to it goes to
// the response that it belongs to. Both eras share what is here; where a message goes is theirs to say.
import type { IncomingMessage } from 'node:http';
import { memberRange } from '@subluminal/core/json';
import type { Seen } from '@subluminal/core/session';
import { GatheredBytes } from '../../../os/gathered-bytes.ts';
import { idsIn, seenIn } from '../../transports/http/message-facts.ts';
import { LastId } from '../../transports/large-ids.ts';
import { oneLine } from '../../transports/one-line.ts';
import type {
  Holdable,
  Incoming,
  ReadMessage,
  Transport,
  TransportHandlers,
} from '../../transports/types.ts';
import { BackPressure } from './back-pressure.ts';
import type { Exchange } from './exchange.ts';
import { type CallerRooms, Room } from './room.ts';

/** A body that is too large to be read whole. */
export interface LargeBody {
  readonly request: IncomingMessage;
  readonly head: Uint8Array;
  readonly bytesMax: number;
  /** Called at its end with the JSON of its id, if its last bytes show it. */
  readonly onEnd: (end: { readonly isWhole: boolean; readonly id: string | undefined }) => void;
}

/** A large message to the agent. */
interface LargeMessage {
  readonly exchange: Exchange | undefined;
  /** The request that it answers, if its head shows it. */
  readonly id: string | undefined;
  /** Its parts while it is not known where it goes. */
  readonly parts: GatheredBytes;
  readonly lastId: LastId;
  bytes: number;
}

/** Input that waits for its turn. */
interface WaitingInput {
  readonly bytes: number;
  readonly run: () => void;
}

type Whole = Extract<Incoming, { readonly kind: 'message' }>;

/** What may wait for a server that reads slowly. Whoever sends more must come again. */
const INBOX_BYTES_MAX = 8 * 1024 * 1024;
const INBOX_MAX = 1_024;
const UNROUTED_BYTES_MAX = 16 * 1024 * 1024;
const CLOSED_EARLY = -32_603;
const NO_BYTES = new Uint8Array(0);

export abstract class HttpAgent implements Transport {
  /** The open exchanges by the ids that wait in them, as the session knows them. */
  protected readonly exchanges = new Map<string, Exchange>();
  protected readonly pressure = new BackPressure();
  #on: TransportHandlers | undefined;
  #holds = 0;
  #isStopped = false;
  /** A large message of the agent is on its way: all others wait behind it. */
  #incomingLarge: IncomingMessage | undefined;
  readonly #inbox: WaitingInput[] = [];
  readonly #inboxRoom: Room;
  #outgoingLarge: LargeMessage | undefined;
  /** A large request whose id is not known yet. */
  protected unnamed: Exchange | undefined;

  /** `rooms`: what the sessions of one caller share. */
  constructor(rooms?: CallerRooms) {
    this.#inboxRoom = new Room(INBOX_BYTES_MAX, rooms?.inbox);
  }

  /** Where a message goes that answers no request; undefined drops it. */
  protected abstract route(message: Uint8Array, seen: Seen, about: string | undefined): void;
  /** Writes an answer to the exchange of its request. */
  protected abstract answer(exchange: Exchange, message: Uint8Array, seen: Seen): void;
  /** The exchange of a large message that has begun. */
  protected abstract largeExchange(read: ReadMessage | undefined): Exchange | undefined;
  /** A part of a large message as its client gets it; the last one comes with `isLast`, and may be empty. */
  protected abstract partFor(exchange: Exchange, part: Uint8Array, isLast: boolean): Uint8Array;
  /** Ends what is neither answered nor an exchange. */
  protected abstract endStreams(): void;

  get openExchanges(): number {
    return this.exchanges.size + (this.unnamed === undefined ? 0 : 1);
  }

  /** Whether it takes another message. */
  get hasRoom(): boolean {
    return !this.#inboxRoom.isFull && this.#inbox.length < INBOX_MAX;
  }

  /** Whether it takes a large message: of requests whose id comes last, one at a time. */
  takesLarge(seen: Seen): boolean {
    const hasId = seen.kind === 'invalid' && seen.id !== undefined;
    return this.hasRoom && (hasId || isOneWay(seen) || this.unnamed === undefined);
  }

  /** Whether a client waits for something. */
  get isInUse(): boolean {
    return this.exchanges.size > 0 || this.unnamed !== undefined;
  }

  /** Ends what would never end by itself. */
  drain(): void {}

  /** Time has passed. */
  tick(nowMs: number): void {
    for (const exchange of this.exchanges.values()) exchange.tick(nowMs);
    this.unnamed?.tick(nowMs);
  }

  /** Takes a whole message of the agent, and what was seen in it. */
  take(bytes: Uint8Array, seen: Seen = seenIn(bytes)): void {
    const message: Whole = { kind: 'message', bytes, seen };
    if (!this.#isBusy) return this.#on?.incoming([message]);
    this.#queue({ bytes: bytes.length, run: () => this.#on?.incoming([message]) });
  }

  takeLarge(body: LargeBody): void {
    body.request.pause();
    this.#queue({ bytes: body.head.length, run: () => this.#stream(body) });
    this.#drain();
  }

  /** The agent sends nothing more. */
  leave(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#on?.end();
  }

  read(on: TransportHandlers): void {
    this.#on = on;
    this.#drain();
  }

  hold(): void {
    this.#holds += 1;
    this.#incomingLarge?.pause();
  }

  release(): void {
    this.#holds -= 1;
    if (this.#holds > 0) return;
    this.#incomingLarge?.resume();
    this.#drain();
  }

  stop(): void {
    this.#isStopped = true;
    this.#on = undefined;
  }

  write(message: Uint8Array, read?: ReadMessage): void {
    const seen = read?.kind === 'whole' ? read.seen : seenIn(message);
    const ids = idsIn(message, seen, 'answers');
    if (ids.length === 0) return this.route(message, seen, read?.about);
    const exchange = this.#exchangeOf(ids);
    if (exchange === undefined) return;
    this.answer(exchange, message, seen);
    this.forget(exchange, ids);
  }

  writePart(bytes: Uint8Array, read?: ReadMessage): void {
    this.#outgoingLarge ??= {
      exchange: this.largeExchange(read),
      id: read?.kind === 'head' && read.soFar.answers ? read.soFar.id?.json : undefined,
      parts: new GatheredBytes(),
      lastId: new LastId(),
      bytes: 0,
    };
    const large = this.#outgoingLarge;
    large.bytes += bytes.length;
    if (large.exchange !== undefined) {
      return large.exchange.sendPart(this.partFor(large.exchange, bytes, false));
    }
    large.lastId.add(bytes);
    if (large.bytes <= UNROUTED_BYTES_MAX) large.parts.add(bytes);
    else large.parts.clear();
  }

  endParts(): void {
    const large = this.#outgoingLarge;
    this.#outgoingLarge = undefined;
    if (large === undefined) return;
    const { exchange, id, parts, bytes, lastId } = large;
    if (exchange === undefined) {
      if (bytes <= UNROUTED_BYTES_MAX) this.write(parts.take());
      else if (lastId.json !== undefined) this.write(Buffer.from(unroutedLine(lastId.json)));
      return;
    }
    const ids = id === undefined ? [...exchange.pending].slice(0, 1) : [id];
    exchange.sendPart(this.partFor(exchange, NO_BYTES, true));
    exchange.endParts(ids);
    this.forget(exchange, ids);
  }

  abortParts(): void {
    this.#outgoingLarge?.exchange?.abortParts();
    this.#outgoingLarge = undefined;
  }

  holds(...sources: readonly Holdable[]): void {
    this.pressure.holds(sources);
  }

  end(): void {
    this.#isStopped = true;
  }

  /** Requests without an answer get one that says that the session is over. */
  close(): Promise<boolean> {
    this.closeWith('The session has ended.');
    return Promise.resolve(true);
  }

  /** As `close`, with the reason that requests without an answer get. */
  closeWith(message: string): void {
    this.end();
    for (const [id, exchange] of [...this.exchanges]) {
      const error = JSON.stringify({ code: CLOSED_EARLY, message });
      const answer = Buffer.from(`{"jsonrpc":"2.0","id":${id},"error":${error}}`);
      this.answer(exchange, answer, seenIn(answer));
      this.forget(exchange, [id]);
    }
    this.unnamed?.cut();
    this.unnamed = undefined;
    this.endStreams();
    this.#inbox.length = 0;
    this.#inboxRoom.add(-this.#inboxRoom.bytes);
  }

  /** A request belongs to this exchange until it is answered. */
  protected open(exchange: Exchange, ids: readonly string[]): void {
    for (const id of ids) this.exchanges.set(id, exchange);
  }

  /** Its connection is gone and it cannot be resumed. */
  protected abandon(exchange: Exchange): void {
    this.forget(exchange, [...exchange.pending]);
  }

  /** These requests of it wait no longer. */
  protected forget(exchange: Exchange, ids: readonly string[]): void {
    for (const id of ids) this.exchanges.delete(id);
    if (this.unnamed === exchange) this.unnamed = undefined;
  }

  get #isBusy(): boolean {
    return this.#on === undefined || this.#holds > 0 || this.#incomingLarge !== undefined;
  }

  #exchangeOf(ids: readonly string[]): Exchange | undefined {
    for (const id of ids) {
      const exchange = this.exchanges.get(id);
      if (exchange !== undefined) return exchange;
    }
    return this.unnamed;
  }

  #queue(waiting: WaitingInput): void {
    if (this.#isStopped) return;
    this.#inbox.push(waiting);
    this.#inboxRoom.add(waiting.bytes);
  }

  #drain(): void {
    while (!this.#isBusy) {
      const next = this.#inbox.shift();
      if (next === undefined) return;
      this.#inboxRoom.add(-next.bytes);
      next.run();
    }
  }

  /** Hands the parts of a large body on, one large body at a time. */
  #stream({ request, head, bytesMax, onEnd }: LargeBody): void {
    this.#incomingLarge = request;
    this.#on?.incoming([{ kind: 'head', bytes: head }]);
    let bytesTotal = head.length;
    const lastId = new LastId();
    let isOver = false;
    const finish = (last: Incoming): void => {
      if (isOver) return;
      isOver = true;
      const isWhole = last.kind === 'end' && last.isComplete;
      onEnd({ isWhole, id: lastId.json });
      this.#on?.incoming([last]);
      this.#incomingLarge = undefined;
      this.#drain();
    };
    request.on('data', (bytes: Buffer) => {
      if (isOver) return;
      bytesTotal += bytes.length;
      lastId.add(bytes);
      if (bytesTotal > bytesMax) return finish({ kind: 'too_large', bytesTotal });
      this.#on?.incoming([{ kind: 'piece', bytes: oneLine(bytes) }]);
    });
    request.once('end', () => finish({ kind: 'end', bytesTotal, isComplete: true }));
    const cut = (): void => finish({ kind: 'end', bytesTotal, isComplete: false });
    request.once('close', cut);
    // Its client may have gone while it waited for its turn.
    if (request.destroyed) cut();
    else if (this.#holds === 0) request.resume();
  }
}

/** In place of an answer that could not be kept until it showed whose it is. */
function unroutedLine(id: string): string {
  const message = `The answer is larger than ${UNROUTED_BYTES_MAX} bytes, and names its request only at its end: ask for less, or for one thing at a time.`;
  const error = JSON.stringify({ code: CLOSED_EARLY, message });
  return `{"jsonrpc":"2.0","id":${id},"error":${error}}`;
}

/** Whether nobody waits for an answer to this message: it is one itself, or a notification. A large one shows it at its start. */
export function isOneWay(seen: Seen): boolean {
  if (seen.kind !== 'invalid') return seen.kind === 'response' || seen.kind === 'notification';
  return !seen.asks || seen.method?.startsWith('notifications/') === true;
}

/** The JSON of a member of `params`, or of one of its own members. */
export function paramsMember(
  message: Uint8Array,
  ...path: readonly string[]
): { readonly start: number; readonly end: number } | undefined {
  let at = 0;
  let found: { readonly start: number; readonly end: number } | undefined;
  for (const name of ['params', ...path]) {
    found = memberRange(message, name, at);
    if (found === undefined) return undefined;
    at = found.start;
  }
  return found;
}
