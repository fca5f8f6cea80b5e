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
import { settleAll } from './budget-counters.ts';
import type { SqliteDatabase } from './database.ts';

const ADD_AUDIT = inserter(AUDIT);
const ADD_COST = inserter(COSTS);
const ADD_ROUTING = inserter(ROUTING);
const ADD_RAW = inserter(RAW);
/** Ids only grow: those behind it are new. */
const LAST_COST = 'SELECT max(id) AS id FROM cost_event';
const ADD_DAILY = addDailySql('cost_event WHERE id > ?');

export function writeRecords(
  db: SqliteDatabase,
  records: readonly TurnRecord[],
  nowMs: number,
): void {
  db.transaction(() => {
    const lastCost = Number(db.get(LAST_COST)?.['id'] ?? 0);
    for (const { audit, costs, routing, raw } of records) {
      for (const row of keyedAudit(audit)) ADD_AUDIT(db, row);
      for (const row of costs) ADD_COST(db, row);
      for (const row of routing) ADD_ROUTING(db, row);
      if (raw !== null) ADD_RAW(db, raw);
    }
    db.run(ADD_DAILY, lastCost);
    settleAll(
      db,
      records.flatMap(({ settlement }) => settlement ?? []),
      nowMs,
    );
  }, true);
}

/** Adds a row that is not there yet. */
function inserter<Row>({ name, columns }: RecordTable<Row>) {
  const sql = `INSERT INTO ${name} (${columns.map((column) => column.name).join(', ')})
    VALUES (${columns.map(() => '?').join(', ')}) ON CONFLICT DO NOTHING`;
  return (db: SqliteDatabase, row: Row): void => {
    db.run(sql, ...columns.map(({ cell }) => sqlCell(cell(row))));
  };
}

function sqlCell(cell: RecordCell): SqlValue {
  return typeof cell === 'boolean' ? Number(cell) : cell;
}
