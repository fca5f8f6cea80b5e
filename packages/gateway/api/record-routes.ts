// Cost, routing, budgets and the audit: what is on record, as far as the caller may see it.
import { definedFields, GATEWAY_ENDPOINTS } from '@subluminal/contracts';
import type { Caller } from '@subluminal/core/routing';
import {
  badRequest,
  type HttpFailure,
  isHttpFailure,
  NOT_FOUND,
} from '@subluminal/plane/api/http-failure';
import { UNASSIGNED_TEAM } from '../auth/index.ts';
import type { BudgetLimit, BudgetState, CostRow, TraceRecord } from '../store/types.ts';
import { auditEvent, budgetAnswer, centsOf, costAttempt, routingEvent } from './record-answers.ts';
import type { Routes } from './routes.ts';
import { maySee, roleFailure, type Scope, scopeFor } from './scope.ts';
import type { GatewayApiOptions } from './types.ts';

const PAGE_LIMIT = 50;
/** How far back the routing of one developer is looked for among that of the team. */
const OWN_TRACES_MAX = 500;
const CURSOR = /^\d{1,15}$/;
const DAY_MS = 24 * 3_600_000;
/** What a summary covers when it is not said. */
const SUMMARY_DAYS = 30;
/** Hours are summed up from the events themselves. */
const HOURLY_DAYS_MAX = 7;
/** Limits that are looked at for one answer, those of teams first. */
const LIMITS_MAX = 2_000;

export function addRecordRoutes(routes: Routes, options: GatewayApiOptions): void {
  addCosts(routes, options);
  addRouting(routes, options);
  addBudgets(routes, options);
  addAudit(routes, options);
}

function addCosts(routes: Routes, { store, config, nowMs }: GatewayApiOptions): void {
  const { costSummary, costBreakdown } = GATEWAY_ENDPOINTS;
  routes.add(costSummary, async ({ caller, query }) => {
    const scope = scopeFor(caller, query);
    if (isHttpFailure(scope)) return scope;
    const range = timeRange(query);
    if (isHttpFailure(range)) return range;
    const isHourly = query.group_by === 'hour';
    const days = isHourly ? 1 : SUMMARY_DAYS;
    const { toMs = nowMs(), fromMs = toMs - days * DAY_MS } = range;
    if (isHourly && toMs - fromMs > HOURLY_DAYS_MAX * DAY_MS) {
      return badRequest(`By hours you get at most ${HOURLY_DAYS_MAX} days; give \`from\`.`);
    }
    const sums = await store.records.costs({
      tenantId: caller.tenantId,
      by: query.dim,
      every: query.group_by ?? null,
      fromMs,
      toMs,
      ...scope,
      ...definedFields({ repoId: query.repo_id }),
    });
    return {
      rows: sums.map((sum) => ({
        bucket: sum.bucket,
        dim_value: sum.value,
        dim_name: query.dim === 'team' ? config().teamName(sum.value) : null,
        cost_micros: sum.costMicros,
        cost_cents: centsOf(sum.costMicros),
        input_tokens: sum.inputTokens,
        output_tokens: sum.outputTokens,
        n_requests: sum.requests,
        n_failed: sum.failed,
      })),
    };
  });
  routes.add(costBreakdown, async ({ caller, query }) => {
    const { trace_id: traceId, session_id: sessionId } = query;
    const of = traceId === undefined ? sessionOf(sessionId) : { traceId };
    if (of === undefined || (traceId !== undefined && sessionId !== undefined)) {
      return badRequest('Give `trace_id` or `session_id`.');
    }
    const rows = (await store.records.costsOf(of)).filter((row) => isOwn(caller, row));
    if (rows.length === 0) return NOT_FOUND;
    const costMicros = rows.reduce((sum, row) => sum + row.costMicros, 0);
    const total = { cost_micros: costMicros, cost_cents: centsOf(costMicros) };
    return { attempts: rows.map(costAttempt), ...total };
  });
}

function sessionOf(sessionId: string | undefined) {
  return sessionId === undefined ? undefined : { sessionId };
}

function isOwn(caller: Caller, row: Pick<CostRow, 'tenantId' | 'userId' | 'teamId'>): boolean {
  return row.tenantId === caller.tenantId && maySee(caller, row);
}

function addRouting(routes: Routes, { store }: GatewayApiOptions): void {
  routes.add(GATEWAY_ENDPOINTS.routingRecent, async ({ caller, query }) => {
    const { tenantId } = caller;
    const scope = scopeFor(caller, query);
    if (isHttpFailure(scope)) return scope;
    const { limit = PAGE_LIMIT } = query;
    const { userId, teamId } = scope;
    if (userId === undefined) {
      const rows = await store.records.recentRouting(tenantId, teamId ?? null, limit);
      return { rows: rows.map(routingEvent) };
    }
    // Routing is kept by team: of that, the traces of the one user.
    const own = await store.records.audit({ tenantId, userId, limit: OWN_TRACES_MAX });
    const traces = new Set(own.map(({ traceId }) => traceId));
    const rows = await store.records.recentRouting(tenantId, caller.teamId, OWN_TRACES_MAX);
    const found = rows.filter(({ traceId }) => traces.has(traceId)).slice(0, limit);
    return { rows: found.map(routingEvent) };
  });
}

