// Writes what turns leave behind, a group of them in one transaction.
import type { SqlValue } from '@subluminal/plane/sqlite';
import {
  AUDIT,
  addDailySql,
  COSTS,
  keyedAudit,
  RAW,
  type RecordCell,
  type RecordTable,
  ROUTING,
} from '../record-columns.ts';
import type { TurnRecord } from '../types.ts';
import { settle } from './budget-counters.ts';
import type { SqliteDatabase } from './database.ts';

const ADD_AUDIT = inserter(AUDIT);
const ADD_COST = inserter(COSTS);
const ADD_ROUTING = inserter(ROUTING);
const ADD_RAW = inserter(RAW);
const ADD_DAILY = addDailySql('cost_event WHERE trace_id = ? AND attempt_no = ?');

export function writeRecords(
  db: SqliteDatabase,
  records: readonly TurnRecord[],
  nowMs: number,
): void {
  db.transaction(() => {
    for (const { settlement, audit, costs, routing, raw } of records) {
      for (const row of keyedAudit(audit)) ADD_AUDIT(db, row);
      for (const row of costs) {
        if (ADD_COST(db, row)) db.run(ADD_DAILY, row.traceId, row.attemptNo);
      }
      for (const row of routing) ADD_ROUTING(db, row);
      if (raw !== null) ADD_RAW(db, raw);
      if (settlement !== null) settle(db, settlement, nowMs);
    }
  }, true);
}

/** Adds a row; false when it is there already. */
function inserter<Row>({ name, columns }: RecordTable<Row>) {
  const sql = `INSERT INTO ${name} (${columns.map((column) => column.name).join(', ')})
    VALUES (${columns.map(() => '?').join(', ')}) ON CONFLICT DO NOTHING`;
  return (db: SqliteDatabase, row: Row): boolean =>
    db.run(sql, ...columns.map(({ cell }) => sqlCell(cell(row)))) === 1;
}

function sqlCell(cell: RecordCell): SqlValue {
  return typeof cell === 'boolean' ? Number(cell) : cell;
}
