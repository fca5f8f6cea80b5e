// What a run did, as it is told: `summary.json` of a trace bundle.
import type { Action, PolicyRef } from '@subluminal/contracts';

/** Of a turn, the server is its provider and the tool its model. */
export interface NamedCall {
  readonly ts: string;
  readonly call_id: string;
  readonly server_name: string;
  readonly tool_name: string;
}

export interface Violation extends NamedCall {
  readonly action: Action;
  readonly rule_id: string | null;
  readonly severity: string;
  readonly reason_code: string;
  readonly summary: string;
}

export interface FailedCall extends NamedCall {
  readonly status: string;
  readonly class: string;
  readonly message: string;
}

/** A tool, or the instructions of a server, that is not what was pinned. */
export interface ChangedDefinition {
  readonly ts: string;
  readonly server_name: string;
  /** Null for the instructions of the server. */
  readonly tool_name: string | null;
  /** Whether calls were refused because of it. */
  readonly enforced: boolean;
}

/** Something was decided or recorded by less than it should be, such as tools that reached no hook. */
export interface RunWarning {
  readonly ts: string;
  readonly reason: string;
}

export interface ToolTally {
  readonly server_name: string;
  readonly tool_name: string;
  calls: number;
  refused: number;
  errors: number;
}

export interface PolicyTally extends PolicyRef {
  /** Calls that it has decided. */
  calls: number;
  /** Those of them that did not pass. */
  refused: number;
}

export interface TurnsSummary {
  readonly total: number;
  readonly tokens_in: number;
  readonly tokens_out: number;
  readonly cost_micros: number;
}

/** `summary.json` of a trace bundle. Lists are bounded; the totals count everything. */
export interface RunSummary {
  readonly format: 'subluminal.summary.v1';
  readonly run_id: string | null;
  readonly agent_id: string | null;
  readonly client: string | null;
  readonly env: string | null;
  readonly principal: string | null;
  /** Null while the run has no end on record. */
  readonly status: string | null;
  readonly mode: string | null;
  /** The policy that the run began with. */
  readonly policy: PolicyRef | null;
  /** All that were in force; a server may have one of its own. */
  readonly policies: readonly PolicyTally[];
  readonly started_at: string | null;
  readonly ended_at: string | null;
  /** As contract A has them in `run_end`. */
  readonly totals: {
    readonly calls_total: number;
    readonly calls_allowed: number;
    readonly calls_blocked: number;
    readonly calls_throttled: number;
    readonly errors_total: number;
    readonly duration_ms: number;
  };
  readonly calls_undecided: number;
  /** Of calls that have passed: answers that the agent did not get. */
  readonly answers_held_back: number;
  /** What a person has to accept, each once. */
  readonly definitions_changed: readonly ChangedDefinition[];
  readonly warnings_total: number;
  readonly warnings: readonly RunWarning[];
  readonly decisions: { readonly [A in Action]: number };
  /** Rules that decided, the most frequent first. */
  readonly rules: readonly { readonly rule_id: string; readonly count: number }[];
  readonly tools: readonly ToolTally[];
  readonly violations_total: number;
  /** Decisions other than ALLOW. */
  readonly violations: readonly Violation[];
  readonly spared_total: number;
  /** What observe mode or the development profile let pass. */
  readonly spared: readonly Violation[];
  /** Allowed calls that did not end well. */
  readonly errors: readonly FailedCall[];
  /** Calls of models, where there were some; they are among the calls, too. */
  readonly turns?: TurnsSummary;
  readonly events_total: number;
  /** Lines that are no events, and events of types that this version does not know. */
  readonly lines_malformed: number;
  readonly events_unknown: number;
  /** True when there were more calls, tools or rules than are kept track of. */
  readonly incomplete: boolean;
}
