// What the gateway keeps, and what it asks of its store. SQLite and Postgres implement the same interface, and
// one suite of tests runs on both.
import type { CostBucket, CostDimension, JsonObject } from '@subluminal/contracts';
import type { Caller } from '@subluminal/core/routing';

export interface GatewayStore {
  readonly engine: 'sqlite' | 'postgres';
  readonly keys: KeyStore;
  readonly people: PeopleStore;
  readonly budgets: BudgetStore;
  readonly records: RecordStore;
  readonly approvals: TurnApprovalStore;
  readonly webhooks: WebhookStore;
  readonly breakers: BreakerStore;
  /** Whether the database answers, and soon. */
  ping(): Promise<boolean>;
  close(): Promise<void>;
}

/** A key is kept as the SHA-256 of its 256 bits: nothing in the store can be used as a key. */
export interface KeyRow {
  readonly id: string;
  readonly tenantId: string;
  readonly userId: string;
  readonly hash: string;
  readonly last4: string;
  readonly name: string;
  readonly createdMs: number;
  readonly revokedMs: number | null;
}

export interface KeyStore {
  add(key: Omit<KeyRow, 'revokedMs'>): Promise<void>;
  /** The key and the role of its user; undefined when there is none or it was revoked. */
  find(hash: string): Promise<{ readonly key: KeyRow; readonly role: Caller['role'] } | undefined>;
  list(tenantId: string, userId: string): Promise<readonly KeyRow[]>;
  /** Whether there was such a key that was not revoked yet. */
  revoke(tenantId: string, id: string, nowMs: number): Promise<boolean>;
  revokeAll(tenantId: string, userId: string, nowMs: number): Promise<number>;
}

export interface UserRow {
  readonly tenantId: string;
  readonly userId: string;
  readonly role: Caller['role'];
  readonly createdMs: number;
}

export interface InviteRow {
  readonly tokenHash: string;
  readonly tenantId: string;
  readonly userId: string;
  readonly role: Caller['role'];
  readonly createdBy: string;
  readonly expiresMs: number;
}

export interface FirstAdmin {
  readonly user: UserRow;
  readonly key: Omit<KeyRow, 'revokedMs'>;
}

export interface PeopleStore {
  users(tenantId: string): Promise<readonly UserRow[]>;
  setUser(user: UserRow): Promise<void>;
  /** Keeps the hash of the token of a first start: each gateway that starts has its own, until one is used. */
  setupToken(hash: string, nowMs: number): Promise<'kept' | 'used'>;
  /** The first admin with the first key, or nothing: once, whoever asks at the same time with whichever token. */
  takeSetupToken(hash: string, admin: FirstAdmin): Promise<boolean>;
  addInvite(invite: InviteRow): Promise<void>;
  takeInvite(tokenHash: string, nowMs: number): Promise<InviteRow | undefined>;
  /** Those that can still be used, the first to end first. */
  openInvites(tenantId: string, nowMs: number): Promise<readonly InviteRow[]>;
  /** Whether nobody had used it. */
  removeInvite(tenantId: string, tokenHash: string): Promise<boolean>;
  addBinding(binding: BindingRow): Promise<void>;
  binding(tenantId: string, repoId: string, machineId: string): Promise<BindingRow | undefined>;
}

export interface BindingRow {
  readonly tenantId: string;
  readonly repoId: string;
  readonly machineId: string;
  readonly userId: string;
  readonly remoteUrl: string;
  readonly expiresMs: number;
  readonly revokedMs: number | null;
}

/** One limit that holds for a turn, with its counter: a team's month, a user's day, a run. */
export interface BudgetLimit {
  readonly scope: 'team_month' | 'user_day' | 'run';
  /** The team, the user or the run. */
  readonly key: string;
  /** `2026-11`, `2026-11-17`, or empty for a run. */
  readonly period: string;
  readonly capMicros: number;
  readonly softMicros: number;
  readonly onExceeded: 'refuse' | 'require_approval' | 'warn';
}

export interface Reservation {
  readonly id: string;
  readonly traceId: string;
  readonly caller: Caller;
  readonly estimateMicros: number;
  readonly limits: readonly BudgetLimit[];
  readonly nowMs: number;
}

export interface BudgetState {
  readonly limit: BudgetLimit;
  readonly usedMicros: number;
  readonly reservedMicros: number;
}

export type Reserved =
  | { readonly kind: 'reserved'; readonly states: readonly BudgetState[] }
  /** Nothing was reserved. */
  | { readonly kind: 'exceeded'; readonly state: BudgetState };

