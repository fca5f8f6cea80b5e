// What a hub is made from, and what its host can ask of it.
import type {
  Decision,
  EvaluateRequest,
  EvaluateResponse,
  HeartbeatRequest,
  HeartbeatResponse,
  ObserveRequest,
  ObserveResponse,
  PolicyResponse,
  ResultRequest,
  ShimSummary,
  TerminateRequest,
} from '@subluminal/contracts';
import type { Call } from '@subluminal/core/policy';
import type { Sha256, Verifier } from '@subluminal/core/ports';
import type { RunTerms } from './client/types.ts';
import type { ServerTotals } from './server-totals.ts';

export interface HubLimits {
  /** Compiled policies that are kept; the one that was not used for longest goes first. */
  readonly policiesMax: number;
  /** Policies that count apart. One more is refused: forgetting a count would lift a limit. */
  readonly policyIdsMax: number;
  /** Answers that are kept for a shim that asks again with the same `call_id`. */
  readonly answersMax: number;
  /** Calls that wait for their result, because a breaker watches them. */
  readonly watchedMax: number;
  readonly shimsMax: number;
  /** A shim that was not heard of for so long counts as gone. */
  readonly silentMs: number;
}

export interface JudgedCall {
  readonly call: Call;
  readonly riskClass: readonly string[];
  readonly nowMs: number;
}

/** Who decides beside the rules, such as Cedar policies. */
export interface Judge {
  /** What a shim is told, so that it asks for every call. */
  readonly name: string;
  /** The refusal that it wants, if any. At once; whatever it throws is a refusal, too. */
  refusal(judged: JudgedCall): Decision | undefined;
}

export interface HubOptions {
  readonly runId: string;
  /** For shims to compare with what they were told elsewhere. */
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

/** What the core says to a request: an answer, or why there is none. */
export type Reply<T> =
  | { readonly kind: 'answer'; readonly response: T }
  | { readonly kind: 'refused'; readonly status: 400 | 409 | 503; readonly message: string };

/** A shim that is looser than its run, in words. */
export interface UnlikeShim {
  readonly serverId: string;
  readonly reason: string;
  /** False: for that reason its server was not started. */
  readonly hasStarted: boolean;
}

export interface ShimStatus {
  readonly shimId: string;
  readonly serverId: string;
  readonly lastSeenMs: number;
  readonly summary: ShimSummary | null;
  /** `silent`: not heard of for too long, and never said goodbye. */
  readonly state: 'live' | 'silent' | 'left';
  readonly unlike?: UnlikeShim;
}

/** What the host of a hub may ask and do. */
export interface HubControl {
  /** All shims of the run together, those that have left included. */
  summary(): ShimSummary;
  shims(): readonly ShimStatus[];
  /** Why the run was ended; null while it was not. */
  terminated(): TerminateRequest | null;
  /** From now on every answer tells the shims to finish and stop. */
  shutdown(): void;
  /** True when no shim is left (at once when there never was one), false when time is up. */
  whenLeft(timeoutMs: number): Promise<boolean>;
}

/** A hub without its sockets. */
export interface Hub extends HubControl {
  readonly stopping: boolean;
  /** Who decides beside the rules. */
  readonly judges: readonly string[];
  readonly terms: RunTerms;
  /** What the shims have counted, by server. */
  totals(): ServerTotals;
  /** Decides one call, at once: what arrives first counts first. */
  evaluate(request: EvaluateRequest): Reply<EvaluateResponse>;
  /** Takes a sealed snapshot, as it came in. */
  policy(file: unknown): Promise<Reply<PolicyResponse>>;
  result(request: ResultRequest): Reply<HeartbeatResponse>;
  /** Remembers what a server has answered. */
  observe(request: ObserveRequest): Reply<ObserveResponse>;
  heartbeat(request: HeartbeatRequest): Reply<HeartbeatResponse>;
  terminate(request: TerminateRequest): Reply<HeartbeatResponse>;
}

export type HubListen =
  /** The folder must be private (0700) already; the socket becomes 0600. */
  | { readonly kind: 'unix'; readonly path: string }
  /** On 127.0.0.1 only; a free port unless one is given. */
  | { readonly kind: 'tcp'; readonly token: string; readonly port?: number };

export interface ServerLimits {
  readonly bodyBytesMax: number;
  /** Bodies that are being read, all together. */
  readonly bodiesBytesMax: number;
  readonly requestsMax: number;
  readonly connectionsMax: number;
  /** Connections that have not asked anything yet; beyond it the oldest silent ones are dropped. */
  readonly waitingMax: number;
  /** How long a client may take to send its headers, and the whole of a request. */
  readonly headersMs: number;
  readonly requestMs: number;
  readonly idleMs: number;
  /** How long `close` waits for requests in flight. */
  readonly closeMs: number;
}

export interface OpenHubOptions extends HubOptions {
  readonly listen: HubListen;
  readonly serverLimits?: Partial<ServerLimits>;
}

export interface RunningHub extends HubControl {
  /** What a shim is given: `unix:/path` or `http://127.0.0.1:PORT`. */
  readonly endpoint: string;
  /** Stops listening and ends every connection; nothing is left behind. */
  close(): Promise<void>;
}

export type HubOpened =
  | { readonly kind: 'open'; readonly hub: RunningHub }
  | { readonly kind: 'failed'; readonly code: 'SUB_HUB_LISTEN'; readonly message: string };
