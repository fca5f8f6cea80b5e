// What several gateways share: approvals, webhook deliveries, breakers.
import { sql } from 'kysely';
import { storableJson } from '../record-columns.ts';
import { type ApprovalCells, DEFAULT_TENANT, type StoreQueries } from '../tables.ts';
import type { BreakerStore, TurnApprovalRow, TurnApprovalStore, WebhookStore } from '../types.ts';
import { objectIn, stringsIn } from './row-text.ts';

/** Nobody reads thousands of approvals; the newest are enough. */
const APPROVALS_MAX = 1_000;
/** A probe whose gateway died is given to the next one. */
const PROBE_LEASE_MS = 60_000;

export interface ApprovalSignals {
  /** Called after each change that this process makes. */
  readonly changed: () => void;
  readonly watch: TurnApprovalStore['watch'];
}

export function approvalStore(db: StoreQueries, signals: ApprovalSignals): TurnApprovalStore {
  return {
    async add(approval) {
      await db.insertInto('approval_request').values(approvalCells(approval)).execute();
      signals.changed();
    },
    async get(tenantId, id) {
      const row = await db
        .selectFrom('approval_request')
        .selectAll()
        .where('tenant_id', '=', tenantId)
        .where('id', '=', id)
        .executeTakeFirst();
      return row && approvalRow(row);
    },
    async list(tenantId, state) {
      let query = db.selectFrom('approval_request').selectAll().where('tenant_id', '=', tenantId);
      if (state !== null) query = query.where('state', '=', state);
      const newest = query.orderBy('created_ms', 'desc').orderBy('id').limit(APPROVALS_MAX);
      return (await newest.execute()).map(approvalRow);
    },
    async resolve(id, { tenantId, state, resolver, note, nowMs }) {
      const { numUpdatedRows } = await db
        .updateTable('approval_request')
        .set({ state, resolver, note, resolved_ms: nowMs })
        .where('tenant_id', '=', tenantId)
        .where('id', '=', id)
        .where('state', '=', 'pending')
        .executeTakeFirst();
      if (numUpdatedRows === 0n) return false;
      signals.changed();
      return true;
    },
    async use(tenantId, id, nowMs) {
      const { numUpdatedRows } = await db
        .updateTable('approval_request')
        .set({ used_ms: nowMs })
        .where('tenant_id', '=', tenantId)
        .where('id', '=', id)
        .where('state', '=', 'approved')
        .where('expires_ms', '>', nowMs)
        .where('used_ms', 'is', null)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) return false;
      signals.changed();
      return true;
    },
    watch: signals.watch,
  };
}

function approvalCells(approval: TurnApprovalRow): ApprovalCells {
  return {
    id: approval.id,
    trace_id: approval.traceId,
    tenant_id: approval.tenantId,
    requestor: approval.requestor,
    team_id: approval.teamId,
    repo_id: approval.repoId,
    snapshot: storableJson(JSON.stringify(approval.snapshot)),
    state: approval.state,
    created_ms: approval.createdMs,
    expires_ms: approval.expiresMs,
    resolved_ms: approval.resolvedMs,
    resolver: approval.resolver,
    note: approval.note,
    key_id: approval.keyId,
    request_hash: approval.requestHash,
    used_ms: approval.usedMs,
  };
}

function approvalRow(row: ApprovalCells): TurnApprovalRow {
  return {
    id: row.id,
    traceId: row.trace_id,
    tenantId: row.tenant_id,
    requestor: row.requestor,
    teamId: row.team_id,
    repoId: row.repo_id,
    snapshot: objectIn(row.snapshot),
    state: row.state,
    createdMs: row.created_ms,
    expiresMs: row.expires_ms,
    resolvedMs: row.resolved_ms,
    resolver: row.resolver,
    note: row.note,
    keyId: row.key_id,
    requestHash: row.request_hash,
    usedMs: row.used_ms,
  };
}

