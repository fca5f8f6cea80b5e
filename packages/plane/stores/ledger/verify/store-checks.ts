// Whether the rows are what the events make, and the database around them is ours: its schema, its
// pages and its indexes.

import { isFailure } from '@subluminal/contracts';
import type { ChainReader } from '../sqlite/chain-reads.ts';
import { type StructureFault, type TableRow, tableRows } from '../store/stored-rows.ts';
import { TABLES, type TableName } from '../store/tables.ts';
import type { Findings } from './finding.ts';

const SHOWN_LENGTH_MAX = 80;

/** Cheap: compares only how many events the rows were made of. */
export async function checkCounts(
  reader: ChainReader,
  walked: { readonly runEvents: number; readonly callEvents: number },
  findings: Findings,
): Promise<void> {
  const { runEvents, callEvents } = await reader.counts();
  for (const [table, found, expected] of [
    ['runs', runEvents, walked.runEvents],
    ['tool_calls', callEvents, walked.callEvents],
  ] as const) {
    if (found === expected) continue;
    const message = `${table} was made from ${found} events, but ${expected} are there`;
    findings.error('projection', message);
  }
}

type RowsReader = Pick<ChainReader, 'rows'>;

/** Names the first row of each table that differs. */
export async function compareTables(
  reader: RowsReader,
  scratch: RowsReader,
  findings: Findings,
): Promise<void> {
  for (const { name } of TABLES) {
    const difference = await firstDifference(reader, scratch, name);
    if (difference !== undefined) findings.error('projection', difference);
  }
}

async function firstDifference(
  reader: RowsReader,
  scratch: RowsReader,
  table: TableName,
): Promise<string | undefined> {
  const [found, expected] = [tableRows(reader, table), tableRows(scratch, table)];
  for (;;) {
    const [left, right] = [await found.next(), await expected.next()];
    if (left.done === true && right.done === true) return undefined;
    const difference = describe(left.value, right.value);
    if (difference !== undefined) return `${table}: ${difference}`;
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

/** True when a table is missing or another one: then no row can be believed. */
export async function hasForeignTables(reader: ChainReader, findings: Findings): Promise<boolean> {
  const faults = await reader.schemaFaults();
  report(faults, findings);
  return faults.some(({ isTable }) => isTable === true);
}

/** Reads everything once more, by SQLite's own check. */
export async function checkContent(
  reader: ChainReader,
  findings: Findings,
  isDeep: boolean,
): Promise<void> {
  try {
    report(await reader.contentFaults(isDeep), findings);
  } catch (cause) {
    if (!isFailure(cause) || cause.code !== 'SUB_LEDGER_CORRUPT') throw cause;
    findings.error('unreadable', `the file is damaged: ${cause.message}`);
  }
}

function report(faults: readonly StructureFault[], findings: Findings): void {
  for (const { kind, message, seq } of faults) findings.error(kind, message, seq);
}
