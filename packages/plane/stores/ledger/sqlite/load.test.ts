import { expect, it } from 'vitest';
import { hasBuiltIn, loadSqlite } from './load.ts';

it.each([
  ['20.19.0', false],
  ['22.23.3', false],
  ['25.9.0', false],
  ['26.0.0', true],
  ['100.1.0', true],
])('takes the module of Node %s itself: %s', (version, expected) => {
  expect(hasBuiltIn(version)).toBe(expected);
});

it('finds a SQLite that has strict tables, upserts and a write-ahead log', async () => {
  const { DatabaseSync } = await loadSqlite();
  const db = new DatabaseSync(':memory:');
  db.exec('CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT) STRICT');
  const upsert = db.prepare(
    'INSERT INTO t VALUES (1, ?) ON CONFLICT (a) DO UPDATE SET b = excluded.b RETURNING b',
  );
  expect(upsert.get('x')).toMatchObject({ b: 'x' });
  expect(upsert.get('y')).toMatchObject({ b: 'y' });
  expect(() => db.exec("INSERT INTO t VALUES ('text', NULL)")).toThrow('datatype mismatch');
  db.close();
});
