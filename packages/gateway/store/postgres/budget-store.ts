// Budgets on Postgres, shared by all gateways. Reservations that come within one moment go in one call.
import { isJsonObject } from '@subluminal/contracts';
import { parseJson } from '@subluminal/plane/os';
import { GroupedWork } from '../group-work.ts';
import { storeFailure } from '../store-failure.ts';
import type { BudgetLimit, BudgetState, BudgetStore, Reservation, Reserved } from '../types.ts';
import { WRITE_LIMITS } from '../write-limits.ts';
import type { PostgresDatabase } from './database.ts';

/** A turn waits for it: whoever asks hears soon that the database is away. */
const RESERVE_PATIENCE_MS = 2_000;

/** A row for each limit, in their order. */
const COUNTERS = `SELECT used_micros, reserved_micros
  FROM unnest($2::text[], $3::text[], $4::text[])
    WITH ORDINALITY AS asked (scope, key, period, place)
  LEFT JOIN budget_counter c ON c.tenant_id = $1
    AND c.scope = asked.scope AND c.key = asked.key AND c.period = asked.period
  ORDER BY asked.place`;

const EXPIRE = `SELECT * FROM jsonb_to_recordset(expire_budgets($1, $2)) AS expired
  (id text, trace_id text, tenant_id text, user_id text, team_id text, estimated_micros bigint)`;

/** Those that are locked are being settled. */
const RENEW = `UPDATE budget_reservation SET renewed_ms = $2 WHERE id IN (
  SELECT id FROM budget_reservation WHERE id = ANY ($1::text[]) AND state = 'reserved'
  ORDER BY id FOR UPDATE SKIP LOCKED)`;

export interface PostgresBudgets extends BudgetStore {
  close(): Promise<void>;
}

export function postgresBudgets(db: PostgresDatabase): PostgresBudgets {
  const reservations = new GroupedWork<Reservation, Reserved>({
    ...WRITE_LIMITS,
    patienceMs: RESERVE_PATIENCE_MS,
    run: (group) => reserveAll(db, group),
  });
  return {
    states: (tenantId, limits) => counterStates(db, tenantId, limits),
    reserve: (reservation) => reservations.add(reservation),
    async renew(ids, nowMs) {
      await db.query(RENEW, [ids, nowMs]);
    },
    async expire(olderThanMs, nowMs) {
      const { rows } = await db.query(EXPIRE, [olderThanMs, nowMs]);
      return rows.map((row) => ({
        id: String(row['id']),
        traceId: String(row['trace_id']),
        tenantId: String(row['tenant_id']),
        userId: String(row['user_id']),
        teamId: String(row['team_id']),
        estimateMicros: Number(row['estimated_micros']),
      }));
    },
    close: () => reservations.close(),
  };
}

async function counterStates(
  db: PostgresDatabase,
  tenantId: string,
  limits: readonly BudgetLimit[],
): Promise<readonly BudgetState[]> {
  const { rows } = await db.read(COUNTERS, [
    tenantId,
    limits.map(({ scope }) => scope),
    limits.map(({ key }) => key),
    limits.map(({ period }) => period),
  ]);
  return limits.map((limit, place) => {
    const { used_micros, reserved_micros } = rows[place] ?? {};
    const usedMicros = Number(used_micros ?? 0);
    return { limit, usedMicros, reservedMicros: Number(reserved_micros ?? 0) };
  });
}

async function reserveAll(
  db: PostgresDatabase,
  group: readonly Reservation[],
): Promise<readonly Reserved[]> {
  const batch = JSON.stringify(group.map(wishOf));
  const { rows } = await db.query('SELECT reserve_budgets($1::jsonb) AS answers', [batch]);
  const answers = parseJson(String(rows[0]?.['answers']));
  if (!Array.isArray(answers)) throw strangeAnswer();
  return group.map((reservation, place) => reservedIn(answers[place], reservation));
}

function wishOf({ id, traceId, caller, estimateMicros, limits, nowMs }: Reservation) {
  return {
    id,
    trace_id: traceId,
    tenant_id: caller.tenantId,
    user_id: caller.userId,
    team_id: caller.teamId,
    estimate: Math.round(estimateMicros),
    now_ms: Math.round(nowMs),
    limits: limits.map(({ scope, key, period, capMicros, onExceeded }) => ({
      scope,
      key,
      period,
      cap: capMicros,
      is_enforced: onExceeded !== 'warn',
    })),
  };
}

function reservedIn(answer: unknown, { limits }: Reservation): Reserved {
  const { exceeded, states } = isJsonObject(answer) ? answer : {};
  const found = limits.map((limit, place): BudgetState => {
    const state: unknown = Array.isArray(states) ? states[place] : undefined;
    const [usedMicros, reservedMicros] = Array.isArray(state) ? state.map(Number) : [];
    if (usedMicros === undefined || reservedMicros === undefined) throw strangeAnswer();
    return { limit, usedMicros, reservedMicros };
  });
  if (exceeded === null) return { kind: 'reserved', states: found };
  const state = found[Number(exceeded)];
  if (state === undefined) throw strangeAnswer();
  return { kind: 'exceeded', state };
}

/** Fails closed: nothing is known to be reserved. */
function strangeAnswer() {
  return storeFailure('SUB_STORE_UNUSABLE', 'reserve_budgets answers strangely.');
}
