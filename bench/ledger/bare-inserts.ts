// The floor: the same lines as rows of one table with its indexes, in batches, by SQLite alone.
import { join } from 'node:path';
import { loadSqlite } from '@subluminal/plane/sqlite';
import { LineMaker, sources } from './lines.ts';

const BATCH_CALLS = 600;
const SCHEMA = `
  PRAGMA journal_mode = WAL; PRAGMA synchronous = normal; PRAGMA cache_size = -32768;
  PRAGMA wal_autocheckpoint = 4000;
  CREATE TABLE events (seq INTEGER PRIMARY KEY, producer INTEGER NOT NULL, producer_seq INTEGER NOT NULL,
    type TEXT NOT NULL, ts INTEGER NOT NULL, run_id TEXT NOT NULL, line TEXT NOT NULL) STRICT;
  CREATE UNIQUE INDEX by_producer ON events (producer, producer_seq);
  CREATE INDEX by_run ON events (run_id);
  CREATE INDEX by_type ON events (type, ts);`;
const FACTS = /"type":"(\w+)","ts":"([^"]+)","run_id":"([^"]+)"/;

/** Nanoseconds for each row; making the lines and taking them apart is not counted. */
export async function bareInsertNs(folder: string, calls: number): Promise<number> {
  const { DatabaseSync } = await loadSqlite();
  const db = new DatabaseSync(join(folder, 'bare.db'));
  db.exec(SCHEMA);
  const insert = db.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)');
  const maker = new LineMaker(sources(), 1);
  let seq = 0;
  let ms = 0;
  for (let made = 0; made < calls; made += BATCH_CALLS) {
    const rows = Array.from({ length: Math.min(BATCH_CALLS, calls - made) }, () => maker.call())
      .flat()
      .map((line) => ({ line, facts: FACTS.exec(line) ?? [] }));
    const startMs = performance.now();
    db.exec('BEGIN IMMEDIATE');
    for (const { line, facts } of rows) {
      seq += 1;
      const [, type = '', ts = '', run = ''] = facts;
      insert.run(seq, 1, seq, type, Date.parse(ts), run, line);
    }
    db.exec('COMMIT');
    ms += performance.now() - startMs;
  }
  db.close();
  return (ms * 1e6) / seq;
}
