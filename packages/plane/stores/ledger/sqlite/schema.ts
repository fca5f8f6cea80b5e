// The schema, as the steps that lead to it. A step that was released never changes.

import { ledgerFailure } from '../chain/ledger-failure.ts';
import { TABLES } from '../store/tables.ts';
import type { Database } from './load.ts';
import { integerCell } from './rows.ts';

const FIRST = `
CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The source of truth. The line stands last: it alone is long.
CREATE TABLE producers (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE events (
  seq INTEGER PRIMARY KEY,
  producer_id INTEGER NOT NULL REFERENCES producers (id),
  producer_seq INTEGER NOT NULL,
  hash BLOB NOT NULL,
  digest BLOB,
  type TEXT,
  ts INTEGER,
  run_id TEXT,
  line TEXT
) STRICT;
CREATE UNIQUE INDEX events_producer ON events (producer_id, producer_seq);
CREATE INDEX events_run ON events (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX events_pruned ON events (seq) WHERE digest IS NOT NULL;

CREATE TABLE heads (
  n INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  seq INTEGER NOT NULL,
  hash TEXT NOT NULL,
  count INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  prev TEXT NOT NULL,
  key_id TEXT NOT NULL,
  signature TEXT NOT NULL
) STRICT;

CREATE TABLE rejects (
  id INTEGER PRIMARY KEY,
  producer TEXT NOT NULL,
  producer_seq INTEGER NOT NULL,
  reason TEXT NOT NULL,
  line TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (producer, producer_seq)
) STRICT;

-- What the events say, ready to be asked for.
CREATE TABLE runs (
  run_id TEXT PRIMARY KEY,
  agent_id TEXT,
  client TEXT,
  env TEXT,
  principal TEXT,
  started_at INTEGER,
  ended_at INTEGER,
  status TEXT,
  mode TEXT,
  policy_id TEXT,
  policy_version TEXT,
  policy_hash TEXT,
  metadata_json TEXT,
  summary_json TEXT,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  events INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_time ON runs (first_at);
CREATE INDEX runs_agent ON runs (agent_id, first_at);
CREATE INDEX runs_last ON runs (last_at);

CREATE TABLE tool_calls (
  id INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL,
  call_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  server_name TEXT NOT NULL,
  tool_name TEXT NOT NULL,
  args_hash TEXT NOT NULL,
  transport TEXT,
  call_seq INTEGER,
  bytes_in INTEGER,
  risk_json TEXT,
  decision TEXT,
  rule_id TEXT,
  severity TEXT,
  reason_code TEXT,
  summary TEXT,
  would_action TEXT,
  would_rule_id TEXT,
  status TEXT,
  latency_ms INTEGER,
  bytes_out INTEGER,
  error_class TEXT,
  error_message TEXT,
  preview_truncated INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  events INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX calls_key ON tool_calls (run_id, call_id);
CREATE INDEX calls_run ON tool_calls (run_id, created_at);
CREATE INDEX calls_server_tool ON tool_calls (server_name, tool_name, created_at);
CREATE INDEX calls_tool ON tool_calls (tool_name, created_at);
CREATE INDEX calls_decision_status ON tool_calls (decision, status, created_at);
CREATE INDEX calls_args ON tool_calls (args_hash, created_at);
CREATE INDEX calls_agent ON tool_calls (agent_id, created_at);
CREATE INDEX calls_time ON tool_calls (created_at);
-- Most calls are allowed and end well; the others are what people look for.
CREATE INDEX calls_refused ON tool_calls (created_at, decision) WHERE decision <> 'ALLOW';
CREATE INDEX calls_failed ON tool_calls (created_at, status)
  WHERE status IS NULL OR status <> 'OK';
CREATE INDEX calls_rule ON tool_calls (rule_id, created_at) WHERE rule_id IS NOT NULL;

CREATE TABLE previews (
  id INTEGER PRIMARY KEY REFERENCES tool_calls (id) ON DELETE CASCADE,
  call_id TEXT NOT NULL,
  redaction_flags INTEGER NOT NULL,
  args_preview TEXT,
  result_preview TEXT
) STRICT;

CREATE TABLE hints (
  run_id TEXT NOT NULL,
  call_id TEXT NOT NULL,
  hint_text TEXT NOT NULL,
  suggested_args_json TEXT,
  retry_advice TEXT,
  hint_kind TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (run_id, call_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE policy_versions (
  policy_id TEXT NOT NULL,
  version TEXT NOT NULL,
  rules_hash TEXT NOT NULL,
  mode TEXT,
  rules_json TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (policy_id, version, rules_hash)
) STRICT, WITHOUT ROWID;
`;

/** What was found in the arguments and in the answer. */
const CONTENT = `
ALTER TABLE tool_calls ADD COLUMN args_content_json TEXT;
ALTER TABLE tool_calls ADD COLUMN result_content_json TEXT;
`;

/** From step 3 on, the tables themselves say which columns a step adds. */
function columnsSince(step: number): string {
  const statements = TABLES.flatMap(({ name, columns }) =>
    Object.entries(columns)
      .filter(([, { since }]) => since === step)
      .map(([column, { kind, fallback }]) => {
        const type = kind === 'integer' || kind === 'flag' ? 'INTEGER' : 'TEXT';
        const filled = fallback === undefined ? '' : ` NOT NULL DEFAULT '${fallback}'`;
        return `ALTER TABLE ${name} ADD COLUMN ${column} ${type}${filled};`;
      }),
  );
  return statements.join('\n');
}

/** Turns beside tool calls. */
const TURNS = `${columnsSince(3)}
CREATE INDEX calls_model ON tool_calls (provider, model, created_at) WHERE kind = 'turn';`;

