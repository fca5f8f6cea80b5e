// What a row really holds. Rows are read as strangers' data: the file may have been changed.
import { LedgerError } from '../errors.ts';
import type { Cell } from '../tables.ts';

export type RawRow = { readonly [column: string]: unknown };

export function rowOf(value: unknown): RawRow {
  if (isRow(value)) return value;
  throw new LedgerError('SUB_LEDGER_CORRUPT', 'A row is missing.');
}

function isRow(value: unknown): value is RawRow {
  return typeof value === 'object' && value !== null;
}

export function textCell(row: RawRow, column: string): string {
  const value = row[column];
  return typeof value === 'string' ? value : wrong(column, 'a text');
}

export function integerCell(row: RawRow, column: string): number {
  const value = row[column];
  return typeof value === 'number' && Number.isSafeInteger(value)
    ? value
    : wrong(column, 'an integer');
}

export function bytesCell(row: RawRow, column: string): Uint8Array {
  const value = row[column];
  return value instanceof Uint8Array ? value : wrong(column, 'bytes');
}

export function textOrNull(row: RawRow, column: string): string | null {
  return row[column] === null ? null : textCell(row, column);
}

export function integerOrNull(row: RawRow, column: string): number | null {
  return row[column] === null ? null : integerCell(row, column);
}

export function bytesOrNull(row: RawRow, column: string): Uint8Array | null {
  return row[column] === null ? null : bytesCell(row, column);
}

/** A cell of a table of what happened: text, integer or null. */
export function anyCell(row: RawRow, column: string): Cell {
  return typeof row[column] === 'number' ? integerCell(row, column) : textOrNull(row, column);
}

function wrong(column: string, expected: string): never {
  throw new LedgerError('SUB_LEDGER_CORRUPT', `The column ${column} holds no ${expected}.`);
}
