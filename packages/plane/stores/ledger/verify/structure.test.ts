// What somebody can do around the events, with a database shell and without touching one of them.
import { describe, expect, it } from 'vitest';
import type { Database } from '../sqlite/load.ts';
import { Shim } from '../testing/events.ts';
import { LedgerHome } from '../testing/temp-ledger.ts';

async function recorded(): Promise<LedgerHome> {
  const home = new LedgerHome();
  const shim = new Shim('shim-a');
  const calls = Array.from({ length: 20 }, (_, index) => shim.call(`c${index}`));
  await home.record([shim.runStart(), ...calls.flat(), shim.runEnd(20)]);
  return home;
}

/** The sql of an index is swapped for one that holds no row, and put back afterwards. */
function emptyIndex(db: Database, name: string): void {
  const { sql } = db.prepare('SELECT sql FROM sqlite_master WHERE name = ?').get(name) as {
    sql: string;
  };
  const set = (text: string) => {
    const version = db.prepare('PRAGMA schema_version').get() as { schema_version: number };
    db.exec('PRAGMA writable_schema = ON');
    db.prepare('UPDATE sqlite_master SET sql = ? WHERE name = ?').run(text, name);
    db.exec(`PRAGMA schema_version = ${version.schema_version + 1}`);
    db.exec('PRAGMA writable_schema = RESET');
  };
  const bare = sql.replace(/ WHERE .*$/s, '');
  set(`${bare} WHERE 1 = 0`);
  db.exec(`REINDEX ${name}`);
  set(sql);
}

async function findingsOf(home: LedgerHome, deep = true) {
  const report = await home.verify({ deep });
  const errors = report.findings.filter(({ level }) => level === 'error');
  expect(report.ok).toBe(errors.length === 0);
  return errors;
}

describe('sub ledger verify', () => {
  it.each(['events_producer', 'events_run', 'calls_key', 'calls_tool', 'runs_time'])(
    'finds rows that were removed from the index %s only',
    async (name) => {
      const home = await recorded();
      await home.tamper((db) => emptyIndex(db, name));
      for (const deep of [true, false]) {
        const [first, ...rest] = await findingsOf(home, deep);
        expect(first).toMatchObject({ kind: 'index' });
        expect(first?.message).toContain(name);
        expect(first?.message).toContain('REINDEX');
        expect(rest.every(({ kind }) => kind === 'index')).toBe(true);
      }
      await home.tamper((db) => db.exec('REINDEX'));
      expect(await findingsOf(home)).toEqual([]);
    },
  );

  it.each([
    [
      'a trigger',
      'CREATE TRIGGER hide AFTER INSERT ON tool_calls BEGIN DELETE FROM tool_calls WHERE id = new.id; END',
      'DROP TRIGGER "hide"',
    ],
    ['a view', 'CREATE VIEW calls AS SELECT 1 AS one', 'DROP VIEW "calls"'],
    ['a table', 'CREATE TABLE notes (text TEXT)', 'DROP TABLE "notes"'],
    ['an index', 'CREATE INDEX more ON events (ts)', 'DROP INDEX "more"'],
  ])('names %s that was added, and how to remove it', async (_, sql, drop) => {
    const home = await recorded();
    await home.tamper((db) => db.exec(sql));
    for (const deep of [true, false]) {
      const found = await findingsOf(home, deep);
      expect(found).toMatchObject([{ kind: 'schema' }]);
      expect(found[0]?.message).toContain(drop);
    }
    await home.tamper((db) => db.exec(drop));
    expect(await findingsOf(home)).toEqual([]);
  });

  it.each([
    ['DROP INDEX calls_tool', 'index calls_tool was removed'],
    ['ALTER TABLE tool_calls ADD COLUMN more TEXT', 'table tool_calls is not'],
    [
      'ALTER TABLE events ADD COLUMN more TEXT GENERATED ALWAYS AS (line) VIRTUAL',
      'table events is not',
    ],
    [
      'ALTER TABLE hints RENAME TO hidden; CREATE VIEW hints AS SELECT * FROM hidden LIMIT 0',
      'table hints was removed',
    ],
    [
      `ALTER TABLE runs RENAME TO old; CREATE TABLE runs AS SELECT * FROM old; DROP TABLE old`,
      'table runs is not',
    ],
    ['DROP TABLE events', 'table events was removed'],
  ])('finds a schema after `%s`', async (sql, words) => {
    const home = await recorded();
    await home.tamper((db) => db.exec(sql));
    for (const deep of [true, false]) {
      const found = await findingsOf(home, deep);
      expect(found.map(({ message }) => message).join('\n')).toContain(words);
      expect(found[0]).toMatchObject({ kind: 'schema' });
    }
  });

  it('does not believe a view that takes the name of the list of tables', async () => {
    const home = await recorded();
    await home.tamper((db) => {
      db.exec('CREATE TRIGGER hide AFTER INSERT ON events BEGIN SELECT 1; END');
      db.exec('PRAGMA writable_schema = ON');
      db.exec(`INSERT INTO sqlite_master VALUES ('view', 'sqlite_schema', 'sqlite_schema', 0,
        'CREATE VIEW sqlite_schema AS SELECT 1 AS type, 1 AS name, 1 AS tbl_name, 1 AS sql')`);
    });
    const found = await findingsOf(home).catch((cause: unknown) => [String(cause)]);
    expect(JSON.stringify(found)).toMatch(/hide|malformed/);
  });

  it.each([1, 0, -1])('finds a schema version that was set to %i', async (version) => {
    const home = await recorded();
    await home.tamper((db) => db.exec(`PRAGMA user_version = ${version}`));
    await expect(home.verify()).rejects.toMatchObject({ code: 'SUB_LEDGER_CORRUPT' });
    await expect(home.open()).rejects.toMatchObject({ code: 'SUB_LEDGER_CORRUPT' });
  });

  it('compares a call that was edited with what the events say', async () => {
    const home = await recorded();
    await home.tamper((db) =>
      db.exec("UPDATE tool_calls SET decision = 'BLOCK' WHERE call_id = 'c3'"),
    );
    const found = await findingsOf(home);
    expect(found).toMatchObject([{ kind: 'projection' }]);
    expect(found[0]?.message).toContain('BLOCK');
  });
});

describe('the one writer', () => {
  it('does not write into a database with a foreign trigger', async () => {
    const home = await recorded();
    await home.tamper((db) =>
      db.exec('CREATE TRIGGER hide AFTER INSERT ON events BEGIN DELETE FROM runs; END'),
    );
    await expect(home.open()).rejects.toMatchObject({ code: 'SUB_LEDGER_TAMPERED' });
    await home.tamper((db) => db.exec('DROP TRIGGER hide'));
    await home.record(new Shim('shim-b').call('after'));
    expect(await findingsOf(home)).toEqual([]);
  });
});
