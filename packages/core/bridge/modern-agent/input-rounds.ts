// Input that a legacy server asks for becomes the answer of the call, and the next round of the call brings
// it back. The call itself stays open at the server: no round is executed again.
import { canonicalize } from '../../json/canonicalize.ts';
import { itemTexts } from '../../json/text-parts.ts';
import { INTERNAL_ERROR, INVALID_PARAMS, META } from '../shared/era-names.ts';
import { abandoned, ROOTS_LIST, type ServerAsk, unsupported } from '../shared/input-requests.ts';
import {
  isObjectText,
  objectOf,
  stringOf,
  textAt,
  unlessEmpty,
  withMembers,
} from '../shared/object-text.ts';
import type { Outbox } from '../shared/outbox.ts';
import { errorJson, errorResponse, resultText } from '../shared/rpc-lines.ts';
import type { BridgeConfig } from '../shared/types.ts';
import { type AgentRound, type BridgedCall, type BridgedCalls, takesInput } from './calls.ts';
import { callParams } from './translate.ts';

/** Requests for roots that wait for the next call. */
const HELD_ROOTS_MAX = 4;

/** A call that must be made again: the server has ended it, and asked for a visit to a web page. */
interface RepeatedCall {
  readonly hash: string;
  readonly expiresAtMs: number;
}

export type Retry =
  | { readonly kind: 'unknown' }
  /** The call goes on. */
  | { readonly kind: 'resumed'; readonly call: BridgedCall }
  /** The call is to be made again. */
  | { readonly kind: 'repeat' };

export class InputRounds {
  readonly #config: BridgeConfig;
  readonly #out: Outbox;
  readonly #calls: BridgedCalls;
  readonly #changed = new Set<BridgedCall>();
  readonly #heldRoots: ServerAsk[] = [];
  readonly #repeats = new Map<string, RepeatedCall>();
  /** The server's name in results. */
  serverInfo: string | undefined;

  constructor(config: BridgeConfig, out: Outbox, calls: BridgedCalls) {
    this.#config = config;
    this.#out = out;
    this.#calls = calls;
  }

  /** What makes two rounds the same call. */
  hashOf(method: string, params: string): string {
    const own = callParams(params);
    const canonical = canonicalize(own);
    return this.#config.sha256(`${method} ${canonical.ok ? canonical.canonical : own}`);
  }

  /** The server asks for input. `about`: the JSON of the id of the request on whose stream it asks. */
  asked(ask: ServerAsk, about: string | undefined): void {
    const named = about === undefined ? undefined : this.#calls.ofServer(about);
    const call = about === undefined ? this.#calls.newest(takesInput) : named;
    if (call === undefined || !takesInput(call)) return this.#askedOutside(ask);
    const { inputsMax, roundsMax, heldCharsMax } = this.#config.limits;
    const refusal = unsupported(ask, call.capabilities);
    if (refusal !== undefined) return this.#out.toServer(errorResponse(ask.id, refusal));
    if (call.waiting.length + call.asked.size >= inputsMax || call.rounds >= roundsMax) {
      return this.#refuse(ask, 'This call has asked the client too often.');
    }
    if (this.#askedChars() + ask.json.length > heldCharsMax) {
      return this.#refuse(ask, 'The client was asked for too much at once.');
    }
    call.waiting.push(ask);
    this.#changed.add(call);
  }

