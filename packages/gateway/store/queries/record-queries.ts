// Questions about what turns left behind, and the end of rows whose time is over.
import { type RawBuilder, sql } from 'kysely';
import { DAY_MS } from '../record-columns.ts';
import { DEFAULT_TENANT, type StoreQueries, type StoreTables } from '../tables.ts';
import type { AuditQuery, KnownIdentities, OrphanTraces, RecordStore } from '../types.ts';
import { sumCosts } from './costs.ts';
import { auditRow, costRow, routingRow } from './record-rows.ts';

/** How long rows are kept. Daily sums of costs stay. */
export interface Retention {
  readonly auditDays: number;
  readonly costDays: number;
  readonly routingDays: number;
}

export const DEFAULT_RETENTION: Retention = { auditDays: 400, costDays: 400, routingDays: 400 };
/** No budget has a period that is longer; a run that is older has ended. */
const COUNTER_DAYS = 62;
const ROWS_PER_DELETE = 2_000;
const TRACE_ROWS_MAX = 1_000;
const ORPHANS_MAX = 1_000;

export function recordQueries(db: StoreQueries, retention: Retention): Omit<RecordStore, 'write'> {
  return {
    costs: (query) => sumCosts(db, query),
    async costsOf(of) {
      const all = db.selectFrom('cost_event').selectAll();
      const wanted =
        'traceId' in of
          ? all.where('traceId', '=', of.traceId)
          : all.where('sessionId', '=', of.sessionId);
      const rows = wanted.orderBy('eventMs').orderBy('attemptNo').limit(TRACE_ROWS_MAX);
      return (await rows.execute()).map(costRow);
    },
    audit: (query) => searchAudit(db, query),
    async trace(tenantId, traceId) {
      const costs = db.selectFrom('cost_event').selectAll();
      const routing = db.selectFrom('routing_event').selectAll();
      const [auditRows, costRows, routingRows] = await Promise.all([
        searchAudit(db, { tenantId, traceId, limit: TRACE_ROWS_MAX }),
        costs
          .where('tenantId', '=', tenantId)
          .where('traceId', '=', traceId)
          .orderBy('attemptNo')
          .execute(),
        routing
          .where('tenantId', '=', tenantId)
          .where('traceId', '=', traceId)
          .orderBy('attemptNo')
          .execute(),
      ]);
      if (auditRows.length + costRows.length + routingRows.length === 0) return undefined;
      return {
        // In the order of what happened; a search has the newest first.
        audit: auditRows.toReversed(),
        costs: costRows.map(costRow),
        routing: routingRows.map(routingRow),
      };
    },
    async recentRouting(tenantId, teamId, limit) {
      let query = db.selectFrom('routing_event').selectAll().where('tenantId', '=', tenantId);
      if (teamId !== null) query = query.where('teamId', '=', teamId);
      const rows = query.orderBy('eventMs', 'desc').orderBy('id', 'desc').limit(limit);
      return (await rows.execute()).map(routingRow);
    },
    orphans: (known, fromMs) => orphanTraces(db, known, fromMs),
    maintain: (nowMs) => dropOldRows(db, retention, nowMs),
  };
}

async function searchAudit(db: StoreQueries, query: AuditQuery) {
  let rows = db.selectFrom('audit_event').selectAll().where('tenantId', '=', query.tenantId);
  for (const column of ['traceId', 'userId', 'teamId', 'repoId', 'eventType'] as const) {
    const value = query[column];
    if (value !== undefined) rows = rows.where(column, '=', value);
  }
  if (query.fromMs !== undefined) rows = rows.where('eventMs', '>=', query.fromMs);
  if (query.toMs !== undefined) rows = rows.where('eventMs', '<', query.toMs);
  if (query.before !== undefined) {
    const last = sql`select event_ms, id from audit_event where id = ${query.before}`;
    rows = rows.where(sql<boolean>`(event_ms, id) < (${last})`);
  }
  // As the indexes are ordered: nothing is sorted, however many rows there are.
  const page = rows.orderBy('eventMs', 'desc').orderBy('id', 'desc').limit(query.limit);
  return (await page.execute()).map(auditRow);
}

