// The inside of one write, over the writer's connection.
import { CONFLICT_REASON, type StoredLine } from '../chain/event-line.ts';
import { OWN_PRODUCER } from '../chain/ledger-events.ts';
import type { Head } from '../chain/signed-head.ts';
import type { CallChange, CallDelta, Projection } from '../store/projection.ts';
import type {
  AddedEvent,
  EventRow,
  PrunedEvent,
  RejectRow,
  StaleRequest,
} from '../store/stored-rows.ts';
import {
  APPROVALS,
  FLAGS,
  HINTS,
  POLICY_VERSIONS,
  PREVIEWS,
  RUNS,
  TABLES,
  TOOL_CALLS,
} from '../store/tables.ts';
import { chainReads, EVENT_COLUMNS, eventOf } from './chain-reads.ts';
import type { Connection } from './connection.ts';
import {
  addBlocks,
  addLine,
  lineAt,
  lineFinder,
  type PackedLines,
  type PlainLine,
  unpackAround,
} from './line-blocks.ts';
import {
  bytesOrNull,
  insert,
  integerCell,
  integerOrNull,
  textCell,
  type Upsert,
  update,
  upsert,
  where,
} from './rows.ts';

const RUN = upsert(RUNS);
const ADD_CALL = insert(TOOL_CALLS);
const ADD_PREVIEW = insert(PREVIEWS);
const CALL = upsert(TOOL_CALLS, 'RETURNING id');
const PREVIEW = upsert(PREVIEWS);
const HINT = upsert(HINTS);
const APPROVAL = upsert(APPROVALS);
const POLICY = upsert(POLICY_VERSIONS);
/** What a decision, an end or both change of a call that is already there. */
const LATER = {
  decision: later('decision'),
  end: later('status'),
  both: later('decision', 'status'),
};
const ADD_EVENT = `INSERT INTO events
  (seq, producer_id, producer_seq, hash, type, ts, run_id) VALUES (?, ?, ?, ?, ?, ?, ?)`;

function later(...leaders: readonly string[]): Upsert {
  const { sql, values } = update(TOOL_CALLS, leaders);
  return {
    sql: `${sql} WHERE run_id = ? AND call_id = ? AND created_at <= ? RETURNING id`,
    values,
  };
}

export type StoreTransaction = ReturnType<typeof sqliteTransaction>;

/** The inside of one transaction: all of it happens, or none. */
export function sqliteTransaction(connection: Connection, migrations: readonly string[]) {
  return {
    ...chainReads(connection, migrations),
    /** For each key, what is stored of its event; undefined where none is. */
    stored: async (keys: readonly LineKey[]) => storedOf(connection, keys),
    addEvents: async (rows: readonly AddedEvent[]) => addEvents(connection, rows),
    /** Those that come in no block. */
    addLines: async (lines: readonly PlainLine[]) => {
      for (const { seq, bytes } of lines) addLine(connection, seq, bytes);
    },
    /** Their lines must be as they were when the blocks were made. */
    addBlocks: async (packed: PackedLines) => addBlocks(connection, packed),
    addHead: async (head: Head) => addHead(connection, head),
    /** Keeps the newest `rowsMax`; of one key the first, but rather one of a conflict. */
    addRejects: async (rows: readonly RejectRow[], rowsMax: number) =>
      addRejects(connection, rows, rowsMax),
    merge: async (projection: Projection) => merge(connection, projection),
    setMeta: async (key: string, value: string) => setMeta(connection, key, value),
    clearProjections: async () => {
      for (const { name } of TABLES.toReversed()) connection.run(`DELETE FROM ${name}`);
    },
    /** The ids of the oldest runs first. */
    staleRuns: async (request: StaleRequest) => staleRuns(connection, request),
    /** Events that belong to no run of the `runs` table, and are older. */
    strayEvents: async (beforeMs: number, limit: number) =>
      strayEvents(connection, beforeMs, limit),
    /** What is replaced or dropped does not stay readable in the files of the store. */
    replaceLines: async (rows: readonly PrunedEvent[]) => replaceLines(connection, rows),
    /** Forgets the runs and everything about them but their events. */
    dropRuns: async (runIds: readonly string[]) => dropRuns(connection, runIds),
    dropPreviews: async (runIds: readonly string[]) => dropPreviews(connection, runIds),
  };
}

interface LineKey {
  readonly producer: string;
  readonly seq: number;
}

