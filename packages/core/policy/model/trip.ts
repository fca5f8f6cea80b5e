// What a rule wants to happen, before modes and profiles have their say.
import type { Action, Decision, HintKind } from '@subluminal/contracts';

export interface Trip {
  readonly action: Exclude<Action, 'ALLOW'>;
  readonly reasonCode: string;
  readonly summary: string;
  readonly hintKind: HintKind;
  readonly hintText?: string;
  readonly retryAdvice?: string;
  readonly backoffMs?: number;
  readonly terminateCode?: string;
  /** Set when a person may release the call. */
  readonly approval?: NonNullable<Decision['approval']>;
}

/** A count as people read it, for traces and explanations. */
export interface Tally {
  readonly count: number;
  readonly limit: number;
}
