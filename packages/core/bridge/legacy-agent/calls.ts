// The requests of a legacy agent that a modern server works on, in one round or in several.
import { memberTexts } from '../../json/text-parts.ts';
import { isObjectText, objectOf, stringOf, textAt } from '../shared/object-text.ts';
import type { BridgeLimits } from '../shared/types.ts';

export interface AgentCall {
  /** The JSON of its id. */
  readonly id: string;
  readonly method: string;
  /** The request as the agent wrote it: each round is made of it. */
  readonly text: string;
  /** The JSON of the id of the round that the server works on; undefined between two rounds. */
  serverId: string | undefined;
  rounds: number;
  /** What the agent was asked for, by key: the JSON of its answers, undefined until they come. */
  inputs: Map<string, string | undefined>;
  /** The JSON of what the server wants to get back. */
  requestState: string | undefined;
  /** When the next round begins, if it waits for nothing but time. */
  nextRoundAtMs: number | undefined;
  /** The length of its text, and of what is kept for its next round. */
  heldChars: number;
}

export class AgentCalls {
  readonly #byId = new Map<string, AgentCall>();
  readonly #byServerId = new Map<string, AgentCall>();

  /** Of all of them. */
  #heldChars = 0;

  /** Whether another one finds room. */
  hasRoom(text: string, { openMax, heldCharsMax }: BridgeLimits): boolean {
    return this.#byId.size < openMax && this.#heldChars + text.length <= heldCharsMax;
  }

  /** Counts what is kept for the next round of a call; false when there is no room for it. */
  keeps(call: AgentCall, text: string, { heldCharsMax }: BridgeLimits): boolean {
    if (this.#heldChars + text.length > heldCharsMax) return false;
    this.#hold(call, text.length);
    return true;
  }

  #hold(call: AgentCall, chars: number): void {
    call.heldChars += chars;
    this.#heldChars += chars;
  }

  add(call: AgentCall): void {
    const before = this.#byId.get(call.id);
    if (before !== undefined) this.remove(before);
    this.#hold(call, call.text.length);
    this.#byId.set(call.id, call);
  }

  get(id: string): AgentCall | undefined {
    return this.#byId.get(id);
  }

  ofServer(serverId: string | undefined): AgentCall | undefined {
    return serverId === undefined ? undefined : this.#byServerId.get(serverId);
  }

  /** A round begins at the server. */
  begin(call: AgentCall, serverId: string): void {
    call.serverId = serverId;
    call.rounds++;
    call.nextRoundAtMs = undefined;
    call.inputs = new Map();
    call.requestState = undefined;
    this.#hold(call, call.text.length - call.heldChars);
    this.#byServerId.set(serverId, call);
  }

  /** The server has answered the round. */
  endRound(call: AgentCall): void {
    if (call.serverId !== undefined) this.#byServerId.delete(call.serverId);
    call.serverId = undefined;
  }

  remove(call: AgentCall): void {
    this.endRound(call);
    if (this.#byId.get(call.id) !== call) return;
    this.#byId.delete(call.id);
    this.#hold(call, -call.heldChars);
  }

  all(): readonly AgentCall[] {
    return [...this.#byId.values()];
  }
}

/** A request in an `input_required` result. */
export interface InputRequest {
  readonly key: string;
  readonly method: string;
  /** The JSON of it. */
  readonly json: string;
}

/** The requests for input in a result; undefined when they can't be read. */
export function inputRequestsIn(result: string): readonly InputRequest[] | undefined {
  const requests = textAt(result, 'inputRequests');
  if (requests === undefined) return [];
  const members = isObjectText(requests) ? memberTexts(requests) : undefined;
  const read = members?.map(({ key, value }) => ({
    key,
    method: isObjectText(value) ? (stringOf(textAt(value, 'method')) ?? '') : '',
    json: value,
  }));
  const keys = new Set(read?.map(({ key }) => key));
  return read !== undefined && keys.size === read.length ? read : undefined;
}

/** The members that the next round has beside those of the first. */
export function inputMembers({ inputs, requestState }: AgentCall): {
  readonly [key: string]: string | undefined;
} {
  const inputResponses = inputs.size > 0 ? objectOf(Object.fromEntries(inputs)) : undefined;
  return { inputResponses, requestState };
}
