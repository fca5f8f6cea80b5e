// The commands of a bridge, gathered while it handles a message, and its own requests to the server.
import type { SeenResponse } from '../../session/peek/types.ts';
import { isObjectText, textAt } from './object-text.ts';
import { requestText } from './rpc-lines.ts';
import type { BridgeCommand } from './types.ts';

/** The answer to a request: the JSON of its result or of its error. */
export type AnswerText =
  | { readonly kind: 'result'; readonly json: string }
  | { readonly kind: 'error'; readonly json: string };

/** The answer in a message; undefined when it has neither a result that is an object nor an error. */
export function answerIn(text: string): AnswerText | undefined {
  const error = textAt(text, 'error');
  if (isObjectText(error)) return { kind: 'error', json: error };
  const result = textAt(text, 'result');
  return isObjectText(result) ? { kind: 'result', json: result } : undefined;
}

export class Outbox {
  #commands: BridgeCommand[] = [];
  readonly #prefix: string;
  #lastId = 0;
  readonly #own = new Map<string, (answer: AnswerText) => void>();

  /** `prefix` makes the ids of the bridge unlike any that the agent uses. */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  take(): readonly BridgeCommand[] {
    const commands = this.#commands;
    this.#commands = [];
    return commands;
  }

  toServer(text: string): void {
    this.#commands.push({ do: 'write', to: 'server', text });
  }

  toAgent(text: string, about?: string): void {
    this.#commands.push({ do: 'write', to: 'agent', text, about });
  }

  note(detail: string): void {
    this.#commands.push({ do: 'note', detail });
  }

  /** The JSON of an id for a request to the server: all of them are the bridge's. */
  nextId(): string {
    return JSON.stringify(`${this.#prefix}-${++this.#lastId}`);
  }

  /** Sends a request of the bridge itself; gives the JSON of its id. */
  ask(request: OwnRequest, done: (answer: AnswerText) => void): string {
    const id = this.nextId();
    this.#own.set(id, done);
    this.toServer(requestText(id, request.method, request.params));
    return id;
  }

  /** Gives an answer of the server to the request of the bridge that it belongs to. */
  answered(id: string, answer: AnswerText): boolean {
    const done = this.#own.get(id);
    this.#own.delete(id);
    done?.(answer);
    return done !== undefined;
  }

  /** The call of the agent that a message of the server answers; an answer to the bridge itself is given to it. */
  callAnswered<C>(answered: ServerAnswer<C>): { call: C; answer: AnswerText } | undefined {
    const { id, text, find } = answered;
    const answer = answerIn(text);
    if (id === undefined || answer === undefined) {
      this.note('the server sent an answer that belongs to no request');
      return undefined;
    }
    if (this.answered(id.json, answer)) return undefined;
    const call = find(id.json);
    if (call !== undefined) return { call, answer };
    this.note('the server answered a request that is not open');
    return undefined;
  }

  /** Nobody waits for this answer any more. */
  forget(id: string): void {
    this.#own.delete(id);
  }
}

interface ServerAnswer<C> {
  readonly id: SeenResponse['id'];
  readonly text: string;
  /** The call whose request has this id at the server. */
  readonly find: (id: string) => C | undefined;
}

interface OwnRequest {
  readonly method: string;
  readonly params?: string | undefined;
}
