// A call may take several rounds: the server answers that it needs input, and the agent makes the
// same call again with the input beside the arguments. That is no repeat of the call, as long as the
// server really has asked.

import { type CallRef, isObject } from '@subluminal/contracts';
import { memberTexts } from '../json/text-parts.ts';
import type { Sha256 } from '../ports.ts';

/** The input that a server asked for in an `input_required` result. */
interface InputRequest {
  /** The call that it answered; unique, so it names the round that answers it. */
  readonly callId: string;
  readonly keys: ReadonlySet<string>;
}

type AskedCall = Pick<CallRef, 'tool_name' | 'args_hash'>;

/** Of one session. When there is no room the oldest goes, and its round counts as a repeat. */
const REQUESTS_MAX = 1_000;
const KEYS_MAX = 1_000;

/** The state of the server, which the agent gives back exactly as it came. Only the server can read it. */
export const STATE = 'requestState';

/** The JSON of an object without its state: nobody is shown the state, and no gate judges what it says. */
export function withoutState(json: string): string {
  const members = memberTexts(json);
  if (members === undefined) return json;
  const shown = members.filter(({ key }) => key !== STATE);
  return `{${shown.map(({ key, value }) => `${JSON.stringify(key)}:${value}`).join(',')}}`;
}

export class InputRounds {
  private readonly sha256: Sha256;
  private readonly requests = new Map<string, InputRequest>();
  /** States that came in answers to other requests than calls, by method. */
  private readonly states = new Set<string>();

  constructor(sha256: Sha256) {
    this.sha256 = sha256;
  }

  /** The server has answered this call with a request for input. */
  asked(call: AskedCall & Pick<CallRef, 'call_id'>, result: unknown): void {
    if (!isObject(result)) return;
    const { inputRequests, requestState } = result;
    const keys = isObject(inputRequests) ? Object.keys(inputRequests) : [];
    if (keys.length > KEYS_MAX) return;
    const key = this.keyOf(call, requestState);
    this.requests.delete(key);
    this.requests.set(key, { callId: call.call_id, keys: new Set(keys) });
    dropOldest(this.requests);
  }

  /** The server has answered a request that is no call with a request for input. */
  askedBeside(method: string, result: unknown): void {
    const state: unknown = isObject(result) ? result[STATE] : undefined;
    if (typeof state !== 'string') return;
    this.states.add(this.stateKey(method, state));
    dropOldest(this.states);
  }

  get hasStates(): boolean {
    return this.states.size > 0;
  }

  /** Whether the server has sent this very state in an answer to such a request. */
  isKnownState(method: string, state: string): boolean {
    return this.states.has(this.stateKey(method, state));
  }

  private stateKey(method: string, state: string): string {
    return this.sha256(JSON.stringify([method, state]));
  }

  /**
   * The round that a call belongs to: the same for all answers to one request of the server.
   * Undefined in the first round, and when the agent answers something that the server has not asked for.
   */
  roundOf(call: AskedCall, readBeside: () => unknown): string | undefined {
    // Nothing is parsed where no server has asked for anything.
    if (this.requests.size === 0) return undefined;
    const beside = readBeside();
    const params = isObject(beside) ? beside['params'] : undefined;
    if (!isObject(params)) return undefined;
    const { inputResponses, requestState } = params;
    if (inputResponses === undefined && requestState === undefined) return undefined;
    const request = this.requests.get(this.keyOf(call, requestState));
    if (request === undefined) return undefined;
    const answered = isObject(inputResponses) ? Object.keys(inputResponses) : [];
    return answered.every((key) => request.keys.has(key)) ? request.callId : undefined;
  }

  private keyOf({ tool_name, args_hash }: AskedCall, requestState: unknown): string {
    return this.sha256(JSON.stringify([tool_name, args_hash, requestState ?? null]));
  }
}

function dropOldest(known: Map<string, unknown> | Set<string>): void {
  const [oldest] = known.keys();
  if (known.size > REQUESTS_MAX && oldest !== undefined) known.delete(oldest);
}
