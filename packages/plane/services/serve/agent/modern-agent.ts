// The agents of one principal that speak 2026-07-28. They share a session, so that its counters and its taint go on,
// and each of them may use the same ids: inside, every request has an id of its own.
import type { ServerResponse } from 'node:http';
import { severityOf } from '@subluminal/core/bridge';
import { memberRange } from '@subluminal/core/json';
import { mirroredName, type RequestHeaders, ToolHeaders } from '@subluminal/core/mirrored-headers';
import type { Seen, SeenRequest } from '@subluminal/core/session';
import type { ReadMessage } from '../../transports/types.ts';
import { EventStream } from './event-stream.ts';
import { Exchange } from './exchange.ts';
import { HttpAgent, type LargeBody, paramsMember } from './http-agent.ts';
import { textAt } from './legacy-agent.ts';
import { replaced } from './replaced.ts';

const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';
const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';
const TAIL_BYTES = 64;
const NO_BYTES = new Uint8Array(0);
const NO_SUCH_METHOD = -32_601;
/** The status of a response that holds an error alone, by the code of the error. */
const STATUS: { readonly [code: number]: number } = {
  [NO_SUCH_METHOD]: 404,
  [-32_020]: 400,
  [-32_021]: 400,
  [-32_022]: 400,
  [-32_700]: 400,
  [-32_600]: 400,
};

/** A request inside, and how its client knows it. */
interface Renamed {
  readonly exchange: Exchange;
  readonly id: string;
  readonly progressToken: string | undefined;
  readonly isSubscription: boolean;
  readonly listsTools: boolean;
  /** Of the log messages that it has asked for; -1 for none. */
  readonly severityMin: number;
}

export class ModernAgent extends HttpAgent {
  #requests = 0;
  /** The end of what has come of a large message. */
  #tail: Uint8Array = NO_BYTES;
  /** By the JSON of their ids inside. */
  readonly #renamed = new Map<string, Renamed>();
  /** Of the tools that these agents were told of. */
  readonly #toolHeaders = new ToolHeaders();

  /** Why the headers `Mcp-Param-*` of a call say something else than its arguments. */
  headerMismatch(
    bytes: Uint8Array,
    { method, params }: SeenRequest,
    headers: RequestHeaders,
  ): string | undefined {
    const tool = method === 'tools/call' ? mirroredName(bytes, method, params.name) : undefined;
    if (tool === undefined) return undefined;
    return this.#toolHeaders.check({ tool, bytes, args: params.args }, headers);
  }

  /** The same for a call that is too large to be read whole; `tool` is undefined for other requests. */
  largeMismatch(tool: string | undefined, headers: RequestHeaders): string | undefined {
    return this.#toolHeaders.checkLarge(tool, headers);
  }

