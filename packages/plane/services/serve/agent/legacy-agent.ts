// An agent of 2025-03-26 to 2025-11-25: its session has an id, its streams can be resumed, and messages that belong to
// no request go to the stream of a GET. A broken connection is no cancellation.
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { BATCH_VERSION, type Seen } from '@subluminal/core/session';
import { idsIn } from '../../transports/http/message-facts.ts';
import type { ReadMessage } from '../../transports/types.ts';
import { EventStream, readEventId } from './event-stream.ts';
import { Exchange } from './exchange.ts';
import { HttpAgent, isOneWay, type LargeBody, paramsMember } from './http-agent.ts';
import { type CallerRooms, Room } from './room.ts';

/** Since then, an event without a message may begin a stream. Older clients would take it for a message. */
const PRIMES_SINCE = '2025-11-25';
const STANDALONE = 'get';
/** How many streams that are over, or whose connection broke, may still be resumed. */
const RESUMABLE_MAX = 32;
const RESUMABLE_MS = 60_000;
const UNSENT_MAX = 256;
const UNSENT_BYTES_MAX = 1024 * 1024;
/** Of the events of all streams of a session, for those that come back. */
const KEPT_BYTES_MAX = 4 * 1024 * 1024;
const KEEP_ALIVE_MS = 15_000;

type Attached = 'attached' | 'taken' | 'unknown_event' | 'gone';

export class LegacyAgent extends HttpAgent {
  readonly sessionId: string;
  /** The protocol version that the server has chosen. */
  version: string | undefined;
  /** The session did not begin: its `initialize` was refused. */
  onRefused: () => void = () => {};
  #initializing: string | undefined;
  #streams = 0;
  #standalone: EventStream | undefined;
  /** Messages that wait for the first GET. */
  readonly #unsent: Uint8Array[] = [];
  #unsentBytes = 0;
  readonly #kept: Room;
  readonly #resumable = new Map<
    string,
    { readonly stream: EventStream; readonly sinceMs: number }
  >();
  /** The exchange of each progress token, as JSON. */
  readonly #tokens = new Map<string, Exchange>();

  constructor(sessionId: string, rooms?: CallerRooms) {
    super(rooms);
    this.sessionId = sessionId;
    this.#kept = new Room(KEPT_BYTES_MAX, rooms?.kept);
  }

  /** Whether an id is of a request that waits for its answer. */
  isOpen(id: string): boolean {
    return this.exchanges.has(id);
  }

  get takesBatches(): boolean {
    return this.version === undefined || this.version === BATCH_VERSION;
  }

  override get isInUse(): boolean {
    return super.isInUse || this.#standalone?.isAttached === true;
  }

  /** Takes a POST: its requests are answered by its response, anything else is only accepted. */
  post(bytes: Uint8Array, seen: Seen, response: ServerResponse): void {
    const ids = idsIn(bytes, seen, 'requests');
    if (ids.length === 0) {
      response.writeHead(202).end();
      return this.take(bytes, seen);
    }
    if (seen.kind === 'request' && seen.method === 'initialize') this.#initializing = seen.id.json;
    const exchange = this.#exchange(response, ids);
    this.open(exchange, ids);
    const token = seen.kind === 'request' ? seen.params.progressToken : undefined;
    if (token !== undefined) this.#tokens.set(textAt(bytes, token), exchange);
    this.take(bytes, seen);
  }

  /** Takes a POST that is too large to be read whole. Its id may come last. */
  postLarge(body: Omit<LargeBody, 'onEnd'>, seen: Seen, response: ServerResponse): void {
    if (isOneWay(seen)) {
      const onEnd: LargeBody['onEnd'] = ({ isWhole }) =>
        response.writeHead(isWhole ? 202 : 413).end();
      return this.takeLarge({ ...body, onEnd });
    }
    const id = seen.kind === 'invalid' ? seen.id?.json : undefined;
    const exchange = this.#exchange(response, id === undefined ? [] : [id]);
    if (id === undefined) this.unnamed = exchange;
    else this.open(exchange, [id]);
    const onEnd: LargeBody['onEnd'] = ({ id: last }) => {
      if (id !== undefined || last === undefined || this.exchanges.has(last)) return;
      exchange.name(last);
      this.open(exchange, [last]);
    };
    this.takeLarge({ ...body, onEnd });
  }

