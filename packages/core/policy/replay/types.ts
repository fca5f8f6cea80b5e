// What a replay gives back.
import type { Action, PolicyRef } from '@subluminal/contracts';
import type { Sha256 } from '../../ports.ts';
import type { Section } from '../explain/explain.ts';

export type ReplayVerdict =
  | 'same'
  | 'stricter' // this policy goes further than what was recorded
  | 'looser'
  | 'different_rule' // the same action, by another rule
  | 'undetermined' // it hangs on what the recording does not hold, or on what is no rule
  | 'unrecorded'; // the recording holds no decision to compare with

/**
 * `known`: the preview is complete and has the recorded hash. `uninspected`: the message was too
 * large for the shim as well, so rules that need arguments refuse it in earnest.
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

/** What was missing, out of order, or more than there is room for. */
export interface ReplayNotes {
  readonly decisions_without_start: number;
  readonly ends_without_start: number;
  readonly late_starts: number;
  readonly repeated_starts: number;
  readonly repeated_decisions: number;
  readonly out_of_order: number;
  readonly calls_missing: number;
  readonly bad_times: number;
  readonly calls_forgotten: number;
  readonly runs_forgotten: number;
  readonly calls_left_out: number;
  readonly rules_left_out: number;
  readonly beside_rules: number;
}

export interface ReplaySummary {
  readonly calls: number;
  readonly runs: number;
  readonly verdicts: { readonly [V in ReplayVerdict]: number };
  /** How often each rule decided, by name. */
  readonly rules: readonly {
    readonly rule_id: string;
    readonly recorded: number;
    readonly replayed: number;
  }[];
}

export interface ReplayResult {
  readonly policy: PolicyRef;
  /** In the order in which they were made. */
  readonly calls: readonly ReplayedCall[];
  readonly summary: ReplaySummary;
  readonly notes: ReplayNotes;
  /** Sections that a replay does not evaluate: what they look at is not recorded. */
  readonly not_evaluated: readonly Section[];
}

export interface ReplayOptions {
  readonly sha256: Sha256;
  /** Compare what happened, or what enforcing policies would have done; `action`. */
  readonly compare?: 'action' | 'would';
  readonly limits?: Partial<ReplayLimits>;
}

export interface ReplayLimits {
  /** Calls that are listed; the summary counts all. */
  readonly callsMax: number;
  /** Runs whose counters are kept at the same time. */
  readonly runsMax: number;
  /** Calls that may still wait for their decision or their end. */
  readonly openMax: number;
}
