// The memory in one SQLite file: full text by FTS5, vectors by sqlite-vec where it is installed.

import { ThrownFailure, tableFailure } from '@subluminal/contracts';
import { openDatabase, type SqliteDatabase } from '@subluminal/gateway/store/sqlite';
import type { SqlRow, SqlValue } from '@subluminal/plane/sqlite';
import { MEMORY_SCHEMA_VERSION, memoryTables } from './memory-tables.ts';
import { RANKED_MAX, rareWords } from './rare-words.ts';
import { coreRow, ENTRY_COLUMNS, entryValues, groupOf, memoryRow, requestRow } from './rows.ts';
import { sqliteVectors } from './sqlite-vectors.ts';
import type { MemoryRow, MemoryStore, RowFilter, SearchGroup } from './types.ts';
import { loadVectorExtension } from './vector-extension.ts';

/** "subm" in the header of the file: a database of something else is not touched. */
const APPLICATION_ID = 0x73_75_62_6d;
/** Indexes and vectors of 100,000 entries are read for each search. */
const CACHE_KIB = 32 * 1024;
const BUSY_MS = 2_000;

const TEXT_INDEX = { own: 'memory_text_own', outside: 'memory_text_outside' } as const;

const TYPES = {
  int: 'INTEGER',
  // The index of full text knows entries by number, which VACUUM must not change.
  key: 'number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE',
  table: ' STRICT',
};

const SCHEMA = `${memoryTables(TYPES)}
${Object.values(TEXT_INDEX)
  .map(
    (name) => `CREATE VIRTUAL TABLE ${name} USING fts5(
  text, tokenize='porter unicode61 remove_diacritics 2');
INSERT INTO ${name} (${name}, rank) VALUES ('secure-delete', 1);`,
  )
  .join('\n')}
`;

export interface SqliteMemoryOptions {
  readonly file: string;
  /** Tests go without the extension. */
  readonly withVectors?: boolean;
}

export async function openSqliteMemory(options: SqliteMemoryOptions): Promise<MemoryStore> {
  const { file, withVectors = true } = options;
  let problem = withVectors ? undefined : 'Vectors are turned off.';
  const db = await openDatabase(file, {
    busyMs: BUSY_MS,
    cacheKib: CACHE_KIB,
    setUp: (opened) => {
      // What is deleted is overwritten, also in the log.
      opened.exec('PRAGMA secure_delete = ON');
      if (withVectors) problem = loadVectorExtension(opened);
    },
  });
  try {
    migrate(db);
  } catch (cause) {
    db.close();
    throw cause;
  }
  return storeOn(db, problem);
}

function migrate(db: SqliteDatabase): void {
  db.transaction(() => {
    const version = Number(db.get('PRAGMA user_version')?.['user_version']);
    const isEmpty = db.get('SELECT 1 FROM sqlite_schema') === undefined;
    const owner = Number(db.get('PRAGMA application_id')?.['application_id']);
    if (!isEmpty && owner !== APPLICATION_ID) {
      const detail = `${db.file}: it belongs to another program.`;
      throw new ThrownFailure(tableFailure('SUB_STORE_UNUSABLE', detail));
    }
    if (version > MEMORY_SCHEMA_VERSION) {
      const detail = `${db.file}: it has schema ${version}, this version knows ${MEMORY_SCHEMA_VERSION}.`;
      throw new ThrownFailure(tableFailure('SUB_STORE_NEWER', detail));
    }
    if (!isEmpty) return;
    db.exec(SCHEMA);
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    db.exec(`PRAGMA user_version = ${MEMORY_SCHEMA_VERSION}`);
  });
}

function storeOn(db: SqliteDatabase, problem: string | undefined): MemoryStore {
  const vectors = sqliteVectors(db, problem);
  const removeOne = (id: string) => removeEntry(db, vectors, id);
  return {
    engine: 'sqlite',
    vectors: vectors.support,
    put: async (row) =>
      db.transaction(() => {
        const old = db.get('SELECT text FROM memory_entry WHERE id = ?', row.id);
        if (old !== undefined) unindex(db, row.id);
        if (row.state !== 'active' || old?.['text'] !== row.text) vectors.remove(row.id);
        db.run(UPSERT, ...entryValues(row));
        index(db, row);
      }, true),
    byIds: async (ids) =>
      db
        .all(
          `SELECT ${ENTRY_COLUMNS} FROM memory_entry WHERE id IN (SELECT value FROM json_each(?))`,
          JSON.stringify(ids),
        )
        .map(memoryRow),
    byHash: async (hash) =>
      one(db.get(`SELECT ${ENTRY_COLUMNS} FROM memory_entry WHERE hash = ?`, hash)),
    list: async (filter) => list(db, filter),
    markUsed: async (ids, nowMs) => {
      const sql =
        'UPDATE memory_entry SET last_used_ms = ? WHERE id IN (SELECT value FROM json_each(?))';
      db.run(sql, nowMs, JSON.stringify(ids));
    },
    count: async () => count(db),
    oldest: async (provenance, limit) => oldest(db, provenance, limit),
    remove: async (ids) => {
      db.transaction(() => ids.forEach(removeOne), true);
    },
    removeByHash: async (hashes) =>
      db.transaction(() => {
        const known = hashes
          .map((hash) => db.get('SELECT id FROM memory_entry WHERE hash = ?', hash)?.['id'])
          .filter((id) => typeof id === 'string');
        for (const id of known) removeOne(id);
        return known.length;
      }, true),
    scrub: async () => {
      // Pages that are free, and what the log still holds.
      db.exec('VACUUM');
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    },
    searchText: async (words, group, limit) => searchText(db, { words, group, limit }),
    searchVector: async (vector, group, limit) => vectors.search(vector, group, limit),
    useModel: async (name, dimensions) => vectors.useModel(name, dimensions),
    withoutEmbedding: async (limit, before) => vectors.missing(limit, before),
    countWithoutEmbedding: async () => vectors.countMissing(),
    putEmbeddings: async (embeddings) => vectors.put(embeddings),
    ...otherTables(db),
    close: async () => db.close(),
  };
}

const UPSERT = `INSERT INTO memory_entry (${ENTRY_COLUMNS}) VALUES (${Array.from({ length: 13 }, () => '?').join()})
ON CONFLICT (id) DO UPDATE SET text = excluded.text, provenance = excluded.provenance,
  source = excluded.source, conversation = excluded.conversation, state = excluded.state,
  reasons = excluded.reasons, tags = excluded.tags, created_ms = excluded.created_ms,
  confirmed_ms = excluded.confirmed_ms, last_used_ms = excluded.last_used_ms,
  hash = excluded.hash, seal = excluded.seal`;

function one(row: SqlRow | undefined): MemoryRow | undefined {
  return row === undefined ? undefined : memoryRow(row);
}

function index(db: SqliteDatabase, { id, text, provenance }: MemoryRow): void {
  const sql = `INSERT INTO ${TEXT_INDEX[groupOf(provenance)]} (rowid, text)
    SELECT number, ? FROM memory_entry WHERE id = ? AND state = 'active'`;
  db.run(sql, text, id);
}

/** By number: the row may say something else than what was indexed, when somebody has changed it. */
function unindex(db: SqliteDatabase, id: string): void {
  for (const name of Object.values(TEXT_INDEX)) {
    db.run(`DELETE FROM ${name} WHERE rowid = (SELECT number FROM memory_entry WHERE id = ?)`, id);
  }
}

interface WordSearch {
  readonly words: readonly string[];
  readonly group: SearchGroup;
  readonly limit: number;
}

function searchText(db: SqliteDatabase, { words, group, limit }: WordSearch) {
  const name = TEXT_INDEX[group];
  const rare = rareWords(wordCounts(db, name, words));
  if (rare.length === 0) return [];
  const sql = `SELECT e.id AS id, -f.rank AS score
FROM (SELECT rowid, rank FROM ${name} WHERE ${name} MATCH ? ORDER BY rank LIMIT ?) f
JOIN memory_entry e ON e.number = f.rowid WHERE e.state = 'active'`;
  return db
    .all(sql, rare.map(quoted).join(' OR '), limit)
    .map(({ id, score }) => ({ id: String(id), score: Number(score) }))
    .toSorted((left, right) => right.score - left.score);
}

function wordCounts(db: SqliteDatabase, name: string, words: readonly string[]) {
  const sql = `SELECT count(*) AS count FROM (SELECT 1 FROM ${name} WHERE ${name} MATCH ? LIMIT ?)`;
  return words.map((word) => ({
    word,
    count: Number(db.get(sql, quoted(word), RANKED_MAX)?.['count']),
  }));
}

function quoted(word: string): string {
  return `"${word}"`;
}

function removeEntry(
  db: SqliteDatabase,
  vectors: ReturnType<typeof sqliteVectors>,
  id: string,
): void {
  unindex(db, id);
  vectors.remove(id);
  db.run('DELETE FROM memory_entry WHERE id = ?', id);
}

function count(db: SqliteDatabase) {
  const sql =
    'SELECT state, provenance, count(*) AS count FROM memory_entry GROUP BY state, provenance';
  return db.all(sql).map((row) => ({
    state: String(row['state']),
    provenance: String(row['provenance']),
    count: Number(row['count']),
  }));
}

function oldest(db: SqliteDatabase, provenance: string, limit: number): readonly string[] {
  const sql = `SELECT id FROM memory_entry
    WHERE provenance = ? AND confirmed_ms IS NULL ORDER BY id LIMIT ?`;
  return db.all(sql, provenance, limit).map(({ id }) => String(id));
}

function list(db: SqliteDatabase, filter: RowFilter): readonly MemoryRow[] {
  const { states, provenance, containing, before, limit } = filter;
  const conditions: string[] = [];
  const values: SqlValue[] = [];
  const add = (condition: string, value: SqlValue | undefined) => {
    if (value === undefined) return;
    conditions.push(condition);
    values.push(value);
  };
  add('state IN (SELECT value FROM json_each(?))', states && JSON.stringify(states));
  add('provenance = ?', provenance);
  add('id < ?', before);
  add('instr(lower(text), lower(?)) > 0', containing);
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  const sql = `SELECT ${ENTRY_COLUMNS} FROM memory_entry ${where} ORDER BY id DESC LIMIT ?`;
  return db.all(sql, ...values, limit).map(memoryRow);
}

type OtherTables = Pick<
  MemoryStore,
  'core' | 'putCore' | 'removeCore' | 'requests' | 'putRequest' | 'removeRequests'
>;

function otherTables(db: SqliteDatabase): OtherTables {
  return {
    core: async () => db.all('SELECT * FROM memory_core ORDER BY key').map(coreRow),
    putCore: async ({ key, value, setMs, seal }) =>
      db.transaction(() => {
        const sql =
          'INSERT OR REPLACE INTO memory_core (key, value, set_ms, seal) VALUES (?, ?, ?, ?)';
        db.run(sql, key, value, setMs, seal);
      }, true),
    removeCore: async (keys) => {
      const sql = 'DELETE FROM memory_core WHERE key IN (SELECT value FROM json_each(?))';
      db.run(sql, JSON.stringify(keys));
    },
    requests: async () => db.all('SELECT * FROM memory_request ORDER BY id').map(requestRow),
    putRequest: async ({ id, body, reason, conversation, createdMs }) => {
      const sql =
        'INSERT INTO memory_request (id, body, reason, conversation, created_ms) VALUES (?, ?, ?, ?, ?)';
      db.run(sql, id, body, reason, conversation, createdMs);
    },
    removeRequests: async (ids) => {
      const sql = 'DELETE FROM memory_request WHERE id IN (SELECT value FROM json_each(?))';
      db.run(sql, JSON.stringify(ids));
    },
  };
}
