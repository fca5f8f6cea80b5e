// Reads the cells of a row, and makes the SQL that changes rows.
import { isObject } from '@subluminal/contracts';
import { parseJson } from '../../../os/index.ts';
import { ledgerFailure } from '../chain/ledger-failure.ts';
import type { Cell, Column, Merge, Table, TableAnswer } from '../store/tables.ts';
import type { SqlRow } from './load.ts';

export function textCell(row: SqlRow, column: string): string {
  const value = row[column];
  return typeof value === 'string' ? value : wrong(column, 'a text');
}

export function integerCell(row: SqlRow, column: string): number {
  const value = row[column];
  return typeof value === 'number' && Number.isSafeInteger(value)
    ? value
    : wrong(column, 'an integer');
}

export function bytesCell(row: SqlRow, column: string): Uint8Array {
  const value = row[column];
  return value instanceof Uint8Array ? value : wrong(column, 'bytes');
}

export const textOrNull = nullable(textCell);
export const integerOrNull = nullable(integerCell);
export const bytesOrNull = nullable(bytesCell);

function nullable<T>(read: (row: SqlRow, column: string) => T) {
  return (row: SqlRow, column: string): T | null =>
    row[column] === null ? null : read(row, column);
}

/** A cell of a table of what happened: text, integer or null. */
export function anyCell(row: SqlRow, column: string): Cell {
  return typeof row[column] === 'number' ? integerCell(row, column) : textOrNull(row, column);
}

/** A row of a table as it is answered. */
export function readRow<T extends Table>(table: T, row: SqlRow): TableAnswer<T> {
  const cells = Object.entries(table.columns).flatMap(([name, column]) =>
    column.as === null ? [] : [[column.as ?? name, readCell(row, name, column)] as const],
  );
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- The type is made of the same columns.
  return Object.fromEntries(cells.filter(([, cell]) => cell !== undefined)) as TableAnswer<T>;
}

function readCell(row: SqlRow, name: string, { kind, orNull }: Column): unknown {
  switch (kind) {
    case 'text':
      return orNull === true ? textOrNull(row, name) : textCell(row, name);
    case 'integer':
      return orNull === true ? integerOrNull(row, name) : integerCell(row, name);
    case 'flag':
      return integerCell(row, name) !== 0;
    // Somebody may have edited the JSON by hand: it may be anything.
    case 'classes':
      return textsOf(parseJson(textOrNull(row, name) ?? ''));
    case 'content': {
      const value = parseJson(textOrNull(row, name) ?? '');
      if (!isObject(value) || typeof value['action'] !== 'string') return undefined;
      return { action: value['action'], findings: textsOf(value['findings']) };
    }
  }
}

export function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function wrong(column: string, expected: string): never {
  throw ledgerFailure('SUB_LEDGER_CORRUPT', `The column ${column} holds no ${expected}.`);
}

/** SQL with its values; a condition with an undefined value is left out. */
export type Condition = readonly [sql: string, ...values: (string | number | undefined)[]];

export function where(conditions: readonly Condition[]) {
  const given = conditions.filter(([, ...values]) => !values.includes(undefined));
  return {
    sql: ['1', ...given.map(([sql]) => sql)].join(' AND '),
    values: given.flatMap(([, ...values]) => values).filter((value) => value !== undefined),
  };
}

/** A statement that the `merge` of the columns makes. */
export interface Upsert {
  readonly sql: string;
  /** The values in the order of the statement. */
  readonly values: (delta: { readonly [column: string]: Cell | undefined }) => Cell[];
}

/** Adds a row, or leaves the one that has its key. */
export function insert(table: Table): Upsert {
  return insertion(table, 'ON CONFLICT DO NOTHING');
}

export function upsert(table: Table, returning = ''): Upsert {
  const columns = Object.entries(table.columns);
  const keys = columns.flatMap(([column, { merge }]) => (merge === 'key' ? [column] : []));
  const changes = columns.flatMap(([column, { merge }]) => {
    const change = changed(merge, { old: `${table.name}.${column}`, added: `excluded.${column}` });
    return change === undefined ? [] : [`${column} = ${change}`];
  });
  const set = changes.join(', ');
  return insertion(table, `ON CONFLICT (${keys.join(', ')}) DO UPDATE SET ${set} ${returning}`);
}

function insertion(table: Table, onConflict: string): Upsert {
  const columns = Object.keys(table.columns);
  const sql = `INSERT INTO ${table.name} (${columns.join(', ')})
    VALUES (${columns.map(() => '?').join(', ')}) ${onConflict}`;
  return { sql, values: (delta) => columns.map((column) => delta[column] ?? null) };
}

/** How a column merges, in SQL. */
function changed(
  merge: Merge,
  { old, added }: { readonly old: string; readonly added: string },
): string | undefined {
  switch (merge) {
    case 'key':
    case 'first':
      return undefined;
    case 'last':
      return `COALESCE(${added}, ${old})`;
    case 'min':
    case 'max': {
      const name = merge.toUpperCase();
      return `${name}(COALESCE(${added}, ${old}), COALESCE(${old}, ${added}))`;
    }
    case 'sum':
      return `${old} + ${added}`;
    case 'or':
      return `${old} | ${added}`;
    default: {
      const leader = `excluded.${merge.slice('with '.length)}`;
      return `CASE WHEN ${leader} IS NULL THEN ${old} ELSE ${added} END`;
    }
  }
}

/**
 * Changes an existing row only, and of it only what comes with these columns: indexes on the
 * others stay untouched.
 */
export function update(table: Table, leaders: readonly string[]): Upsert {
  const sets = Object.entries(table.columns).flatMap(([column, { merge }]) => {
    if (merge === 'sum' || merge === 'or') {
      return [{ column, set: `${column} = ${changed(merge, { old: column, added: '?' })}` }];
    }
    const isLed = leaders.includes(column) || leaders.includes(merge.replace(/^with /, ''));
    return isLed ? [{ column, set: `${column} = ?` }] : [];
  });
  return {
    sql: `UPDATE ${table.name} SET ${sets.map(({ set }) => set).join(', ')}`,
    values: (delta) => sets.map(({ column }) => delta[column] ?? null),
  };
}
