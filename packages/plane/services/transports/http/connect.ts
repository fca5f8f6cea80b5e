// A server that is reached by HTTP, as a transport like any other: a message to it is a POST, and its messages come as
// bodies and events.
import type { ServerExit } from '@subluminal/core/session';
import { errorText } from '../../../os/system-error.ts';
import { openUpstream, proxyOf, type Upstream } from '../../../os/upstream/index.ts';
import type { Holdable, ReadMessage, ServerEnd, Transport, TransportHandlers } from '../types.ts';
import { isLoopback } from './address.ts';
import type { MessageLimits } from './gather-message.ts';
import { type HeaderList, HttpClient } from './http-client.ts';
import { Inbox } from './inbox.ts';
import { factsOf, type MessageFacts } from './message-facts.ts';
import { OldSse } from './old-sse.ts';
import {
  OpenHttpRequests,
  type OpenRequest,
  type OutgoingMessage,
  wholeBytes,
} from './open-requests.ts';
import { PartQueue } from './part-queue.ts';
import { StreamableHttp } from './streamable.ts';
import type { Authorization } from './types.ts';
import type { Wire, WireParts } from './wire.ts';

export interface HttpServerOptions {
  /** As errors and `sub auth login` name it. */
  readonly serverName: string;
  /** As `readAddress` gives it. */
  readonly url: string;
  /** `auto`: Streamable HTTP, or HTTP+SSE of 2024-11-05 where the server speaks only that. */
  readonly transport: 'auto' | 'http' | 'sse';
  /** Sent with each request; `readHeader` has read them. */
  readonly headers: HeaderList;
  /** Who calls; not asked when `headers` have `Authorization`. */
  readonly authorization?: Authorization | undefined;
  readonly limits: MessageLimits & {
    /** How long a request may wait for its answer, and for each further part of it. */
    readonly requestMs: number;
  };
  /** Where the variables of the proxy stand. */
  readonly env: { readonly [name: string]: string | undefined };
  /** Connections that others use as well; else this server has its own. */
  readonly upstream?: Upstream;
  readonly warn: (text: string) => void;
}

/** Connections to a server. No proxy leads to this machine. */
export function upstreamFor(url: string, env: HttpServerOptions['env']): Upstream {
  return openUpstream(isLoopback(url) ? {} : { proxy: proxyOf(env) });
}

/** Connects nothing yet: the first message does. */
export function connectHttpServer(options: HttpServerOptions): ServerEnd {
  const { url, env } = options;
  const upstream = options.upstream ?? upstreamFor(url, env);
  const transport = new HttpServerTransport(options, upstream);
  let left: (exit: ServerExit) => void = () => {};
  const gone = new Promise<ServerExit>((resolve) => {
    left = resolve;
  });
  const close = async (): Promise<void> => {
    await transport.leave();
    if (options.upstream === undefined) await upstream.close();
    left({ started: true });
  };
  return { transport, gone, close };
}

class HttpServerTransport implements Transport {
  readonly #inbox: Inbox;
  readonly #open: OpenHttpRequests;
  readonly #streamable: StreamableHttp;
  readonly #old: OldSse;
  #wire: Wire;
  readonly #sources: Holdable[] = [];
  /** The large message on its way, if there is one. */
  #large: { readonly parts: PartQueue; readonly request: OpenRequest | undefined } | undefined;
  /** Messages that are being sent, and requests that wait for their answer. */
  readonly #pending = new Set<Promise<void>>();
  readonly #warn: WireParts['warn'];
  #isEnded = false;

