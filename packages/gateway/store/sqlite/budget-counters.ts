// Budgets on SQLite: each step is one transaction, and no other runs meanwhile.
import { parseJson } from '@subluminal/plane/os';
import type { SqlRow } from '@subluminal/plane/sqlite';
import type {
  BudgetLimit,
  BudgetState,
  ExpiredReservation,
  Reservation,
  Reserved,
  Settlement,
} from '../types.ts';
import type { SqliteDatabase } from './database.ts';

const ADD_COUNTER = `INSERT INTO budget_counter
  (tenant_id, scope, key, period, used_micros, reserved_micros, updated_ms)
  VALUES (?, ?, ?, ?, ?, ?, ?)`;
const COUNTER = `SELECT used_micros, reserved_micros FROM budget_counter
  WHERE tenant_id = ? AND scope = ? AND key = ? AND period = ?`;
const MOVE_COUNTER = `UPDATE budget_counter
  SET reserved_micros = reserved_micros - ?, used_micros = used_micros + ?, updated_ms = ?
  WHERE tenant_id = ? AND scope = ? AND key = ? AND period = ?`;
const ADD_RESERVATION = `INSERT INTO budget_reservation
  (id, trace_id, tenant_id, user_id, team_id, counters, estimated_micros, state, created_ms,
    renewed_ms)
  VALUES (?, ?, ?, ?, ?, ?, ?, 'reserved', ?, ?) ON CONFLICT DO NOTHING`;
const RENEW_RESERVATION = `UPDATE budget_reservation
  SET renewed_ms = ? WHERE id = ? AND state = 'reserved'`;
const END_RESERVATION = `UPDATE budget_reservation
  SET state = ?, actual_micros = ?, settled_ms = ? WHERE id = ?`;

export function counterState(
  db: SqliteDatabase,
  tenantId: string,
  limit: BudgetLimit,
): BudgetState {
  return foundCounter(db, tenantId, limit) ?? { limit, usedMicros: 0, reservedMicros: 0 };
}

function foundCounter(
  db: SqliteDatabase,
  tenantId: string,
  limit: BudgetLimit,
): BudgetState | undefined {
  const row = db.get(COUNTER, tenantId, limit.scope, limit.key, limit.period);
  if (row === undefined) return undefined;
  const usedMicros = Number(row['used_micros']);
  return { limit, usedMicros, reservedMicros: Number(row['reserved_micros']) };
}

/** Inside of a transaction. */
export function reserve(db: SqliteDatabase, reservation: Reservation): Reserved {
  const { id, traceId, caller, limits, nowMs } = reservation;
  const { tenantId, userId, teamId } = caller;
  const estimateMicros = Math.round(reservation.estimateMicros);
  const states = limits.map((limit) => counterState(db, tenantId, limit));
  const exceeded = states.find((state) => exceeds(state, estimateMicros));
  if (exceeded !== undefined) {
    const isThere = db.get('SELECT 1 FROM budget_reservation WHERE id = ?', id) !== undefined;
    return isThere ? { kind: 'reserved', states } : { kind: 'exceeded', state: exceeded };
  }
  const counters = JSON.stringify(limits.map(({ scope, key, period }) => [scope, key, period]));
  const content = [traceId, tenantId, userId, teamId, counters, estimateMicros];
  // Asked again, because the first answer was lost.
  if (db.run(ADD_RESERVATION, id, ...content, nowMs, nowMs) === 0)
    return { kind: 'reserved', states };
  const move = { heldMicros: -estimateMicros, usedMicros: 0, nowMs };
  for (const { scope, key, period } of limits) {
    moveCounter(db, [tenantId, scope, key, period], move);
  }
  const reserved = states.map((state) => ({
    ...state,
    reservedMicros: state.reservedMicros + estimateMicros,
  }));
  return { kind: 'reserved', states: reserved };
}

function exceeds({ limit, usedMicros, reservedMicros }: BudgetState, moreMicros: number): boolean {
  return limit.onExceeded !== 'warn' && usedMicros + reservedMicros + moreMicros > limit.capMicros;
}

/** Inside of a transaction. A reservation is settled once; one that expired still takes what was used. */
export function settle(db: SqliteDatabase, settlement: Settlement, nowMs: number): void {
  const row = db.get('SELECT * FROM budget_reservation WHERE id = ?', settlement.reservationId);
  const state = row?.['state'];
  if (row === undefined || (state !== 'reserved' && state !== 'expired')) return;
  const isCommit = settlement.kind === 'commit';
  if (state === 'expired' && !isCommit) return;
  const usedMicros = isCommit ? Math.round(settlement.actualMicros) : 0;
  const heldMicros = state === 'reserved' ? Number(row['estimated_micros']) : 0;
  moveCounters(db, row, { heldMicros, usedMicros, nowMs });
  const [ended, actualMicros] = isCommit ? ['committed', usedMicros] : ['released', null];
  db.run(END_RESERVATION, ended, actualMicros, nowMs, settlement.reservationId);
}

export function renew(db: SqliteDatabase, ids: readonly string[], nowMs: number): void {
  db.transaction(() => {
    for (const id of ids) db.run(RENEW_RESERVATION, nowMs, id);
  });
}

export function expire(
  db: SqliteDatabase,
  olderThanMs: number,
  nowMs: number,
): readonly ExpiredReservation[] {
  return db.transaction(() => {
    const rows = db.all(
      "SELECT * FROM budget_reservation WHERE state = 'reserved' AND renewed_ms < ?",
      olderThanMs,
    );
    return rows.map((row) => {
      const estimateMicros = Number(row['estimated_micros']);
      moveCounters(db, row, { heldMicros: estimateMicros, usedMicros: 0, nowMs });
      db.run(END_RESERVATION, 'expired', null, nowMs, String(row['id']));
      return {
        id: String(row['id']),
        traceId: String(row['trace_id']),
        tenantId: String(row['tenant_id']),
        userId: String(row['user_id']),
        teamId: String(row['team_id']),
        estimateMicros,
      };
    });
  });
}

/** What counters no longer hold, and what they have used more. */
interface Move {
  readonly heldMicros: number;
  readonly usedMicros: number;
  readonly nowMs: number;
}

function moveCounters(db: SqliteDatabase, row: SqlRow, move: Move): void {
  const tenantId = String(row['tenant_id']);
  const counters = parseJson(String(row['counters']));
  for (const counter of Array.isArray(counters) ? counters : []) {
    const [scope, key, period] = Array.isArray(counter) ? counter.map(String) : [];
    if (scope === undefined || key === undefined || period === undefined) continue;
    moveCounter(db, [tenantId, scope, key, period], move);
  }
}

/** A counter that is new, or that retention took, is made: what is used must be seen. */
function moveCounter(
  db: SqliteDatabase,
  counter: readonly [tenantId: string, scope: string, key: string, period: string],
  { heldMicros, usedMicros, nowMs }: Move,
): void {
  if (db.run(MOVE_COUNTER, heldMicros, usedMicros, nowMs, ...counter) === 1) return;
  db.run(ADD_COUNTER, ...counter, usedMicros, Math.max(0, -heldMicros), nowMs);
}