/** Lines mostly arrive in order: what is beyond the last one of its producer is new. */
function storedOf(
  connection: Connection,
  keys: readonly LineKey[],
): readonly (StoredLine | undefined)[] {
  const producers = new Map<string, { readonly id: number; readonly seqMax: number }>();
  const packed = lineFinder(connection);
  return keys.map(({ producer, seq: producerSeq }) => {
    const known = producers.get(producer) ?? lastOf(connection, producer);
    producers.set(producer, known);
    if (producerSeq > known.seqMax) return undefined;
    const sql = 'SELECT seq, digest FROM events WHERE producer_id = ? AND producer_seq = ?';
    const row = connection.get(sql, known.id, producerSeq);
    if (row === undefined) return undefined;
    const line = lineAt(connection, integerCell(row, 'seq'), packed);
    return { line, digest: bytesOrNull(row, 'digest') };
  });
}

function lastOf(connection: Connection, producer: string) {
  const id = producerId(connection, producer);
  if (id === undefined) return { id: -1, seqMax: -1 };
  const sql = 'SELECT max(producer_seq) AS seq FROM events WHERE producer_id = ?';
  return { id, seqMax: integerOrNull(connection.one(sql, id), 'seq') ?? -1 };
}

function producerId(connection: Connection, name: string): number | undefined {
  const row = connection.get('SELECT id FROM producers WHERE name = ?', name);
  return row && integerCell(row, 'id');
}

function addProducer(connection: Connection, name: string): number {
  const sql = 'INSERT INTO producers (name) VALUES (?) RETURNING id';
  return integerCell(connection.one(sql, name), 'id');
}

function addEvents(connection: Connection, rows: readonly AddedEvent[]): void {
  const ids = new Map<string, number>();
  for (const { seq, producer, producerSeq, hash, type, tsMs, runId } of rows) {
    const id =
      ids.get(producer) ?? producerId(connection, producer) ?? addProducer(connection, producer);
    ids.set(producer, id);
    connection.run(ADD_EVENT, seq, id, producerSeq, hash, type, tsMs, runId);
  }
}

function addHead(connection: Connection, head: Head): void {
  const { n, kind, seq, hash, count, createdAtMs, prev, keyId, signature } = head;
  const sql = `INSERT INTO heads (n, kind, seq, hash, count, created_at, prev, key_id, signature)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`;
  connection.run(sql, n, kind, seq, hash, count, createdAtMs, prev, keyId, signature);
}

function addRejects(connection: Connection, rows: readonly RejectRow[], rowsMax: number): void {
  // A producer whose number was taken may have had a line of that number set aside before.
  const sql = `INSERT INTO rejects (producer, producer_seq, reason, line, created_at)
    VALUES (?, ?, ?, ?, ?) ON CONFLICT (producer, producer_seq) DO UPDATE
    SET reason = excluded.reason, line = excluded.line, created_at = excluded.created_at
    WHERE excluded.reason = '${CONFLICT_REASON}' AND rejects.reason <> excluded.reason`;
  for (const { producer, producerSeq, reason, line, createdAtMs } of rows) {
    connection.run(sql, producer, producerSeq, reason, line, createdAtMs);
  }
  connection.run('DELETE FROM rejects WHERE id <= (SELECT max(id) FROM rejects) - ?', rowsMax);
}

function merge(connection: Connection, projection: Projection): void {
  const { runs, calls, hints, approvals, policies } = projection;
  for (const run of runs.values()) connection.run(RUN.sql, ...RUN.values(run));
  for (const change of calls.values()) mergeCall(connection, change);
  for (const hint of hints.values()) connection.run(HINT.sql, ...HINT.values(hint));
  for (const ended of approvals.values()) connection.run(APPROVAL.sql, ...APPROVAL.values(ended));
  for (const policy of policies.values()) connection.run(POLICY.sql, ...POLICY.values(policy));
}

function mergeCall(connection: Connection, { row, preview }: CallChange): void {
  const id = addCall(connection, row) ?? mergeLater(connection, row) ?? mergeWhole(connection, row);
  if (preview === undefined) return;
  const values = PREVIEW.values({ ...preview, id });
  // A new call has no preview yet.
  const isNew = id === row.id && connection.run(ADD_PREVIEW.sql, ...values) === 1;
  if (!isNew) connection.run(PREVIEW.sql, ...values);
}

/** A call begins with its start: then it is most likely new. Undefined when it is not. */
function addCall(connection: Connection, row: CallDelta): number | undefined {
  if (row.transport === undefined) return undefined;
  return connection.run(ADD_CALL.sql, ...ADD_CALL.values(row)) === 1 ? row.id : undefined;
}

