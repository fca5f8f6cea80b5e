// The tables of the memory, for both engines. Indexes for searches are each engine's own.

export interface MemoryColumnTypes {
  readonly int: string;
  /** How entries are numbered and named. */
  readonly key: string;
  readonly table: string;
}

export function memoryTables({ int, key, table }: MemoryColumnTypes): string {
  return `
CREATE TABLE memory_entry (
  ${key}, text TEXT NOT NULL, provenance TEXT NOT NULL, source TEXT NOT NULL,
  conversation TEXT, state TEXT NOT NULL, reasons TEXT NOT NULL, tags TEXT NOT NULL,
  created_ms ${int} NOT NULL, confirmed_ms ${int}, last_used_ms ${int},
  hash TEXT NOT NULL UNIQUE, seal TEXT NOT NULL)${table};
CREATE INDEX memory_entry_state ON memory_entry (state, provenance, id);
CREATE TABLE memory_core (
  key TEXT PRIMARY KEY, value TEXT NOT NULL, set_ms ${int} NOT NULL, seal TEXT NOT NULL)${table};
CREATE TABLE memory_request (
  id TEXT PRIMARY KEY, body TEXT NOT NULL, reason TEXT NOT NULL, conversation TEXT,
  created_ms ${int} NOT NULL)${table};
CREATE TABLE memory_model (name TEXT NOT NULL, dimensions ${int} NOT NULL)${table};
`;
}

export const MEMORY_SCHEMA_VERSION = 1;
