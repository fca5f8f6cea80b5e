// Sessions of Streamable HTTP up to 2025-11-25: the handshake, the session's id and version, the stream for the server's
// own messages, resumption, and a new session when the server has lost the old one.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { isFailure } from '@subluminal/contracts';
import type { Seen } from '@subluminal/core/session';
import { CallAbort, isFault, type UpstreamAnswer } from '../../../os/upstream/index.ts';
import { seenIn } from './message-facts.ts';
import { type OutgoingMessage, wholeBytes } from './open-requests.ts';
import type { HttpRefusal } from './refusal.ts';
import { Subscriptions } from './subscriptions.ts';
import {
  followCursor,
  isEventStream,
  isJson,
  newCursor,
  POST_HEADERS,
  pause,
  type StreamCursor,
  type WireParts,
} from './wire.ts';

export interface LegacySession {
  readonly id: string | undefined;
  version: string | undefined;
  /** It stands for one that the server had lost. */
  readonly isRenewed?: boolean;
}

type SeenAnswer = Extract<Seen, { readonly kind: 'response' }>;

interface OwnAnswer {
  readonly seen: SeenAnswer;
  readonly headers: IncomingHttpHeaders;
}

interface Refused {
  readonly message: OutgoingMessage;
  readonly refusal: HttpRefusal;
  /** The session that the message was sent in. */
  readonly session: LegacySession;
}

const SESSION_ID = /^[\x21-\x7e]{1,1024}$/;
const HANDSHAKE_MS = 30_000;
const DELETE_MS = 2_000;
const RESUME_MS = 30_000;
/** Attempts to reach the server in a row. */
const ATTEMPTS_MAX = 6;
/** Streams in a row that end without an event. */
const EMPTY_STREAMS_MAX = 1_000;
const BACKOFF_MS = 250;
const BACKOFF_MS_MAX = 30_000;

export class LegacySessions {
  readonly #parts: WireParts;
  readonly #take: (bytes: Uint8Array) => Uint8Array;
  session: LegacySession = { id: undefined, version: undefined };
  /** The agent's own first messages, for a new session. */
  #initialize: Uint8Array | undefined;
  #initialized: Uint8Array | undefined;
  /** Open while the handshake goes on: other messages wait for it. */
  #handshake: Promise<unknown> | undefined;
  #renewing: Promise<boolean> | undefined;
  readonly #subscriptions = new Subscriptions();
  readonly #ending = new CallAbort();
  /** Ends the stream for the server's own messages. */
  #listening = new CallAbort();
  /** Not known to have none. */
  #hasStream = false;

  constructor(parts: WireParts, take: (bytes: Uint8Array) => Uint8Array) {
    this.#parts = parts;
    this.#take = take;
  }

  /** Sends a message when the handshake before it is over, and keeps others waiting while it is part of it. */
  inTurn<T>(message: OutgoingMessage, send: () => Promise<T>): Promise<T> {
    const before = this.#handshake;
    const { method } = message.facts;
    if (method === 'initialize' || method === 'notifications/initialized') {
      return this.#shakeHands(message, send);
    }
    return before === undefined ? send() : before.then(send);
  }

  async #shakeHands<T>(message: OutgoingMessage, send: () => Promise<T>): Promise<T> {
    const bytes = wholeBytes(message);
    if (message.facts.method === 'initialize') this.#begin(bytes);
    else this.#initialized = bytes;
    const sending = Promise.resolve(this.#handshake).then(send);
    this.#handshake = sending;
    try {
      return await sending;
    } finally {
      if (this.#handshake === sending) this.#handshake = undefined;
    }
  }

  /** The agent starts over. */
  #begin(initialize: Uint8Array | undefined): void {
    this.#initialize = initialize;
    this.#initialized = undefined;
    this.#subscriptions.forget();
    this.#listening.abort();
    if (this.session.id !== undefined) void this.#delete(this.session);
    this.session = { id: undefined, version: undefined };
  }

  headersFor(method: string | undefined): OutgoingHttpHeaders {
    if (method === 'initialize') return {};
    const { id, version } = this.session;
    return { 'Mcp-Session-Id': id, 'MCP-Protocol-Version': version };
  }

  /** The server has answered a request; its first answer gives the session its id. */
  answered(message: OutgoingMessage, headers: IncomingHttpHeaders): void {
    this.#subscriptions.note(message);
    if (message.facts.method !== 'initialize') return this.#listenAgain();
    this.session = { id: sessionId(headers), version: undefined };
  }