  /** Takes a GET: a new stream, or one that goes on. */
  attach(request: IncomingMessage, response: ServerResponse): Attached {
    const last = request.headers['last-event-id'];
    if (typeof last === 'string' && last !== '') return this.#resume(last, response);
    if (this.#standalone?.isAttached === true) return 'taken';
    // One for the whole session: no two events of it may have one id.
    const stream = this.#standalone ?? this.#newStream(STANDALONE);
    this.#standalone = stream;
    this.#resumable.set(STANDALONE, { stream, sinceMs: Number.POSITIVE_INFINITY });
    stream.attach(response);
    this.#unsentBytes = 0;
    for (const message of this.#unsent.splice(0)) stream.send(message);
    return 'attached';
  }

  override tick(nowMs: number): void {
    super.tick(nowMs);
    this.#standalone?.keepAlive(nowMs, KEEP_ALIVE_MS);
    for (const [name, { sinceMs }] of this.#resumable) {
      if (nowMs - sinceMs > RESUMABLE_MS) this.#drop(name);
    }
  }

  protected override route(message: Uint8Array, seen: Seen, about: string | undefined): void {
    const exchange = this.exchanges.get(about ?? '') ?? this.#exchangeOfProgress(message, seen);
    if (exchange !== undefined) return exchange.send(message);
    if (this.#standalone?.isAttached === true) return this.#standalone.send(message);
    // A client without a stream of its own still reads the answers to its requests.
    const open = [...this.exchanges.values()].at(-1);
    if (open !== undefined && !this.exchanges.has(this.#initializing ?? ''))
      return open.send(message);
    if (this.#standalone !== undefined) return this.#standalone.send(message);
    this.#keepUnsent(message);
  }

  /** A client that opens no stream misses the oldest. */
  #keepUnsent(message: Uint8Array): void {
    this.#unsent.push(message);
    this.#unsentBytes += message.length;
    while (this.#unsent.length > UNSENT_MAX || this.#unsentBytes > UNSENT_BYTES_MAX) {
      this.#unsentBytes -= this.#unsent.shift()?.length ?? 0;
    }
  }

  protected override answer(exchange: Exchange, message: Uint8Array, seen: Seen): void {
    const ids = idsIn(message, seen, 'answers');
    exchange.answer(message, ids, 200);
    if (ids[0] !== undefined && ids[0] === this.#initializing) this.#initialized(seen);
    if (exchange.isOver) this.#over(exchange);
  }

  protected override largeExchange(read: ReadMessage | undefined): Exchange | undefined {
    if (read?.kind !== 'head') return undefined;
    const { about, soFar } = read;
    const known = this.exchanges.get(about ?? soFar.id?.json ?? '');
    if (known !== undefined) return known;
    const open = new Set(this.exchanges.values());
    return open.size === 1 && this.unnamed === undefined ? [...open][0] : undefined;
  }

  protected override partFor(_exchange: Exchange, part: Uint8Array): Uint8Array {
    return part;
  }

  protected override endStreams(): void {
    for (const { stream } of this.#resumable.values()) {
      stream.end();
      stream.forget();
    }
  }

  #exchange(response: ServerResponse, ids: readonly string[]): Exchange {
    return new Exchange({
      response,
      ids,
      headers: this.#headers(),
      stream: () => {
        const name = `p${(this.#streams += 1)}`;
        const stream = this.#newStream(name);
        // As long as its answer is to come.
        this.#resumable.set(name, { stream, sinceMs: Number.POSITIVE_INFINITY });
        if (this.#resumable.size > RESUMABLE_MAX) this.#dropOldest();
        return stream;
      },
    });
  }

  #newStream(name: string): EventStream {
    const primes = this.version !== undefined && this.version >= PRIMES_SINCE;
    return new EventStream({
      name,
      primes,
      headers: this.#headers(),
      pressure: this.pressure,
      kept: this.#kept,
    });
  }

  #headers(): OutgoingHttpHeaders {
    return { 'mcp-session-id': this.sessionId };
  }

  #resume(last: string, response: ServerResponse): Attached {
    const event = readEventId(last);
    const known = event && this.#resumable.get(event.name);
    if (event === undefined || known === undefined) return 'unknown_event';
    if (!known.stream.resume(response, event.sequence)) return 'gone';
    return 'attached';
  }

  /** The oldest stream whose exchange is over can no longer be resumed. */
  #dropOldest(): void {
    for (const [name, { stream }] of this.#resumable) {
      if (!stream.isOver) continue;
      return this.#drop(name);
    }
  }

  #drop(name: string): void {
    this.#resumable.get(name)?.stream.forget();
    this.#resumable.delete(name);
  }

  #initialized(seen: Seen): void {
    this.#initializing = undefined;
    if (seen.kind === 'response' && seen.failed === 'no') this.version = seen.protocolVersion;
    else this.onRefused();
  }

  #over(exchange: Exchange): void {
    for (const [token, one] of this.#tokens) if (one === exchange) this.#tokens.delete(token);
    for (const [name, { stream }] of this.#resumable) {
      if (stream !== exchange.stream) continue;
      this.#resumable.set(name, { stream, sinceMs: performance.now() });
    }
  }

  #exchangeOfProgress(message: Uint8Array, seen: Seen): Exchange | undefined {
    if (seen.kind !== 'notification' || seen.method !== 'notifications/progress') return undefined;
    const token = paramsMember(message, 'progressToken');
    return token && this.#tokens.get(textAt(message, token));
  }
}

export function textAt(
  bytes: Uint8Array,
  { start, end }: { readonly start: number; readonly end: number },
): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');
}