  /** The server has withdrawn what it asked for. */
  withdrawn(askId: string): void {
    for (const list of [this.#heldRoots, ...this.#waitingLists()]) {
      const at = list.findIndex(({ id }) => id === askId);
      if (at !== -1) list.splice(at, 1);
    }
    for (const call of this.#calls.all()) {
      for (const [key, { id }] of call.asked) if (id === askId) call.asked.delete(key);
    }
  }

  /**
   * A call is to go to the server. If the server has asked for roots before, the agent is asked for them first:
   * true when the call must wait for that.
   */
  takesAlong(call: BridgedCall): boolean {
    if (this.#heldRoots.length === 0 || !takesInput(call)) return false;
    for (const ask of this.#heldRoots.splice(0)) {
      const refusal = unsupported(ask, call.capabilities);
      if (refusal === undefined) call.waiting.push(ask);
      else this.#out.toServer(errorResponse(ask.id, refusal));
    }
    if (call.waiting.length === 0) return false;
    this.#changed.add(call);
    return true;
  }

  /** Answers the calls that wait for input. */
  settle(nowMs: number): void {
    for (const call of this.#changed) {
      if (call.round !== undefined && call.waiting.length > 0) this.#suspend(call, nowMs);
    }
    this.#changed.clear();
  }

  /** The agent comes back with input. */
  retried(round: AgentRound, hash: string, params: string): Retry {
    const state = stringOf(textAt(params, 'requestState'));
    if (state === undefined) return { kind: 'unknown' };
    const repeat = this.#repeats.get(state);
    if (repeat?.hash === hash) {
      this.#repeats.delete(state);
      return { kind: 'repeat' };
    }
    const call = this.#calls.suspended(state);
    if (call?.hash !== hash) return { kind: 'unknown' };
    this.#calls.resume(state, round);
    this.#answerAsks(call, textAt(params, 'inputResponses'));
    return { kind: 'resumed', call };
  }

  /** The server wants the user to visit web pages before the call is made again. */
  required(call: BridgedCall, error: string, nowMs: number): boolean {
    const { round } = call;
    const elicitations = itemTexts(textAt(error, 'data', 'elicitations') ?? '') ?? [];
    const { inputsMax, suspendedMax, inputMs } = this.#config.limits;
    const isFull = this.#repeats.size >= suspendedMax || elicitations.length > inputsMax;
    const takesUrls = textAt(call.capabilities, 'elicitation', 'url') !== undefined;
    if (round === undefined || !takesInput(call) || isFull || !takesUrls) return false;
    if (elicitations.length === 0 || !elicitations.every(isObjectText)) return false;
    const method = '"elicitation/create"';
    const requests = elicitations.map((params) =>
      objectOf({ method, params: withMembers(params, { elicitationId: undefined }) }),
    );
    const state = this.#config.token();
    this.#repeats.set(state, { hash: call.hash, expiresAtMs: nowMs + inputMs });
    this.#answer(
      round.id,
      requests.map((json, index) => [`input-${index + 1}`, json]),
      state,
    );
    return true;
  }

  /** The agent has given the call up. */
  abandon(call: BridgedCall): void {
    for (const ask of [...call.asked.values(), ...call.waiting]) this.#out.toServer(abandoned(ask));
    call.asked.clear();
    call.waiting.length = 0;
  }

  /** Takes out the calls whose agent did not come back in time. */
  takeExpired(nowMs: number): readonly BridgedCall[] {
    for (const [state, { expiresAtMs }] of this.#repeats) {
      if (expiresAtMs <= nowMs) this.#repeats.delete(state);
    }
    const expired = this.#calls.takeExpired(nowMs);
    for (const call of expired) this.abandon(call);
    return expired;
  }

  /** The length of all that the agent has not answered. */
  #askedChars(): number {
    let chars = 0;
    for (const { asked, waiting } of this.#calls.all()) {
      for (const { json } of [...asked.values(), ...waiting]) chars += json.length;
    }
    return chars;
  }

  *#waitingLists(): Iterable<ServerAsk[]> {
    for (const { waiting } of this.#calls.all()) yield waiting;
  }

  /** The server asks while it works on no call whose answer could ask the agent. */
  #askedOutside(ask: ServerAsk): void {
    // Servers ask for roots right after the handshake: the next call takes the question along.
    if (ask.method === ROOTS_LIST && this.#heldRoots.length < HELD_ROOTS_MAX) {
      this.#heldRoots.push(ask);
      return;
    }
    const why =
      'The client speaks MCP 2026-07-28: it can be asked only while it waits for a tool, a prompt or a resource.';
    this.#refuse(ask, why);
    this.#out.note(`the server asked for \`${ask.method}\` outside of any call`);
  }

  #suspend(call: BridgedCall, nowMs: number): void {
    const { round, waiting } = call;
    const { suspendedMax, inputMs } = this.#config.limits;
    const asks = waiting.splice(0);
    if (this.#calls.suspendedCount >= suspendedMax) {
      for (const ask of asks) this.#refuse(ask, 'Too many calls wait for input of the client.');
      return;
    }
    const state = this.#config.token();
    const first = call.asked.size;
    const keyed = asks.map((ask, index): [string, ServerAsk] => [
      `input-${first + index + 1}`,
      ask,
    ]);
    for (const [key, ask] of keyed) call.asked.set(key, ask);
    call.rounds++;
    call.expiresAtMs = nowMs + inputMs;
    if (round !== undefined) {
      this.#answer(
        round.id,
        keyed.map(([key, { json }]) => [key, json]),
        state,
      );
    }
    this.#calls.suspend(call, state);
  }

  #answer(id: string, requests: readonly (readonly [string, string])[], state: string): void {
    const result = objectOf({
      resultType: '"input_required"',
      inputRequests: objectOf(Object.fromEntries(requests)),
      requestState: JSON.stringify(state),
      _meta: unlessEmpty(objectOf({ [META.serverInfo]: this.serverInfo })),
    });
    this.#out.toAgent(resultText(id, result), id);
  }

  /** Gives the server its answers; what the agent left out is asked again. */
  #answerAsks(call: BridgedCall, responses: string | undefined): void {
    const asked = [...call.asked];
    call.asked.clear();
    for (const [key, ask] of asked) {
      const response = textAt(responses, key);
      if (isObjectText(response)) this.#out.toServer(resultText(ask.id, response));
      else if (call.rounds < this.#config.limits.roundsMax) call.waiting.push(ask);
      else this.#out.toServer(abandoned(ask));
    }
    if (call.waiting.length > 0) this.#changed.add(call);
  }

  #refuse({ id }: ServerAsk, message: string): void {
    this.#out.toServer(errorResponse(id, errorJson(INTERNAL_ERROR, message)));
  }
}

/** The answer to a round that belongs to no call. */
export const UNKNOWN_STATE = errorJson(
  INVALID_PARAMS,
  'This `requestState` belongs to another call, was used before, or has expired. Make the call again without `requestState` and `inputResponses`.',
);