/**
 * Only what a decision or an end brings. Undefined when the call is not there yet, when this event
 * is its earliest, or when the event repeats what the start says.
 */
function mergeLater(connection: Connection, row: CallDelta): number | undefined {
  if (row.transport !== undefined || row.risk_json !== undefined) return undefined;
  if (row.status === undefined) return changeCall(connection, LATER.decision, row);
  return changeCall(connection, row.decision === undefined ? LATER.end : LATER.both, row);
}

function changeCall(connection: Connection, by: Upsert, row: CallDelta): number | undefined {
  const { run_id, call_id, created_at } = row;
  const changed = connection.get(by.sql, ...by.values(row), run_id, call_id, created_at);
  return changed && integerCell(changed, 'id');
}

function mergeWhole(connection: Connection, row: CallDelta): number {
  return integerCell(connection.one(CALL.sql, ...CALL.values(row)), 'id');
}

function setMeta(connection: Connection, key: string, value: string): void {
  const sql = `INSERT INTO meta (key, value) VALUES (?, ?)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value`;
  connection.run(sql, key, value);
}

function staleRuns(connection: Connection, request: StaleRequest): readonly string[] {
  const { beforeMs, keepRuns, withPreviews, limit } = request;
  if (beforeMs === undefined && keepRuns === undefined) return [];
  const hasPreview = `EXISTS (SELECT 1 FROM tool_calls c JOIN previews p ON p.id = c.id
    WHERE c.run_id = runs.run_id AND (p.args_seq IS NOT NULL OR p.result_seq IS NOT NULL))`;
  const { sql: matching, values } = where([
    ['last_at < ?', beforeMs],
    ['run_id NOT IN (SELECT run_id FROM runs ORDER BY last_at DESC, run_id LIMIT ?)', keepRuns],
    ...(withPreviews ? ([[hasPreview]] as const) : []),
  ]);
  const sql = `SELECT run_id FROM runs WHERE ${matching} ORDER BY last_at LIMIT ?`;
  return connection.all(sql, ...values, limit).map((row) => textCell(row, 'run_id'));
}

/** What came without a run that we know of; the ledger's own events stay. */
function strayEvents(connection: Connection, beforeMs: number, limit: number): readonly EventRow[] {
  // What has lost its line has lost its type, too.
  const sql = `SELECT ${EVENT_COLUMNS} FROM events e JOIN producers p ON p.id = e.producer_id
    LEFT JOIN lines l ON l.seq = e.seq
    WHERE e.type IS NOT NULL AND COALESCE(e.ts, 0) < ? AND p.name <> ?
      AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.run_id = e.run_id)
    ORDER BY e.seq LIMIT ?`;
  const packed = lineFinder(connection);
  return connection.all(sql, beforeMs, OWN_PRODUCER, limit).map((row) => eventOf(row, packed));
}

function replaceLines(connection: Connection, rows: readonly PrunedEvent[]): void {
  const shorten = 'UPDATE events SET digest = ?, line = NULL WHERE seq = ?';
  const remove =
    'UPDATE events SET digest = ?, line = NULL, type = NULL, ts = NULL, run_id = NULL WHERE seq = ?';
  for (const { seq, digest, line } of rows) {
    unpackAround(connection, seq);
    connection.run(line === null ? remove : shorten, digest, seq);
    connection.run('DELETE FROM lines WHERE seq = ?', seq);
    if (line !== null) addLine(connection, seq, line);
  }
}

function dropRuns(connection: Connection, runIds: readonly string[]): void {
  for (const runId of runIds) {
    // The previews go with their calls.
    for (const table of ['tool_calls', 'hints', 'approvals', 'runs']) {
      connection.run(`DELETE FROM ${table} WHERE run_id = ?`, runId);
    }
  }
}

function dropPreviews(connection: Connection, runIds: readonly string[]): void {
  const sql = `UPDATE previews SET
      redaction_flags = redaction_flags
        | CASE WHEN args_seq IS NULL THEN 0 ELSE ${FLAGS.argsPruned} END
        | CASE WHEN result_seq IS NULL THEN 0 ELSE ${FLAGS.resultPruned} END,
      args_seq = NULL, result_seq = NULL
    WHERE id IN (SELECT id FROM tool_calls WHERE run_id = ?)
      AND (args_seq IS NOT NULL OR result_seq IS NOT NULL)`;
  for (const runId of runIds) connection.run(sql, runId);
}