async function orphanTraces(
  db: StoreQueries,
  known: KnownIdentities,
  fromMs: number,
): Promise<readonly OrphanTraces[]> {
  const kinds = [
    { kind: 'user', column: 'userId', names: known.users },
    { kind: 'team', column: 'teamId', names: known.teams },
    { kind: 'repo', column: 'repoId', names: known.repos },
  ] as const;
  const found = await Promise.all(
    kinds.map(async ({ kind, column, names }) => {
      const rows = await db
        .selectFrom('audit_event')
        .select([
          column,
          sql<number>`cast(count(distinct trace_id) as bigint)`.as('traces'),
          sql<number>`max(event_ms)`.as('lastMs'),
        ])
        .where('tenantId', '=', known.tenantId)
        .where('eventMs', '>=', fromMs)
        .where(column, 'is not', null)
        .groupBy(column)
        .orderBy('lastMs', 'desc')
        .execute();
      const isKnown = new Set<string | null>(names);
      return rows
        .map((row) => ({ kind, value: row[column], traces: row.traces, lastMs: row.lastMs }))
        .filter(({ value }) => !isKnown.has(value));
    }),
  );
  return found
    .flat()
    .map(({ value, ...orphan }) => ({ ...orphan, value: value ?? '' }))
    .slice(0, ORPHANS_MAX);
}

async function dropOldRows(db: StoreQueries, retention: Retention, nowMs: number): Promise<void> {
  const beforeMs = nowMs - retention.auditDays * DAY_MS;
  const costsMs = nowMs - retention.costDays * DAY_MS;
  const routingMs = nowMs - retention.routingDays * DAY_MS;
  const settledMs = nowMs - COUNTER_DAYS * DAY_MS;
  // The trigger of the audit lets only what is older than this go.
  await db
    .insertInto('audit_retention')
    .values({ tenantId: DEFAULT_TENANT, beforeMs })
    .onConflict((conflict) => conflict.column('tenantId').doUpdateSet({ beforeMs }))
    .execute();
  const over: readonly OldRows[] = [
    { table: 'audit_event', key: 'id', where: sql`event_ms < ${beforeMs}` },
    { table: 'cost_event', key: 'id', where: sql`event_ms < ${costsMs}` },
    { table: 'routing_event', key: 'id', where: sql`event_ms < ${routingMs}` },
    { table: 'raw_record', key: 'trace_id', where: sql`expires_ms < ${nowMs}` },
    { table: 'approval_request', key: 'id', where: sql`expires_ms < ${beforeMs}` },
    { table: 'invite', key: 'token_hash', where: sql`expires_ms < ${settledMs}` },
    { table: 'budget_reservation', key: 'id', where: sql`settled_ms < ${settledMs}` },
    {
      table: 'budget_counter',
      key: 'tenant_id, scope, key, period',
      where: sql`updated_ms < ${settledMs} and reserved_micros = 0`,
    },
  ];
  for (const rows of over) await dropRows(db, rows);
}

interface OldRows {
  readonly table: keyof StoreTables;
  readonly key: string;
  readonly where: RawBuilder<unknown>;
}

/** A few at a time, so that nobody waits long for them. */
async function dropRows(db: StoreQueries, { table, key, where }: OldRows): Promise<void> {
  const columns = sql.raw(key);
  for (;;) {
    const { rows } = await sql`delete from ${sql.table(table)} where (${columns}) in
      (select ${columns} from ${sql.table(table)} where ${where} limit ${ROWS_PER_DELETE})
      returning 1`.execute(db);
    if (rows.length < ROWS_PER_DELETE) return;
  }
}
