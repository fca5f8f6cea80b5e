// The values that policy evaluation works on. Plain data, no behaviour.
import type { Decision, JsonObject, RuleKindName } from '@subluminal/contracts';
import type { CallSubject } from './subjects.ts';

/** Who acts: the part of the event envelope that policies may look at. */
export interface Identity {
  readonly run_id: string;
  readonly agent_id: string;
  readonly client: string;
  readonly env: string;
  readonly principal?: string;
  readonly workload?: JsonObject;
}

/**
 * One call as the core sees it, whatever wire it came by. Of a turn, `server_name` is the provider and
 * `tool_name` the model.
 */
export interface Call {
  readonly identity: Identity;
  readonly server_name: string;
  readonly tool_name: string;
  /** Absent for a tool. Of a resource or a prompt, `tool_name` is the method, and the arguments are its params. */
  readonly subject?: CallSubject | undefined;
  /** What a turn may cost, in millionths of a dollar; absent where the price is not known. */
  readonly cost_micros?: number | undefined;
  readonly args_hash: string;
  /** Absent when the message was too large to inspect: rules that need it fail closed. */
  readonly args?: JsonObject;
  readonly bytes_in: number;
  /** Names the further round of a call that a server has asked for: it is no repeat of the first. */
  readonly round?: string | undefined;
  /** Risk classes that are known before any tag rule has spoken. */
  readonly risk_class?: readonly string[];
  /** Approval rules that a person has already satisfied for exactly this call. */
  readonly approved?: readonly string[];
}

/** How a forwarded call ended, as far as breakers care. */
export type CallResult = 'ok' | 'error';

/** What one matching rule had to say about a call. */
export interface TraceStep {
  readonly rule_id: string;
  readonly kind: RuleKindName;
  readonly outcome:
    | 'decided' // this rule made the decision
    | 'would_decide' // it would have, but an earlier rule had decided
    | 'counted' // it only updated its state
    | 'tagged'
    | 'asks' // it wants a person's approval
    | 'approved' // it wanted one, and has it
    | 'failed'; // it could not be evaluated
  /** What a counter stands at after this call, and where it ends; null for rules without one. */
  readonly tally: { readonly count: number; readonly limit: number } | null;
  /** Why it failed, when it did. */
  readonly note: string | null;
}

export interface Outcome<S> {
  readonly decision: Decision;
  readonly state: S;
  readonly trace: readonly TraceStep[];
  /** The risk classes the call ended up with. */
  readonly risk_class: readonly string[];
}
