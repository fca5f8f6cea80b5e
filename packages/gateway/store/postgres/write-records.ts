// Writes what turns leave behind, a group of them in one transaction: one statement for each table.
import {
  AUDIT,
  addDailySql,
  COSTS,
  type ColumnKind,
  keyedAudit,
  RAW,
  type RecordTable,
  ROUTING,
} from '../record-columns.ts';
import type { Settlement, TurnRecord } from '../types.ts';
import type { PostgresClient, PostgresDatabase } from './database.ts';

const ARRAYS: Record<ColumnKind, string> = {
  text: 'text[]',
  integer: 'bigint[]',
  flag: 'boolean[]',
  json: 'text[]',
};

const ADD_AUDIT = inserter(AUDIT);
const ADD_COSTS = inserter(
  COSTS,
  (sql) => `WITH added AS (${sql} RETURNING *) ${addDailySql('added')}`,
);
const ADD_ROUTING = inserter(ROUTING);
const ADD_RAW = inserter(RAW);

export async function writeRecords(
  db: PostgresDatabase,
  records: readonly TurnRecord[],
  nowMs: number,
): Promise<void> {
  await db.transaction(async (client) => {
    await ADD_AUDIT(
      client,
      records.flatMap(({ audit }) => keyedAudit(audit)),
    );
    await ADD_ROUTING(
      client,
      records.flatMap(({ routing }) => routing),
    );
    await ADD_RAW(
      client,
      records.flatMap(({ raw }) => (raw === null ? [] : [raw])),
    );
    await ADD_COSTS(
      client,
      records.flatMap(({ costs }) => costs),
    );
    // Last: the counters that it locks are those that all turns of a team wait for.
    await settle(client, records, nowMs);
  });
}

async function settle(
  client: PostgresClient,
  records: readonly TurnRecord[],
  nowMs: number,
): Promise<void> {
  const settlements = new Map<string, Settlement>();
  for (const { settlement } of records) {
    if (settlement === null || settlements.has(settlement.reservationId)) continue;
    settlements.set(settlement.reservationId, settlement);
  }
  if (settlements.size === 0) return;
  const batch = [...settlements.values()].map((settlement) => ({
    id: settlement.reservationId,
    kind: settlement.kind,
    actual: settlement.kind === 'commit' ? Math.round(settlement.actualMicros) : null,
  }));
  await client.query('SELECT settle_budgets($1::jsonb, $2)', [JSON.stringify(batch), nowMs]);
}

/** Adds rows that are not there yet; an array for each column. */
function inserter<Row>({ name, columns }: RecordTable<Row>, around = (sql: string) => sql) {
  const names = columns.map((column) => column.name).join(', ');
  const cells = columns.map((column) => column.name + (column.kind === 'json' ? '::jsonb' : ''));
  const arrays = columns.map(({ kind }, place) => `$${place + 1}::${ARRAYS[kind]}`);
  const sql = around(`INSERT INTO ${name} (${names}) SELECT ${cells.join(', ')}
    FROM unnest(${arrays.join(', ')}) AS given (${names}) ON CONFLICT DO NOTHING`);
  return async (client: PostgresClient, rows: readonly Row[]): Promise<void> => {
    if (rows.length === 0) return;
    await client.query(
      sql,
      columns.map(({ cell }) => rows.map((row) => cell(row))),
    );
  };
}
