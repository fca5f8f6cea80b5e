// Sub-agents, from their start to their end: a crash neither forgets one nor starts one twice.
import type { SqlRow } from '@subluminal/plane/sqlite';
import { integerCell, integerOrNull, textCell, textOrNull } from '@subluminal/plane/sqlite/rows';
import { oneOf } from './journal-rows.ts';
import type { TableAccess } from './table-access.ts';
import type { SubAgent, SubAgentKind, SubAgentState } from './types.ts';

const KINDS: readonly SubAgentKind[] = ['research', 'task', 'coding'];
const STATES: readonly SubAgentState[] = [
  'SPAWNED',
  'RUNNING',
  'COMPLETED',
  'FAILED',
  'TIMED_OUT',
  'CANCELLED',
];
const LIST_MAX = 200;
const RESULT_LENGTH_MAX = 100_000;

export type NewSubAgent = Omit<SubAgent, 'state' | 'result' | 'spawnedAtMs' | 'endedAtMs'>;

export interface SubAgentEnd {
  readonly state: Exclude<SubAgentState, 'SPAWNED' | 'RUNNING'>;
  readonly result: string;
  /** What the conversation that it worked for is told. */
  readonly announcement: string;
}

export class SubAgentTable {
  readonly #access: TableAccess;

  constructor(access: TableAccess) {
    this.#access = access;
  }

  add({ id, key, kind, conversationId, taskId, request }: NewSubAgent): SubAgent {
    const { db, write, nowMs } = this.#access;
    const sql = `INSERT INTO sub_agents (id, n, key, kind, conversation, task, request, state, spawned_at)
      VALUES (?, (SELECT coalesce(max(n), 0) + 1 FROM sub_agents), ?, ?, ?, ?, ?, 'SPAWNED', ?)
      RETURNING *`;
    const values = [id, key, kind, conversationId, taskId, request];
    const row = write(() => db.get(sql, ...values, nowMs()));
    if (row === undefined) throw new Error('the journal returned no row');
    return subAgentIn(row);
  }

  setRunning(id: string): void {
    const { db, write } = this.#access;
    const sql = "UPDATE sub_agents SET state = 'RUNNING' WHERE id = ? AND state = 'SPAWNED'";
    write(() => db.run(sql, id));
  }

  /** Its end and what is said of it, both or neither. One that has ended stays as it is. */
  end({ id, conversationId }: SubAgent, { state, result, announcement }: SubAgentEnd): boolean {
    const { db, write, addMessage, nowMs } = this.#access;
    const sql = `UPDATE sub_agents SET state = ?, result = ?, ended_at = ?
      WHERE id = ? AND ended_at IS NULL`;
    return write(() => {
      const kept = result.slice(0, RESULT_LENGTH_MAX);
      if (db.run(sql, state, kept, nowMs(), id) === 0) return false;
      addMessage({ conversationId, role: 'notice', text: announcement, taskId: id });
      return true;
    });
  }

  get(id: string): SubAgent | undefined {
    const row = this.#access.db.get('SELECT * FROM sub_agents WHERE id = ?', id);
    return row && subAgentIn(row);
  }

  byKey(key: string): SubAgent | undefined {
    const row = this.#access.db.get('SELECT * FROM sub_agents WHERE key = ?', key);
    return row && subAgentIn(row);
  }

  /** Those that have not ended, in their order. */
  open(): readonly SubAgent[] {
    const sql = 'SELECT * FROM sub_agents WHERE ended_at IS NULL ORDER BY n';
    return this.#access.db.all(sql).map(subAgentIn);
  }

  /** Of a conversation, the newest first. */
  of(conversationId: string): readonly SubAgent[] {
    const sql = `SELECT * FROM sub_agents WHERE conversation = ? ORDER BY n DESC LIMIT ${LIST_MAX}`;
    return this.#access.db.all(sql, conversationId).map(subAgentIn);
  }
}

function subAgentIn(row: SqlRow): SubAgent {
  return {
    id: textCell(row, 'id'),
    key: textCell(row, 'key'),
    kind: oneOf(KINDS, row, 'kind'),
    conversationId: textCell(row, 'conversation'),
    taskId: textCell(row, 'task'),
    request: textCell(row, 'request'),
    state: oneOf(STATES, row, 'state'),
    result: textOrNull(row, 'result'),
    spawnedAtMs: integerCell(row, 'spawned_at'),
    endedAtMs: integerOrNull(row, 'ended_at'),
  };
}
