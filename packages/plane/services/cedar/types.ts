// What goes into a Cedar evaluation and what comes out of it.
import type { Position, Problem } from '@subluminal/core/policy';

export type PrincipalKind = 'agent' | 'user' | 'workload';

/** One tool call, with all that policies may look at. */
export interface CedarRequest {
  readonly principal: { readonly kind: PrincipalKind; readonly id: string };
  readonly server: string;
  readonly tool: string;
  /** Absent when the message was too large to inspect: policies that look at arguments deny it. */
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

/** A policy as a person knows it: its id, where it stands, and what it wants to be said. */
export interface CedarPolicy {
  readonly id: string;
  readonly effect: 'permit' | 'forbid';
  readonly file: string;
  readonly position: Position;
  readonly message: string | null;
  readonly hint: string | null;
  readonly reasonCode: string | null;
}

export interface CedarError {
  readonly policyId: string;
  readonly message: string;
}

/** Why it was decided so. */
export type CedarCause =
  | 'permit' // a policy permits it and none forbids it
  | 'forbid' // a policy forbids it
  | 'no_permit' // no policy permits it
  | 'forbid_failed' // a policy that might forbid it could not be evaluated
  | 'unmappable' // the call cannot be told to Cedar without loss
  | 'engine'; // the engine refused the request

export interface CedarAnswer {
  readonly decision: 'allow' | 'deny';
  readonly cause: CedarCause;
  /** The ids of the policies that decided. */
  readonly reasons: readonly string[];
  /** Policies that could not be evaluated; a permit among them counts as not given. */
  readonly errors: readonly CedarError[];
  /** Whose words these are, when they are those of a policy. */
  readonly speaker: string | null;
  /** For a deny, words for the model: what happened, and what to do instead. */
  readonly message: string | null;
  readonly hint: string | null;
  readonly reasonCode: string | null;
}

/** For `sub policy explain`. */
export interface CedarExplanation extends CedarAnswer {
  readonly deciding: readonly CedarPolicy[];
  /** Every policy whose conditions hold, the outvoted permits included. */
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
