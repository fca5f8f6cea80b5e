// A stream of server-sent events to a client. The connection that carries it may break: a stream that can be
// resumed keeps its last events for the next one.
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { oneLine } from '../../transports/one-line.ts';
import { type BackPressure, endWhenStuck } from './back-pressure.ts';
import type { Room } from './room.ts';

export interface StreamOptions {
  /** Begins the ids of its events. Without it the stream cannot be resumed. */
  readonly name: string | undefined;
  /** Begins with an event without a message, so that a client can resume it from its start. */
  readonly primes: boolean;
  readonly headers: OutgoingHttpHeaders;
  readonly pressure: BackPressure;
  /** The room for its events, which it shares with others. Without it nothing is kept. */
  readonly kept?: Room;
}

interface KeptEvent {
  readonly sequence: number;
  readonly bytes: Buffer;
}

const SSE_HEADERS: OutgoingHttpHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};
const EVENT_START = 'data: ';
const EVENT_END = Buffer.from('\n\n');
const COMMENT = ':\n\n';
/** How soon a client may come back after its connection broke. */
const RETRY_MS = 1_000;
const KEPT_MAX = 256;
const KEPT_BYTES_MAX = 1024 * 1024;
const BEHIND_BYTES_MAX = 1024 * 1024;
const LINE_FEED = 0x0a;
const EVENT_ID = /^([A-Za-z0-9]{1,32})_(\d{1,15})$/;

/** The stream and the place in it that an event id names. */
export function readEventId(text: string): { name: string; sequence: number } | undefined {
  const [, name, sequence] = EVENT_ID.exec(text) ?? [];
  return name === undefined ? undefined : { name, sequence: Number(sequence) };
}

export class EventStream {
  readonly #options: StreamOptions;
  #response: ServerResponse | undefined;
  #sequence = 0;
  /** Where the stream stood when its last connection ended. */
  #carried = 0;
  #kept: KeptEvent[] = [];
  #keptBytes = 0;
  /** Of a large message on its way: others wait behind it, unless they were too many. */
  #large: 'none' | 'open' | 'broken_off' = 'none';
  readonly #behind: Buffer[] = [];
  #behindBytes = 0;
  #isOver = false;
  #wroteMs = 0;

  constructor(options: StreamOptions) {
    this.#options = options;
  }

  get isAttached(): boolean {
    return this.#response !== undefined;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Carries the stream from now on, with what came while it had no connection. */
  attach(response: ServerResponse): void {
    if (this.#large === 'open') this.#breakOff('broken_off');
    this.#open(response);
    if (this.#options.primes && this.#sequence === 0) {
      this.#write(Buffer.from(`${this.#nextId()}retry: ${RETRY_MS}\ndata: \n\n`));
    } else response.flushHeaders();
    for (const { sequence, bytes } of this.#kept) if (sequence > this.#carried) this.#write(bytes);
  }

  /** Goes on behind the event that a client has got last. False when events behind it are gone. */
  resume(response: ServerResponse, sequence: number): boolean {
    if (sequence > this.#sequence) return false;
    const missed = this.#kept.filter((event) => event.sequence > sequence);
    if (missed.length < this.#sequence - sequence) return false;
    const before = this.#response;
    this.#response = undefined;
    before?.destroy();
    this.#open(response);
    response.flushHeaders();
    for (const { bytes } of missed) this.#write(bytes);
    if (this.#isOver) this.#finish();
    return true;
  }

  /** Writes a whole message as one event. */
  send(message: Uint8Array): void {
    const body = fieldValue(message);
    const head = Buffer.from(`${this.#nextId()}${EVENT_START}`);
    const event = Buffer.concat([head, body, EVENT_END]);
    this.#keep(event);
    if (this.#large !== 'open') return this.#write(event);
    this.#behind.push(event);
    this.#behindBytes += event.length;
    // A server could let it stand still, and send others without end.
    if (this.#behindBytes > BEHIND_BYTES_MAX) this.#breakOff('broken_off');
  }

  /** Writes a part of a message that is too large to be kept. */
  sendPart(part: Uint8Array): void {
    if (this.#large === 'broken_off') return;
    if (this.#large === 'none') {
      this.#large = 'open';
      this.#write(Buffer.from(`${this.#nextId()}${EVENT_START}`));
      this.forget();
    }
    this.#write(fieldValue(part));
  }

  endParts(): void {
    if (this.#large === 'open') this.#write(EVENT_END);
    this.#large = 'none';
    for (const event of this.#behind.splice(0)) this.#write(event);
    this.#behindBytes = 0;
  }

  abortParts(): void {
    this.#breakOff('none');
  }

  /** No message follows. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#finish();
  }

  /** Shows every now and then that the stream lives. */
  keepAlive(nowMs: number, everyMs: number): void {
    if (this.#response === undefined || this.#large === 'open' || nowMs - this.#wroteMs < everyMs)
      return;
    this.#wroteMs = nowMs;
    this.#response.write(COMMENT);
  }

  #open(response: ServerResponse): void {
    this.#response = response;
    this.#wroteMs = performance.now();
    response.once('close', () => {
      if (this.#response !== response) return;
      this.#response = undefined;
      this.#carried = this.#sequence;
    });
    response.writeHead(200, { ...SSE_HEADERS, ...this.#options.headers });
  }

  #write(bytes: Uint8Array): void {
    const response = this.#response;
    if (response === undefined || response.destroyed) return;
    response.write(bytes);
    this.#options.pressure.watch(response);
  }

  #finish(): void {
    const response = this.#response;
    this.#response = undefined;
    if (response === undefined) return;
    response.end();
    endWhenStuck(response);
  }

  /** A reader drops an event whose end does not come. What waits behind it can be resumed. */
  #breakOff(then: 'none' | 'broken_off'): void {
    this.#response?.destroy();
    this.#large = then;
    this.#behind.length = 0;
    this.#behindBytes = 0;
  }

  /** The line with the id of the next event; empty for a stream that cannot be resumed. */
  #nextId(): string {
    const { name } = this.#options;
    this.#sequence += 1;
    return name === undefined ? '' : `id: ${name}_${this.#sequence}\n`;
  }

  #keep(bytes: Buffer): void {
    const { name, kept } = this.#options;
    if (name === undefined || kept === undefined || this.#isOver) return;
    this.#kept.push({ sequence: this.#sequence, bytes });
    this.#keptBytes += bytes.length;
    kept.add(bytes.length);
    const isFull = (): boolean =>
      this.#kept.length > KEPT_MAX || this.#keptBytes > KEPT_BYTES_MAX || kept.isFull;
    while (this.#kept.length > 0 && isFull()) {
      const dropped = this.#kept.shift()?.bytes.length ?? 0;
      this.#keptBytes -= dropped;
      kept.add(-dropped);
    }
  }

  /** Nothing that was sent can be replayed: it is too old, or what came behind it is not kept. */
  forget(): void {
    this.#options.kept?.add(-this.#keptBytes);
    this.#kept = [];
    this.#keptBytes = 0;
  }
}

/** The message without its line break at the end; any inside would end the field. */
function fieldValue(message: Uint8Array): Uint8Array {
  const isEnded = message.at(-1) === LINE_FEED;
  return oneLine(isEnded ? message.subarray(0, -1) : message);
}
