// The counters of budgets inside of one transaction: each is read when it is first asked for, and written once.
import type { SqliteDatabase } from './database.ts';

const COUNTER = `SELECT used_micros, reserved_micros FROM budget_counter
  WHERE tenant_id = ? AND scope = ? AND key = ? AND period = ?`;
const ADD_COUNTER = `INSERT INTO budget_counter
  (used_micros, reserved_micros, updated_ms, tenant_id, scope, key, period)
  VALUES (?, ?, ?, ?, ?, ?, ?)`;
const MOVE_COUNTER = `UPDATE budget_counter
  SET used_micros = used_micros + ?, reserved_micros = reserved_micros + ?, updated_ms = ?
  WHERE tenant_id = ? AND scope = ? AND key = ? AND period = ?`;

/** The names of a counter within its tenant. */
export interface CounterNames {
  readonly scope: string;
  readonly key: string;
  readonly period: string;
}

export interface CounterState {
  readonly usedMicros: number;
  readonly reservedMicros: number;
}

/** How much more is used and reserved; less, where it is below zero. */
export interface CounterMove extends CounterState {
  readonly nowMs: number;
}

interface MovedCounter {
  readonly names: readonly [tenantId: string, scope: string, key: string, period: string];
  stored: CounterState | undefined;
  usedMicros: number;
  reservedMicros: number;
  updatedMs: number | undefined;
}

export class GroupCounters {
  readonly #db: SqliteDatabase;
  readonly #counters = new Map<string, MovedCounter>();

  constructor(db: SqliteDatabase) {
    this.#db = db;
  }

  /** With what the group has moved so far. */
  state(tenantId: string, names: CounterNames): CounterState {
    const counter = this.#counter(tenantId, names);
    counter.stored ??= readCounter(this.#db, tenantId, names);
    return {
      usedMicros: counter.stored.usedMicros + counter.usedMicros,
      reservedMicros: counter.stored.reservedMicros + counter.reservedMicros,
    };
  }

  move(tenantId: string, names: CounterNames, move: CounterMove): void {
    const counter = this.#counter(tenantId, names);
    counter.usedMicros += move.usedMicros;
    counter.reservedMicros += move.reservedMicros;
    counter.updatedMs = move.nowMs;
  }

  /** A counter that is new, or that retention took, is made: what is used must be seen. */
  write(): void {
    for (const { names, usedMicros, reservedMicros, updatedMs } of this.#counters.values()) {
      if (updatedMs === undefined) continue;
      if (this.#db.run(MOVE_COUNTER, usedMicros, reservedMicros, updatedMs, ...names) === 1)
        continue;
      this.#db.run(ADD_COUNTER, usedMicros, Math.max(0, reservedMicros), updatedMs, ...names);
    }
  }

  #counter(tenantId: string, { scope, key, period }: CounterNames): MovedCounter {
    const names = [tenantId, scope, key, period] as const;
    // Only a key may hold NUL, which a client chose: no two counters have one id.
    const id = `${tenantId}\0${scope}\0${period}\0${key}`;
    const known = this.#counters.get(id);
    if (known !== undefined) return known;
    const made = {
      names,
      stored: undefined,
      usedMicros: 0,
      reservedMicros: 0,
      updatedMs: undefined,
    };
    this.#counters.set(id, made);
    return made;
  }
}

export function readCounter(
  db: SqliteDatabase,
  tenantId: string,
  { scope, key, period }: CounterNames,
): CounterState {
  const row = db.get(COUNTER, tenantId, scope, key, period);
  return {
    usedMicros: Number(row?.['used_micros'] ?? 0),
    reservedMicros: Number(row?.['reserved_micros'] ?? 0),
  };
}
