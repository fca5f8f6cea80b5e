// The one SQLite API, from Node itself where it has it and from a package where not. Loaded only
// when a ledger is opened: most commands never need it.
import { isObject } from '@subluminal/contracts';

export type SqlValue = string | number | bigint | null | Uint8Array;

/** Its cells are read as strangers' data: somebody may have changed the file. */
export type SqlRow = { readonly [column: string]: unknown };

export interface Statement {
  run(...values: SqlValue[]): { readonly changes: number | bigint };
  get(...values: SqlValue[]): SqlRow | undefined;
  all(...values: SqlValue[]): readonly SqlRow[];
}

export interface Database {
  readonly isTransaction: boolean;
  exec(sql: string): void;
  prepare(sql: string): Statement;
  enableLoadExtension(isAllowed: boolean): void;
  loadExtension(file: string): void;
  close(): void;
}

export interface OpenOptions {
  readonly readOnly?: boolean;
  readonly timeout?: number;
  readonly enableForeignKeyConstraints?: boolean;
  /** Without it the schema itself can be edited; tests do. */
  readonly defensive?: boolean;
  readonly allowExtension?: boolean;
}

export interface SqliteModule {
  readonly DatabaseSync: new (location: string, options?: OpenOptions) => Database;
}

/** Older versions of Node print a warning about an experiment when their module is loaded. */
const BUILT_IN_SINCE = 26;

export async function loadSqlite(): Promise<SqliteModule> {
  const builtIn = hasBuiltIn(process.versions.node) && process.getBuiltinModule('node:sqlite');
  return isModule(builtIn) ? builtIn : import('@photostructure/sqlite');
}

export function hasBuiltIn(version: string): boolean {
  return Number.parseInt(version, 10) >= BUILT_IN_SINCE;
}

function isModule(value: unknown): value is SqliteModule {
  return isObject(value) && typeof value['DatabaseSync'] === 'function';
}