  /** `bytes` answer `initialize`. */
  negotiated(bytes: Uint8Array): void {
    const seen = seenIn(bytes);
    if (seen.kind === 'response') this.session.version = seen.protocolVersion;
  }

  told({ facts }: OutgoingMessage): void {
    if (facts.method === 'notifications/initialized') void this.#listen(this.session);
  }

  /** A stream that was given up is tried again when the server answers. */
  #listenAgain(): void {
    if (!this.#hasStream || !this.#listening.aborted) return;
    if (this.#initialized !== undefined) void this.#listen(this.session);
  }

  /** The stream for messages of the server that belong to no request. A server may have none. */
  async #listen(session: LegacySession): Promise<void> {
    const abort = new CallAbort();
    this.#listening = abort;
    this.#hasStream = true;
    const cursor = newCursor();
    let attempts = 0;
    let wasOpen = false;
    while (!this.#isOver(abort) && this.session === session && attempts < ATTEMPTS_MAX) {
      if (attempts > 0) await pause(cursor.retryMs ?? backoff(attempts), abort);
      if (this.#isOver(abort)) return;
      const answer = await this.#get(cursor, abort, 0);
      if (answer === undefined || answer.status >= 500) {
        attempts++;
        answer?.body.destroy();
        continue;
      }
      // A server that loses each session before its stream is open would get new ones without end.
      const isLostAgain = session.isRenewed === true && !wasOpen;
      if (answer.status === 404 && session.id !== undefined && !isLostAgain) {
        answer.body.destroy();
        return void this.#renewOnce(session);
      }
      if (answer.status !== 200 || !isEventStream(answer.headers['content-type'])) {
        this.#hasStream = false;
        return answer.body.destroy();
      }
      wasOpen = true;
      cursor.events = 0;
      await this.#parts.inbox.read(answer.body, { take: this.#take, events: followCursor(cursor) });
      attempts = cursor.events > 0 ? 1 : attempts + 1;
    }
    abort.abort();
  }

  /** Opens a stream of events again where it was cut; undefined when the server can't. */
  async resume(cursor: StreamCursor, abort: CallAbort): Promise<UpstreamAnswer | undefined> {
    cursor.emptyStreams = cursor.events > 0 ? 0 : cursor.emptyStreams + 1;
    cursor.events = 0;
    if (cursor.emptyStreams > EMPTY_STREAMS_MAX) return undefined;
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      await pause(cursor.retryMs ?? backoff(attempt), abort);
      if (this.#isOver(abort)) return undefined;
      const answer = await this.#get(cursor, abort, this.#parts.requestMs);
      if (answer === undefined || answer.status >= 500) {
        answer?.body.destroy();
        continue;
      }
      if (answer.status === 200 && isEventStream(answer.headers['content-type'])) return answer;
      answer.body.destroy();
      return undefined;
    }
    return undefined;
  }

  async #get(
    { lastEventId }: StreamCursor,
    signal: CallAbort,
    idleMs: number,
  ): Promise<UpstreamAnswer | undefined> {
    const answer = await this.#parts.client.send({
      method: 'GET',
      url: this.#parts.url,
      headers: {
        ...this.headersFor(undefined),
        accept: 'text/event-stream',
        ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }),
      },
      // Some servers begin to answer with the first event.
      timeoutMs: lastEventId === undefined ? 0 : RESUME_MS,
      idleMs,
      signal,
    });
    return isFailure(answer) || isFault(answer) ? undefined : answer;
  }

  /** A new session when the server has lost the old one; true when the message may be sent again. */
  async renew({ message, refusal, session }: Refused): Promise<boolean> {
    const { kind, method } = message.facts;
    // A new session knows nothing of the requests of the old one.
    if (kind === 'response' || method === 'initialize' || session.id === undefined) return false;
    return isLost(refusal) && (await this.#renewOnce(session));
  }

  #renewOnce(lost: LegacySession): Promise<boolean> {
    if (this.session !== lost && this.#renewing === undefined) return Promise.resolve(true);
    if (this.#renewing !== undefined) return this.#renewing;
    const renewing = this.#startAgain(lost).finally(() => {
      this.#renewing = undefined;
      if (this.#handshake === renewing) this.#handshake = undefined;
    });
    this.#renewing = renewing;
    this.#handshake = renewing;
    return renewing;
  }

  async #startAgain(lost: LegacySession): Promise<boolean> {
    const { warn } = this.#parts;
    if (this.#initialize === undefined) return false;
    this.#listening.abort();
    const session = await this.#initializeAgain(this.#initialize);
    if (session === undefined) {
      warn('the server has lost the session, and gives no new one');
      return false;
    }
    if (session.version !== lost.version) {
      warn('the server has lost the session, and wants another version of MCP for a new one');
      return false;
    }
    this.session = session;
    if (this.#initialized !== undefined && !(await this.#initializedAgain(this.#initialized))) {
      this.session = lost;
      return false;
    }
    warn('the server has lost the session; a new one goes on');
    void this.#listen(session);
    void this.#subscribeAgain(session);
    return true;
  }

  /** What has changed in between is not reported: the server does not know it. */
  async #subscribeAgain(session: LegacySession): Promise<void> {
    let lost = 0;
    for (const request of this.#subscriptions.again()) {
      if (this.session !== session || this.#isOver(this.#ending)) return;
      const answer = await this.#ask(request, this.headersFor(undefined));
      if (answer?.seen.failed !== 'no') lost++;
    }
    if (lost > 0) this.#parts.warn('the new session lacks subscriptions of the old', { lost });
  }

  async #initializeAgain(initialize: Uint8Array): Promise<LegacySession | undefined> {
    const answer = await this.#ask(initialize, {});
    const version = answer?.seen.protocolVersion;
    if (answer === undefined || version === undefined) return undefined;
    return { id: sessionId(answer.headers), version, isRenewed: true };
  }

  /** The answer to a request that is ours: the agent does not see it. */
  async #ask(request: Uint8Array, headers: OutgoingHttpHeaders): Promise<OwnAnswer | undefined> {
    const abort = new CallAbort();
    const timer = setTimeout(() => abort.abort(), HANDSHAKE_MS).unref();
    const answer = await this.#post(request, headers, abort);
    if (answer === undefined) return undefined;
    const { body } = answer;
    const type = answer.headers['content-type'];
    if (!isEventStream(type) && !isJson(type)) {
      body.destroy();
      return undefined;
    }
    let found: SeenAnswer | undefined;
    const asked = seenIn(request);
    await this.#parts.inbox.read(body, {
      take: (bytes) => {
        const seen = seenIn(bytes);
        const isTheAnswer =
          seen.kind === 'response' && asked.kind === 'request' && seen.id?.json === asked.id.json;
        if (!isTheAnswer) return this.#take(bytes);
        found = seen;
        abort.abort();
        return undefined;
      },
      ...(isEventStream(type) && { events: followCursor(newCursor()) }),
    });
    clearTimeout(timer);
    return found && { seen: found, headers: answer.headers };
  }

  async #initializedAgain(initialized: Uint8Array): Promise<boolean> {
    const answer = await this.#post(initialized, this.headersFor(undefined), this.#ending);
    answer?.body.destroy();
    return answer !== undefined;
  }

  async #post(
    body: Uint8Array,
    headers: OutgoingHttpHeaders,
    signal: CallAbort,
  ): Promise<UpstreamAnswer | undefined> {
    const { client, url } = this.#parts;
    const answer = await client.send({
      method: 'POST',
      url,
      headers: { ...POST_HEADERS, ...headers },
      body: [body],
      timeoutMs: HANDSHAKE_MS,
      signal,
    });
    if (isFailure(answer) || isFault(answer)) return undefined;
    if (answer.status < 300) return answer;
    answer.body.destroy();
    return undefined;
  }

  /** Ends the streams, and the session on the server. */
  async close(): Promise<void> {
    this.#ending.abort();
    this.#listening.abort();
    if (this.session.id !== undefined) await this.#delete(this.session);
  }

  /** A server need not let its clients end a session. */
  async #delete({ id, version }: LegacySession): Promise<void> {
    const answer = await this.#parts.client.send({
      method: 'DELETE',
      url: this.#parts.url,
      headers: {
        'Mcp-Session-Id': id,
        ...(version !== undefined && { 'MCP-Protocol-Version': version }),
      },
      timeoutMs: DELETE_MS,
      signal: AbortSignal.timeout(DELETE_MS),
    });
    if (!isFailure(answer) && !isFault(answer)) answer.body.destroy();
  }

  #isOver({ aborted }: CallAbort): boolean {
    return aborted || this.#ending.aborted;
  }
}

/** Some servers answer 400 where the specification says 404. */
function isLost({ status, error }: HttpRefusal): boolean {
  if (status === 404) return true;
  return status === 400 && error !== undefined && /session/i.test(error);
}

function sessionId(headers: IncomingHttpHeaders): string | undefined {
  const id = headers['mcp-session-id'];
  return typeof id === 'string' && SESSION_ID.test(id) ? id : undefined;
}

function backoff(attempt: number): number {
  return Math.min(BACKOFF_MS * 2 ** attempt, BACKOFF_MS_MAX);
}
