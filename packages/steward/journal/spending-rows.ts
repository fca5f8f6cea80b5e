// What models have cost, by day and purpose.
import { integerCell } from '@subluminal/plane/sqlite/rows';
import { purposeIn } from './journal-rows.ts';
import type { TableAccess } from './table-access.ts';
import type { Spending, SpentTurn } from './types.ts';

type Db = TableAccess['db'];

/** A provider says how much it was: a sum that nobody could read any more would end all work of the day. */
export const SPENT_MAX = Number.MAX_SAFE_INTEGER;

/** Within a write. */
export function recordSpending(db: Db, spent: SpentTurn): void {
  const { purpose, taskId, inputTokens, outputTokens, costMicros, workMs, atMs } = spent;
  const sql = `INSERT INTO spending VALUES (?, ?, 1, ?, ?, ?, ?, 0)
    ON CONFLICT (day, purpose) DO UPDATE SET turns = turns + 1,
    input_tokens = ${sum('input_tokens')}, output_tokens = ${sum('output_tokens')},
    cost_micros = ${sum('cost_micros')}, work_ms = work_ms + excluded.work_ms`;
  const values = [inputTokens, outputTokens, costMicros, Math.round(workMs)];
  db.run(sql, dayOf(atMs), purpose, ...values);
  if (taskId === null) return;
  const task = `UPDATE tasks SET cost_micros = min(cost_micros + ?, ${SPENT_MAX}) WHERE id = ?`;
  db.run(task, costMicros, taskId);
}

function sum(column: string): string {
  return `min(${column} + excluded.${column}, ${SPENT_MAX})`;
}

/** Within a write. */
export function countStep(db: Db, taskId: string, atMs: number): void {
  const sql = `INSERT INTO spending SELECT ?, purpose, 0, 0, 0, 0, 0, 1 FROM tasks WHERE id = ?
    ON CONFLICT (day, purpose) DO UPDATE SET steps = steps + 1`;
  db.run(sql, dayOf(atMs), taskId);
}

export function daySpending(db: Db, atMs: number): readonly Spending[] {
  const sql = 'SELECT * FROM spending WHERE day = ? ORDER BY purpose';
  return db.all(sql, dayOf(atMs)).map((row) => ({
    purpose: purposeIn(row),
    turns: integerCell(row, 'turns'),
    inputTokens: integerCell(row, 'input_tokens'),
    outputTokens: integerCell(row, 'output_tokens'),
    costMicros: integerCell(row, 'cost_micros'),
    workMs: integerCell(row, 'work_ms'),
    steps: integerCell(row, 'steps'),
  }));
}

function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}
