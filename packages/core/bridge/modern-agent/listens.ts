// `subscriptions/listen` of a modern agent, served by the subscriptions and notifications of a legacy server.
import { itemTexts } from '../../json/text-parts.ts';
import { INTERNAL_ERROR, INVALID_PARAMS, LIST_CHANGES, META } from '../shared/era-names.ts';
import { isObjectText, objectOf, stringOf, textAt, withMembers } from '../shared/object-text.ts';
import type { Outbox } from '../shared/outbox.ts';
import { errorJson, errorResponse, notificationText } from '../shared/rpc-lines.ts';
import type { BridgeLimits } from '../shared/types.ts';

interface Listen {
  /** The JSON of the id of the agent's request. */
  readonly id: string;
  /** The notifications about lists that the server can send and the agent wants. */
  readonly methods: ReadonlySet<string>;
  readonly uris: Set<string>;
  /** Subscriptions that the server has not confirmed yet. */
  pending: number;
  /** What came before the acknowledgment. */
  readonly early: string[];
}

const EARLY_MAX = 100;
const UPDATED = 'notifications/resources/updated';

export class Listens {
  readonly #out: Outbox;
  readonly #limits: BridgeLimits;
  readonly #open = new Map<string, Listen>();
  /** How many listen to a resource. */
  readonly #counts = new Map<string, number>();

  constructor(out: Outbox, limits: BridgeLimits) {
    this.#out = out;
    this.#limits = limits;
  }

  /** The agent listens; `capabilities` are the server's. */
  open(id: string, params: string | undefined, capabilities: string): void {
    const filter = textAt(params, 'notifications');
    if (!isObjectText(filter)) {
      return this.#refuse(id, INVALID_PARAMS, 'The member `notifications` is missing.');
    }
    const canSubscribe = textAt(capabilities, 'resources', 'subscribe') === 'true';
    const wanted = itemTexts(textAt(filter, 'resourceSubscriptions') ?? '[]') ?? [];
    const uris = canSubscribe ? [...new Set(wanted.flatMap((json) => stringOf(json) ?? []))] : [];
    const max = this.#limits.subscriptionsMax;
    if (this.#open.size >= max || this.#counts.size + uris.length > max) {
      return this.#refuse(id, INTERNAL_ERROR, `More than ${max} subscriptions are open.`);
    }
    const methods = LIST_CHANGES.filter(
      ({ member, feature }) =>
        textAt(filter, member) === 'true' &&
        textAt(capabilities, feature, 'listChanged') === 'true',
    ).map(({ method }) => method);
    const listen: Listen = {
      id,
      methods: new Set(methods),
      uris: new Set(),
      pending: 0,
      early: [],
    };
    this.#open.set(id, listen);
    for (const uri of uris) this.#subscribe(listen, uri);
    if (listen.pending === 0) this.#acknowledge(listen);
  }

  /** The agent listens no longer; false when it did not listen. */
  close(id: string): boolean {
    const listen = this.#open.get(id);
    if (listen === undefined) return false;
    this.#open.delete(id);
    for (const uri of listen.uris) this.#unsubscribe(uri);
    return true;
  }

  /** A notification of the server; false when it is none that agents listen to. */
  notified(method: string, text: string): boolean {
    const isUpdate = method === UPDATED;
    if (!isUpdate && !LIST_CHANGES.some((change) => change.method === method)) return false;
    const uri = isUpdate ? stringOf(textAt(text, 'params', 'uri')) : undefined;
    for (const listen of this.#open.values()) {
      const isHeard = isUpdate ? listensTo(listen, uri) : listen.methods.has(method);
      if (!isHeard) continue;
      const tagged = withSubscription(text, listen.id);
      if (listen.pending === 0) this.#out.toAgent(tagged, listen.id);
      else if (listen.early.length < EARLY_MAX) listen.early.push(tagged);
    }
    return true;
  }

  #subscribe(listen: Listen, uri: string): void {
    const count = this.#counts.get(uri) ?? 0;
    this.#counts.set(uri, count + 1);
    listen.uris.add(uri);
    if (count > 0) return;
    listen.pending++;
    const params = objectOf({ uri: JSON.stringify(uri) });
    this.#out.ask({ method: 'resources/subscribe', params }, ({ kind }) => {
      listen.pending--;
      if (kind === 'error') this.#refused(uri);
      const isOpen = this.#open.get(listen.id) === listen;
      if (listen.pending === 0 && isOpen) this.#acknowledge(listen);
    });
  }

  /** The server takes no subscription to this resource, whoever wants it. */
  #refused(uri: string): void {
    this.#counts.delete(uri);
    for (const { uris } of this.#open.values()) uris.delete(uri);
  }

  #unsubscribe(uri: string): void {
    if (!this.#release(uri)) return;
    const params = objectOf({ uri: JSON.stringify(uri) });
    this.#out.ask({ method: 'resources/unsubscribe', params }, () => {});
  }

  /** True when nobody listens to the resource any more. */
  #release(uri: string): boolean {
    const count = this.#counts.get(uri) ?? 0;
    if (count > 1) this.#counts.set(uri, count - 1);
    else this.#counts.delete(uri);
    return count === 1;
  }

  #acknowledge({ id, methods, uris, early }: Listen): void {
    const lists = LIST_CHANGES.filter(({ method }) => methods.has(method));
    const notifications = objectOf({
      ...Object.fromEntries(lists.map(({ member }) => [member, 'true'])),
      ...(uris.size > 0 && { resourceSubscriptions: JSON.stringify([...uris]) }),
    });
    const params = objectOf({ _meta: objectOf({ [META.subscription]: id }), notifications });
    this.#out.toAgent(notificationText('notifications/subscriptions/acknowledged', params), id);
    for (const text of early.splice(0)) this.#out.toAgent(text, id);
  }

  #refuse(id: string, code: number, message: string): void {
    this.#out.toAgent(errorResponse(id, errorJson(code, message)), id);
  }
}

/** A server may name a part of a resource that was subscribed to. */
function listensTo({ uris }: Listen, uri: string | undefined): boolean {
  if (uri === undefined) return false;
  return uris.has(uri) || [...uris].some((subscribed) => uri.startsWith(subscribed));
}

function withSubscription(text: string, id: string): string {
  const params = textAt(text, 'params');
  const meta = textAt(params, '_meta');
  const tagged = withMembers(isObjectText(meta) ? meta : undefined, { [META.subscription]: id });
  const kept = isObjectText(params) ? params : undefined;
  return `${withMembers(text, { params: withMembers(kept, { _meta: tagged }) })}\n`;
}
