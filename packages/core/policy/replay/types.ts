// What a replay gives back.
import type { Action, PolicyRef } from '@subluminal/contracts';
import type { Sha256 } from '../../ports.ts';
import type { PolicyState } from '../decide/verdict.ts';
import type { Section } from '../explain/explain.ts';
import type { Call } from '../model/call.ts';

export const NO_VERDICTS = {
  same: 0,
  /** This policy goes further than what was recorded. */
  stricter: 0,
  looser: 0,
  /** The same action, by another rule. */
  different_rule: 0,
  /** The outcome depends on what the recording does not hold, or on a gate beside the rules. */
  undetermined: 0,
  /** The recording holds no decision to compare with. */
  unrecorded: 0,
};
export type ReplayVerdict = keyof typeof NO_VERDICTS;

/** What was missing, out of order, or more than there is room for. */
export const NO_NOTES = {
  decisions_without_start: 0,
  ends_without_start: 0,
  late_starts: 0,
  repeated_starts: 0,
  repeated_decisions: 0,
  out_of_order: 0,
  calls_missing: 0,
  bad_times: 0,
  calls_forgotten: 0,
  runs_forgotten: 0,
  calls_left_out: 0,
  rules_left_out: 0,
  beside_rules: 0,
  turns_left_out: 0,
};
export type ReplayNotes = Readonly<typeof NO_NOTES>;

/**
 * `known`: the preview is complete and has the recorded hash. `uninspected`: the message was too
 * large for the shim as well, so rules that need arguments refuse it, as they did then.
 */
export type ArgsKnowledge = 'known' | 'unknown' | 'uninspected';

export interface ReplayedCall {
  readonly run_id: string;
  readonly call_id: string;
  /** Null when the start of the call is missing. */
  readonly seq: number | null;
  readonly server_name: string;
  readonly tool_name: string;
  readonly args: ArgsKnowledge;
  readonly recorded: { readonly action: Action; readonly rule_id: string | null } | null;
  readonly replayed: {
    readonly action: Action;
    readonly rule_id: string | null;
    readonly reason_code: string;
  } | null;
  readonly verdict: ReplayVerdict;
}

export interface ReplayResult {
  readonly policy: PolicyRef;
  /** In the order in which they were made. */
  readonly calls: readonly ReplayedCall[];
  readonly summary: {
    readonly calls: number;
    readonly runs: number;
    readonly verdicts: Readonly<typeof NO_VERDICTS>;
    /** How often each rule decided, by name. */
    readonly rules: readonly {
      readonly rule_id: string;
      readonly recorded: number;
      readonly replayed: number;
    }[];
  };
  readonly notes: ReplayNotes;
  /** Sections that a replay does not evaluate: what they look at is not recorded. */
  readonly not_evaluated: readonly Section[];
}

/** A call as it is decided again, before it is counted. */
export interface ReplayQuestion {
  readonly runId: string;
  readonly callId: string;
  readonly call: Call;
  readonly args: ArgsKnowledge;
  readonly state: PolicyState;
  readonly nowMs: number;
}

export interface ReplayOptions {
  readonly sha256: Sha256;
  /** Compare what happened, or what enforcing policies would have done; `action`. */
  readonly compare?: 'action' | 'would';
  readonly limits?: Partial<ReplayLimits>;
  /** Told of every call before it is decided. */
  readonly onCall?: (question: ReplayQuestion) => void;
}

export interface ReplayLimits {
  /** Calls that are listed; the summary counts all. */
  readonly callsMax: number;
  /** Runs whose counters are kept at the same time. */
  readonly runsMax: number;
  /** Calls that may still wait for their decision or their end. */
  readonly openMax: number;
}
