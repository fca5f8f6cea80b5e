// What a hub is told when it opens, and why it may give no answer.
import { HUB_HEARTBEAT_INTERVAL_MS, type TerminateRequest } from '@subluminal/contracts';
import { HUB_LEASE_TIMES } from '@subluminal/contracts/hub-frames';
import type { Sha256, Verifier } from '@subluminal/core/ports';
import type { RunTerms } from './client/client.ts';
import type { Judge } from './gates.ts';
import type { RefusalStatus } from './metrics.ts';
import type { UnlikeShim } from './shims.ts';

export const HUB_LIMITS = {
  /** Compiled policies that are kept; the one that was not used for longest goes first. */
  policiesMax: 64,
  /** Policies that count apart. One more is refused: forgetting a count would lift a limit. */
  policyIdsMax: 64,
  /** Answers that are kept for a shim that asks again with the same `call_id`. */
  answersMax: 1_024,
  /** Calls that wait for their result, because a breaker watches them. */
  watchedMax: 10_000,
  shimsMax: 1_024,
  /** A shim that was not heard of for so long counts as gone. */
  silentMs: 4 * HUB_HEARTBEAT_INTERVAL_MS,
  /** How long a shim may take to return what it was leased. */
  recallMs: HUB_LEASE_TIMES.recallMs,
};

export type HubLimits = { readonly [K in keyof typeof HUB_LIMITS]: number };

export interface HubOptions {
  readonly runId: string;
  /** Shims compare these with their environment and their entries. */
  readonly terms?: RunTerms;
  /** Milliseconds that never go back. */
  readonly nowMs: () => number;
  readonly sha256: Sha256;
  /** With it, only policies that a trusted key has signed are taken. */
  readonly verifier?: Verifier;
  readonly judge?: Judge;
  /** Called once, when a rule or a shim has ended the run. */
  readonly onTerminate?: (request: TerminateRequest) => void;
  /** Called once for each shim that is looser than the run. */
  readonly onUnlike?: (unlike: UnlikeShim) => void;
  readonly limits?: Partial<HubLimits>;
}

/** Why a request gets no answer, as an HTTP status and in words. */
export interface HubRefusal {
  readonly kind: 'refused';
  readonly status: RefusalStatus;
  readonly message: string;
}

export function refused(status: RefusalStatus, message: string): HubRefusal {
  return { kind: 'refused', status, message };
}