function addBudgets(routes: Routes, options: GatewayApiOptions): void {
  const { store, config, nowMs } = options;
  const { budget, budgets } = GATEWAY_ENDPOINTS;
  routes.add(budget, async ({ caller, query }) => {
    const userId = query.user_id ?? caller.userId;
    const teamId = config().teamOf(userId) ?? UNASSIGNED_TEAM;
    if (!maySee(caller, { userId, teamId })) return roleFailure('You may see your own budgets.');
    const limits = config().limitsFor({ userId, teamId, nowMs: nowMs() });
    const states = await store.budgets.states(caller.tenantId, limits);
    return { budgets: states.map(budgetAnswer) };
  });
  routes.add(budgets, async ({ caller, query }) => {
    const scope = scopeFor(caller, query);
    if (isHttpFailure(scope)) return scope;
    const all = await limitsOf(options, caller, scope);
    const states = await store.budgets.states(caller.tenantId, all.slice(0, LIMITS_MAX));
    const nearest = states.toSorted((one, other) => shareOf(other) - shareOf(one));
    const { teamName } = config();
    return {
      budgets: nearest.slice(0, query.limit ?? PAGE_LIMIT).map((state) => {
        const { scope: kind, key } = state.limit;
        return { ...budgetAnswer(state), name: kind === 'team_month' ? teamName(key) : null };
      }),
      left_out: Math.max(0, all.length - LIMITS_MAX),
    };
  });
}

/** The limits of everyone in a scope, each once: those of teams, then those of users. */
async function limitsOf(
  { store, config, nowMs }: GatewayApiOptions,
  caller: Caller,
  { userId, teamId }: Scope,
): Promise<readonly BudgetLimit[]> {
  const { teams, teamOf, limitsFor } = config();
  const users = (await store.people.users(caller.tenantId)).map((user) => {
    return { userId: user.userId, teamId: teamOf(user.userId) ?? UNASSIGNED_TEAM };
  });
  // A team without users has a budget as well.
  const empty = userId === undefined ? teams.map((id) => ({ userId: '', teamId: id })) : [];
  const seen = [...empty, ...users].filter(
    (one) =>
      (teamId === undefined || one.teamId === teamId) &&
      (userId === undefined || one.userId === userId),
  );
  const limits = seen.flatMap((one) =>
    limitsFor({ ...one, nowMs: nowMs() }).filter(({ key }) => key !== ''),
  );
  const byKey = new Map(limits.map((limit) => [`${limit.scope} ${limit.key}`, limit]));
  const each = [...byKey.values()];
  const ofTeams = each.filter(({ scope }) => scope === 'team_month');
  return [...ofTeams, ...each.filter(({ scope }) => scope !== 'team_month')];
}

/** How much of a limit is gone. */
function shareOf({ limit, usedMicros, reservedMicros }: BudgetState): number {
  return (usedMicros + reservedMicros) / Math.max(1, limit.capMicros);
}

function addAudit(routes: Routes, { store }: GatewayApiOptions): void {
  const { auditSearch, auditTrace } = GATEWAY_ENDPOINTS;
  routes.add(auditSearch, async ({ caller, query }) => {
    const scope = scopeFor(caller, query);
    if (isHttpFailure(scope)) return scope;
    const range = timeRange(query);
    if (isHttpFailure(range)) return range;
    const { cursor, limit = PAGE_LIMIT } = query;
    if (cursor !== undefined && !CURSOR.test(cursor)) {
      return badRequest('`cursor` is not what a page before gave as `next_cursor`.');
    }
    const rows = await store.records.audit({
      tenantId: caller.tenantId,
      ...scope,
      ...range,
      ...definedFields({
        traceId: query.trace_id,
        repoId: query.repo_id,
        eventType: query.event_type,
        before: cursor === undefined ? undefined : Number(cursor),
      }),
      // One more than asked for tells whether there is another page.
      limit: limit + 1,
    });
    const items = rows.slice(0, limit);
    const last = items.at(-1);
    const next_cursor = rows.length > limit && last !== undefined ? String(last.id) : null;
    return { items: items.map(auditEvent), next_cursor };
  });
  routes.add(auditTrace, async ({ caller, ids: { trace_id = '' } }) => {
    const trace = await store.records.trace(caller.tenantId, trace_id);
    if (trace === undefined || !maySeeTrace(caller, trace)) return NOT_FOUND;
    return {
      trace_id,
      events: trace.audit.map(auditEvent),
      routing: trace.routing.map(routingEvent),
      costs: trace.costs.map(costAttempt),
    };
  });
}

/** Whoever may not see a trace is not told that there is one. */
function maySeeTrace(caller: Caller, { audit, costs }: TraceRecord): boolean {
  const owners = [...audit, ...costs];
  if (owners.length === 0) return caller.role === 'platform_admin';
  return owners.every((row) => maySee(caller, row));
}

const DATE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?Z)?$/;

function timeRange(query: {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}): { readonly fromMs?: number; readonly toMs?: number } | HttpFailure {
  const [fromMs, toMs] = [query.from, query.to].map((text) =>
    text === undefined ? undefined : DATE.test(text) ? Date.parse(text) : Number.NaN,
  );
  if (Number.isNaN(fromMs) || Number.isNaN(toMs)) {
    return badRequest('A time is a date like 2026-11-17, or like 2026-11-17T08:30:00Z.');
  }
  return definedFields({ fromMs, toMs });
}
