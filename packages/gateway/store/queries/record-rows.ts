// Rows of records, from the cells of the database.
import type { CellsOf } from '../tables.ts';
import type { AuditRow, CostRow, RoutingRow } from '../types.ts';
import { objectIn, objectOrNull, objectsIn, stringsIn } from './row-text.ts';

export function auditRow(cells: CellsOf<'audit_event'>): AuditRow & { readonly id: number } {
  const { eventKey: _key, prevHash: _prev, selfHash: _self, ...row } = cells;
  return {
    ...row,
    decision: objectOrNull(row.decision),
    ruleIds: stringsIn(row.ruleIds),
    detail: objectOrNull(row.detail),
    requestSummary: objectOrNull(row.requestSummary),
    fallbackChain: row.fallbackChain === null ? null : objectsIn(row.fallbackChain),
  };
}

export function costRow(cells: CellsOf<'cost_event'>): CostRow {
  const { id: _, ...row } = cells;
  return {
    ...row,
    isPrivate: Boolean(row.isPrivate),
    isShadow: Boolean(row.isShadow),
    isSuccess: Boolean(row.isSuccess),
  };
}

export function routingRow(cells: CellsOf<'routing_event'>): RoutingRow {
  const { id: _, ...row } = cells;
  return {
    ...row,
    decision: objectIn(row.decision),
    member: objectIn(row.member),
    choice: objectIn(row.choice),
    fallbackChain: objectsIn(row.fallbackChain),
    degradedFeatures: stringsIn(row.degradedFeatures),
  };
}
