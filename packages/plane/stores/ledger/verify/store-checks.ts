// Whether the rows are what the events make: rebuilt beside, and compared row by row.

import { isFailure } from '@subluminal/contracts';
import { projectRow } from '../event-types/project.ts';
import type { ChainReader, EventRow, Store, StructureFault, TableRow } from '../store/engine.ts';
import { emptyProjection } from '../store/projection.ts';
import { TABLES, type TableName } from '../store/tables.ts';
import type { WalkCounts } from './chain-walk.ts';
import { type Findings, NOWHERE } from './finding.ts';

const PAGE_ROWS = 1_000;
const SHOWN_LENGTH_MAX = 80;

/** Cheap: how many events the rows say to be made of. */
export async function checkCounts(
  reader: ChainReader,
  walked: WalkCounts,
  findings: Findings,
): Promise<void> {
  const { runEvents, callEvents } = await reader.counts();
  for (const [table, found, expected] of [
    ['runs', runEvents, walked.runEvents],
    ['tool_calls', callEvents, walked.callEvents],
  ] as const) {
    if (found === expected) continue;
    const message = `${table} was made from ${found} events, but ${expected} are there`;
    findings.error('projection', NOWHERE, message);
  }
}

export async function addToScratch(scratch: Store, rows: readonly EventRow[]): Promise<void> {
  const projection = emptyProjection();
  for (const row of rows) projectRow(projection, row);
  await scratch.transaction((transaction) => transaction.merge(projection));
}

/** Names the first row of each table that differs. */
export async function compareTables(
  reader: ChainReader,
  scratch: ChainReader,
  findings: Findings,
): Promise<void> {
  for (const { name } of TABLES) {
    const difference = await firstDifference(reader, scratch, name);
    if (difference !== undefined) findings.error('projection', NOWHERE, difference);
  }
}

async function firstDifference(
  reader: ChainReader,
  scratch: ChainReader,
  table: TableName,
): Promise<string | undefined> {
  const [found, expected] = [rowsOf(reader, table), rowsOf(scratch, table)];
  for (;;) {
    const [left, right] = [await found.next(), await expected.next()];
    if (left.done === true && right.done === true) return undefined;
    const difference = describe(left.value, right.value);
    if (difference !== undefined) return `${table}: ${difference}`;
  }
}

async function* rowsOf(reader: ChainReader, table: TableName): AsyncGenerator<TableRow, undefined> {
  for (let after: TableRow | undefined; ; ) {
    const request = { table, limit: PAGE_ROWS };
    const rows = await reader.rows(after === undefined ? request : { ...request, after });
    yield* rows;
    after = rows.at(-1);
    if (rows.length < PAGE_ROWS) return undefined;
  }
}

function describe(found: TableRow | undefined, expected: TableRow | undefined): string | undefined {
  const row = found ?? expected;
  if (row === undefined) return undefined;
  const name = Object.entries(row)
    .slice(0, 3)
    .map(([column, value]) => `${column} ${shown(value)}`)
    .join(', ');
  if (found === undefined) return `the row with ${name} was removed`;
  if (expected === undefined) return `the row with ${name} was added`;
  const column = Object.keys(found).find((key) => found[key] !== expected[key]);
  if (column === undefined) return undefined;
  const [is, should] = [shown(found[column]), shown(expected[column])];
  return `the row with ${name} has ${column} ${is}, but the events say ${should}`;
}

function shown(value: unknown): string {
  return JSON.stringify(value ?? null).slice(0, SHOWN_LENGTH_MAX);
}

// Whether the database around the events is ours: its schema, its pages and its indexes.

const KIND = { schema: 'schema', index: 'index', damaged: 'unreadable' } as const;

/** True when a table is missing or another one: then no row can be believed. */
export async function hasForeignTables(reader: ChainReader, findings: Findings): Promise<boolean> {
  const faults = await reader.schemaFaults();
  report(faults, findings);
  return faults.some(({ isTable }) => isTable);
}

/** Reads everything once more, by SQLite's own check. */
export async function checkContent(reader: ChainReader, findings: Findings): Promise<void> {
  try {
    report(await reader.contentFaults(), findings);
  } catch (cause) {
    if (!isFailure(cause) || cause.code !== 'SUB_LEDGER_CORRUPT') throw cause;
    findings.error('unreadable', NOWHERE, `the file is damaged: ${cause.message}`);
  }
}

function report(faults: readonly StructureFault[], findings: Findings): void {
  for (const { kind, message } of faults) findings.error(KIND[kind], NOWHERE, message);
}
