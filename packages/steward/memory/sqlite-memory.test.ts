import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSqlite } from '@subluminal/plane/sqlite';
import { describeMemory } from './testing/memory-suite.ts';

describeMemory('SQLite', async () => {
  const home = mkdtempSync(join(tmpdir(), 'memory-'));
  const { DatabaseSync } = await loadSqlite();
  return {
    home,
    sql: async (text) => {
      const db = new DatabaseSync(join(home, 'steward', 'memory.db'), { timeout: 1_000 });
      try {
        return db.prepare(text).all();
      } finally {
        db.close();
      }
    },
    end: async () => rmSync(home, { recursive: true }),
  };
});
