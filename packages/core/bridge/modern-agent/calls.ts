// The requests of a modern agent that a legacy server works on, and those of them that wait for input.
import { INPUT_METHODS } from '../shared/era-names.ts';
import type { ServerAsk } from '../shared/input-requests.ts';
import type { AnswerText } from '../shared/outbox.ts';

/** A request at the server. Its agent has asked for it in one request, or in several rounds. */
export interface BridgedCall {
  /** The JSON of its id at the server. */
  readonly serverId: string;
  readonly method: string;
  /** The same for each round of one call. */
  readonly hash: string;
  /** The token that the server knows. */
  readonly serverToken: string | undefined;
  round: AgentRound | undefined;
  /** The JSON of the capabilities that the agent named last. */
  capabilities: string;
  /** The request, while the server has not got it: it asked for something else before. */
  unsent: string | undefined;
  /** Asked of the agent and not answered, by key. */
  asked: Map<string, ServerAsk>;
  /** To be asked of the agent with the next answer. */
  readonly waiting: ServerAsk[];
  rounds: number;
  /** The server's answer, while the agent has no request open that could get it. */
  final: AnswerText | undefined;
  /** The task that the server made of it, and the request that waits for its result. */
  task: { readonly id: string; readonly requestId: string } | undefined;
  expiresAtMs: number;
}

/** The request of the agent that waits for the answer. */
export interface AgentRound {
  /** The JSON of its id. */
  readonly id: string;
  readonly capabilities: string;
  /** The severity of the messages it wants; -1 for none. */
  readonly severityMin: number;
  readonly progressToken: string | undefined;
}

export class BridgedCalls {
  readonly #byServerId = new Map<string, BridgedCall>();
  readonly #byAgentId = new Map<string, BridgedCall>();
  readonly #byToken = new Map<string, BridgedCall>();
  readonly #byState = new Map<string, BridgedCall>();

  get openCount(): number {
    return this.#byServerId.size;
  }

  get suspendedCount(): number {
    return this.#byState.size;
  }

  add(call: BridgedCall): void {
    this.#byServerId.set(call.serverId, call);
    if (call.serverToken !== undefined) this.#byToken.set(call.serverToken, call);
    if (call.round !== undefined) this.#byAgentId.set(call.round.id, call);
  }

  ofServer(serverId: string | undefined): BridgedCall | undefined {
    return serverId === undefined ? undefined : this.#byServerId.get(serverId);
  }

  ofAgent(agentId: string): BridgedCall | undefined {
    return this.#byAgentId.get(agentId);
  }

  ofToken(token: string): BridgedCall | undefined {
    return this.#byToken.get(token);
  }

  /** All calls that the server may still ask about. */
  all(): readonly BridgedCall[] {
    return [...new Set(this.#byServerId.values())];
  }

  /** The call that a server may mean which does not say: the newest, before all one that the agent waits for. */
  newest(isMeant: (call: BridgedCall) => boolean): BridgedCall | undefined {
    const calls = this.all().filter(isMeant);
    return calls.findLast(({ round }) => round !== undefined) ?? calls.at(-1);
  }

  /** The agent waits no longer; the call goes on, and is found again by its state. */
  suspend(call: BridgedCall, state: string): void {
    if (call.round !== undefined) this.#byAgentId.delete(call.round.id);
    call.round = undefined;
    this.#byState.set(state, call);
  }

  suspended(state: string): BridgedCall | undefined {
    return this.#byState.get(state);
  }

  /** A state serves once. */
  resume(state: string, round: AgentRound): void {
    const call = this.#byState.get(state);
    if (call === undefined) return;
    this.#byState.delete(state);
    call.round = round;
    call.capabilities = round.capabilities;
    this.#byAgentId.set(round.id, call);
  }

  /** The server has made a task of the call: another request waits for its result. */
  becameTask(call: BridgedCall, task: NonNullable<BridgedCall['task']>): void {
    call.task = task;
    this.#byServerId.set(task.requestId, call);
  }

  /** The server has answered: only a later round of the agent may still ask for it. */
  leaveServer(call: BridgedCall): void {
    const { serverId, serverToken, task } = call;
    this.#byServerId.delete(serverId);
    if (task !== undefined) this.#byServerId.delete(task.requestId);
    if (serverToken !== undefined && this.#byToken.get(serverToken) === call) {
      this.#byToken.delete(serverToken);
    }
  }

  remove(call: BridgedCall): void {
    this.leaveServer(call);
    if (call.round !== undefined) this.#byAgentId.delete(call.round.id);
  }

  /** Takes out the calls whose agent did not come back in time. */
  takeExpired(nowMs: number): readonly BridgedCall[] {
    const expired: BridgedCall[] = [];
    for (const [state, call] of this.#byState) {
      if (call.expiresAtMs > nowMs) continue;
      this.#byState.delete(state);
      this.remove(call);
      expired.push(call);
    }
    return expired;
  }

  /** The severity of the most talkative messages that an open request wants; -1 when none wants any. */
  severityMin(): number {
    let least = -1;
    for (const { round } of this.#byAgentId.values()) {
      const severity = round?.severityMin ?? -1;
      if (severity !== -1 && (least === -1 || severity < least)) least = severity;
    }
    return least;
  }
}

/** Whether the agent can be asked for input in answer to this request. */
export function takesInput({ method }: BridgedCall): boolean {
  return INPUT_METHODS.has(method);
}