/** Who approved a call. */
const APPROVALS = `
CREATE TABLE approvals (
  run_id TEXT NOT NULL,
  call_id TEXT NOT NULL,
  rule_id TEXT NOT NULL,
  state TEXT NOT NULL,
  decided_by TEXT,
  PRIMARY KEY (run_id, call_id, rule_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX approvals_by ON approvals (decided_by) WHERE decided_by IS NOT NULL;
`;

/** In the words of the index: SQLite takes it only for a question that repeats them. */
export const NOTICE_TYPES = "type IN ('surface', 'breaker_trip', 'secret_injection')";

/** The few events that are about a server, among many of calls. */
const NOTICES = `CREATE INDEX events_notices ON events (type, seq) WHERE ${NOTICE_TYPES};`;

/** What rules would have done: few calls but where a policy only observes. */
const WOULD = `CREATE INDEX calls_would ON tool_calls (would_rule_id, created_at)
  WHERE would_rule_id IS NOT NULL;`;

/** What an index has of a hash: enough to leave hardly any other call. */
export function startOfHash(hash: string): string {
  return `substr(${hash}, 1, 16)`;
}

/**
 * A line stands once: as it came, then packed with its neighbours; lines of earlier versions stay in `events`. A
 * preview is read from the line that brought it.
 */
const PACKED_LINES = `
CREATE TABLE lines (
  seq INTEGER PRIMARY KEY,
  line TEXT NOT NULL
) STRICT;
CREATE TABLE line_blocks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  first_seq INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  bytes BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX line_blocks_seq ON line_blocks (first_seq, last_seq);
DROP TABLE previews;
CREATE TABLE previews (
  id INTEGER PRIMARY KEY REFERENCES tool_calls (id) ON DELETE CASCADE,
  args_seq INTEGER,
  result_seq INTEGER,
  redaction_flags INTEGER NOT NULL
) STRICT;
-- Hashes come in no order: a third of the pages is touched by a start of each.
DROP INDEX calls_args;
CREATE INDEX calls_args ON tool_calls (${startOfHash('args_hash')}, created_at);`;

/** How far the ids of calls go that stand together in the index of hashes. */
const CALLS_PART_BITS = 14;

/** The part of that index where a call stands. */
export function indexPart(id: string): string {
  return `${id} >> ${CALLS_PART_BITS}`;
}

const GRAMS = `
-- Which blocks cannot hold a text.
CREATE TABLE line_grams (
  first_seq INTEGER PRIMARY KEY,
  last_seq INTEGER NOT NULL,
  bits BLOB NOT NULL
) STRICT;
-- Hashes come in no order: new ones touch only the pages of the newest part, however large the ledger is.
DROP INDEX calls_args;
CREATE INDEX calls_args ON tool_calls (${indexPart('id')}, ${startOfHash('args_hash')}, created_at);`;

export const MIGRATIONS: readonly string[] = [
  FIRST,
  CONTENT,
  TURNS,
  APPROVALS,
  columnsSince(5),
  NOTICES,
  WOULD,
  PACKED_LINES,
  GRAMS,
];

/** For a store that is only filled and read in the order of its keys: nobody asks it anything else. */
export const WITHOUT_INDEXES = [
  ...['run', 'server_tool', 'tool', 'decision_status', 'args', 'agent', 'time'],
  ...['refused', 'failed', 'rule', 'model', 'would'],
]
  .map((name) => `DROP INDEX calls_${name};`)
  .join('\n');

// Brings a database to the schema of this version, or says why it can't.

/** "sub!" in the header of the file: a database of something else is not touched. */
const APPLICATION_ID = 0x73_75_62_21;
/** A statement that does not fit the tables. */
const SQLITE_ERROR = 1;

interface Plan {
  readonly file: string;
  readonly migrations: readonly string[];
}

/** The steps that are missing, all in one transaction. */
export function migrate(db: Database, { file, migrations }: Plan): void {
  const version = checkedVersion(db, { file, migrations });
  if (version === migrations.length) return;
  db.exec('BEGIN IMMEDIATE');
  try {
    for (const step of migrations.slice(version)) db.exec(step);
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    db.exec(`PRAGMA user_version = ${migrations.length}`);
    db.exec('COMMIT');
  } catch (cause) {
    if (db.isTransaction) db.exec('ROLLBACK');
    if (!(cause instanceof Error && 'errcode' in cause && cause.errcode === SQLITE_ERROR))
      throw cause;
    // Our own steps fit each other: somebody has changed the tables, or the number.
    const detail = `${file}: it says to have schema ${version}, and has another (${cause.message}).`;
    throw ledgerFailure('SUB_LEDGER_CORRUPT', detail, cause);
  }
}

/** The schema's version; 0 for an empty file. */
export function checkedVersion(db: Database, { file, migrations }: Plan): number {
  const version = pragma(db, 'user_version');
  const application = pragma(db, 'application_id');
  const empty = pragma(db, 'schema_version') === 0;
  if (!empty && application !== APPLICATION_ID) throw ledgerFailure('SUB_LEDGER_FOREIGN', file);
  if (version > migrations.length) {
    const known = `it has schema ${version}, this version knows ${migrations.length}`;
    throw ledgerFailure('SUB_LEDGER_NEWER', `${file}: ${known}.`);
  }
  // All steps of a start are one transaction: tables without a version are nobody's first step.
  if (!empty && version < 1) {
    throw ledgerFailure('SUB_LEDGER_CORRUPT', `${file}: its schema version was set to ${version}.`);
  }
  return empty ? 0 : version;
}

function pragma(db: Database, name: string): number {
  return integerCell(db.prepare(`PRAGMA ${name}`).get() ?? {}, name);
}
