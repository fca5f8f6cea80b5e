// The one SQLite API, from Node itself where it has it and from a package where not. Loaded only
// when a ledger is opened: most commands never need it.

export type SqlValue = string | number | bigint | null | Uint8Array;

export interface Statement {
  run(...values: SqlValue[]): { readonly changes: number | bigint };
  get(...values: SqlValue[]): unknown;
  all(...values: SqlValue[]): unknown[];
}

export interface Database {
  readonly isTransaction: boolean;
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

export interface OpenOptions {
  readonly readOnly?: boolean;
  readonly timeout?: number;
  readonly enableForeignKeyConstraints?: boolean;
  /** Without it the schema itself can be edited; tests do. */
  readonly defensive?: boolean;
}

export interface SqliteModule {
  readonly DatabaseSync: new (location: string, options?: OpenOptions) => Database;
}

/** From here on the module of Node itself says nothing of experiments on stderr. */
const BUILT_IN_SINCE = 26;

export async function loadSqlite(): Promise<SqliteModule> {
  const builtIn = hasBuiltIn(process.versions.node) && builtInModule();
  return builtIn || import('@photostructure/sqlite');
}

export function hasBuiltIn(version: string): boolean {
  return Number.parseInt(version, 10) >= BUILT_IN_SINCE;
}

function builtInModule(): SqliteModule | undefined {
  const found: unknown = process.getBuiltinModule('node:sqlite');
  return isModule(found) ? found : undefined;
}

function isModule(value: unknown): value is SqliteModule {
  return (
    typeof value === 'object' &&
    value !== null &&
    'DatabaseSync' in value &&
    typeof value.DatabaseSync === 'function'
  );
}
