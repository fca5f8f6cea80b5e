// Alerts of the monitor: what was odd, how often, and whether the user was told.
import type { SqlRow } from '@subluminal/plane/sqlite';
import { integerCell, integerOrNull, textCell, textOrNull } from '@subluminal/plane/sqlite/rows';
import type { TableAccess } from './table-access.ts';
import type { JournalAlert } from './types.ts';

export interface NewAlert {
  readonly cause: string;
  readonly text: string;
  /** Where the user is told; without it, it is only recorded. */
  readonly tell?: { readonly conversationId: string; readonly text: string } | undefined;
}

export class AlertTable {
  readonly #access: TableAccess;

  constructor(access: TableAccess) {
    this.#access = access;
  }

  /** The alert and what the user is told of it, both or neither. */
  add({ cause, text, tell }: NewAlert): void {
    const { db, write, addMessage, nowMs } = this.#access;
    const sql = `INSERT INTO alerts (cause, text, count, first_at, last_at, is_told)
      VALUES (?, ?, 1, ?, ?, ?)`;
    const atMs = nowMs();
    write(() => {
      db.run(sql, cause, text, atMs, atMs, tell === undefined ? 0 : 1);
      if (tell !== undefined) addMessage({ ...tell, role: 'notice' });
    });
  }

  /** Counts it with the one of its cause that began after this moment; false when there is none. */
  countAgain(cause: string, sinceMs: number): boolean {
    const { db, write, nowMs } = this.#access;
    const found = db.get(
      'SELECT n FROM alerts WHERE cause = ? AND first_at >= ? ORDER BY n DESC LIMIT 1',
      cause,
      sinceMs,
    );
    if (found === undefined) return false;
    const sql = 'UPDATE alerts SET count = count + 1, last_at = ? WHERE n = ?';
    write(() => db.run(sql, nowMs(), integerCell(found, 'n')));
    return true;
  }

  /** Since this moment, the newest first. */
  since(atMs: number, count: number): readonly JournalAlert[] {
    const sql = 'SELECT * FROM alerts WHERE last_at >= ? ORDER BY n DESC LIMIT ?';
    return this.#access.db.all(sql, atMs, count).map(alertIn);
  }

  /** Those that nobody has acknowledged before. */
  acknowledge(ids: readonly number[], by: string): void {
    const { db, write, nowMs } = this.#access;
    const sql = `UPDATE alerts SET acknowledged_by = ?, acknowledged_at = ?
      WHERE n = ? AND acknowledged_at IS NULL`;
    write(() => {
      for (const n of ids) db.run(sql, by, nowMs(), n);
    });
  }

  toldSince(atMs: number): number {
    const sql = 'SELECT count(*) AS count FROM alerts WHERE is_told = 1 AND first_at >= ?';
    const row = this.#access.db.get(sql, atMs);
    return row === undefined ? 0 : integerCell(row, 'count');
  }
}

function alertIn(row: SqlRow): JournalAlert {
  const by = textOrNull(row, 'acknowledged_by');
  const atMs = integerOrNull(row, 'acknowledged_at');
  return {
    n: integerCell(row, 'n'),
    cause: textCell(row, 'cause'),
    text: textCell(row, 'text'),
    count: integerCell(row, 'count'),
    firstAtMs: integerCell(row, 'first_at'),
    lastAtMs: integerCell(row, 'last_at'),
    isTold: integerCell(row, 'is_told') === 1,
    acknowledged: by === null || atMs === null ? null : { by, atMs },
  };
}
