// The journal: what must be on the disk before Steward acts. One process writes it, synchronously, so
// that nothing happens between a write and what it permits. Each write survives the end of the process; those that
// permit or promise something wait for the disk, with all that were written before them.
import type { Failure } from '@subluminal/contracts';
import { isFailure, ThrownFailure, tableFailure } from '@subluminal/contracts';
import { errorText } from '@subluminal/plane/os';
import { type Database, loadSqlite } from '@subluminal/plane/sqlite';
import {
  makePrivateDatabase,
  openPrivateDatabase,
  statementsOf,
} from '@subluminal/plane/sqlite/private-database';
import { integerCell, textCell } from '@subluminal/plane/sqlite/rows';
import { AlertTable } from './alert-table.ts';
import { conversationIn, messageIn, scheduleIn, stepIn, taskIn, turnIn } from './journal-rows.ts';
import { migrateJournal } from './journal-schema.ts';
import { KeptTexts } from './kept-texts.ts';
import { countStep, daySpending, recordSpending, SPENT_MAX } from './spending-rows.ts';
import { StepHistory } from './step-history.ts';
import { SubAgentTable } from './sub-agent-table.ts';
import { bounded } from './table-access.ts';
import type {
  Conversation,
  JournalMessage,
  JournalSchedule,
  JournalStep,
  JournalTask,
  JournalTurn,
  NewConversation,
  NewMessage,
  NewStep,
  NewTask,
  Spending,
  SpentTurn,
  StepChange,
  TaskEnd,
} from './types.ts';

const CACHE_KIB = 4 * 1024;
const BUSY_MS = 2_000;
const LIST_MAX = 500;
const TASKS = `SELECT t.*, (SELECT count(*) FROM steps s WHERE s.task = t.id) AS steps FROM tasks t`;

/** Throws when the disk does not take a write: then nothing may go on. */
export async function openJournal(file: string, nowMs: () => number): Promise<Journal | Failure> {
  const sqlite = await loadSqlite();
  try {
    makePrivateDatabase(file);
    const setUp = (db: Database) => {
      db.exec('PRAGMA journal_mode = WAL');
      db.exec('PRAGMA secure_delete = ON');
      migrateJournal(db, file);
    };
    const db = openPrivateDatabase(sqlite, file, { timeout: BUSY_MS, cacheKib: CACHE_KIB, setUp });
    return new Journal(db, file, nowMs);
  } catch (cause) {
    if (isFailure(cause)) return cause;
    return { ...tableFailure('SUB_STEWARD_JOURNAL', `${file}: ${errorText(cause)}.`), cause };
  }
}

export class Journal {
  readonly subAgents: SubAgentTable;
  readonly alerts: AlertTable;
  readonly history: StepHistory;
  readonly texts: KeptTexts;
  readonly #db: ReturnType<typeof statementsOf>;
  readonly #isInTransaction: () => boolean;
  readonly #nowMs: () => number;
  readonly #listeners = new Set<() => void>();
  #version = 0;
  #sync: 'FULL' | 'NORMAL' | undefined;

