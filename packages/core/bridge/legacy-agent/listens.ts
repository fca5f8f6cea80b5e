// Notifications and resource subscriptions of a legacy agent, served by listen requests to a modern server:
// one for the lists, and one for each resource.
import { itemTexts } from '../../json/text-parts.ts';
import { INTERNAL_ERROR, LIST_CHANGES, META, METHOD_NOT_FOUND } from '../shared/era-names.ts';
import { objectOf, stringOf, textAt } from '../shared/object-text.ts';
import type { AnswerText, Outbox } from '../shared/outbox.ts';
import { errorJson, errorResponse, notificationText, resultText } from '../shared/rpc-lines.ts';
import type { BridgeLimits } from '../shared/types.ts';
import { withoutSubscription } from './translate.ts';

interface ClientNow {
  /** The metadata of a request. */
  readonly meta: () => string;
  readonly nowMs: () => number;
}

interface Listen {
  /** The JSON of the filter. */
  readonly filter: string;
  /** The resource it is about; undefined for the lists. */
  readonly uri: string | undefined;
  /** The JSON of the id of the open listen request. */
  requestId: string | undefined;
  /** The requests of the agent that wait for the acknowledgment. */
  waiting: string[];
  failures: number;
  reopenAtMs: number;
}

const REOPEN_MS = 1_000;
const REOPEN_MS_MAX = 60_000;

export class ServerListens {
  readonly #out: Outbox;
  readonly #limits: BridgeLimits;
  readonly #client: ClientNow;
  readonly #listens = new Set<Listen>();

  constructor(out: Outbox, limits: BridgeLimits, client: ClientNow) {
    this.#out = out;
    this.#limits = limits;
    this.#client = client;
  }

  /** Listens to the lists that the server reports changes of. */
  openLists(capabilities: string): void {
    const members = LIST_CHANGES.filter(
      ({ feature }) => textAt(capabilities, feature, 'listChanged') === 'true',
    ).map(({ member }): [string, string] => [member, 'true']);
    if (members.length === 0 || this.#find(undefined) !== undefined) return;
    this.#open(newListen(objectOf(Object.fromEntries(members)), undefined));
  }

  /** The agent subscribes to a resource by the request with this id. */
  subscribe(id: string, uri: string): void {
    const known = this.#find(uri);
    if (known !== undefined) {
      if (known.waiting.length > 0) known.waiting.push(id);
      else this.#out.toAgent(resultText(id, '{}'), id);
      return;
    }
    if (this.#listens.size > this.#limits.subscriptionsMax) {
      const message = `More than ${this.#limits.subscriptionsMax} subscriptions are open.`;
      return this.#out.toAgent(errorResponse(id, errorJson(INTERNAL_ERROR, message)), id);
    }
    const listen = newListen(objectOf({ resourceSubscriptions: JSON.stringify([uri]) }), uri);
    listen.waiting.push(id);
    this.#open(listen);
  }

  unsubscribe(id: string, uri: string): void {
    const listen = this.#find(uri);
    if (listen !== undefined) {
      this.#listens.delete(listen);
      this.#refuseWaiting(listen, errorJson(INTERNAL_ERROR, 'The subscription was given up.'));
      this.#cancel(listen);
    }
    this.#out.toAgent(resultText(id, '{}'), id);
  }

  /** A notification of the server; false when it belongs to no subscription. */
  notified(method: string, text: string): boolean {
    if (method === 'notifications/cancelled') {
      return this.#ended(textAt(text, 'params', 'requestId'));
    }
    const id = textAt(text, 'params', '_meta', META.subscription);
    const listen = this.#byRequest(id);
    if (method === 'notifications/subscriptions/acknowledged') {
      if (listen !== undefined) this.#acknowledged(listen, text);
      return true;
    }
    if (listen !== undefined) this.#out.toAgent(withoutSubscription(text));
    // One that was given up may still be heard.
    return id !== undefined;
  }

  tick(): void {
    const nowMs = this.#client.nowMs();
    for (const listen of this.#listens) {
      if (listen.requestId === undefined && listen.reopenAtMs <= nowMs) this.#open(listen);
    }
  }

  #open(listen: Listen): void {
    this.#listens.add(listen);
    const params = objectOf({ _meta: this.#client.meta(), notifications: listen.filter });
    const id = this.#out.ask({ method: 'subscriptions/listen', params }, (answer) =>
      this.#answered(listen, answer),
    );
    listen.requestId = id;
  }

  #acknowledged(listen: Listen, text: string): void {
    const { uri } = listen;
    listen.failures = 0;
    const honoured = itemTexts(
      textAt(text, 'params', 'notifications', 'resourceSubscriptions') ?? '[]',
    );
    if (uri !== undefined && honoured?.some((json) => stringOf(json) === uri) !== true) {
      this.#listens.delete(listen);
      this.#cancel(listen);
      const message = 'The server takes no subscription to this resource.';
      return this.#refuseWaiting(listen, errorJson(INTERNAL_ERROR, message));
    }
    for (const id of listen.waiting.splice(0)) this.#out.toAgent(resultText(id, '{}'), id);
  }

  /** The server has ended the listen request, or never opened it. */
  #answered(listen: Listen, answer: AnswerText): void {
    const code = answer.kind === 'error' ? Number(textAt(answer.json, 'code')) : 0;
    if (answer.kind === 'error' && (code === METHOD_NOT_FOUND || listen.waiting.length > 0)) {
      this.#listens.delete(listen);
      return this.#refuseWaiting(listen, answer.json);
    }
    this.#reopenLater(listen);
  }

  #ended(requestId: string | undefined): boolean {
    const listen = this.#byRequest(requestId);
    if (listen?.requestId === undefined) return false;
    this.#out.forget(listen.requestId);
    this.#reopenLater(listen);
    return true;
  }

  #reopenLater(listen: Listen): void {
    const delayMs = Math.min(REOPEN_MS_MAX, REOPEN_MS * 2 ** listen.failures);
    listen.requestId = undefined;
    listen.failures++;
    listen.reopenAtMs = this.#client.nowMs() + delayMs;
  }

  #cancel({ requestId }: Listen): void {
    if (requestId === undefined) return;
    this.#out.forget(requestId);
    const params = objectOf({ requestId, _meta: this.#client.meta() });
    this.#out.toServer(notificationText('notifications/cancelled', params));
  }

  #refuseWaiting(listen: Listen, error: string): void {
    for (const id of listen.waiting.splice(0)) this.#out.toAgent(errorResponse(id, error), id);
  }

  #find(uri: string | undefined): Listen | undefined {
    return [...this.#listens].find((listen) => listen.uri === uri);
  }

  #byRequest(requestId: string | undefined): Listen | undefined {
    if (requestId === undefined) return undefined;
    return [...this.#listens].find((listen) => listen.requestId === requestId);
  }
}

function newListen(filter: string, uri: string | undefined): Listen {
  return { filter, uri, requestId: undefined, waiting: [], failures: 0, reopenAtMs: 0 };
}
