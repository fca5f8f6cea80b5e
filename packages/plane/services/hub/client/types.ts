// What a shim sees of its hub.
import type {
  EvaluateRequest,
  EvaluateResponse,
  HealthResponse,
  ObserveRequest,
  ShimCounts,
  ShimSummary,
  SnapshotFile,
} from '@subluminal/contracts';

export interface HubClientLimits {
  readonly heartbeatMs: number;
  /** The pause after a heartbeat that failed; shorter, so that a loss is noticed soon. */
  readonly heartbeatRetryMs: number;
  /** The pause before looking again whether nobody listens any more. */
  readonly goneRetryMs: number;
  /** So many heartbeats in a row must fail before the hub counts as lost. */
  readonly missesMax: number;
  readonly connectMs: number;
  readonly totalMs: number;
  /** How long the hub may take to read an answer of the server. */
  readonly observeMs: number;
  readonly readiness: {
    readonly attemptsMax: number;
    readonly backoffFirstMs: number;
    readonly backoffMaxMs: number;
  };
  /** How long the hub is waited for, however few attempts that were. */
  readonly readyMs: number;
  /** Calls and results that wait for their turn. */
  readonly queueMax: number;
  readonly requestBytesMax: number;
  readonly responseBytesMax: number;
}

/** Why the hub cannot be reached. */
export interface Loss {
  readonly reason: string;
  /** Nobody listens there any more; else it may only be slow. */
  readonly isGone: boolean;
}

export interface HubClientOptions {
  /** `unix:/path` or `http://127.0.0.1:PORT`. */
  readonly endpoint: string;
  /** Needed with `http:`. */
  readonly token?: string;
  readonly runId: string;
  readonly shimId: string;
  readonly serverId: string;
  /** What the shim has counted so far; goes with each heartbeat. */
  readonly summary: () => ShimSummary;
  /** The same for its metrics; goes with each heartbeat, and with the goodbye. */
  readonly counts?: () => ShimCounts | undefined;
  /** The hub wants its shims to finish and stop. Called once. */
  readonly onShutdown?: () => void;
  /**
   * The hub does not answer. Called once, again when it turns out to be gone, and again when it had
   * come back and is lost again.
   */
  readonly onLost?: (loss: Loss) => void;
  /** What an operator should hear of, such as a result that could not be reported. */
  readonly warn?: (text: string) => void;
  readonly limits?: Partial<HubClientLimits>;
}

/** `unavailable`: nobody has decided; the profile says what that means. */
export type Evaluated =
  | { readonly kind: 'answer'; readonly response: EvaluateResponse }
  | { readonly kind: 'unavailable'; readonly reason: string };

/** An answer of this shim's server. */
export type Observed = Pick<ObserveRequest, 'policy_hash' | 'call_id' | 'tool_name' | 'text'>;

/** What holds in the run, as its host says. */
export type RunTerms = Pick<
  HealthResponse,
  'profile' | 'policy_hash' | 'policy_reload' | 'settings'
>;

export type HubReadiness =
  /** `judges`: who decides at the hub beside the rules, so that every call must be asked for. */
  | { readonly kind: 'ready'; readonly judges: readonly string[]; readonly terms: RunTerms }
  | { readonly kind: 'unavailable'; readonly code: 'SUB_HUB_DOWN'; readonly reason: string };

export interface HubClient {
  /** Polls until the hub is healthy, with growing pauses, or gives up. */
  ready(): Promise<HubReadiness>;
  /** Registers the shim with a first heartbeat, and goes on with one every few seconds. */
  start(): void;
  /**
   * Asks for one call. Calls are asked one after the other, in the order of this method being
   * called. The hub is given the policy when it does not have it. Never rejects.
   */
  evaluate(request: EvaluateRequest, snapshotFile: () => SnapshotFile): Promise<Evaluated>;
  /**
   * Tells how a call has ended, before any later call is asked for. Sent only for calls that the
   * hub has decided and that a breaker watches.
   */
  result(callId: string, result: 'ok' | 'error'): void;
  /**
   * Tells what a server has answered; true when the hub will hold later calls against it. Tried
   * twice. Never rejects.
   */
  observe(observed: Observed, snapshotFile: () => SnapshotFile): Promise<boolean>;
  /** Tells the hub that a rule has ended the run. */
  terminate(reason: { readonly code: string; readonly message: string }): void;
  /** Tells how the shim is looser than its run, in words; each heartbeat says so from now on. */
  tellUnlike(reason: string): void;
  /** Says goodbye before the server has started, and why. Never rejects. */
  refuse(reason: string): Promise<void>;
  /** Flushes what is on its way and says goodbye; false when that did not get through in time. */
  leave(summary: ShimSummary, timeoutMs: number): Promise<boolean>;
  /** Drops everything at once. What still waits is `unavailable`. */
  close(): void;
}

export type HubClientMade =
  | { readonly kind: 'client'; readonly client: HubClient }
  | { readonly kind: 'refused'; readonly code: 'SUB_HUB_ENDPOINT'; readonly message: string };
