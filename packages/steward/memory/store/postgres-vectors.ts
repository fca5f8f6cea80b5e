// Vectors in Postgres, by the extension pgvector. They are compared one by one, which is exact.

import type { PostgresClient, PostgresDatabase } from '@subluminal/gateway/store/postgres';
import { errorText } from '@subluminal/plane/os';
import type { Embedding, MemoryHit, SearchGroup, VectorSupport } from './types.ts';

const TABLE = 'memory_vector';
/** Behind every id. */
const LAST_ID = '~';

const MISSING = `FROM memory_entry e WHERE e.state = 'active'
  AND NOT EXISTS (SELECT 1 FROM ${TABLE} v WHERE v.id = e.id)`;

export async function postgresVectors(db: PostgresDatabase) {
  const support = await extensionSupport(db);
  const isOn = support.kind === 'on';
  let hasTable = isOn && (await tableExists(db));
  return {
    support,
    tables: () => (hasTable ? [TABLE] : []),
    remove: async (client: PostgresClient, ids: readonly string[]): Promise<void> => {
      if (hasTable) await client.query(`DELETE FROM ${TABLE} WHERE id = ANY ($1)`, [ids]);
    },
    useModel: async (name: string, dimensions: number): Promise<void> => {
      if (!isOn) return;
      await db.transaction((client) => useModel(client, name, dimensions));
      hasTable = true;
    },
    missing: async (limit: number, before = LAST_ID) => {
      if (!hasTable) return [];
      const sql = `SELECT e.id, e.text ${MISSING} AND e.id < $2 ORDER BY e.id DESC LIMIT $1`;
      const { rows } = await db.read(sql, [limit, before]);
      return rows.map(({ id, text }) => ({ id: String(id), text: String(text) }));
    },
    countMissing: async (): Promise<number> => {
      if (!hasTable) return 0;
      const { rows } = await db.read(`SELECT count(*) AS count ${MISSING}`);
      return Number(rows[0]?.['count']);
    },
    put: async (embeddings: readonly Embedding[]): Promise<void> => {
      if (!hasTable || embeddings.length === 0) return;
      // An entry may have been forgotten while the model was at work.
      const sql = `INSERT INTO ${TABLE} (id, is_outside, embedding)
        SELECT e.id, e.is_outside, n.embedding::vector
        FROM unnest($1::text[], $2::text[]) AS n (id, embedding)
        JOIN memory_entry e ON e.id = n.id AND e.state = 'active'
        ON CONFLICT (id) DO UPDATE SET embedding = excluded.embedding`;
      const ids = embeddings.map(({ id }) => id);
      await db.query(sql, [ids, embeddings.map(({ vector }) => vectorText(vector))]);
    },
    search: async (
      vector: Float32Array,
      group: SearchGroup,
      limit: number,
    ): Promise<readonly MemoryHit[]> => {
      if (!hasTable) return [];
      const sql = `SELECT id, 1 - (embedding <=> $1::vector) AS score FROM ${TABLE}
        WHERE is_outside = $2 ORDER BY embedding <=> $1::vector LIMIT $3`;
      const { rows } = await db.read(sql, [vectorText(vector), group === 'outside', limit]);
      return rows.map(({ id, score }) => ({ id: String(id), score: Number(score) }));
    },
  };
}

async function extensionSupport(db: PostgresDatabase): Promise<VectorSupport> {
  try {
    await db.query('CREATE EXTENSION IF NOT EXISTS vector');
    return { kind: 'on' };
  } catch (cause) {
    const { rows } = await db.read("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'");
    const why =
      rows.length === 0
        ? 'The server has no pgvector.'
        : `pgvector cannot be turned on: ${errorText(cause)}.`;
    return { kind: 'off', why };
  }
}

async function tableExists(db: PostgresDatabase): Promise<boolean> {
  const { rows } = await db.read(`SELECT to_regclass('${TABLE}') AS known`);
  return rows[0]?.['known'] !== null;
}

async function useModel(client: PostgresClient, name: string, dimensions: number): Promise<void> {
  const { rows } = await client.query('SELECT name, dimensions FROM memory_model');
  const known = rows[0];
  if (known?.['name'] === name && Number(known['dimensions']) === dimensions) return;
  await client.query(`DROP TABLE IF EXISTS ${TABLE}`);
  await client.query(`CREATE TABLE ${TABLE} (
    id TEXT COLLATE "C" PRIMARY KEY REFERENCES memory_entry (id),
    is_outside BOOLEAN NOT NULL, embedding vector(${Math.trunc(dimensions)}) NOT NULL)`);
  await client.query('DELETE FROM memory_model');
  await client.query('INSERT INTO memory_model (name, dimensions) VALUES ($1, $2)', [
    name,
    dimensions,
  ]);
}

function vectorText(vector: Float32Array): string {
  return `[${vector.join()}]`;
}