  constructor(db: Database, file: string, nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#isInTransaction = () => db.isTransaction;
    this.#db = statementsOf(db, (cause) => {
      const told = tableFailure('SUB_STEWARD_JOURNAL', `${file}: ${errorText(cause)}.`);
      return new ThrownFailure({ ...told, cause });
    });
    const access = {
      ...{ db: this.#db, nowMs },
      write: <T>(work: () => T) => this.#write(work),
      addMessage: (message: NewMessage) => void this.#addMessage(message),
    };
    this.subAgents = new SubAgentTable(access);
    this.alerts = new AlertTable(access);
    this.history = new StepHistory(access);
    this.texts = new KeptTexts(access);
  }

  /** Counts the writes of this process. */
  get version(): number {
    return this.#version;
  }

  /** Called after every write. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#db.close();
  }

  /** On the disk when it returns. */
  #write<T>(work: () => T): T {
    return this.#commit(work, 'FULL');
  }

  /** On the disk with the next `#write`: a power failure may take it back, so that it may permit nothing. */
  #note<T>(work: () => T): T {
    return this.#commit(work, 'NORMAL');
  }

  #commit<T>(work: () => T, sync: 'FULL' | 'NORMAL'): T {
    if (sync !== this.#sync) this.#db.exec(`PRAGMA synchronous = ${sync}`);
    this.#sync = sync;
    this.#db.exec('BEGIN IMMEDIATE');
    let result: T;
    try {
      result = work();
      this.#db.exec('COMMIT');
    } catch (cause) {
      // A full disk has ended the transaction by itself.
      if (this.#isInTransaction()) this.#db.exec('ROLLBACK');
      throw cause;
    }
    this.#version += 1;
    for (const listener of this.#listeners) listener();
    return result;
  }

  // Conversations and messages.

  /** The conversation with this person; it is made when it is new. */
  conversationFor(wanted: NewConversation): Conversation {
    const { id, channel, person, address, parentId = null } = wanted;
    const sql = 'SELECT * FROM conversations WHERE channel = ? AND person = ? AND address = ?';
    const known = this.#db.get(sql, channel, person, address);
    if (known !== undefined) return conversationIn(known);
    const createdAtMs = this.#nowMs();
    const values = [id, channel, person, address, parentId, createdAtMs];
    const add = 'INSERT INTO conversations VALUES (?, ?, ?, ?, NULL, ?, ?)';
    this.#write(() => this.#db.run(add, ...values));
    return { id, channel, person, address, runId: null, parentId, createdAtMs };
  }

  conversation(id: string): Conversation | undefined {
    const row = this.#db.get('SELECT * FROM conversations WHERE id = ?', id);
    return row && conversationIn(row);
  }

  /** Also of a run that has ended. */
  conversationOfRun(runId: string): Conversation | undefined {
    const row = this.#db.get('SELECT conversation FROM runs WHERE id = ?', runId);
    return row && this.conversation(textCell(row, 'conversation'));
  }

  /** The conversation in which a person has said something last. */
  lastConversation(): Conversation | undefined {
    const sql = `SELECT c.* FROM messages m JOIN conversations c ON c.id = m.conversation
      WHERE m.role = 'user' AND c.parent IS NULL AND c.channel <> 'schedule' ORDER BY m.n DESC LIMIT 1`;
    const row = this.#db.get(sql);
    return row && conversationIn(row);
  }

  /** The newest first. */
  conversations(): readonly Conversation[] {
    const sql = `SELECT * FROM conversations ORDER BY created_at DESC LIMIT ${LIST_MAX}`;
    return this.#db.all(sql).map(conversationIn);
  }

  setRun(conversationId: string, runId: string): void {
    this.#write(() => {
      const values = [runId, conversationId, this.#nowMs()];
      this.#db.run('INSERT OR IGNORE INTO runs VALUES (?, ?, ?)', ...values);
      this.#db.run('UPDATE conversations SET run_id = ? WHERE id = ?', runId, conversationId);
    });
  }

  addMessage(message: NewMessage): JournalMessage {
    return this.#write(() => this.#addMessage(message));
  }

  #addMessage({ conversationId, role, text, taskId }: NewMessage): JournalMessage {
    const sql = `INSERT INTO messages (conversation, role, text, task, at, is_sent)
      VALUES (?, ?, ?, ?, ?, ?) RETURNING *`;
    const isSent = role === 'user' ? 1 : 0;
    const values = [conversationId, role, bounded(text), taskId ?? null, this.#nowMs(), isSent];
    const row = this.#db.get(sql, ...values);
    if (row === undefined) throw new Error('the journal returned no row');
    return messageIn(row);
  }

  /** In their order, from behind `n` on. */
  messagesAfter(n: number, conversationId: string): readonly JournalMessage[] {
    const sql = `SELECT * FROM messages WHERE conversation = ? AND n > ? ORDER BY n LIMIT ${LIST_MAX}`;
    return this.#db.all(sql, conversationId, n).map(messageIn);
  }

  /** The last ones, in their order. */
  lastMessages(conversationId: string, count: number): readonly JournalMessage[] {
    const sql = 'SELECT * FROM messages WHERE conversation = ? ORDER BY n DESC LIMIT ?';
    return this.#db.all(sql, conversationId, count).map(messageIn).toReversed();
  }

  /** Replies and notices that their channel has not taken yet. */
  unsentMessages(): readonly JournalMessage[] {
    const sql = `SELECT * FROM messages WHERE is_sent = 0 ORDER BY n LIMIT ${LIST_MAX}`;
    return this.#db.all(sql).map(messageIn);
  }

  setSent(n: number): void {
    this.#write(() => this.#db.run('UPDATE messages SET is_sent = 1 WHERE n = ?', n));
  }

  /** Says it in another conversation as well, and counts as sent; both or neither. */
  passOn({ n, text, taskId }: JournalMessage, conversationId: string): void {
    this.#write(() => {
      const from = taskId === null ? {} : { taskId };
      this.#addMessage({ conversationId, role: 'notice', text, ...from });
      this.#db.run('UPDATE messages SET is_sent = 1 WHERE n = ?', n);
    });
  }

  // Tasks, turns and steps.

  /** The message and its task, both or neither. */
  addTask({ id, conversationId, purpose, askedBy, request, parentId }: NewTask): JournalTask {
    this.#write(() => {
      this.#addMessage({ conversationId, role: 'user', text: request, taskId: id });
      const sql = `INSERT INTO tasks (id, n, conversation, purpose, asked_by, request, parent, state,
        created_at) VALUES (?, (SELECT coalesce(max(n), 0) + 1 FROM tasks), ?, ?, ?, ?, ?, 'waiting', ?)`;
      const values = [conversationId, purpose, askedBy, bounded(request), parentId ?? null];
      this.#db.run(sql, id, ...values, this.#nowMs());
    });
    return this.#mustHaveTask(id);
  }

  task(id: string): JournalTask | undefined {
    const row = this.#db.get(`${TASKS} WHERE t.id = ?`, id);
    return row && taskIn(row);
  }

  #mustHaveTask(id: string): JournalTask {
    const task = this.task(id);
    if (task === undefined) throw new Error(`the journal has no task ${id}`);
    return task;
  }

  /** Those that have not ended, in their order; of one conversation, or of all. */
  openTasks(conversationId: string | null = null): readonly JournalTask[] {
    const sql = `${TASKS} WHERE t.state IN ('waiting', 'running') AND (?1 IS NULL OR t.conversation = ?1)
      ORDER BY t.n LIMIT ${LIST_MAX}`;
    return this.#db.all(sql, conversationId).map(taskIn);
  }

  /** The newest first. */
  lastTasks(count: number): readonly JournalTask[] {
    return this.#db.all(`${TASKS} ORDER BY t.n DESC LIMIT ?`, count).map(taskIn);
  }

  /** In their order. */
  lastTasksOf(conversationId: string, count: number): readonly JournalTask[] {
    const sql = `${TASKS} WHERE t.conversation = ? ORDER BY t.n DESC LIMIT ?`;
    return this.#db.all(sql, conversationId, count).map(taskIn).toReversed();
  }

  /** What the user said in its last tasks, in their order; what the agent asked itself is not that. */
  userWords(conversationId: string, tasksMax: number): readonly string[] {
    const sql = `SELECT request FROM tasks WHERE conversation = ? AND asked_by = 'user'
      ORDER BY n DESC LIMIT ?`;
    const rows = this.#db.all(sql, conversationId, tasksMax);
    return rows.map((row) => textCell(row, 'request')).toReversed();
  }

  /** What a task has cost together with its sub-agents; also asked by one of these. */
  costWithSubAgents({ id, parentId }: JournalTask): number {
    const sql = `SELECT min(sum(cost_micros), ${SPENT_MAX}) AS cost FROM tasks WHERE id = ?1 OR parent = ?1`;
    const row = this.#db.get(sql, parentId ?? id);
    return row === undefined ? 0 : integerCell(row, 'cost');
  }

  startTask(id: string): void {
    const sql = "UPDATE tasks SET state = 'running', started_at = ? WHERE id = ?";
    this.#note(() => this.#db.run(sql, this.#nowMs(), id));
  }

  /** A task that has ended stays as it is. */
  endTask(id: string, { state, reason, reply }: TaskEnd): void {
    const sql = `UPDATE tasks SET state = ?, reason = ?, ended_at = ?
      WHERE id = ? AND state IN ('waiting', 'running')`;
    this.#write(() => {
      const { conversationId } = this.#mustHaveTask(id);
      if (this.#db.run(sql, state, reason ?? null, this.#nowMs(), id) === 0) return;
      this.#addMessage({ conversationId, ...reply, taskId: id });
    });
  }

  /** What the model said, with what that cost, before anything is done about it. */
  addTurn({ taskId, n, text, uses, model }: JournalTurn, spent: SpentTurn): void {
    this.#note(() => {
      const sql = 'INSERT INTO turns (task, n, text, uses, model) VALUES (?, ?, ?, ?, ?)';
      this.#db.run(sql, taskId, n, bounded(text), JSON.stringify(uses), model);
      recordSpending(this.#db, spent);
    });
  }

  turns(taskId: string): readonly JournalTurn[] {
    return this.#db.all('SELECT * FROM turns WHERE task = ? ORDER BY n', taskId).map(turnIn);
  }

  addStep(step: NewStep): JournalStep {
    const { taskId, n, turn, useId, server, tool, args, reasoning, key } = step;
    const atMs = this.#nowMs();
    const sql = `INSERT INTO steps (task, n, turn, use_id, server, tool, args, reasoning, key, state,
      judgements, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'proposed', '[]', ?)`;
    const json = JSON.stringify(args);
    const values = [taskId, n, turn, useId, server, tool, json, bounded(reasoning), key, atMs];
    this.#note(() => {
      this.#db.run(sql, ...values);
      countStep(this.#db, taskId, atMs);
    });
    const open = { state: 'proposed', judgements: [], callId: null, runId: null } as const;
    return { ...step, ...open, result: null, atMs };
  }

  changeStep({ taskId, n }: Pick<JournalStep, 'taskId' | 'n'>, changed: StepChange): void {
    const { state, judgements, callId = null, runId = null, result } = changed;
    const sql = `UPDATE steps SET state = ?, judgements = coalesce(?, judgements),
      call_id = coalesce(?, call_id), run_id = coalesce(?, run_id), result = coalesce(?, result)
      WHERE task = ? AND n = ?`;
    const json = judgements === undefined ? null : JSON.stringify(judgements);
    const text = result === undefined ? null : bounded(result);
    const change = () => this.#db.run(sql, state, json, callId, runId, text, taskId, n);
    // Before the bytes leave: no failure may take back that it may have happened.
    if (state === 'forwarded') this.#write(change);
    else this.#note(change);
  }

  steps(taskId: string): readonly JournalStep[] {
    return this.#db.all('SELECT * FROM steps WHERE task = ? ORDER BY n', taskId).map(stepIn);
  }

  // Spending.

  spend(spent: SpentTurn): void {
    this.#note(() => recordSpending(this.#db, spent));
  }

  /** What the day of this moment has cost so far, by purpose. Days are those of UTC. */
  spendingOn(atMs: number): readonly Spending[] {
    return daySpending(this.#db, atMs);
  }

  // Schedules and what else lasts.

  addSchedule(schedule: Omit<JournalSchedule, 'lastAtMs'>): void {
    const { id, when, request, askedBy, conversationId } = schedule;
    const sql = 'INSERT INTO schedules VALUES (?, ?, ?, ?, ?, ?)';
    const values = [id, when, bounded(request), askedBy, conversationId, this.#nowMs()];
    this.#write(() => this.#db.run(sql, ...values));
  }

  schedules(): readonly JournalSchedule[] {
    return this.#db.all(`SELECT * FROM schedules ORDER BY id LIMIT ${LIST_MAX}`).map(scheduleIn);
  }

  /** Whether there was one. */
  removeSchedule(id: string): boolean {
    return this.#write(() => this.#db.run('DELETE FROM schedules WHERE id = ?', id)) > 0;
  }

  setScheduleRun(id: string, atMs: number): void {
    this.#write(() => this.#db.run('UPDATE schedules SET last_at = ? WHERE id = ?', atMs, id));
  }

  value(key: string): string | undefined {
    const found = this.#db.get('SELECT value FROM kv WHERE key = ?', key)?.['value'];
    return typeof found === 'string' ? found : undefined;
  }

  setValue(key: string, value: string): void {
    const sql = `INSERT INTO kv VALUES (?, ?)
      ON CONFLICT (key) DO UPDATE SET value = excluded.value`;
    this.#write(() => this.#db.run(sql, key, value));
  }
}