export interface BudgetStore {
  states(tenantId: string, limits: readonly BudgetLimit[]): Promise<readonly BudgetState[]>;
  /** All limits or none, exact whoever reserves at the same time. A cap that only warns is never exceeded. */
  reserve(reservation: Reservation): Promise<Reserved>;
  /** Says that the turns of these reservations still run. Those that were settled stay as they are. */
  renew(ids: readonly string[], nowMs: number): Promise<void>;
  /** Reservations that were made or renewed before are released, each once; the caller writes them to the audit. */
  expire(olderThanMs: number, nowMs: number): Promise<readonly ExpiredReservation[]>;
}

export interface ExpiredReservation {
  readonly id: string;
  readonly traceId: string;
  readonly tenantId: string;
  readonly userId: string;
  readonly teamId: string;
  readonly estimateMicros: number;
}

/** How a reservation ends: what was used is committed, and the rest given back. */
export type Settlement =
  | { readonly kind: 'commit'; readonly reservationId: string; readonly actualMicros: number }
  | { readonly kind: 'release'; readonly reservationId: string };

export interface AuditRow {
  readonly eventMs: number;
  readonly traceId: string;
  readonly sessionId: string | null;
  readonly tenantId: string;
  readonly userId: string;
  readonly teamId: string;
  readonly repoId: string | null;
  readonly eventType: string;
  readonly decision: JsonObject | null;
  readonly ruleIds: readonly string[];
  readonly detail: JsonObject | null;
  readonly requestSummary: JsonObject | null;
  /** `endpoint_id:model`. */
  readonly routedTo: string | null;
  readonly fallbackChain: readonly JsonObject[] | null;
  readonly errorCode: string | null;
}

export interface CostRow {
  readonly eventMs: number;
  readonly traceId: string;
  readonly sessionId: string | null;
  /** From 1; each call of a provider has its own. With the trace it is unique: a row is never doubled. */
  readonly attemptNo: number;
  readonly tenantId: string;
  readonly userId: string;
  readonly teamId: string;
  readonly repoId: string | null;
  readonly taskType: string;
  readonly ruleId: string | null;
  readonly provider: string;
  readonly endpointId: string;
  readonly model: string;
  readonly pool: string;
  readonly isPrivate: boolean;
  readonly isShadow: boolean;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheCreateTokens: number;
  readonly costMicros: number;
  readonly costSource: 'provider_usage' | 'estimated';
  readonly latencyMs: number;
  readonly isSuccess: boolean;
  readonly errorClass: string | null;
}

export interface RoutingRow {
  readonly eventMs: number;
  readonly traceId: string;
  readonly attemptNo: number;
  readonly tenantId: string;
  readonly teamId: string;
  readonly decision: JsonObject;
  readonly pool: string;
  /** `{endpoint_id, provider, model, private}`. */
  readonly member: JsonObject;
  /** What the choice was made from: seed key, seed, pools, constraints, breakers: enough to choose again. */
  readonly choice: JsonObject;
  readonly fallbackChain: readonly JsonObject[];
  readonly degradedFeatures: readonly string[];
  readonly breakerState: string;
  readonly seed: string;
  readonly error: string | null;
}

export interface RawRow {
  readonly traceId: string;
  readonly tenantId: string;
  readonly userId: string;
  readonly teamId: string;
  readonly repoId: string | null;
  readonly sensitivity: string;
  readonly storagePolicy: 'metadata_only';
  readonly createdMs: number;
  readonly expiresMs: number;
}

/** All that one turn leaves behind, written at once or not at all. Writing it twice changes nothing. */
export interface TurnRecord {
  readonly settlement: Settlement | null;
  readonly audit: readonly AuditRow[];
  readonly costs: readonly CostRow[];
  readonly routing: readonly RoutingRow[];
  readonly raw: RawRow | null;
}

export interface CostQuery {
  readonly tenantId: string;
  readonly by: CostDimension;
  readonly every: CostBucket | null;
  readonly fromMs: number;
  readonly toMs: number;
  readonly teamId?: string;
  readonly userId?: string;
  readonly repoId?: string;
}

export interface CostSum {
  /** The first day of the bucket, or the beginning of the hour; empty when the whole time is one. */
  readonly bucket: string;
  readonly value: string;
  readonly costMicros: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly requests: number;
  readonly failed: number;
}

export interface AuditQuery {
  readonly tenantId: string;
  readonly traceId?: string;
  readonly userId?: string;
  readonly teamId?: string;
  readonly repoId?: string;
  readonly eventType?: string;
  readonly fromMs?: number;
  readonly toMs?: number;
  /** The id of the last row of the page before. */
  readonly before?: number;
  readonly limit: number;
}

