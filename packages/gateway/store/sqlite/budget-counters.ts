// Budgets on SQLite: each step is one transaction, and no other runs meanwhile. A group moves each of its counters once.
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
import { type CounterMove, GroupCounters, readCounter } from './group-counters.ts';

const ADD_RESERVATION = `INSERT INTO budget_reservation
  (id, trace_id, tenant_id, user_id, team_id, counters, estimated_micros, state, created_ms,
    renewed_ms)
  VALUES (?, ?, ?, ?, ?, ?, ?, 'reserved', ?, ?) ON CONFLICT DO NOTHING`;
const RENEW_RESERVATION = `UPDATE budget_reservation
  SET renewed_ms = ? WHERE id = ? AND state = 'reserved'`;
const END_RESERVATION = `UPDATE budget_reservation
  SET state = ?, actual_micros = ?, settled_ms = ? WHERE id = ? AND state = ?
  RETURNING tenant_id, counters, estimated_micros`;
const EXPIRE_RESERVATIONS = `UPDATE budget_reservation
  SET state = 'expired', settled_ms = ? WHERE state = 'reserved' AND renewed_ms < ? RETURNING *`;

export function counterStates(
  db: SqliteDatabase,
  tenantId: string,
  limits: readonly BudgetLimit[],
): readonly BudgetState[] {
  return db.snapshot(() => limits.map((limit) => ({ limit, ...readCounter(db, tenantId, limit) })));
}

export function reserveAll(db: SqliteDatabase, group: readonly Reservation[]): readonly Reserved[] {
  return db.transaction(() => {
    const counters = new GroupCounters(db);
    const answers = group.map((reservation) => reserve(db, reservation, counters));
    counters.write();
    return answers;
  });
}

function reserve(db: SqliteDatabase, reservation: Reservation, counters: GroupCounters): Reserved {
  const { id, traceId, caller, limits, nowMs } = reservation;
  const { tenantId, userId, teamId } = caller;
  const estimateMicros = Math.round(reservation.estimateMicros);
  const states = limits.map((limit) => ({ limit, ...counters.state(tenantId, limit) }));
  const exceeded = states.find((state) => exceeds(state, estimateMicros));
  if (exceeded !== undefined) {
    const isThere = db.get('SELECT 1 FROM budget_reservation WHERE id = ?', id) !== undefined;
    return isThere ? { kind: 'reserved', states } : { kind: 'exceeded', state: exceeded };
  }
  const held = JSON.stringify(limits.map(({ scope, key, period }) => [scope, key, period]));
  const content = [traceId, tenantId, userId, teamId, held, estimateMicros];
  // Asked again, because the first answer was lost.
  if (db.run(ADD_RESERVATION, id, ...content, nowMs, nowMs) === 0)
    return { kind: 'reserved', states };
  const move = { reservedMicros: estimateMicros, usedMicros: 0, nowMs };
  for (const limit of limits) counters.move(tenantId, limit, move);
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
export function settleAll(
  db: SqliteDatabase,
  settlements: readonly Settlement[],
  nowMs: number,
): void {
  const counters = new GroupCounters(db);
  for (const settlement of settlements) {
    const { kind, reservationId } = settlement;
    const usedMicros = kind === 'commit' ? Math.round(settlement.actualMicros) : 0;
    const ended = kind === 'commit' ? ['committed', usedMicros, nowMs] : ['released', null, nowMs];
    const open = db.get(END_RESERVATION, ...ended, reservationId, 'reserved');
    if (open !== undefined) {
      const reservedMicros = -Number(open['estimated_micros']);
      moveHeld(counters, open, { reservedMicros, usedMicros, nowMs });
    } else if (kind === 'commit') {
      const expired = db.get(END_RESERVATION, ...ended, reservationId, 'expired');
      if (expired !== undefined)
        moveHeld(counters, expired, { reservedMicros: 0, usedMicros, nowMs });
    }
  }
  counters.write();
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
    const counters = new GroupCounters(db);
    const expired = db.all(EXPIRE_RESERVATIONS, nowMs, olderThanMs).map((row) => {
      const estimateMicros = Number(row['estimated_micros']);
      moveHeld(counters, row, { reservedMicros: -estimateMicros, usedMicros: 0, nowMs });
      return {
        id: String(row['id']),
        traceId: String(row['trace_id']),
        tenantId: String(row['tenant_id']),
        userId: String(row['user_id']),
        teamId: String(row['team_id']),
        estimateMicros,
      };
    });
    counters.write();
    return expired;
  });
}

/** Moves the counters that a reservation holds. */
function moveHeld(counters: GroupCounters, reservation: SqlRow, move: CounterMove): void {
  const tenantId = String(reservation['tenant_id']);
  const held = parseJson(String(reservation['counters']));
  for (const counter of Array.isArray(held) ? held : []) {
    const [scope, key, period] = Array.isArray(counter) ? counter.map(String) : [];
    if (scope === undefined || key === undefined || period === undefined) continue;
    counters.move(tenantId, { scope, key, period }, move);
  }
}
