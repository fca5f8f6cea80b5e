// Upserts made from the tables' own words on how columns merge.
import type { Cell, Merge, Table } from '../store/tables.ts';

export interface Upsert {
  readonly sql: string;
  /** The values in the order of the statement. */
  readonly values: (delta: { readonly [column: string]: Cell | undefined }) => Cell[];
}

/** Adds a row, or leaves the one that has its key. */
export function insert(table: Table): Upsert {
  const columns = Object.keys(table.columns);
  const sql = `INSERT INTO ${table.name} (${columns.join(', ')})
    VALUES (${columns.map(() => '?').join(', ')}) ON CONFLICT DO NOTHING`;
  return { sql, values: (delta) => columns.map((column) => delta[column] ?? null) };
}

export function upsert(table: Table, returning = ''): Upsert {
  const columns = Object.keys(table.columns);
  const keys = columns.filter((column) => table.columns[column]?.merge === 'key');
  const changes = Object.entries(table.columns).flatMap(([column, { merge }]) => {
    const change = changed(merge, { old: `${table.name}.${column}`, added: `excluded.${column}` });
    return change === undefined ? [] : [`${column} = ${change}`];
  });
  const sql = [
    `INSERT INTO ${table.name} (${columns.join(', ')})`,
    `VALUES (${columns.map(() => '?').join(', ')})`,
    `ON CONFLICT (${keys.join(', ')}) DO UPDATE SET ${changes.join(', ')}`,
    returning,
  ].join('\n');
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
  const columns = Object.keys(table.columns).filter((column) => {
    const merge = table.columns[column]?.merge ?? 'first';
    return leaders.includes(column) || leaders.includes(merge.replace(/^with /, ''));
  });
  const counted = Object.entries(table.columns).flatMap(([column, { merge }]) =>
    merge === 'sum' || merge === 'or' ? [{ column, merge }] : [],
  );
  const changes = [
    ...columns.map((column) => `${column} = ?`),
    ...counted.map(({ column, merge }) => {
      return `${column} = ${changed(merge, { old: column, added: '?' })}`;
    }),
  ];
  const bound = [...columns, ...counted.map(({ column }) => column)];
  return {
    sql: `UPDATE ${table.name} SET ${changes.join(', ')}`,
    values: (delta) => bound.map((column) => delta[column] ?? null),
  };
}
