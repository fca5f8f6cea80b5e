// What a turn leaves behind: its audit, what each call of a provider cost, and how it was routed. No row holds a
// prompt or an answer.
import type { JsonObject, ModelDecision } from '@subluminal/contracts';
import {
  type Caller,
  type ChainMember,
  type ChoiceRecord,
  type PriceBook,
  type Repo,
  type ServerClass,
  turnCost,
} from '@subluminal/core/routing';
import type { RequestOutline, Usage } from '@subluminal/core/wires';
import { SHADOW_ATTEMPT } from '../store/tables.ts';
import type { AuditRow, CostRow, RawRow, RoutingRow, TurnRecord } from '../store/types.ts';
import type { AttemptOutcome } from '../turns/types.ts';

/** What is known of a turn before it is sent. */
export interface TurnFacts {
  readonly traceId: string;
  readonly sessionId: string | null;
  readonly caller: Caller;
  readonly repo: Repo | undefined;
  readonly repoId: string | null;
  readonly outline: RequestOutline;
  readonly serverClass: ServerClass;
  readonly decision: ModelDecision;
  readonly configVersion: string;
}

/** One call of a provider, as it went. */
export interface MadeAttempt {
  readonly attemptNo: number;
  readonly link: ChainMember;
  readonly outcome: AttemptOutcome;
  /** What the provider counted, or what was estimated; undefined when nothing was used. */
  readonly usage: Usage | undefined;
  readonly breaker: string;
}

const DAY_MS = 24 * 3_600_000;

export function auditRow(
  facts: TurnFacts,
  event: Pick<AuditRow, 'eventMs' | 'eventType'> & Partial<AuditRow>,
): AuditRow {
  const { traceId, sessionId, caller, repoId, decision } = facts;
  return {
    traceId,
    sessionId,
    tenantId: caller.tenantId,
    userId: caller.userId,
    teamId: caller.teamId,
    repoId,
    decision,
    ruleIds: decision.reasons,
    detail: null,
    requestSummary: requestSummary(facts),
    routedTo: null,
    fallbackChain: null,
    errorCode: null,
    ...event,
  };
}

/** A record with nothing but an audit: what was refused, held or found. */
export function auditRecord(audit: readonly AuditRow[]): TurnRecord {
  return { settlement: null, audit, costs: [], routing: [], raw: null };
}

function requestSummary({ outline, serverClass, configVersion }: TurnFacts): JsonObject {
  const { taskType, complexity, dataSensitivity, isAgenticLoop, findings, languages } = serverClass;
  return {
    wire: outline.wire,
    model: outline.model,
    stream: outline.isStream,
    messages: outline.parts.filter(({ kind }) => kind === 'message').length,
    tools: outline.toolNames.length,
    task_type: taskType,
    complexity,
    data_sensitivity: dataSensitivity,
    agentic_loop: isAgenticLoop,
    findings: findings.map(({ type, confidence }) => ({ type, confidence })),
    languages: [...languages],
    config: configVersion,
  };
}

export interface CostedAttempt extends MadeAttempt {
  readonly costMicros: number;
  readonly costSource: CostRow['costSource'];
}

export function costedAttempt(attempt: MadeAttempt, prices: PriceBook): CostedAttempt {
  const { link, usage } = attempt;
  const { endpoint, member } = link;
  const { id: endpointId, provider } = endpoint;
  const cost =
    usage && turnCost(usage, prices.priceFor({ provider, endpointId, model: member.model }));
  if (cost === undefined) return { ...attempt, costMicros: 0, costSource: 'provider_usage' };
  // Nothing is known of the price: the tokens are on record, and the cost is marked.
  if (cost.kind === 'unpriced') return { ...attempt, costMicros: 0, costSource: 'estimated' };
  return { ...attempt, costMicros: cost.costMicros, costSource: cost.source };
}

export function costRow(facts: TurnFacts, attempt: CostedAttempt, eventMs: number): CostRow {
  const { traceId, sessionId, caller, repoId, serverClass, decision } = facts;
  const { attemptNo, link, outcome, usage, costMicros, costSource } = attempt;
  const { endpoint, member, pool } = link;
  return {
    eventMs,
    traceId,
    sessionId,
    attemptNo,
    tenantId: caller.tenantId,
    userId: caller.userId,
    teamId: caller.teamId,
    repoId,
    taskType: serverClass.taskType,
    ruleId: decision.reasons[0] ?? null,
    provider: endpoint.provider,
    endpointId: endpoint.id,
    model: member.model,
    pool: pool.name,
    isPrivate: endpoint.trustTier === 'private',
    isShadow: false,
    inputTokens: usage?.inputTokens ?? 0,
    outputTokens: usage?.outputTokens ?? 0,
    cacheReadTokens: usage?.cacheReadTokens ?? 0,
    cacheCreateTokens: usage?.cacheWriteTokens ?? 0,
    costMicros,
    costSource,
    latencyMs: Math.round(outcome.latencyMs),
    isSuccess: outcome.error === undefined,
    errorClass: outcome.error?.class ?? null,
  };
}

export function routingRow(
  facts: TurnFacts,
  attempt: MadeAttempt,
  { choice, eventMs }: { readonly choice: ChoiceRecord; readonly eventMs: number },
): RoutingRow {
  const { link, outcome, attemptNo, breaker } = attempt;
  return {
    ...routing(facts, { choice, eventMs, link }),
    attemptNo,
    degradedFeatures: outcome.degraded,
    breakerState: breaker,
    error: outcome.error?.class ?? null,
  };
}

/** Where a shadow evaluation would go: on record beside the turn, and not sent. */
export function shadowRow(
  facts: TurnFacts,
  route: { readonly choice: ChoiceRecord; readonly eventMs: number; readonly link: ChainMember },
): RoutingRow {
  return {
    ...routing(facts, route),
    attemptNo: SHADOW_ATTEMPT,
    degradedFeatures: [],
    breakerState: 'closed',
    error: null,
  };
}

function routing(
  { traceId, caller, decision }: TurnFacts,
  route: { readonly choice: ChoiceRecord; readonly eventMs: number; readonly link: ChainMember },
): Omit<RoutingRow, 'attemptNo' | 'degradedFeatures' | 'breakerState' | 'error'> {
  const { choice, eventMs, link } = route;
  const { endpoint, member, pool } = link;
  return {
    eventMs,
    traceId,
    tenantId: caller.tenantId,
    teamId: caller.teamId,
    decision,
    pool: pool.name,
    member: {
      endpoint_id: endpoint.id,
      provider: endpoint.provider,
      model: member.model,
      private: endpoint.trustTier === 'private',
    },
    choice,
    fallbackChain: choice.chain,
    seed: choice.pools.find(({ name }) => name === pool.name)?.seed ?? '',
  };
}

export function rawRow(facts: TurnFacts, createdMs: number, rawDays: number): RawRow | null {
  const { traceId, caller, repo, repoId, serverClass } = facts;
  if (repo?.storage === 'disabled') return null;
  return {
    traceId,
    tenantId: caller.tenantId,
    userId: caller.userId,
    teamId: caller.teamId,
    repoId,
    sensitivity: serverClass.dataSensitivity,
    storagePolicy: 'metadata_only',
    createdMs,
    expiresMs: createdMs + rawDays * DAY_MS,
  };
}