export interface TraceRecord {
  readonly audit: readonly (AuditRow & { readonly id: number })[];
  readonly costs: readonly CostRow[];
  readonly routing: readonly RoutingRow[];
}

export interface RecordStore {
  /** Turns that come within one moment are written in one transaction. */
  write(record: TurnRecord): Promise<void>;
  costs(query: CostQuery): Promise<readonly CostSum[]>;
  costsOf(
    of: { readonly traceId: string } | { readonly sessionId: string },
  ): Promise<readonly CostRow[]>;
  audit(query: AuditQuery): Promise<readonly (AuditRow & { readonly id: number })[]>;
  trace(tenantId: string, traceId: string): Promise<TraceRecord | undefined>;
  recentRouting(
    tenantId: string,
    teamId: string | null,
    limit: number,
  ): Promise<readonly RoutingRow[]>;
  /** Traces of a user, team or repository that the configuration does not know. */
  orphans(known: KnownIdentities, fromMs: number): Promise<readonly OrphanTraces[]>;
  /** Rows whose time is over, and the daily sums of what is left. */
  maintain(nowMs: number): Promise<void>;
}

export interface KnownIdentities {
  readonly tenantId: string;
  readonly users: readonly string[];
  readonly teams: readonly string[];
  readonly repos: readonly string[];
}

export interface OrphanTraces {
  readonly kind: 'user' | 'team' | 'repo';
  readonly value: string;
  readonly traces: number;
  readonly lastMs: number;
}

export interface TurnApprovalRow {
  readonly id: string;
  readonly traceId: string;
  readonly tenantId: string;
  readonly requestor: string;
  readonly teamId: string;
  readonly repoId: string | null;
  /** What is asked for: decision, model, why, a summary; never the prompt. */
  readonly snapshot: JsonObject;
  readonly state: 'pending' | 'approved' | 'rejected' | 'expired';
  readonly createdMs: number;
  readonly expiresMs: number;
  readonly resolvedMs: number | null;
  readonly resolver: string | null;
  readonly note: string | null;
  readonly keyId: string | null;
  /** Of the request that may be sent again with this approval; null when the turn itself waits. */
  readonly requestHash: string | null;
  readonly usedMs: number | null;
}

export interface TurnApprovalStore {
  add(approval: TurnApprovalRow): Promise<void>;
  get(tenantId: string, id: string): Promise<TurnApprovalRow | undefined>;
  list(
    tenantId: string,
    state: TurnApprovalRow['state'] | null,
  ): Promise<readonly TurnApprovalRow[]>;
  /** Whether it was pending: the first answer holds. */
  resolve(
    id: string,
    answer: Pick<TurnApprovalRow, 'tenantId' | 'state' | 'resolver' | 'note'> & {
      readonly nowMs: number;
    },
  ): Promise<boolean>;
  /** Whether it was approved, is in time and was not used before: of all that ask, one gets it. */
  use(tenantId: string, id: string, nowMs: number): Promise<boolean>;
  /** Calls back on each change, whichever gateway made it. Returns what ends that. */
  watch(changed: () => void): Promise<() => Promise<void>>;
}

export interface WebhookRow {
  readonly id: string;
  readonly tenantId: string;
  readonly url: string;
  readonly events: readonly string[];
  /** A reference to the secret, never the secret. */
  readonly secretRef: string;
  readonly createdMs: number;
}

export interface DeliveryRow {
  readonly id: string;
  readonly webhookId: string;
  readonly event: string;
  readonly body: string;
  readonly attempts: number;
  readonly dueMs: number;
}

export interface WebhookStore {
  list(tenantId: string): Promise<readonly WebhookRow[]>;
  add(webhook: WebhookRow): Promise<void>;
  remove(tenantId: string, id: string): Promise<boolean>;
  enqueue(delivery: DeliveryRow): Promise<void>;
  /** Takes what is due for so long that no other gateway sends it meanwhile. */
  take(nowMs: number, leaseMs: number, limit: number): Promise<readonly DeliveryRow[]>;
  /** Sent, or given up. */
  finish(id: string): Promise<void>;
  retry(id: string, dueMs: number): Promise<void>;
}

export interface BreakerRow {
  readonly key: string;
  readonly openedMs: number;
  readonly probeMs: number | null;
}

/** Breakers that several gateways share: an endpoint that one found broken is broken for all. */
export interface BreakerStore {
  open(): Promise<readonly BreakerRow[]>;
  set(row: BreakerRow): Promise<void>;
  clear(key: string): Promise<void>;
  /** Takes the one probe of a half-open breaker. */
  takeProbe(key: string, nowMs: number): Promise<boolean>;
}
