// What several gateways share: approvals, webhook deliveries, breakers.
import { sql } from 'kysely';
import { storableJson } from '../record-columns.ts';
import { type CellsOf, DEFAULT_TENANT, type StoreQueries } from '../tables.ts';
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
      const snapshot = storableJson(JSON.stringify(approval.snapshot));
      const cells = { ...approval, snapshot };
      await db.insertInto('approval_request').values(cells).execute();
      signals.changed();
    },
    async get(tenantId, id) {
      const row = await db
        .selectFrom('approval_request')
        .selectAll()
        .where('tenantId', '=', tenantId)
        .where('id', '=', id)
        .executeTakeFirst();
      return row && approvalRow(row);
    },
    async list(tenantId, state) {
      let query = db.selectFrom('approval_request').selectAll().where('tenantId', '=', tenantId);
      if (state !== null) query = query.where('state', '=', state);
      const newest = query.orderBy('createdMs', 'desc').orderBy('id').limit(APPROVALS_MAX);
      return (await newest.execute()).map(approvalRow);
    },
    async resolve(id, { tenantId, state, resolver, note, nowMs }) {
      const { numUpdatedRows } = await db
        .updateTable('approval_request')
        .set({ state, resolver, note, resolvedMs: nowMs })
        .where('tenantId', '=', tenantId)
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
        .set({ usedMs: nowMs })
        .where('tenantId', '=', tenantId)
        .where('id', '=', id)
        .where('state', '=', 'approved')
        .where('expiresMs', '>', nowMs)
        .where('usedMs', 'is', null)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) return false;
      signals.changed();
      return true;
    },
    watch: signals.watch,
  };
}

function approvalRow(row: CellsOf<'approval_request'>): TurnApprovalRow {
  return { ...row, snapshot: objectIn(row.snapshot) };
}

/** `lock` keeps two gateways from taking the same delivery; SQLite needs none. */
export function webhookStore(db: StoreQueries, lock: 'skip locked' | 'none'): WebhookStore {
  return {
    async list(tenantId) {
      const rows = await db
        .selectFrom('webhook')
        .selectAll()
        .where('tenantId', '=', tenantId)
        .orderBy('createdMs')
        .orderBy('id')
        .execute();
      return rows.map((row) => ({ ...row, events: stringsIn(row.events) }));
    },
    async add(webhook) {
      const cells = { ...webhook, events: JSON.stringify(webhook.events) };
      await db.insertInto('webhook').values(cells).execute();
    },
    async remove(tenantId, id) {
      const { numDeletedRows } = await db
        .deleteFrom('webhook')
        .where('tenantId', '=', tenantId)
        .where('id', '=', id)
        .executeTakeFirst();
      if (numDeletedRows === 0n) return false;
      await db.deleteFrom('webhook_delivery').where('webhookId', '=', id).execute();
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
    async enqueue(delivery) {
      const tenantId = sql<string>`coalesce(
        (select tenant_id from webhook where id = ${delivery.webhookId}), ${DEFAULT_TENANT})`;
      await db
        .insertInto('webhook_delivery')
        .values({ ...delivery, tenantId })
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute();
    },
    async take(nowMs, leaseMs, limit) {
      let due = db
        .selectFrom('webhook_delivery')
        .select('id')
        .where('dueMs', '<=', nowMs)
        .orderBy('dueMs')
        .orderBy('id')
        .limit(limit);
      if (lock === 'skip locked') due = due.forUpdate().skipLocked();
      return (
        db
          .with('due', () => due)
          .updateTable('webhook_delivery')
          // Counted when it is taken: a body that kills the gateway is not sent forever.
          .set((row) => ({ dueMs: nowMs + leaseMs, attempts: row('attempts', '+', 1) }))
          .where('id', 'in', (of) => of.selectFrom('due').select('id'))
          .returning(['id', 'webhookId', 'event', 'body', 'attempts', 'dueMs'])
          .execute()
      );
    },
    async finish(id) {
      await db.deleteFrom('webhook_delivery').where('id', '=', id).execute();
    },
    async retry(id, dueMs) {
      const later = db.updateTable('webhook_delivery').set({ dueMs });
      await later.where('id', '=', id).execute();
    },
  };
}

export function breakerStore(db: StoreQueries): BreakerStore {
  return {
    async open() {
      const breakers = db.selectFrom('breaker').select(['key', 'openedMs', 'probeMs']);
      return breakers.orderBy('key').execute();
    },
    async set({ key, openedMs, probeMs }) {
      const state = { openedMs, probeMs };
      await db
        .insertInto('breaker')
        .values({ tenantId: DEFAULT_TENANT, key, ...state })
        .onConflict((conflict) => conflict.columns(['tenantId', 'key']).doUpdateSet(state))
        .execute();
    },
    async clear(key) {
      await db.deleteFrom('breaker').where('key', '=', key).execute();
    },
    async takeProbe(key, nowMs) {
      const { numUpdatedRows } = await db
        .updateTable('breaker')
        .set({ probeMs: nowMs })
        .where('key', '=', key)
        .where((row) =>
          row.or([row('probeMs', 'is', null), row('probeMs', '<', nowMs - PROBE_LEASE_MS)]),
        )
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },
  };
}
