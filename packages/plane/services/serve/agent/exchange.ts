// A POST with requests in it, from its message to its last answer. One answer that comes soon is a JSON body; anything
// else makes the response a stream.
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { endWhenStuck } from './back-pressure.ts';
import type { EventStream } from './event-stream.ts';

export interface ExchangeOptions {
  readonly response: ServerResponse;
  /** The JSON of the ids that wait for an answer. One is unknown while a large message has not ended. */
  readonly ids: readonly string[];
  /** Called at most once, when the response becomes a stream. */
  readonly stream: () => EventStream;
  /** Of a response that is one JSON body. */
  readonly headers: OutgoingHttpHeaders;
}

/** The head of a response waits this long for an answer; then a stream shows that the server lives. */
const STREAM_AFTER_MS = 3_000;
const KEEP_ALIVE_MS = 15_000;

export class Exchange {
  readonly #options: ExchangeOptions;
  readonly #pending: Set<string>;
  readonly #sinceMs = performance.now();
  #stream: EventStream | undefined;
  #isOver = false;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.#pending = new Set(options.ids);
  }

  get pending(): ReadonlySet<string> {
    return this.#pending;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The stream that the response has become. */
  get stream(): EventStream | undefined {
    return this.#stream;
  }

  /** The id of a large request, once it is known. */
  name(id: string): void {
    this.#pending.add(id);
  }

  /** A message that answers none of its requests. */
  send(message: Uint8Array): void {
    if (!this.#isOver) this.#opened().send(message);
  }

  /** An answer, with the status of a response that holds nothing else. */
  answer(message: Uint8Array, ids: readonly string[], status: number): void {
    if (this.#isOver) return;
    for (const id of ids) this.#pending.delete(id);
    const isLast = this.#pending.size === 0;
    if (isLast && this.#stream === undefined) {
      this.#isOver = true;
      return this.#sendAlone(message, status);
    }
    this.#opened().send(message);
    if (isLast) this.#end();
  }

  sendPart(part: Uint8Array): void {
    if (!this.#isOver) this.#opened().sendPart(part);
  }

  /** A large message is whole; `ids` are those that it answers. */
  endParts(ids: readonly string[]): void {
    if (this.#isOver) return;
    this.#opened().endParts();
    for (const id of ids) this.#pending.delete(id);
    if (this.#pending.size === 0) this.#end();
  }

  abortParts(): void {
    if (!this.#isOver) this.#opened().abortParts();
  }

  /** Ends it without an answer. */
  cut(): void {
    this.#isOver = true;
    if (this.#stream === undefined) this.#options.response.destroy();
    else this.#stream.end();
  }

  /** Time has passed. */
  tick(nowMs: number): void {
    if (this.#isOver) return;
    if (this.#stream !== undefined) return this.#stream.keepAlive(nowMs, KEEP_ALIVE_MS);
    const { response } = this.#options;
    if (nowMs - this.#sinceMs >= STREAM_AFTER_MS && !response.destroyed) this.#opened();
  }

  #sendAlone(message: Uint8Array, status: number): void {
    const { response, headers } = this.#options;
    if (response.destroyed) return;
    const length = message.at(-1) === LINE_FEED ? message.length - 1 : message.length;
    response.writeHead(status, {
      'content-type': 'application/json',
      'content-length': length,
      ...headers,
    });
    response.end(length === message.length ? message : message.subarray(0, length));
    endWhenStuck(response);
  }

  #opened(): EventStream {
    if (this.#stream !== undefined) return this.#stream;
    const stream = this.#options.stream();
    this.#stream = stream;
    if (!this.#options.response.destroyed) stream.attach(this.#options.response);
    return stream;
  }

  #end(): void {
    this.#isOver = true;
    this.#stream?.end();
  }
}

const LINE_FEED = 0x0a;