  /** Takes a request; its response is its stream. */
  post(bytes: Uint8Array, seen: SeenRequest, response: ServerResponse): void {
    const inside = this.#nextId();
    const { progressToken: token } = seen.params;
    const exchange = this.#exchange(response, inside);
    this.#renamed.set(inside, {
      exchange,
      id: seen.id.json,
      progressToken: token && textAt(bytes, token),
      isSubscription: seen.method === 'subscriptions/listen',
      listsTools: seen.method === 'tools/list',
      severityMin: asksForLog(bytes) ? severityIn(bytes, '_meta', LOG_LEVEL) : -1,
    });
    this.open(exchange, [inside]);
    this.take(replaced(bytes, [memberRange(bytes, 'id'), token], inside));
  }

  /** Takes a request that is too large to be read whole. Where its id comes last, it keeps that id inside. */
  postLarge(
    { head, ...body }: Omit<LargeBody, 'onEnd'>,
    seen: Seen,
    response: ServerResponse,
  ): void {
    const given = seen.kind === 'invalid' ? seen.id?.json : undefined;
    const inside = given === undefined ? undefined : this.#nextId();
    const exchange = this.#exchange(response, inside);
    if (inside === undefined || given === undefined) this.unnamed = exchange;
    else {
      this.#renamed.set(inside, {
        exchange,
        id: given,
        progressToken: undefined,
        isSubscription: false,
        listsTools: false,
        severityMin: -1,
      });
      this.open(exchange, [inside]);
    }
    const onEnd: LargeBody['onEnd'] = ({ id: last }) => {
      if (inside !== undefined || last === undefined || this.exchanges.has(last)) return;
      exchange.name(last);
      this.open(exchange, [last]);
    };
    const begun = inside === undefined ? head : replaced(head, [memberRange(head, 'id')], inside);
    this.takeLarge({ ...body, head: begun, onEnd });
  }

  /** Subscriptions end with a result, so that their clients know that this was meant. */
  override drain(): void {
    for (const [inside, { exchange, id, isSubscription }] of [...this.#renamed]) {
      if (!isSubscription) continue;
      const meta = `{"${SUBSCRIPTION_ID}":${id}}`;
      const result = `{"resultType":"complete","_meta":${meta}}`;
      this.#cancelInside([inside]);
      this.abandon(exchange);
      exchange.answer(
        Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":${result}}`),
        [inside],
        200,
      );
    }
  }

  protected override route(message: Uint8Array, seen: Seen, about: string | undefined): void {
    if (seen.kind === 'request') return this.#refuse(seen);
    if (seen.kind !== 'notification') return;
    const subscription = paramsMember(message, '_meta', SUBSCRIPTION_ID);
    const token = paramsMember(message, 'progressToken');
    const requestId = paramsMember(message, 'requestId');
    const named = subscription ?? token ?? requestId;
    const inside = about ?? (named && textAt(message, named));
    const open =
      inside === undefined ? this.#whose(message, seen.method) : this.#renamed.get(inside);
    if (open === undefined) return;
    const { exchange, id, progressToken } = open;
    const isProgress = subscription === undefined && token !== undefined;
    const own = isProgress ? (progressToken ?? id) : id;
    exchange.send(named === undefined ? message : replaced(message, [named], own));
    // The server has ended a subscription.
    if (seen.method === 'notifications/cancelled') this.#cut(exchange);
  }

  protected override answer(exchange: Exchange, message: Uint8Array, seen: Seen): void {
    const inside = seen.kind === 'response' || seen.kind === 'invalid' ? seen.id?.json : undefined;
    const open = this.#renamed.get(inside ?? '');
    const code = seen.kind === 'response' ? seen.code : undefined;
    const status = (code === undefined ? undefined : STATUS[code]) ?? 200;
    const ids = inside === undefined ? [] : [inside];
    const told = open?.listsTools === true ? this.#toolHeaders.learn(message).bytes : message;
    exchange.answer(open === undefined ? told : withOwnId(told, open), ids, status);
  }

  protected override forget(exchange: Exchange, ids: readonly string[]): void {
    super.forget(exchange, ids);
    for (const id of ids) this.#renamed.delete(id);
  }

  protected override largeExchange(read: ReadMessage | undefined): Exchange | undefined {
    if (read?.kind !== 'head') return undefined;
    const { about, soFar } = read;
    return this.exchanges.get(about ?? soFar.id?.json ?? '') ?? this.#onlyOne()?.exchange;
  }

  /** The id inside is unlike any other text; the end of each part waits, since the id may stand across two. */
  protected override partFor(exchange: Exchange, part: Uint8Array, isLast: boolean): Uint8Array {
    const bytes = Buffer.concat([this.#tail, part]);
    const own = this.#withOwnId(exchange, bytes);
    const sent = isLast ? own : own.subarray(0, Math.max(0, own.length - TAIL_BYTES));
    this.#tail = own.subarray(sent.length);
    return sent;
  }

  override abortParts(): void {
    this.#tail = NO_BYTES;
    super.abortParts();
  }

  #withOwnId(exchange: Exchange, bytes: Buffer): Uint8Array {
    for (const [inside, open] of this.#renamed) {
      const at = open.exchange === exchange ? bytes.indexOf(inside) : -1;
      if (at !== -1) return replaced(bytes, [{ start: at, end: at + inside.length }], open.id);
    }
    return bytes;
  }

  protected override endStreams(): void {}

  #nextId(): string {
    this.#requests += 1;
    return `"sub-${process.pid}-${this.#requests}"`;
  }

  /** A notification that names no request: a log message is for the newest request that has asked for it. */
  #whose(message: Uint8Array, method: string): Renamed | undefined {
    if (method !== 'notifications/message') return this.#onlyOne();
    const severity = severityIn(message, 'level');
    const isWanted = ({ severityMin }: Renamed): boolean =>
      severityMin !== -1 && severityMin <= severity;
    return [...this.#renamed.values()].findLast(isWanted) ?? this.#onlyOne();
  }

  #onlyOne(): Renamed | undefined {
    const [only, ...others] = [...this.#renamed.values()].filter((open) => !open.isSubscription);
    return others.length === 0 ? only : undefined;
  }

  #exchange(response: ServerResponse, inside: string | undefined): Exchange {
    const { pressure } = this;
    const exchange = new Exchange({
      response,
      ids: inside === undefined ? [] : [inside],
      headers: {},
      stream: () => new EventStream({ name: undefined, primes: false, headers: {}, pressure }),
    });
    response.once('close', () => {
      if (!exchange.isOver) this.#cancel(exchange);
    });
    return exchange;
  }

  /** The client has closed its stream, which cancels the request. */
  #cancel(exchange: Exchange): void {
    const ids = [...exchange.pending];
    this.#cut(exchange);
    this.#cancelInside(ids);
  }

  #cut(exchange: Exchange): void {
    this.abandon(exchange);
    exchange.cut();
  }

  #cancelInside(ids: readonly string[]): void {
    for (const id of ids) {
      const params = `{"requestId":${id},"reason":"The client has closed its stream."}`;
      const text = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":${params}}`;
      this.take(Buffer.from(text));
    }
  }

  /** Servers of this era send no requests: what they want to know stands in their results. */
  #refuse({ id }: SeenRequest): void {
    const error = { code: NO_SUCH_METHOD, message: 'Clients of 2026-07-28 take no requests.' };
    this.take(Buffer.from(`{"jsonrpc":"2.0","id":${id.json},"error":${JSON.stringify(error)}}`));
  }
}

/** Quicker than to read the message, which few requests need. */
function asksForLog({ buffer, byteOffset, length }: Uint8Array): boolean {
  return Buffer.from(buffer, byteOffset, length).includes(LOG_LEVEL);
}

/** The severity of a level in `params`. */
function severityIn(message: Uint8Array, ...path: readonly string[]): number {
  const level = paramsMember(message, ...path);
  return severityOf(level && textAt(message, level));
}

/** An answer with the id of its client, which also names a subscription. */
function withOwnId(message: Uint8Array, { id, isSubscription }: Renamed): Uint8Array {
  const own = memberRange(message, 'id');
  if (!isSubscription) return replaced(message, [own], id);
  const result = memberRange(message, 'result');
  const meta = result && memberRange(message, '_meta', result.start);
  return replaced(message, [own, meta && memberRange(message, SUBSCRIPTION_ID, meta.start)], id);
}
