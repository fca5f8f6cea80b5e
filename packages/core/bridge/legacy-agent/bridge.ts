// A legacy agent before a modern server.
import type { SeenNotification, SeenRequest, SeenResponse } from '../../session/peek/types.ts';
import {
  INPUT_METHODS,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  META,
  METHOD_NOT_FOUND,
  severityOf,
} from '../shared/era-names.ts';
import { isInputMethod, unsupported } from '../shared/input-requests.ts';
import { objectOf, stringOf, textAt, withMembers } from '../shared/object-text.ts';
import { answerIn, Outbox } from '../shared/outbox.ts';
import {
  errorJson,
  errorResponse,
  notificationText,
  requestText,
  resultText,
} from '../shared/rpc-lines.ts';
import type { BridgeCommand, BridgeConfig, BridgeMessage, EraBridge } from '../shared/types.ts';
import {
  type AgentCall,
  AgentCalls,
  type InputRequest,
  inputMembers,
  inputRequestsIn,
} from './calls.ts';
import { initializeResult, type LegacyClient, legacyClientIn } from './handshake.ts';
import { ServerListens } from './listens.ts';
import { toLegacyError, toLegacyResult, toModern } from './translate.ts';

/** Requests about tasks, which the bridge does not offer. */
const TASK_METHOD = /^tasks\//;
/** Notifications of the legacy era that a modern server can't use. */
const UNUSED: ReadonlySet<string> = new Set([
  'notifications/roots/list_changed',
  'notifications/progress',
  'notifications/tasks/status',
]);
const CANCELLED = 'notifications/cancelled';
/** How long a server that asks for nothing but another round waits for it. */
const NEXT_ROUND_MS = 1_000;
/** The first revision whose elicitation has modes. */
const MODES_SINCE = '2025-11-25';

/** A request to the agent for input. */
interface AgentAsk {
  readonly call: AgentCall;
  readonly key: string;
  readonly method: string;
}

export class LegacyAgentBridge implements EraBridge {
  readonly isWaiting = false;
  readonly #config: BridgeConfig;
  readonly #client: LegacyClient;
  /** The result of `server/discover`. */
  readonly #discovered: string;
  readonly #out: Outbox;
  readonly #calls = new AgentCalls();
  readonly #asks = new Map<string, AgentAsk>();
  readonly #listens: ServerListens;
  /** The JSON of the level that the agent has set. */
  #level: string | undefined;
  #nowMs = 0;

