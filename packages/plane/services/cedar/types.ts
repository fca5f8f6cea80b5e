// The input and the result of a Cedar evaluation.
import type { Position, Problem } from '@subluminal/core/policy';

/** One tool call, with everything that policies can look at. */
export interface CedarRequest {
  readonly principal: { readonly kind: 'agent' | 'user' | 'workload'; readonly id: string };
  readonly server: string;
  readonly tool: string;
  /** Absent when the message is too large to inspect: policies that look at arguments deny it. */
  readonly args?: Readonly<Record<string, unknown>>;
  readonly env: string;
  readonly client: string;
  readonly run: string;
  readonly agent: string;
  readonly user?: string;
  readonly workload?: string;
  readonly risk: readonly string[];
  readonly nowMs: number;
}

/** A policy as a person knows it: its id, its position in a file, and its annotations. */
export interface CedarPolicy {
  readonly id: string;
  readonly effect: 'permit' | 'forbid';
  readonly file: string;
  readonly position: Position;
  readonly message: string | null;
  readonly hint: string | null;
  readonly reasonCode: string | null;
}

export interface CedarAnswer {
  readonly decision: 'allow' | 'deny';
  readonly cause:
    | 'permit' // a policy permits the call and none forbids it
    | 'forbid' // a policy forbids it
    | 'no_permit' // no policy permits it
    | 'forbid_failed' // a policy that might forbid it could not be evaluated
    | 'unmappable' // the call has no exact form in Cedar
    | 'engine'; // the engine refused the request
  /** The ids of the policies that decided. */
  readonly reasons: readonly string[];
  /** Policies that could not be evaluated; a permit among them does not permit. */
  readonly errors: readonly { readonly policyId: string; readonly message: string }[];
  /** The policy that `message` and `hint` come from, if any. */
  readonly policyId: string | null;
  /** For a deny, text for the model: what happened, and what to do instead. */
  readonly message: string | null;
  readonly hint: string | null;
  readonly reasonCode: string | null;
}

/** For `sub policy explain`. */
export interface CedarExplanation extends CedarAnswer {
  readonly deciding: readonly CedarPolicy[];
  /** Every policy whose conditions hold, including permits that a forbid overrides. */
  readonly satisfied: readonly CedarPolicy[];
  readonly policyCount: number;
  readonly hash: string;
}

export interface Cedar {
  evaluate(request: CedarRequest): CedarAnswer;
  explain(request: CedarRequest): CedarExplanation;
  /** SHA-256 over policies, schema and entities, as `sha256:…`. */
  readonly hash: string;
  readonly policies: readonly CedarPolicy[];
  /** Frees the parsed policies; evaluating afterwards is a bug and throws. */
  close(): void;
}

export type CedarOpened =
  | { readonly ok: true; readonly cedar: Cedar; readonly problems: readonly Problem[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };
