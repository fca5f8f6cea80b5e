// The memory in a Postgres: full text by tsvector, vectors by pgvector where the server has it.
import { ThrownFailure, tableFailure } from '@subluminal/contracts';
import {
  openPool,
  type PostgresClient,
  type PostgresDatabase,
} from '@subluminal/gateway/store/postgres';
import { MEMORY_SCHEMA_VERSION, memoryTables } from './memory-tables.ts';
import { postgresVectors } from './postgres-vectors.ts';
import { RANKED_MAX, rareWords } from './rare-words.ts';
import { coreRow, ENTRY_COLUMNS, entryValues, groupOf, memoryRow, requestRow } from './rows.ts';
import type { MemoryRow, MemoryStore, RowFilter, SearchGroup } from './types.ts';

/** Any number that only our migrations use. */
const MIGRATION_LOCK = 1_937_072_493;

const TYPES = {
  int: 'BIGINT',
  // Ids are compared as bytes, whatever the language of the server is.
  key: 'id TEXT COLLATE "C" PRIMARY KEY, is_outside BOOLEAN NOT NULL',
  table: '',
};

const SCHEMA = `${memoryTables(TYPES)}
CREATE TABLE memory_schema (version INTEGER NOT NULL);
INSERT INTO memory_schema VALUES (${MEMORY_SCHEMA_VERSION});
ALTER TABLE memory_entry ADD COLUMN words tsvector NOT NULL
  GENERATED ALWAYS AS (to_tsvector('english', text)) STORED;
CREATE INDEX memory_entry_words ON memory_entry USING gin (words) WHERE state = 'active';
`;

const ALL_TABLES = ['memory_entry', 'memory_core', 'memory_request'];

export function openPostgresMemory(url: string): Promise<MemoryStore> {
  return postgresMemory(openPool(url));
}

export async function postgresMemory(db: PostgresDatabase): Promise<MemoryStore> {
  try {
    await migrate(db);
    return storeOn(db, await postgresVectors(db));
  } catch (cause) {
    await db.close();
    throw cause;
  }
}

async function migrate(db: PostgresDatabase): Promise<void> {
  await db.transaction(async (client) => {
    await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    const { rows } = await client.query("SELECT to_regclass('memory_schema') AS known");
    if (rows[0]?.['known'] === null) {
      await client.query(SCHEMA);
      return;
    }
    const found = await client.query('SELECT version FROM memory_schema');
    const version = Number(found.rows[0]?.['version']);
    if (version <= MEMORY_SCHEMA_VERSION) return;
    const detail = `It has schema ${version}, this version knows ${MEMORY_SCHEMA_VERSION}.`;
    throw new ThrownFailure(tableFailure('SUB_STORE_NEWER', detail));
  });
}

type Vectors = Awaited<ReturnType<typeof postgresVectors>>;

function storeOn(db: PostgresDatabase, vectors: Vectors): MemoryStore {
  const remove = async (client: PostgresClient, ids: readonly string[]) => {
    await vectors.remove(client, ids);
    await client.query('DELETE FROM memory_entry WHERE id = ANY ($1)', [ids]);
  };
  return {
    engine: 'postgres',
    vectors: vectors.support,
    put: (row) =>
      db.transaction(async (client) => {
        const { rows } = await client.query('SELECT text FROM memory_entry WHERE id = $1', [
          row.id,
        ]);
        const isOther = row.state !== 'active' || rows[0]?.['text'] !== row.text;
        if (isOther) await vectors.remove(client, [row.id]);
        await client.query(UPSERT, [...entryValues(row), groupOf(row.provenance) === 'outside']);
      }),
    byIds: (ids) => rowsOf(db, 'WHERE id = ANY ($1)', [ids]),
    byHash: async (hash) => (await rowsOf(db, 'WHERE hash = $1', [hash]))[0],
    list: (filter) => list(db, filter),
    markUsed: async (ids, nowMs) => {
      await db.query('UPDATE memory_entry SET last_used_ms = $1 WHERE id = ANY ($2)', [nowMs, ids]);
    },
    count: () => count(db),
    oldest: async (provenance, limit) => {
      const sql = `SELECT id FROM memory_entry
        WHERE provenance = $1 AND confirmed_ms IS NULL ORDER BY id LIMIT $2`;
      const { rows } = await db.read(sql, [provenance, limit]);
      return rows.map(({ id }) => String(id));
    },
    remove: (ids) => db.transaction((client) => remove(client, ids)),
    removeByHash: (hashes) =>
      db.transaction(async (client) => {
        const sql = 'SELECT id FROM memory_entry WHERE hash = ANY ($1)';
        const { rows } = await client.query(sql, [hashes]);
        const ids = rows.map(({ id }) => String(id));
        if (ids.length > 0) await remove(client, ids);
        return ids.length;
      }),
    scrub: async () => {
      // Dead rows stand in the pages until the table is written anew.
      for (const table of [...ALL_TABLES, ...vectors.tables()])
        await db.query(`VACUUM FULL ${table}`);
    },
    searchText: (words, group, limit) => searchText(db, { words, group, limit }),
    searchVector: vectors.search,
    useModel: vectors.useModel,
    withoutEmbedding: vectors.missing,
    countWithoutEmbedding: vectors.countMissing,
    putEmbeddings: vectors.put,
    ...otherTables(db),
    close: () => db.close(),
  };
}

const UPSERT = `INSERT INTO memory_entry (${ENTRY_COLUMNS}, is_outside)
VALUES (${Array.from({ length: 14 }, (_, place) => `$${place + 1}`).join()})
ON CONFLICT (id) DO UPDATE SET text = excluded.text, provenance = excluded.provenance,
  source = excluded.source, conversation = excluded.conversation, state = excluded.state,
  reasons = excluded.reasons, tags = excluded.tags, created_ms = excluded.created_ms,
  confirmed_ms = excluded.confirmed_ms, last_used_ms = excluded.last_used_ms,
  hash = excluded.hash, seal = excluded.seal, is_outside = excluded.is_outside`;

async function rowsOf(
  db: PostgresDatabase,
  rest: string,
  values: readonly unknown[],
): Promise<readonly MemoryRow[]> {
  const { rows } = await db.read(`SELECT ${ENTRY_COLUMNS} FROM memory_entry ${rest}`, values);
  return rows.map(memoryRow);
}

async function count(db: PostgresDatabase) {
  const { rows } = await db.read(
    'SELECT state, provenance, count(*) AS count FROM memory_entry GROUP BY state, provenance',
  );
  return rows.map((row) => ({
    state: String(row['state']),
    provenance: String(row['provenance']),
    count: Number(row['count']),
  }));
}

interface WordSearch {
  readonly words: readonly string[];
  readonly group: SearchGroup;
  readonly limit: number;
}

async function searchText(db: PostgresDatabase, { words, group, limit }: WordSearch) {
  const isOutside = group === 'outside';
  const rare = rareWords(await wordCounts(db, words, isOutside));
  if (rare.length === 0) return [];
  const sql = `SELECT id, ts_rank(words, query, 1) AS score
FROM memory_entry, to_tsquery('english', $1) query
WHERE state = 'active' AND is_outside = $2 AND words @@ query ORDER BY score DESC LIMIT $3`;
  const { rows } = await db.read(sql, [rare.map(quoted).join(' | '), isOutside, limit]);
  return rows.map(({ id, score }) => ({ id: String(id), score: Number(score) }));
}

async function wordCounts(db: PostgresDatabase, words: readonly string[], isOutside: boolean) {
  const sql = `SELECT w.place, (SELECT count(*) FROM (SELECT 1 FROM memory_entry
    WHERE state = 'active' AND is_outside = $2 AND words @@ to_tsquery('english', w.word) LIMIT $3) e)
FROM unnest($1::text[]) WITH ORDINALITY w (word, place)`;
  const { rows } = await db.read(sql, [words.map(quoted), isOutside, RANKED_MAX]);
  return rows.map(({ place, count: found }) => ({
    word: words[Number(place) - 1] ?? '',
    count: Number(found),
  }));
}

function quoted(word: string): string {
  return `'${word}'`;
}

function list(db: PostgresDatabase, filter: RowFilter): Promise<readonly MemoryRow[]> {
  const { states, provenance, containing, before, limit } = filter;
  const conditions: string[] = [];
  const values: unknown[] = [];
  const add = (condition: (place: string) => string, value: unknown) => {
    if (value === undefined) return;
    values.push(value);
    conditions.push(condition(`$${values.length}`));
  };
  add((place) => `state = ANY (${place})`, states);
  add((place) => `provenance = ${place}`, provenance);
  add((place) => `id < ${place}`, before);
  add((place) => `position(lower(${place}) in lower(text)) > 0`, containing);
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  values.push(limit);
  return rowsOf(db, `${where} ORDER BY id DESC LIMIT $${values.length}`, values);
}

type OtherTables = Pick<
  MemoryStore,
  'core' | 'putCore' | 'removeCore' | 'requests' | 'putRequest' | 'removeRequests'
>;

function otherTables(db: PostgresDatabase): OtherTables {
  return {
    core: async () => (await db.read('SELECT * FROM memory_core ORDER BY key')).rows.map(coreRow),
    putCore: async ({ key, value, setMs, seal }) => {
      const sql = `INSERT INTO memory_core (key, value, set_ms, seal) VALUES ($1, $2, $3, $4)
        ON CONFLICT (key) DO UPDATE SET value = $2, set_ms = $3, seal = $4`;
      await db.query(sql, [key, value, setMs, seal]);
    },
    removeCore: async (keys) => {
      await db.query('DELETE FROM memory_core WHERE key = ANY ($1)', [keys]);
    },
    requests: async () =>
      (await db.read('SELECT * FROM memory_request ORDER BY id')).rows.map(requestRow),
    putRequest: async ({ id, body, reason, conversation, createdMs }) => {
      const sql = `INSERT INTO memory_request (id, body, reason, conversation, created_ms)
        VALUES ($1, $2, $3, $4, $5)`;
      await db.query(sql, [id, body, reason, conversation, createdMs]);
    },
    removeRequests: async (ids) => {
      await db.query('DELETE FROM memory_request WHERE id = ANY ($1)', [ids]);
    },
  };
}