/** `lock` keeps two gateways from taking the same delivery; SQLite needs none. */
export function webhookStore(db: StoreQueries, lock: 'skip locked' | 'none'): WebhookStore {
  return {
    async list(tenantId) {
      const rows = await db
        .selectFrom('webhook')
        .selectAll()
        .where('tenant_id', '=', tenantId)
        .orderBy('created_ms')
        .orderBy('id')
        .execute();
      return rows.map((row) => ({
        id: row.id,
        tenantId: row.tenant_id,
        url: row.url,
        events: stringsIn(row.events),
        secretRef: row.secret_ref,
        createdMs: row.created_ms,
      }));
    },
    async add({ id, tenantId, url, events, secretRef, createdMs }) {
      const content = { url, events: JSON.stringify(events), secret_ref: secretRef };
      const row = { id, tenant_id: tenantId, ...content, created_ms: createdMs };
      await db.insertInto('webhook').values(row).execute();
    },
    async remove(tenantId, id) {
      const { numDeletedRows } = await db
        .deleteFrom('webhook')
        .where('tenant_id', '=', tenantId)
        .where('id', '=', id)
        .executeTakeFirst();
      if (numDeletedRows === 0n) return false;
      await db.deleteFrom('webhook_delivery').where('webhook_id', '=', id).execute();
      return true;
    },
    ...deliveries(db, lock),
  };
}

function deliveries(
  db: StoreQueries,
  lock: 'skip locked' | 'none',
): Pick<WebhookStore, 'enqueue' | 'take' | 'finish' | 'retry'> {
  return {
    async enqueue({ id, webhookId, event, body, attempts, dueMs }) {
      const owner = sql<string>`coalesce(
        (select tenant_id from webhook where id = ${webhookId}), ${DEFAULT_TENANT})`;
      const row = { id, tenant_id: owner, webhook_id: webhookId, event, body, attempts };
      await db
        .insertInto('webhook_delivery')
        .values({ ...row, due_ms: dueMs })
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
    },
    async take(nowMs, leaseMs, limit) {
      let due = db
        .selectFrom('webhook_delivery')
        .select('id')
        .where('due_ms', '<=', nowMs)
        .orderBy('due_ms')
        .orderBy('id')
        .limit(limit);
      if (lock === 'skip locked') due = due.forUpdate().skipLocked();
      const rows = await db
        .with('due', () => due)
        .updateTable('webhook_delivery')
        // Counted when it is taken: a body that kills the gateway is not sent forever.
        .set((row) => ({ due_ms: nowMs + leaseMs, attempts: row('attempts', '+', 1) }))
        .where('id', 'in', (of) => of.selectFrom('due').select('id'))
        .returningAll()
        .execute();
      return rows.map((row) => ({
        id: row.id,
        webhookId: row.webhook_id,
        event: row.event,
        body: row.body,
        attempts: row.attempts,
        dueMs: row.due_ms,
      }));
    },
    async finish(id) {
      await db.deleteFrom('webhook_delivery').where('id', '=', id).execute();
    },
    async retry(id, dueMs) {
      const later = db.updateTable('webhook_delivery').set({ due_ms: dueMs });
      await later.where('id', '=', id).execute();
    },
  };
}

export function breakerStore(db: StoreQueries): BreakerStore {
  return {
    async open() {
      const rows = await db.selectFrom('breaker').selectAll().orderBy('key').execute();
      return rows.map((row) => ({
        key: row.key,
        openedMs: row.opened_ms,
        probeMs: row.probe_ms,
      }));
    },
    async set({ key, openedMs, probeMs }) {
      const state = { opened_ms: openedMs, probe_ms: probeMs };
      await db
        .insertInto('breaker')
        .values({ tenant_id: DEFAULT_TENANT, key, ...state })
        .onConflict((conflict) => conflict.columns(['tenant_id', 'key']).doUpdateSet(state))
        .execute();
    },
    async clear(key) {
      await db.deleteFrom('breaker').where('key', '=', key).execute();
    },
    async takeProbe(key, nowMs) {
      const { numUpdatedRows } = await db
        .updateTable('breaker')
        .set({ probe_ms: nowMs })
        .where('key', '=', key)
        .where((row) =>
          row.or([row('probe_ms', 'is', null), row('probe_ms', '<', nowMs - PROBE_LEASE_MS)]),
        )
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },
  };
}
