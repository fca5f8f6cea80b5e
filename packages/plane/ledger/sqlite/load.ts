// The one SQLite API, from Node itself where it has it and from a package where not. Loaded only
// when a ledger is opened: most commands never need it.

type SqlValue = string | number | bigint | null | Uint8Array;

interface Statement {
  run(...values: SqlValue[]): { readonly changes: number | bigint };
  get(...values: SqlValue[]): unknown;
  all(...values: SqlValue[]): unknown[];
}

interface Database {
  readonly isTransaction: boolean;
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

interface OpenOptions {
  readonly readOnly?: boolean;
  readonly timeout?: number;
  readonly enableForeignKeyConstraints?: boolean;
}

interface SqliteModule {
  readonly DatabaseSync: new (location: string, options?: OpenOptions) => Database;
}

/** From here on the module of Node itself needs no flag. */
const BUILT_IN_SINCE = [22, 13] as const;

async function loadSqlite(): Promise<SqliteModule> {
  const builtIn = hasBuiltIn(process.versions.node) && builtInModule();
  return builtIn || import('@photostructure/sqlite');
}

function hasBuiltIn(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > BUILT_IN_SINCE[0] || (major === BUILT_IN_SINCE[0] && minor >= BUILT_IN_SINCE[1]);
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

export type { Database, OpenOptions, SqliteModule, SqlValue, Statement };
export { hasBuiltIn, loadSqlite };
