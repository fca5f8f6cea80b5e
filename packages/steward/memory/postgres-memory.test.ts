import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createTestDatabase,
  POSTGRES_START_MS,
  type TestDatabase,
} from '@subluminal/gateway/store/testing';
import { afterAll, beforeAll } from 'vitest';
import { describeMemory } from './testing/memory-suite.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
}, POSTGRES_START_MS);
afterAll(async () => {
  await database.drop();
});

describeMemory('Postgres', async () => {
  const home = mkdtempSync(join(tmpdir(), 'memory-'));
  return {
    home,
    database: database.url,
    sql: (text) => database.query(text),
    end: async () => {
      await database.query('TRUNCATE memory_entry, memory_core, memory_request CASCADE');
      rmSync(home, { recursive: true });
    },
  };
});
