// What the steps of all tasks tell: which tools have answered, and what may have reached a server.
import { integerCell, textCell } from '@subluminal/plane/sqlite/rows';
import { forwardedIn } from './journal-rows.ts';
import type { TableAccess } from './table-access.ts';
import type { ForwardedCall, HeardTasks, HeardTool, ToolPeriod } from './types.ts';

const FORWARDED_MAX = 5_000;
/** A call that was answered with an error has reached its server all the same. */
const WAS_FORWARDED = `(s.state IN ('forwarded', 'done', 'unknown') OR (s.state = 'failed' AND s.call_id IS NOT NULL))`;

export class StepHistory {
  readonly #db: TableAccess['db'];

  constructor({ db }: Pick<TableAccess, 'db'>) {
    this.#db = db;
  }

  /** Those that may have reached a server since then, of all tasks. */
  forwardedSince(atMs: number): readonly ForwardedCall[] {
    const sql = `SELECT s.server, s.tool, s.args, s.key, s.at FROM steps s
      WHERE s.at >= ? AND ${WAS_FORWARDED} ORDER BY s.at DESC LIMIT ${FORWARDED_MAX}`;
    return this.#db.all(sql, atMs).map(forwardedIn);
  }

  /** When a tool was called since then, in all conversations or in those of a channel; the oldest first. */
  timesForwarded({ server, tool, sinceMs, exceptKey, channel = '' }: ToolPeriod) {
    const sql = `SELECT s.at FROM steps s
      WHERE s.at >= ?1 AND s.server = ?2 AND s.tool = ?3 AND s.key <> ?4 AND ${WAS_FORWARDED}
      AND (?5 = '' OR ?5 = (SELECT c.channel FROM tasks t JOIN conversations c ON c.id = t.conversation
        WHERE t.id = s.task))
      ORDER BY s.at LIMIT ${FORWARDED_MAX}`;
    const rows = this.#db.all(sql, sinceMs, server, tool, exceptKey, channel);
    return rows.map((row) => integerCell(row, 'at'));
  }

  /** Which tools have answered in the last tasks of a conversation, the last one last. */
  heardIn(conversationId: string, { tasksMax, exceptTask = '' }: HeardTasks): readonly HeardTool[] {
    const sql = `SELECT s.server, s.tool, max(t.n) AS task, max(s.n) AS step
      FROM (SELECT id, n FROM tasks WHERE conversation = ?1 AND id <> ?2 ORDER BY n DESC LIMIT ?3) t
      JOIN steps s ON s.task = t.id
      WHERE s.server <> '' AND s.state IN ('done', 'failed', 'unknown')
      GROUP BY s.server, s.tool ORDER BY task, step`;
    return this.#db.all(sql, conversationId, exceptTask, tasksMax).map((row) => ({
      server: textCell(row, 'server'),
      tool: textCell(row, 'tool'),
    }));
  }
}
