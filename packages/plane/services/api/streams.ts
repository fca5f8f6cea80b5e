// All open streams: takes WebSockets in, and ends them.
import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  API_ENDPOINTS,
  API_STREAM_PROTOCOL,
  type ApiStreamQuery,
  type Event,
  parseEventLine,
} from '@subluminal/contracts';
import { type WebSocket, WebSocketServer } from 'ws';
import { eventMember } from '../../stores/ledger/index.ts';
import {
  badRequest,
  type HttpFailure,
  httpFailure,
  isHttpFailure,
  sendFailure,
} from './http-failure.ts';
import { readParameters } from './read-request.ts';
import type { RequestGuard } from './request-guard.ts';
import { EventPages } from './run-events.ts';
import type { ApiLimits, ApiReader, Feed, StoredEvent } from './types.ts';

interface StreamsOptions {
  readonly reader: Pick<ApiReader, 'events'>;
  readonly feed: Feed;
  readonly limits: ApiLimits;
  readonly nowMs: () => number;
  readonly onWarning: (cause: unknown) => void;
}

interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** A client has nothing to say but pongs and goodbye. */
const MESSAGE_BYTES_MAX = 1_024;

export class Streams {
  readonly #options: StreamsOptions;
  readonly #server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MESSAGE_BYTES_MAX,
    // The other protocol that a browser offers is the token: it is never sent back.
    handleProtocols: (offered) => offered.has(API_STREAM_PROTOCOL) && API_STREAM_PROTOCOL,
  });
  readonly #subscribers = new Set<Subscriber>();
  #isClosing = false;

  constructor(options: StreamsOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#server.clients.size;
  }

  take(guard: RequestGuard, { request, socket, head }: Upgrade): void {
    // Without a listener, a connection that breaks would end the process.
    socket.on('error', () => socket.destroy());
    const caller = guard(request) ?? httpFailure(401, 'SUB_API_TOKEN');
    if (isHttpFailure(caller)) return refuse(request, socket, caller);
    const query =
      this.#upgradeFailure(request) ??
      readParameters(API_ENDPOINTS.stream.query, request.url ?? '');
    if (isHttpFailure(query)) return refuse(request, socket, query);
    const { expiresAtMs } = caller;
    this.#server.handleUpgrade(request, socket, head, (client) => {
      const subscriber = new Subscriber({ socket: client, query, expiresAtMs, ...this.#options });
      this.#subscribers.add(subscriber);
      client.once('close', () => this.#subscribers.delete(subscriber));
    });
  }

  /** Says goodbye to all. */
  close(): void {
    this.#isClosing = true;
    for (const subscriber of this.#subscribers) subscriber.goAway();
  }

  /** Does not wait for their goodbye any longer. */
  terminate(): void {
    for (const client of this.#server.clients) client.terminate();
    this.#server.close();
  }

  #upgradeFailure({ url = '', headers }: IncomingMessage): HttpFailure | undefined {
    const { path } = API_ENDPOINTS.stream;
    const isStream = url.split('?', 1)[0] === path;
    if (!isStream || headers.upgrade?.toLowerCase() !== 'websocket') {
      return badRequest(`Only ${path} is a WebSocket.`);
    }
    if (this.#isClosing || this.count >= this.#options.limits.streamsMax) {
      return httpFailure(503, 'SUB_API_LIMIT', 'There is no room for another stream.');
    }
    return undefined;
  }
}

/** An upgrade comes with a bare socket; a refusal needs a response of its own. */
function refuse(request: IncomingMessage, socket: Duplex, failure: HttpFailure): void {
  const response = new ServerResponse(request);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- A server without TLS has these.
  response.assignSocket(socket as Socket);
  response.on('finish', () => socket.end(() => socket.destroy()));
  sendFailure(response, failure);
}

// One stream: the events of the store from a place on, page by page as its client takes them. Nothing
// but a few bytes waits in memory, and nothing is left out or sent twice.

interface SubscriberOptions extends StreamsOptions {
  readonly socket: WebSocket;
  readonly query: ApiStreamQuery;
  /** When the session ends that has opened it. */
  readonly expiresAtMs: number | null;
}

/** How long a client has to take what it was sent, and the goodbye behind it. */
const GOODBYE_MS = 5_000;

const CLOSE = {
  over: { code: 1008, reason: 'The session has ended.' },
  away: { code: 1001, reason: 'The API closes.' },
  policy: { code: 1008, reason: 'This stream only sends.' },
  stalled: { code: 1013, reason: 'Nothing was taken for too long; come back with `after`.' },
  unreadable: { code: 1013, reason: 'The ledger cannot be read; come back with `after`.' },
} as const;

class Subscriber {
  readonly #options: SubscriberOptions;
  readonly #wants: Wants;
  readonly #pages: EventPages;
  readonly #timer: NodeJS.Timeout;
  readonly #unsubscribe: () => void;
  /** There may be more than was read. */
  #isBehind = false;
  #isReading = false;
  #isAlive = true;
  #hasEnded = false;
  #wake: (() => void) | undefined;

  constructor(options: SubscriberOptions) {
    const { socket, query, reader, feed, limits } = options;
    this.#options = options;
    this.#wants = wantsOf(query);
    const run = query.run === undefined ? {} : { runId: query.run };
    this.#pages = new EventPages({ reader, afterSeq: query.after ?? feed.tip(), ...run });
    this.#unsubscribe = feed.subscribe(() => this.#readOn());
    this.#timer = setInterval(() => this.#check(), limits.pingMs);
    this.#timer.unref();
    socket.on('message', () => this.#end(CLOSE.policy));
    socket.on('pong', () => {
      this.#isAlive = true;
    });
    socket.on('close', () => this.#stop());
    // The error is of no use; `close` follows.
    socket.on('error', () => undefined);
    this.#readOn();
  }

  /** Reads until nothing is left; a commit meanwhile makes it read once more. */
  #readOn(): void {
    this.#isBehind = true;
    if (this.#isReading) return;
    this.#isReading = true;
    this.#readPages()
      .catch((cause: unknown) => {
        if (this.#hasEnded) return;
        this.#options.onWarning(cause);
        this.#end(CLOSE.unreadable);
      })
      .finally(() => {
        this.#isReading = false;
      });
  }

  async #readPages(): Promise<void> {
    while (this.#isBehind && !this.#hasEnded) {
      await this.#room();
      this.#isBehind = false;
      const { rows, isLast } = await this.#pages.next();
      this.#isBehind ||= !isLast;
      for (const row of rows) {
        await this.#room();
        if (!this.#hasEnded) this.#send(row);
      }
    }
  }

  #send({ seq, line }: StoredEvent): void {
    const parsed = line === null ? undefined : parseEventLine(line);
    if (parsed?.ok !== true || !this.#wants(parsed.event)) return;
    this.#options.socket.send(JSON.stringify({ seq, event: parsed.event }), () => {
      this.#isAlive = true;
      if (this.#hasRoom) this.#wakeUp();
    });
  }

  get #hasRoom(): boolean {
    return this.#options.socket.bufferedAmount < this.#options.limits.streamBytesMax;
  }

  /** Waits until the client has taken enough, or is gone. */
  #room(): Promise<void> | undefined {
    if (this.#hasRoom || this.#hasEnded) return undefined;
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #wakeUp(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  /** A client that neither answers nor takes anything is gone. */
  #check(): void {
    const { expiresAtMs, nowMs } = this.#options;
    if (expiresAtMs !== null && expiresAtMs <= nowMs()) return this.#end(CLOSE.over);
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
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearInterval(this.#timer);
    this.#unsubscribe();
    this.#wakeUp();
  }
}

// Which events a stream wants. An event without the field of a filter does not fit.

const UNSTORABLE = /[\0\uD800-\uDFFF]/;

type Wants = (event: Event) => boolean;

function wantsOf({ run, agent, server, tool, decision }: ApiStreamQuery): Wants {
  return (event) => {
    if (!isSame(event.run_id, run) || !isSame(event.agent_id, agent)) return false;
    if (decision !== undefined && !isDecided(event, decision)) return false;
    if (server === undefined && tool === undefined) return true;
    const named = eventMember(event.type).names?.(event) ?? {};
    return isSame(named.server_name, server) && isSame(named.tool_name, tool);
  };
}

/** A database stores U+FFFD for characters that it cannot keep, and filters come from stored texts. */
function isSame(text: string | undefined, wanted: string | undefined): boolean {
  if (wanted === undefined || text === wanted) return true;
  if (text === undefined || !UNSTORABLE.test(text)) return false;
  return Buffer.from(text, 'utf8').toString('utf8').replaceAll('\0', '\uFFFD') === wanted;
}

/** Only the decision itself has one: a start comes before it, and an end does not repeat it. */
function isDecided(event: Event, wanted: NonNullable<ApiStreamQuery['decision']>): boolean {
  if (event.type !== 'tool_call_decision' && event.type !== 'turn_decision') return false;
  const { action } = event.decision;
  return wanted === 'REFUSED' ? action !== 'ALLOW' : action === wanted;
}
