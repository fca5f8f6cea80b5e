// Vectors in SQLite. One bit of each dimension finds candidates, 8 bits of each put them in order: the bits of
// 100,000 entries are 6 MB to look through, their whole vectors 200 MB. They stand in plain tables, so that what is
// deleted is overwritten as any other row is.
import type { SqliteDatabase } from '@subluminal/gateway/store/sqlite';
import type { SqlRow } from '@subluminal/plane/sqlite';
import { groupOf } from './rows.ts';
import type { Embedding, MemoryHit, SearchGroup, VectorSupport } from './types.ts';

/** So many times more candidates than hits are put in order. */
const CANDIDATES_PER_HIT = 4;
/** Behind every id. */
const LAST_ID = '~';
const BITS_OF_BYTE = 8;
const INT8_MAX = 127;

const TABLES = `
CREATE TABLE IF NOT EXISTS memory_vector (
  id TEXT PRIMARY KEY REFERENCES memory_entry (id), vector BLOB NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS memory_vector_bits (
  group_name TEXT NOT NULL, id TEXT NOT NULL, bits BLOB NOT NULL,
  PRIMARY KEY (group_name, id)) STRICT, WITHOUT ROWID;
`;

/** The plus keeps SQLite from the index of states: it would sort all active entries for each batch. */
const MISSING = `SELECT e.id AS id, e.text AS text FROM memory_entry e
WHERE +e.state = 'active' AND NOT EXISTS (SELECT 1 FROM memory_vector v WHERE v.id = e.id)
  AND e.id < ? ORDER BY e.id DESC LIMIT ?`;

/** Only active entries have vectors. */
const COUNT_MISSING = `SELECT (SELECT count(*) FROM memory_entry WHERE state = 'active')
  - (SELECT count(*) FROM memory_vector_bits) AS count`;

export function sqliteVectors(db: SqliteDatabase, problem: string | undefined) {
  // Without the extension they are kept in order too: a text that goes takes its vector with it.
  db.exec(TABLES);
  const support: VectorSupport =
    problem === undefined ? { kind: 'on' } : { kind: 'off', why: problem };
  const remove = (id: string): void => {
    db.run('DELETE FROM memory_vector WHERE id = ?', id);
    for (const group of ['own', 'outside']) {
      db.run('DELETE FROM memory_vector_bits WHERE group_name = ? AND id = ?', group, id);
    }
  };
  return {
    support,
    remove,
    useModel: (name: string, dimensions: number): void =>
      db.transaction(() => {
        const known = db.get('SELECT name, dimensions FROM memory_model');
        if (known?.['name'] === name && Number(known['dimensions']) === dimensions) return;
        for (const table of ['memory_vector', 'memory_vector_bits', 'memory_model'])
          db.run(`DELETE FROM ${table}`);
        db.run('INSERT INTO memory_model (name, dimensions) VALUES (?, ?)', name, dimensions);
      }),
    missing: (limit: number, before = LAST_ID) =>
      db
        .all(MISSING, before, limit)
        .map(({ id, text }) => ({ id: String(id), text: String(text) })),
    countMissing: (): number => Math.max(0, Number(db.get(COUNT_MISSING)?.['count'])),
    put: (embeddings: readonly Embedding[]): void =>
      db.transaction(() => {
        for (const embedding of embeddings) putOne(db, embedding, remove);
      }),
    search: (vector: Float32Array, group: SearchGroup, limit: number): readonly MemoryHit[] =>
      db
        .all(SEARCH, bitsOf(vector), group, limit * CANDIDATES_PER_HIT, bytesOf(vector), limit)
        .map(hit),
  };
}

const SEARCH = `
WITH candidate AS MATERIALIZED (
  SELECT id, vec_distance_hamming(vec_bit(bits), vec_bit(?)) AS apart
  FROM memory_vector_bits WHERE group_name = ? ORDER BY apart LIMIT ?)
SELECT v.id AS id, 1 - vec_distance_cosine(vec_int8(v.vector), vec_int8(?)) AS score
FROM candidate c JOIN memory_vector v ON v.id = c.id ORDER BY score DESC LIMIT ?`;

function hit({ id, score }: SqlRow): MemoryHit {
  return { id: String(id), score: Number(score) };
}

function putOne(db: SqliteDatabase, { id, vector }: Embedding, remove: (id: string) => void): void {
  // It may have been forgotten while the model was at work.
  const sql = "SELECT provenance FROM memory_entry WHERE id = ? AND state = 'active'";
  const row = db.get(sql, id);
  if (row === undefined) return;
  remove(id);
  db.run('INSERT INTO memory_vector (id, vector) VALUES (?, ?)', id, bytesOf(vector));
  db.run(
    'INSERT INTO memory_vector_bits (group_name, id, bits) VALUES (?, ?, ?)',
    groupOf(String(row['provenance'])),
    id,
    bitsOf(vector),
  );
}

function bitsOf(vector: Float32Array): Uint8Array {
  const bits = new Uint8Array(Math.ceil(vector.length / BITS_OF_BYTE));
  for (const [place, value] of vector.entries()) {
    if (value > 0) bits[place >> 3] = (bits[place >> 3] ?? 0) | (1 << (place & 7));
  }
  return bits;
}

/** The largest value takes the whole range: only the direction counts. */
function bytesOf(vector: Float32Array): Uint8Array {
  const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const bytes = Int8Array.from(vector, (value) =>
    largest === 0 ? 0 : Math.round((value / largest) * INT8_MAX),
  );
  return new Uint8Array(bytes.buffer);
}