  constructor(options: HttpServerOptions, upstream: Upstream) {
    const { serverName, url, headers, authorization, limits, warn } = options;
    this.#warn = (text, facts) =>
      warn(facts === undefined ? text : `${text}: ${JSON.stringify(facts)}`);
    this.#inbox = new Inbox(limits);
    this.#open = new OpenHttpRequests(this.#inbox);
    const client = new HttpClient({ upstream, headers, authorization });
    const parts: WireParts = {
      serverName,
      url,
      client,
      inbox: this.#inbox,
      open: this.#open,
      requestMs: limits.requestMs,
      warn: this.#warn,
    };
    const mayFallBack = options.transport === 'auto';
    this.#streamable = new StreamableHttp(parts, async (request) =>
      mayFallBack ? this.#fallBack(request) : false,
    );
    this.#old = new OldSse(parts);
    this.#wire = options.transport === 'sse' ? this.#old : this.#streamable;
  }

  read(on: TransportHandlers): void {
    this.#inbox.open(on);
  }

  hold(): void {
    this.#inbox.hold();
  }

  release(): void {
    this.#inbox.release();
  }

  stop(): void {
    this.#inbox.stop();
  }

  write(bytes: Uint8Array, read?: ReadMessage): void {
    this.#send({ facts: factsOf(bytes, read), body: [bytes], bytesTotal: bytes.length });
  }

  writePart(bytes: Uint8Array, read?: ReadMessage): void {
    if (read !== undefined) this.#beginLarge(factsOf(bytes, read));
    this.#large?.parts.push(bytes);
  }

  endParts(): void {
    const { parts, request } = this.#large ?? {};
    this.#large = undefined;
    if (request !== undefined && request.state === 'open') this.#open.register(request);
    parts?.end();
  }

  /** Its body gets no end, so the server can't take it for a message. */
  abortParts(): void {
    const { parts, request } = this.#large ?? {};
    this.#large = undefined;
    if (request !== undefined) this.#open.giveUp(request);
    parts?.abort();
    request?.abort.abort();
  }

  holds(...sources: readonly Holdable[]): void {
    this.#sources.push(...sources);
  }

  end(): void {
    this.#isEnded = true;
  }

  /** Waits for the answers that are still to come. */
  async close(timeoutMs: number): Promise<boolean> {
    this.#isEnded = true;
    const all = Promise.all(this.#pending).then(() => true);
    const late = new Promise<boolean>((resolve) => {
      setTimeout(resolve, timeoutMs, false).unref();
    });
    return Promise.race([all, late]);
  }

  /** Ends what is open without an answer, and the session on the server. */
  async leave(): Promise<void> {
    this.#isEnded = true;
    this.#inbox.stop();
    for (const request of this.#open.all()) {
      this.#open.giveUp(request);
      request.abort.abort();
    }
    await this.#wire.close();
    // Another wire may just have been found, and servers answer notifications with streams.
    this.#inbox.close();
  }

  #beginLarge(facts: MessageFacts): void {
    const parts = new PartQueue(this.#sources, () => this.#large?.request?.abort.abort());
    const request = this.#send({ facts, body: parts, bytesTotal: 0 });
    this.#large = { parts, request };
  }

  #send(message: OutgoingMessage): OpenRequest | undefined {
    if (this.#isEnded) return undefined;
    const { kind } = message.facts;
    const wire = this.#wire;
    if (wire === this.#streamable && this.#streamable.cancels(message)) return undefined;
    if (kind !== 'request' && kind !== 'batch') {
      this.#track(wire.tell(message), undefined);
      return undefined;
    }
    const request = this.#open.add(message);
    if (request !== undefined) this.#track(wire.request(request), request);
    return request;
  }

  /** A defect is the end of one message, not of the process that others share. */
  #track(sending: Promise<void>, request: OpenRequest | undefined): void {
    const settled = sending
      .catch((cause: unknown) => {
        this.#warn('a message could not be sent', { reason: errorText(cause) });
        const text = 'The message could not be sent, because of a defect of `sub`: see its log.';
        if (request !== undefined) this.#open.fail(request, { text });
      })
      .finally(() => this.#pending.delete(settled));
    this.#pending.add(settled);
  }

  /** The address may be that of an old server: then all messages go its way, this one first. */
  async #fallBack(request: OpenRequest): Promise<boolean> {
    if (wholeBytes(request) === undefined) return false;
    if ((await this.#old.connect()) !== undefined) return false;
    this.#wire = this.#old;
    await this.#old.request(request);
    return true;
  }
}
