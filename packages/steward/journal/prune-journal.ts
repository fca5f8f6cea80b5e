// What is older than the journal keeps. Tasks that are open stay, and so do conversations, which hold no text.
import type { TableAccess } from './table-access.ts';

/** Of each table at once: a write is short. */
const ROWS_AT_ONCE = 500;

const AGED: readonly string[] = [
  `DELETE FROM sub_agents WHERE id IN (SELECT id FROM sub_agents WHERE ended_at < ?1 LIMIT ?2)`,
  // Those that others came from go after these.
  `DELETE FROM tasks WHERE id IN (SELECT id FROM tasks t WHERE t.ended_at < ?1
    AND NOT EXISTS (SELECT 1 FROM tasks c WHERE c.parent = t.id)
    AND NOT EXISTS (SELECT 1 FROM sub_agents s WHERE s.task = t.id) LIMIT ?2)`,
  `DELETE FROM messages WHERE n IN (SELECT n FROM messages m WHERE m.at < ?1 AND m.is_sent = 1
    AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.id = m.task) ORDER BY n LIMIT ?2)`,
  `DELETE FROM runs WHERE id IN (SELECT id FROM runs r WHERE r.at < ?1
    AND NOT EXISTS (SELECT 1 FROM conversations c WHERE c.run_id = r.id) LIMIT ?2)`,
  `DELETE FROM alerts WHERE n IN (SELECT n FROM alerts WHERE last_at < ?1 ORDER BY n LIMIT ?2)`,
];

/** Within a write: how many rows have gone, without those below them. 0 when nothing is that old. */
export function pruneRows(db: TableAccess['db'], beforeMs: number): number {
  return AGED.reduce((sum, sql) => sum + db.run(sql, beforeMs, ROWS_AT_ONCE), 0);
}
