// Requests to the server that have no answer yet. Each gets one: the server's, or why there is none.
import { CallAbort } from '../../../os/upstream/index.ts';
import type { Inbox } from './inbox.ts';
import type { MessageFacts } from './message-facts.ts';
import type { PartQueue } from './part-queue.ts';
import { type HttpRefusal, refusalLine } from './refusal.ts';

/** A message on its way to the server. */
export interface OutgoingMessage {
  readonly facts: MessageFacts;
  readonly body: readonly Uint8Array[] | PartQueue;
  readonly bytesTotal: number;
}

/** The bytes of a message that is not large. */
export function wholeBytes({ body }: Pick<OutgoingMessage, 'body'>): Uint8Array | undefined {
  return 'done' in body ? undefined : body[0];
}

export interface OpenRequest extends OutgoingMessage {
  /** Ends its exchange. */
  readonly abort: CallAbort;
  /** `given_up`: its sender no longer waits. */
  state: 'open' | 'answered' | 'given_up';
  /** Its stream may go on behind the answer. */
  hasStream: boolean;
  /** Its bytes are no longer needed. */
  isSent: boolean;
}

/** A server that answers and does not end its stream is not listened to for longer than this. */
const LINGER_MS = 2_000;
/** Of all requests whose answers have not begun. */
const BYTES_MAX = 64 * 1024 * 1024;

export class OpenHttpRequests {
  readonly #inbox: Inbox;
  readonly #byId = new Map<string, OpenRequest>();
  #bytes = 0;

  constructor(inbox: Inbox) {
    this.#inbox = inbox;
  }

  /** Undefined when there is no room; then it is answered. */
  add(message: OutgoingMessage): OpenRequest | undefined {
    const request: OpenRequest = {
      facts: message.facts,
      body: message.body,
      bytesTotal: message.bytesTotal,
      abort: new CallAbort(),
      state: 'open',
      hasStream: false,
      isSent: false,
    };
    if (this.#bytes + message.bytesTotal > BYTES_MAX) {
      this.fail(request, {
        text: 'Too many large requests wait for this MCP server. Try again later.',
      });
      return undefined;
    }
    this.#bytes += message.bytesTotal;
    this.register(request);
    return request;
  }

  /** Again at the end of a large message, when its id is known. */
  register(request: OpenRequest): void {
    for (const id of request.facts.ids()) this.#byId.set(id, request);
  }

  /** The bytes of a request are no longer needed. */
  sent(request: OpenRequest): void {
    if (!request.isSent) this.#bytes -= request.bytesTotal;
    request.isSent = true;
  }

  get(id: string): OpenRequest | undefined {
    return this.#byId.get(id);
  }

  all(): readonly OpenRequest[] {
    return [...new Set(this.#byId.values())];
  }

  /** The server has answered; gives the request whose last answer this was. */
  answered(id: string): OpenRequest | undefined {
    const request = this.#byId.get(id);
    this.#byId.delete(id);
    if (request === undefined || this.#waits(request)) return undefined;
    request.state = 'answered';
    if (request.hasStream) setTimeout(() => request.abort.abort(), LINGER_MS).unref();
    return request;
  }

  /** A large message has passed on its stream, which is likely to be its answer. */
  answeredLarge(request: OpenRequest): void {
    for (const id of request.facts.ids()) this.answered(id);
  }

  #waits({ facts }: OpenRequest): boolean {
    return facts.kind === 'batch' && facts.ids().some((id) => this.#byId.has(id));
  }

  giveUp(request: OpenRequest): void {
    request.state = 'given_up';
    this.#forget(request);
  }

  /** Answers what has no answer. Nobody waits for the answer to a message that was broken off. */
  fail(request: OpenRequest, refusal: HttpRefusal): void {
    const { facts, body } = request;
    if (request.state !== 'open') return;
    if ('done' in body) body.discard();
    const answer = (): void => {
      const ids = facts.ids().filter((id) => facts.kind !== 'batch' || this.#byId.has(id));
      this.giveUp(request);
      for (const id of ids) this.#inbox.deliver(refusalLine(id, refusal));
    };
    if (!('done' in body)) return answer();
    request.state = 'given_up';
    void body.done.then((isWhole) => isWhole && answer());
  }

  #forget(request: OpenRequest): void {
    for (const id of request.facts.ids()) {
      if (this.#byId.get(id) === request) this.#byId.delete(id);
    }
  }
}
