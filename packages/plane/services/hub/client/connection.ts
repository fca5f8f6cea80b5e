// One kept-alive connection to the hub with its queue: requests go out one after the other.
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { HUB_ENDPOINTS, isObject, MAX_INSPECT_BYTES, type Parsed } from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';
import type { Target } from './endpoint.ts';

interface ConnectionOptions {
  readonly target: Target;
  readonly connectMs: number;
  readonly queueMax: number;
  readonly requestBytesMax: number;
  readonly responseBytesMax: number;
}

interface HubMessage<T> {
  readonly to: keyof typeof HUB_ENDPOINTS;
  /** As JSON; none with GET. */
  readonly body?: string;
  /** The deadline, by `performance.now()`. */
  readonly untilMs: number;
  readonly parse: (value: unknown) => Parsed<T>;
}

type HubRead<T> = { readonly ok: true; readonly value: T } | Unread;

/** Why the hub gave no usable answer. */
export interface Unread {
  readonly ok: false;
  readonly reason: string;
  /** 0 when there was no answer at all. */
  readonly status: number;
  /** Nobody listens there: the process of the hub has ended, or has not begun. */
  readonly isGone: boolean;
}

type Exchanged = { readonly status: number; readonly text: string } | Unread | 'stale';

const MIB = 1_048_576;
const BODY_BYTES_LIMIT = 256 * MIB;
export const REASON_LENGTH_MAX = 300;
/** The hub has closed a kept connection in the meantime. */
const STALE_CODES: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE']);
/** The process that listened has ended. */
const GONE_CODES: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ENOENT']);
const LATE = 'the hub did not answer in time';

/**
 * The longest body of a call that may be inspected: writing its JSON anew can make a number several
 * times as long, and names and limits go with it.
 */
export function hubBodyBytesMax(inspectBytesMax: number = MAX_INSPECT_BYTES): number {
  return Math.min(8 * inspectBytesMax + 2 * MIB, BODY_BYTES_LIMIT);
}

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1, maxFreeSockets: 1 });
  #isClosed = false;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Runs `task` when all before it have ended. Never rejects. */
  inTurn<T>(task: () => Promise<T>): Promise<T | Unread> {
    if (this.#waiting >= this.#options.queueMax) {
      return Promise.resolve(unread('too many requests wait for the hub'));
    }
    this.#waiting++;
    const done = this.#last
      .then(task)
      .catch((cause: unknown) => {
        const what = cause instanceof Error ? cause.message : String(cause);
        return unread(`the hub could not be asked: ${what}`);
      })
      .finally(() => {
        this.#waiting--;
      });
    this.#last = done;
    return done;
  }

  /** Resolves when all tasks that were queued by now have ended. */
  async idle(): Promise<void> {
    await this.#last;
  }

  /** Sends at once; callers that need an order send `inTurn`. Never rejects. */
  async send<T>(message: HubMessage<T>): Promise<HubRead<T>> {
    const { body = '', parse } = message;
    const { requestBytesMax } = this.#options;
    // UTF-8 takes at most three bytes for each unit of a string.
    if (3 * body.length > requestBytesMax && Buffer.byteLength(body) > requestBytesMax) {
      return unread('the message is too large for the hub');
    }
    const first = await this.#exchange(message);
    // Asks again once: the hub knows a call by its id and counts it once.
    const exchanged = first === 'stale' ? await this.#exchange(message) : first;
    if (exchanged === 'stale') return unread('the hub cannot be reached (ECONNRESET)');
    if ('ok' in exchanged) return exchanged;
    const { status, text } = exchanged;
    const value = jsonIn(text);
    if (status !== 200) return unread(`the hub answered ${status}${errorIn(value)}`, { status });
    const parsed = parse(value);
    return parsed.ok ? parsed : unread('the hub gave an answer that breaks the contract');
  }

  close(): void {
    this.#isClosed = true;
    this.#agent.destroy();
  }

  #exchange({ to, body, untilMs }: HubMessage<unknown>): Promise<Exchanged> {
    const totalMs = untilMs - performance.now();
    if (this.#isClosed) return Promise.resolve(unread('the connection to the hub was closed'));
    if (totalMs <= 0) return Promise.resolve(unread(LATE));
    return new Promise((resolve) => {
      const request = httpRequest(this.#requestOptions(to, body));
      const settle = (exchanged: Exchanged): void => {
        clearTimeout(total);
        clearTimeout(connecting);
        resolve(exchanged);
      };
      const giveUp = (reason: string): void => {
        settle(unread(reason));
        request.destroy();
      };
      let connecting: NodeJS.Timeout | undefined;
      const total = setTimeout(giveUp, totalMs, LATE).unref();
      request.once('socket', (socket) => {
        if (!socket.connecting) return;
        const { connectMs } = this.#options;
        connecting = setTimeout(giveUp, connectMs, 'the hub could not be reached in time').unref();
        socket.once('connect', () => clearTimeout(connecting));
      });
      request.once('response', (response) => this.#receive(response, settle, giveUp));
      request.on('error', (error) => {
        const code = 'code' in error ? error.code : undefined;
        if (request.reusedSocket && STALE_CODES.has(code) && !this.#isClosed)
          return settle('stale');
        const name = typeof code === 'string' ? code : 'error';
        settle(unread(`the hub cannot be reached (${name})`, { isGone: GONE_CODES.has(code) }));
      });
      request.end(body);
    });
  }

  #requestOptions(to: keyof typeof HUB_ENDPOINTS, body: string | undefined) {
    const { target } = this.#options;
    const { method, path } = HUB_ENDPOINTS[to];
    const isPort = 'token' in target;
    return {
      agent: this.#agent,
      ...(isPort ? { host: target.host, port: target.port } : target),
      method,
      path,
      headers: {
        ...(isPort && { authorization: `Bearer ${target.token}` }),
        ...(body !== undefined && {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
        }),
      },
    };
  }

  #receive(
    response: IncomingMessage,
    settle: (exchanged: Exchanged) => void,
    giveUp: (reason: string) => void,
  ): void {
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > this.#options.responseBytesMax) giveUp('the answer of the hub is too long');
      else chunks.push(chunk);
    });
    response.once('end', () => {
      const { statusCode: status = 0 } = response;
      settle({ status, text: Buffer.concat(chunks).toString('utf8') });
    });
    const cut = () => settle(unread('the hub broke off its answer'));
    response.once('error', cut);
    response.once('close', cut);
  }
}

function jsonIn(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

/** The message of an error answer, safe to print. */
function errorIn(value: unknown): string {
  const error = isObject(value) ? value['error'] : undefined;
  const message = isObject(error) ? error['message'] : undefined;
  return typeof message === 'string' ? `: ${visible(message, REASON_LENGTH_MAX)}` : '';
}

export function unread(
  reason: string,
  { status = 0, isGone = false }: Partial<Pick<Unread, 'status' | 'isGone'>> = {},
): Unread {
  return { ok: false, reason, status, isGone };
}