  /** `initialize` is the agent's request. */
  constructor(config: BridgeConfig, initialize: string, discovered: string) {
    this.#config = config;
    this.#out = new Outbox(config.token());
    this.#client = legacyClientIn(initialize);
    this.#discovered = discovered;
    const nowMs = (): number => this.#nowMs;
    this.#listens = new ServerListens(this.#out, config.limits, {
      meta: () => this.#meta(),
      nowMs,
    });
  }

  fromAgent({ seen, text }: BridgeMessage, nowMs: number): readonly BridgeCommand[] {
    this.#nowMs = nowMs;
    if (seen.kind === 'request') this.#request(seen, text);
    else if (seen.kind === 'notification') this.#notification(seen, text);
    else if (seen.kind === 'response') this.#input(seen, text);
    return this.#out.take();
  }

  fromServer({ seen, text, about }: BridgeMessage, nowMs: number): readonly BridgeCommand[] {
    this.#nowMs = nowMs;
    if (seen.kind === 'response') this.#answered(seen, text);
    else if (seen.kind === 'notification') this.#notified(seen, text, about);
    else this.#out.note('a message of the server has no meaning in its era, and was dropped');
    return this.#out.take();
  }

  settle(): readonly BridgeCommand[] {
    return this.#out.take();
  }

  tick(nowMs: number): readonly BridgeCommand[] {
    this.#nowMs = nowMs;
    this.#listens.tick();
    for (const call of this.#calls.all()) {
      if (call.nextRoundAtMs !== undefined && call.nextRoundAtMs <= nowMs) this.#begin(call);
    }
    return this.#out.take();
  }

  #request({ id, method }: SeenRequest, text: string): void {
    switch (method) {
      case 'initialize': {
        const result = initializeResult(this.#client, this.#discovered);
        return this.#out.toAgent(resultText(id.json, result), id.json);
      }
      case 'ping':
        return this.#out.toAgent(resultText(id.json, '{}'), id.json);
      case 'logging/setLevel':
        return this.#setLevel(id.json, textAt(text, 'params', 'level'));
      case 'resources/subscribe':
      case 'resources/unsubscribe':
        return this.#subscription(id.json, method, stringOf(textAt(text, 'params', 'uri')));
    }
    if (TASK_METHOD.test(method)) {
      const message = 'The server speaks MCP 2026-07-28, whose tasks can not be translated.';
      return this.#fail(id.json, errorJson(METHOD_NOT_FOUND, message));
    }
    if (!this.#calls.hasRoom(text, this.#config.limits)) {
      return this.#fail(id.json, errorJson(INTERNAL_ERROR, 'Too many requests are open.'));
    }
    const call: AgentCall = {
      ...{ id: id.json, method, text },
      ...{ serverId: undefined, rounds: 0, inputs: new Map() },
      ...{ requestState: undefined, nextRoundAtMs: undefined, heldChars: 0 },
    };
    this.#calls.add(call);
    this.#begin(call);
  }

  /** Sends a round of a call to the server. */
  #begin(call: AgentCall): void {
    const id = this.#out.nextId();
    const input = call.rounds === 0 ? undefined : inputMembers(call);
    this.#calls.begin(call, id);
    this.#out.toServer(toModern(call.text, { id, meta: this.#eraMeta(), input }));
  }

  #eraMeta(): { readonly [key: string]: string } {
    const { meta } = this.#client;
    return this.#level === undefined ? meta : { ...meta, [META.logLevel]: this.#level };
  }

  #meta(): string {
    return objectOf(this.#client.meta);
  }

  #setLevel(id: string, level: string | undefined): void {
    if (textAt(this.#discovered, 'capabilities', 'logging') === undefined) {
      return this.#fail(id, errorJson(METHOD_NOT_FOUND, 'The server does not log.'));
    }
    if (severityOf(level) === -1) {
      return this.#fail(id, errorJson(INVALID_PARAMS, '`level` is not a log level.'));
    }
    this.#level = level;
    this.#out.toAgent(resultText(id, '{}'), id);
  }

  #subscription(id: string, method: string, uri: string | undefined): void {
    const canSubscribe =
      textAt(this.#discovered, 'capabilities', 'resources', 'subscribe') === 'true';
    if (!canSubscribe) {
      const message = 'The server takes no subscriptions to resources.';
      return this.#fail(id, errorJson(METHOD_NOT_FOUND, message));
    }
    if (uri === undefined) {
      return this.#fail(id, errorJson(INVALID_PARAMS, 'The member `uri` is missing.'));
    }
    if (method === 'resources/subscribe') this.#listens.subscribe(id, uri);
    else this.#listens.unsubscribe(id, uri);
  }

  #notification({ method, params }: SeenNotification, text: string): void {
    if (method === 'notifications/initialized') {
      return this.#listens.openLists(textAt(this.#discovered, 'capabilities') ?? '{}');
    }
    if (method === CANCELLED) return this.#cancel(params.requestId?.json ?? '', text);
    if (!UNUSED.has(method)) this.#out.toServer(`${text.trimEnd()}\n`);
  }

  #cancel(id: string, text: string): void {
    const call = this.#calls.get(id);
    if (call === undefined) return;
    const { serverId } = call;
    this.#calls.remove(call);
    this.#withdrawAsks(call);
    if (serverId === undefined) return;
    const params = withMembers(textAt(text, 'params'), {
      requestId: serverId,
      _meta: this.#meta(),
    });
    this.#out.toServer(`${withMembers(text, { params })}\n`);
  }

  #answered({ id }: SeenResponse, text: string): void {
    const find = (one: string) => this.#calls.ofServer(one);
    const answered = this.#out.callAnswered({ id, text, find });
    if (answered === undefined) return;
    const { call, answer } = answered;
    this.#calls.endRound(call);
    if (answer.kind === 'error') return this.#end(call, toLegacyError(answer.json, call.method));
    const type = textAt(answer.json, 'resultType') ?? '"complete"';
    if (type === '"input_required"') return this.#ask(call, answer.json);
    if (type !== '"complete"') {
      return this.#end(call, notTranslated('answered with a kind of result that nobody asked for'));
    }
    this.#calls.remove(call);
    this.#out.toAgent(resultText(call.id, toLegacyResult(answer.json, call.method)), call.id);
  }

  /** The server needs input before it can go on. */
  #ask(call: AgentCall, result: string): void {
    const requests = inputRequestsIn(result);
    call.requestState = textAt(result, 'requestState');
    const isEmpty = requests?.length === 0 && call.requestState === undefined;
    if (requests === undefined || isEmpty || !INPUT_METHODS.has(call.method)) {
      return this.#end(call, notTranslated('asked for input in a way that can not be read'));
    }
    const { roundsMax, inputsMax } = this.#config.limits;
    if (call.rounds >= roundsMax || requests.length > inputsMax) {
      return this.#end(call, notTranslated('asked the client too often'));
    }
    for (const { key, method, json } of requests) {
      if (!isInputMethod(method)) {
        return this.#end(call, notTranslated('asked for input of an unknown kind'));
      }
      const refusal = unsupported({ id: key, method, json }, this.#client.capabilities);
      if (refusal !== undefined) return this.#end(call, refusal);
    }
    if (!this.#calls.keeps(call, call.requestState ?? '', this.#config.limits)) {
      return this.#end(call, notTranslated('wants too much back'));
    }
    call.inputs = new Map(requests.map(({ key }) => [key, undefined]));
    for (const request of requests) this.#askAgent(call, request);
    if (requests.length === 0) call.nextRoundAtMs = this.#nowMs + NEXT_ROUND_MS;
  }

  #askAgent(call: AgentCall, { key, method, json }: InputRequest): void {
    const id = JSON.stringify(`sub-${this.#config.token()}`);
    this.#asks.set(id, { call, key, method });
    const params = this.#legacyParams(method, textAt(json, 'params'));
    this.#out.toAgent(requestText(id, method, params), call.id);
  }

  #legacyParams(method: string, params: string | undefined): string | undefined {
    if (method !== 'elicitation/create' || params === undefined) return params;
    const isUrl = textAt(params, 'mode') === '"url"';
    if (isUrl) return withMembers(params, { elicitationId: JSON.stringify(this.#config.token()) });
    return this.#client.version < MODES_SINCE ? withMembers(params, { mode: undefined }) : params;
  }

  /** The agent has answered a request for input. */
  #input({ id }: SeenResponse, text: string): void {
    const ask = this.#asks.get(id?.json ?? '');
    const answer = answerIn(text);
    if (ask === undefined || id === undefined) return;
    const { call, key, method } = ask;
    this.#asks.delete(id.json);
    if (answer?.kind !== 'result') {
      const why = stringOf(textAt(answer?.json, 'message')) ?? 'an error';
      this.#withdrawAsks(call);
      const message = `The server needs input, and the client answered \`${method}\` with: ${why}`;
      return this.#end(call, errorJson(INTERNAL_ERROR, message));
    }
    if (!this.#calls.keeps(call, answer.json, this.#config.limits)) {
      this.#withdrawAsks(call);
      return this.#end(call, errorJson(INTERNAL_ERROR, 'The input is too large to be passed on.'));
    }
    call.inputs.set(key, answer.json);
    if ([...call.inputs.values()].every((json) => json !== undefined)) this.#begin(call);
  }

  /** The agent need not answer any more. */
  #withdrawAsks(call: AgentCall): void {
    for (const [id, ask] of this.#asks) {
      if (ask.call !== call) continue;
      this.#asks.delete(id);
      const params = objectOf({ requestId: id, reason: '"The call has ended."' });
      this.#out.toAgent(notificationText(CANCELLED, params), call.id);
    }
  }

  #notified({ method }: SeenNotification, text: string, about: string | undefined): void {
    if (this.#listens.notified(method, text)) return;
    if (method === CANCELLED) return;
    this.#out.toAgent(`${text.trimEnd()}\n`, this.#calls.ofServer(about)?.id);
  }

  /** Ends a call with an error. */
  #end(call: AgentCall, error: string): void {
    this.#calls.remove(call);
    this.#fail(call.id, error);
  }

  #fail(id: string, error: string): void {
    this.#out.toAgent(errorResponse(id, error), id);
  }
}

function notTranslated(what: string): string {
  const message = `The server speaks MCP 2026-07-28 and the client an earlier revision: the server ${what}.`;
  return errorJson(INTERNAL_ERROR, message);
}
