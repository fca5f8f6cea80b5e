// The tables of the journal, and the steps that bring an older file to them.
import { ThrownFailure, tableFailure } from '@subluminal/contracts';
import type { Database } from '@subluminal/plane/sqlite';

/** "subj" in the header of the file: a database of something else is not touched. */
const APPLICATION_ID = 0x73_75_62_6a;

const STEPS: readonly string[] = [
  `
CREATE TABLE conversations (
  id TEXT PRIMARY KEY, channel TEXT NOT NULL, person TEXT NOT NULL, address TEXT NOT NULL,
  run_id TEXT, parent TEXT REFERENCES conversations, created_at INTEGER NOT NULL,
  UNIQUE (channel, person, address)
) STRICT;
CREATE TABLE messages (
  n INTEGER PRIMARY KEY AUTOINCREMENT, conversation TEXT NOT NULL REFERENCES conversations,
  role TEXT NOT NULL, text TEXT NOT NULL, task TEXT, at INTEGER NOT NULL,
  is_sent INTEGER NOT NULL
) STRICT;
CREATE INDEX messages_of ON messages (conversation, n);
CREATE INDEX messages_unsent ON messages (n) WHERE is_sent = 0;
CREATE TABLE tasks (
  id TEXT PRIMARY KEY, n INTEGER NOT NULL UNIQUE, conversation TEXT NOT NULL REFERENCES conversations,
  purpose TEXT NOT NULL, asked_by TEXT NOT NULL, request TEXT NOT NULL, state TEXT NOT NULL, reason TEXT,
  parent TEXT REFERENCES tasks,
  cost_micros INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL, started_at INTEGER, ended_at INTEGER
) STRICT;
CREATE INDEX tasks_below ON tasks (parent) WHERE parent IS NOT NULL;
CREATE INDEX tasks_open ON tasks (n) WHERE state IN ('waiting', 'running');
CREATE TABLE turns (
  task TEXT NOT NULL REFERENCES tasks ON DELETE CASCADE, n INTEGER NOT NULL, text TEXT NOT NULL,
  uses TEXT NOT NULL, model TEXT NOT NULL, PRIMARY KEY (task, n)
) STRICT, WITHOUT ROWID;
CREATE TABLE steps (
  task TEXT NOT NULL REFERENCES tasks ON DELETE CASCADE, n INTEGER NOT NULL, turn INTEGER NOT NULL,
  use_id TEXT NOT NULL, server TEXT NOT NULL, tool TEXT NOT NULL, args TEXT NOT NULL,
  reasoning TEXT NOT NULL, key TEXT NOT NULL, state TEXT NOT NULL, judgements TEXT NOT NULL,
  call_id TEXT, result TEXT, at INTEGER NOT NULL, PRIMARY KEY (task, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX steps_by_time ON steps (at);
CREATE TABLE spending (
  day TEXT NOT NULL, purpose TEXT NOT NULL, turns INTEGER NOT NULL, input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL, cost_micros INTEGER NOT NULL, work_ms INTEGER NOT NULL,
  steps INTEGER NOT NULL,
  PRIMARY KEY (day, purpose)
) STRICT, WITHOUT ROWID;
CREATE TABLE schedules (
  id TEXT PRIMARY KEY, due TEXT NOT NULL, request TEXT NOT NULL, asked_by TEXT NOT NULL, conversation TEXT,
  last_at INTEGER NOT NULL
) STRICT;
CREATE TABLE sub_agents (
  id TEXT PRIMARY KEY, n INTEGER NOT NULL UNIQUE, key TEXT NOT NULL UNIQUE, kind TEXT NOT NULL,
  conversation TEXT NOT NULL REFERENCES conversations, task TEXT NOT NULL REFERENCES tasks,
  request TEXT NOT NULL, state TEXT NOT NULL, result TEXT, spawned_at INTEGER NOT NULL, ended_at INTEGER
) STRICT;
CREATE INDEX sub_agents_open ON sub_agents (n) WHERE ended_at IS NULL;
CREATE TABLE alerts (
  n INTEGER PRIMARY KEY AUTOINCREMENT, cause TEXT NOT NULL, text TEXT NOT NULL, count INTEGER NOT NULL,
  first_at INTEGER NOT NULL, last_at INTEGER NOT NULL, is_told INTEGER NOT NULL
) STRICT;
CREATE INDEX alerts_of ON alerts (cause, last_at);
CREATE TABLE kv (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
`,
  `
ALTER TABLE steps ADD COLUMN run_id TEXT;
ALTER TABLE alerts ADD COLUMN acknowledged_by TEXT;
ALTER TABLE alerts ADD COLUMN acknowledged_at INTEGER;
`,
  'CREATE INDEX tasks_of ON tasks (conversation, n);',
  `
CREATE TABLE runs (id TEXT PRIMARY KEY, conversation TEXT NOT NULL REFERENCES conversations, at INTEGER NOT NULL)
  STRICT, WITHOUT ROWID;
INSERT OR IGNORE INTO runs SELECT s.run_id, t.conversation, s.at FROM steps s JOIN tasks t ON t.id = s.task
  WHERE s.run_id IS NOT NULL;
INSERT OR IGNORE INTO runs SELECT run_id, id, created_at FROM conversations WHERE run_id IS NOT NULL;
`,
];

/** The steps that are missing, in one transaction. Throws its failure. */
export function migrateJournal(db: Database, file: string): void {
  db.exec('BEGIN IMMEDIATE');
  const version = checkedVersion(db, file);
  for (const step of STEPS.slice(version)) db.exec(step);
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
  db.exec(`PRAGMA user_version = ${STEPS.length}`);
  db.exec('COMMIT');
}

function checkedVersion(db: Database, file: string): number {
  const pragma = (name: string) => Number(db.prepare(`PRAGMA ${name}`).get()?.[name]);
  const isEmpty = db.prepare('SELECT 1 FROM sqlite_schema').get() === undefined;
  if (isEmpty) return 0;
  const version = pragma('user_version');
  if (pragma('application_id') === APPLICATION_ID && version <= STEPS.length) return version;
  const why =
    version > STEPS.length ? 'it was made by a newer version' : 'it belongs to another program';
  throw new ThrownFailure(tableFailure('SUB_STEWARD_JOURNAL', `${file}: ${why}.`));
}
