// What an agent has set in its session, for the session that takes its place when the server has lost it.
import { memberText } from '@subluminal/core/json';
import { seenIn } from './message-facts.ts';
import { type OutgoingMessage, wholeBytes } from './open-requests.ts';

/** No request of an agent has such an id: they are ours, and their answers go nowhere. */
const OWN_ID = /^"subluminal-again-\d+"$/;
const URIS_MAX = 1_000;
const URI_LENGTH_MAX = 8_192;

export class Subscriptions {
  /** The JSON of the resources that the agent wants to hear of. */
  readonly #uris = new Set<string>();
  /** The JSON of the level of logs. */
  #level: string | undefined;
  #asked = 0;

  /** The server has taken a request. One that it has refused is refused again. */
  note(message: OutgoingMessage): void {
    const { method } = message.facts;
    const bytes = METHODS.has(method ?? '') ? wholeBytes(message) : undefined;
    if (bytes === undefined) return;
    const params = memberText(Buffer.from(bytes).toString(), 'params') ?? '{}';
    if (method === SET_LEVEL) this.#level = memberText(params, 'level');
    const uri = memberText(params, 'uri');
    if (uri === undefined || uri.length > URI_LENGTH_MAX) return;
    if (method === UNSUBSCRIBE) this.#uris.delete(uri);
    else if (this.#uris.size < URIS_MAX) this.#uris.add(uri);
  }

  forget(): void {
    this.#uris.clear();
    this.#level = undefined;
  }

  /** The requests for a new session. */
  again(): readonly Buffer[] {
    const level = this.#level === undefined ? [] : [this.#request(SET_LEVEL, 'level', this.#level)];
    return [...level, ...[...this.#uris].map((uri) => this.#request(SUBSCRIBE, 'uri', uri))];
  }

  #request(method: string, member: string, json: string): Buffer {
    this.#asked++;
    const id = `"subluminal-again-${this.#asked}"`;
    const params = `{"${member}":${json}}`;
    return Buffer.from(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`);
  }
}

const SUBSCRIBE = 'resources/subscribe';
const UNSUBSCRIBE = 'resources/unsubscribe';
const SET_LEVEL = 'logging/setLevel';
const METHODS: ReadonlySet<string> = new Set([SUBSCRIBE, UNSUBSCRIBE, SET_LEVEL]);

/** Whether a message answers one of these requests. */
export function isAnswerToUs(message: Uint8Array): boolean {
  const seen = seenIn(message);
  return seen.kind === 'response' && OWN_ID.test(seen.id?.json ?? '');
}
