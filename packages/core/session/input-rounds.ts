// A call may take several rounds: the server answers that it needs input, and the agent makes the
// same call again with the input beside the arguments. That is no repeat of the call, as long as the
// server really has asked.

import { type CallRef, isObject } from '@subluminal/contracts';
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

export class InputRounds {
  private readonly sha256: Sha256;
  private readonly requests = new Map<string, InputRequest>();

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
    const [oldest] = this.requests.keys();
    if (this.requests.size > REQUESTS_MAX && oldest !== undefined) this.requests.delete(oldest);
  }

  /**
   * The round that a call belongs to: the same for all answers to one request of the server.
   * Undefined in the first round, and when the agent answers something that the server has not asked for.
   */
  roundOf(call: AskedCall, beside: unknown): string | undefined {
    const params = isObject(beside) ? beside['params'] : undefined;
    if (this.requests.size === 0 || !isObject(params)) return undefined;
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
