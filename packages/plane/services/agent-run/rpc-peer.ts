// The agent's side of a session: an MCP client whose messages go to the governor in this process.
import { isObject, type JsonValue } from '@subluminal/contracts';
import { parseJson } from '../../os/index.ts';
import type { SessionAgent } from '../serve/sessions/served-session.ts';
import { MemoryTransport, type MessageLimits } from '../transports/memory/memory-transport.ts';
import { RPC_ERRORS, rpcError, rpcNotification, rpcRequest, rpcResult } from './rpc-text.ts';

export type RpcReply =
  | { readonly kind: 'result'; readonly result: { readonly [key: string]: unknown } }
  | { readonly kind: 'error'; readonly message: string; readonly data: unknown }
  /** There is no answer, and there will be none. */
  | { readonly kind: 'none'; readonly why: string };

export const TIMED_OUT = 'It has not answered in time.';
const CANCELLED = 'The call was cancelled.';
const OVER = 'The session has ended.';
const UNREADABLE = 'The answer could not be read.';

interface PeerOptions {
  readonly limits: MessageLimits;
  readonly onToolsChanged: () => void;
}

/** A request on its way; its id is known before it is sent. */
export interface SentRequest {
  readonly id: number;
  readonly reply: Promise<RpcReply>;
}

export class RpcPeer {
  readonly agent: AgentTransport;
  readonly #onToolsChanged: () => void;
  readonly #bytesMax: number;
  readonly #pending = new Map<number, (reply: RpcReply) => void>();
  #lastId = 0;

  constructor({ limits, onToolsChanged }: PeerOptions) {
    this.#onToolsChanged = onToolsChanged;
    this.#bytesMax = limits.inspectBytesMax;
    this.agent = new AgentTransport(limits, {
      received: (bytes) => this.#received(bytes),
      over: (why) => this.#over(why),
    });
  }

  /** Why it is over; undefined while it is open. */
  get overBecause(): string | undefined {
    return this.agent.overBecause;
  }

  get openCount(): number {
    return this.#pending.size;
  }

  /** `opened` is called with its id before it is sent. */
  request(method: string, params: JsonValue, opened?: (id: number) => void): SentRequest {
    const id = ++this.#lastId;
    const bytes = Buffer.from(rpcRequest(id, method, params));
    // Rules, gates and people would not see what a larger one holds.
    const why = bytes.length > this.#bytesMax ? 'The arguments are too large.' : this.overBecause;
    if (why !== undefined) return { id, reply: Promise.resolve({ kind: 'none', why }) };
    const reply = new Promise<RpcReply>((resolve) => this.#pending.set(id, resolve));
    opened?.(id);
    this.agent.send(bytes);
    return { id, reply };
  }

  notify(method: string, params: JsonValue): void {
    if (this.overBecause === undefined) {
      this.agent.send(Buffer.from(rpcNotification(method, params)));
    }
  }

  /** Gives a request up; its answer is not waited for. */
  giveUp(id: number, why = CANCELLED): void {
    if (!this.#pending.has(id)) return;
    this.#settle(id, { kind: 'none', why });
    this.notify('notifications/cancelled', { requestId: id });
  }

  #received(bytes: Uint8Array): void {
    const message = parseJson(Buffer.from(bytes).toString('utf8'));
    if (!isObject(message)) return;
    const { id, method } = message;
    if (method === undefined) {
      if (typeof id === 'number') this.#settle(id, replyIn(message));
    } else if (id !== undefined) this.#answer(id, method);
    else if (method === 'notifications/tools/list_changed') this.#onToolsChanged();
  }

  /** Servers get nothing from this agent by asking for it. */
  #answer(id: unknown, method: unknown): void {
    if (typeof id !== 'string' && typeof id !== 'number') return;
    const text =
      method === 'ping'
        ? rpcResult(id, {})
        : rpcError(id, RPC_ERRORS.unknownMethod, 'This agent does not offer that.');
    // The governor has handled the request by then.
    queueMicrotask(() => this.agent.send(Buffer.from(text)));
  }

  #settle(id: number, reply: RpcReply): void {
    const settle = this.#pending.get(id);
    this.#pending.delete(id);
    settle?.(reply);
  }

  #over(why: string): void {
    for (const id of [...this.#pending.keys()]) this.#settle(id, { kind: 'none', why });
  }
}

interface AgentEnds {
  readonly received: (bytes: Uint8Array) => void;
  readonly over: (why: string) => void;
}

class AgentTransport extends MemoryTransport implements SessionAgent {
  readonly #over: (why: string) => void;
  overBecause: string | undefined;

  constructor(limits: MessageLimits, { received, over }: AgentEnds) {
    super(limits, { received, broken: () => {} });
    this.#over = over;
  }

  closeWith(why: string): void {
    this.overBecause ??= why;
    this.stop();
    this.#over(why);
  }

  override close(): Promise<boolean> {
    this.closeWith(OVER);
    return Promise.resolve(true);
  }
}

function replyIn({ result, error }: { readonly [key: string]: unknown }): RpcReply {
  if (isObject(result)) return { kind: 'result', result };
  if (!isObject(error)) return { kind: 'none', why: UNREADABLE };
  const { message, data } = error;
  return { kind: 'error', message: typeof message === 'string' ? message : UNREADABLE, data };
}
