import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../../../../test/requirements.ts';
import { TABLES } from '../store/tables.ts';
import { Shim } from '../testing/events.ts';
import { LedgerHome, PAIR, tempFolder } from '../testing/temp-ledger.ts';
import { connect } from './connection.ts';
import { loadSqlite } from './load.ts';
import { MIGRATIONS, migrate } from './schema.ts';
import { openSqliteReader, openSqliteStore } from './sqlite-store.ts';

const RUN = fileURLToPath(new URL('../../../../../tools/run.mjs', import.meta.url));
const WRITER = fileURLToPath(new URL('../testing/writer-process.ts', import.meta.url));

/** A writer in another process, and what it says line by line. */
function startWriter(home: LedgerHome, producer: string) {
  writeFileSync(join(home.folder, 'ledger.key'), PAIR.privatePem, { mode: 0o600 });
  const child = spawn(process.execPath, [RUN, WRITER, home.folder, producer], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
}

async function pragmas(file: string): Promise<{ [name: string]: unknown }> {
  const { DatabaseSync } = await loadSqlite();
  const db = new DatabaseSync(file);
  const names = ['journal_mode', 'user_version', 'auto_vacuum'];
  const found = names.map((name) => db.prepare(`PRAGMA ${name}`).get() as object);
  db.close();
  return Object.assign({}, ...found) as { [name: string]: unknown };
}

describe('the file', () => {
  it('is a ledger from the start, also without its log', async () => {
    const home = new LedgerHome(tempFolder());
    const ledger = await home.open();
    await ledger.ingest(new Shim('a').call('c'));
    // As a crash leaves it, and somebody who removes the log.
    const alone = join(home.folder, 'alone.db');
    copyFileSync(home.file, alone);
    const reader = await openSqliteReader({ file: alone });
    expect((await reader.tip()).seq).toBe(0);
    await reader.close();
    await ledger.close();
  });

  // There, Node makes folders for ever when it is asked for all of them at once.
  it.runIf(process.platform === 'linux')('is refused at once where no folder can be', async () => {
    const opening = openSqliteStore({ file: '/proc/nowhere/deep/ledger.db' });
    await expect(opening).rejects.toMatchObject({
      code: 'SUB_LEDGER_IO',
      message: expect.stringContaining('/proc/nowhere cannot be made') as string,
    });
  });

  it('is a database with a write-ahead log, for its user alone', async () => {
    verifies('SL-11.2', 'T-C.3');
    const home = new LedgerHome(join(tempFolder(), 'new', 'home'));
    const ledger = await home.open();
    await ledger.ingest(new Shim('a').call('c'));
    expect(await pragmas(home.file)).toMatchObject({ journal_mode: 'wal', user_version: 9 });
    expect(statSync(home.folder).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(home.folder)) {
      expect(statSync(join(home.folder, name)).mode & 0o777, name).toBe(0o600);
    }
    await ledger.close();
  });

  it('is closed to others when they had access', async () => {
    const home = new LedgerHome();
    await home.record();
    chmodSync(home.file, 0o644);
    await home.record();
    expect(statSync(home.file).mode & 0o777).toBe(0o600);
  });

  it('has the tables and indexes of the specification', async () => {
    verifies('SL-11.3');
    const home = new LedgerHome();
    await home.record();
    await home.tamper((db) => {
      for (const { name, columns } of TABLES) {
        const found = db.prepare(`SELECT name FROM pragma_table_info('${name}')`).all();
        const names = (found as { name: string }[]).map((column) => column.name);
        expect(names.toSorted()).toEqual(Object.keys(columns).toSorted());
      }
      const indexes = db
        .prepare("SELECT sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'tool_calls'")
        .all() as { sql: string }[];
      for (const wanted of [
        '(run_id, created_at',
        '(server_name, tool_name',
        '(decision, status',
        'substr(args_hash',
      ]) {
        expect(
          indexes.some(({ sql }) => sql.includes(wanted)),
          wanted,
        ).toBe(true);
      }
    });
  });

  it('holds nothing any more of what was pruned', async () => {
    const home = new LedgerHome();
    const ledger = await home.open();
    const secret = new Shim('a', { run: 'secret-run' });
    const other = new Shim('b');
    // Among others, over many pages that are split, moved and filled again.
    for (let n = 0; n < 40; n++) {
      const preview = { truncated: false, args_preview: `hunter2-${n} `.repeat(1 + n * 20) };
      const calls = Array.from({ length: 5 }, (_, m) => other.call(`${n}-${m}`)).flat();
      await ledger.ingest([secret.start(`c${n}`, { preview }), ...calls, secret.end(`c${n}`)]);
    }
    expect(readFileSync(`${home.file}-wal`).includes('hunter2')).toBe(true);
    await ledger.prune({ keepRuns: 1 });
    await ledger.close();
    for (const name of readdirSync(home.folder)) {
      const bytes = readFileSync(join(home.folder, name));
      expect(bytes.includes('hunter2') || bytes.includes('secret-run'), name).toBe(false);
    }
    expect(await home.verify({ deep: true })).toMatchObject({ ok: true, pruned: 80 });
  });
});

describe('several processes', () => {
  it('have one writer, and readers while it writes', async () => {
    verifies('T-C.3');
    const home = new LedgerHome();
    const { child, lines } = startWriter(home, 'first');
    await lines.next();
    const reader = await openSqliteReader({ file: home.file });
    const before = (await reader.tip()).seq;
    expect(before).toBeGreaterThanOrEqual(90);
    await expect(home.open()).rejects.toMatchObject({ code: 'SUB_LEDGER_LOCKED' });
    for (let more = 0; more < 3; more++) await lines.next();
    expect((await reader.tip()).seq).toBeGreaterThan(before);
    expect((await reader.calls({ runId: 'run-1' }, { limit: 5 })).rows).toHaveLength(5);
    expect(await home.verify()).toMatchObject({ ok: true });
    const second = startWriter(home, 'second');
    expect(await second.lines.next()).toMatchObject({ value: 'SUB_LEDGER_LOCKED' });
    child.kill('SIGKILL');
    await once(child, 'exit');
    await reader.close();
    // The lock has died with its holder.
    await home.record(new Shim('third').call('c'));
  });

  it('lose nothing that was committed when the writer is killed', async () => {
    verifies('T-C.3');
    const home = new LedgerHome();
    for (const [producer, batches] of [
      ['one', 1],
      ['two', 4],
      ['three', 2],
    ] as const) {
      const { child, lines } = startWriter(home, producer);
      let committed = 0;
      for (let batch = 0; batch < batches; batch++) {
        committed = Number((await lines.next()).value);
      }
      child.kill('SIGKILL');
      await once(child, 'exit');
      const report = await home.verify({ deep: true });
      expect(report.findings.filter(({ level }) => level === 'error')).toEqual([]);
      const reader = await openSqliteReader({ file: home.file });
      const stored = await reader.events({ afterSeq: 0, limit: 100_000, producer });
      expect(stored.length).toBeGreaterThanOrEqual(committed);
      expect(stored.length % 90).toBe(0);
      await reader.close();
    }
    // The next writer takes over what nobody had signed, and says so.
    await home.record(new Shim('last').call('c'));
    const report = await home.verify({ deep: true });
    expect(report).toMatchObject({ ok: true });
    expect(report.signedSeq).toBe(report.tip.seq);
  });
});

describe('a ledger that cannot be opened', () => {
  it('is missing for a reader', async () => {
    const file = join(tempFolder(), 'ledger.db');
    await expect(openSqliteReader({ file })).rejects.toMatchObject({ code: 'SUB_LEDGER_MISSING' });
    expect(existsSync(file)).toBe(false);
  });

  it('is of a newer version', async () => {
    const home = new LedgerHome();
    await home.record();
    await home.tamper((db) => db.exec('PRAGMA user_version = 99'));
    const newer = { code: 'SUB_LEDGER_NEWER', message: expect.stringContaining('99') as unknown };
    await expect(home.open()).rejects.toMatchObject(newer);
    await expect(openSqliteReader({ file: home.file })).rejects.toMatchObject(newer);
  });

  it('belongs to something else', async () => {
    const home = new LedgerHome();
    await home.tamper((db) => db.exec('CREATE TABLE bookmarks (url TEXT)'));
    const foreign = { code: 'SUB_LEDGER_FOREIGN' };
    await expect(home.open()).rejects.toMatchObject(foreign);
    await expect(openSqliteReader({ file: home.file })).rejects.toMatchObject(foreign);
    await home.tamper((db) => expect(db.prepare('SELECT * FROM bookmarks').all()).toEqual([]));
  });

  it('is no database', async () => {
    const home = new LedgerHome();
    writeFileSync(home.file, 'not a database at all, but long enough to look at'.repeat(100));
    const corrupt = {
      code: 'SUB_LEDGER_CORRUPT',
      fix: expect.stringContaining('backup') as unknown,
    };
    await expect(home.open()).rejects.toMatchObject(corrupt);
    await expect(openSqliteReader({ file: home.file })).rejects.toMatchObject(corrupt);
  });

  it('is damaged inside', async () => {
    const home = new LedgerHome();
    const shim = new Shim('a');
    await home.record(Array.from({ length: 100 }, (_, n) => shim.call(`c${n}`)).flat());
    truncateSync(home.file, 3 * 4_096);
    const read = async () => {
      const ledger = await home.open();
      await ledger.ingest(shim.call('late'));
    };
    await expect(read()).rejects.toMatchObject({ code: 'SUB_LEDGER_CORRUPT' });
  });

  it('may only be read', async () => {
    const home = new LedgerHome();
    await home.record(new Shim('a').call('c'));
    const connection = await connect(home.file, { readOnly: true });
    const write = () => connection.run("UPDATE meta SET value = ''");
    expect(write).toThrow(expect.objectContaining({ code: 'SUB_LEDGER_READ_ONLY' }) as Error);
    connection.close();
  });

  // For the superuser no file is read-only.
  it.skipIf(process.getuid?.() === 0)('may not be written by this user', async () => {
    const home = new LedgerHome();
    await home.record(new Shim('a').call('c'));
    chmodSync(home.file, 0o400);
    await expect(home.open()).rejects.toMatchObject({ code: 'SUB_LEDGER_READ_ONLY' });
    chmodSync(home.folder, 0o500);
    expect(await home.verify({ deep: true })).toMatchObject({ ok: true });
    chmodSync(home.folder, 0o700);
  });

  it('is a folder', async () => {
    const home = new LedgerHome();
    mkdirSync(home.file);
    await expect(home.open()).rejects.toMatchObject({ code: 'SUB_LEDGER_IO' });
    await expect(openSqliteReader({ file: home.file })).rejects.toMatchObject({
      code: 'SUB_LEDGER_MISSING',
    });
  });

  it('leaves no lock behind', async () => {
    const home = new LedgerHome();
    writeFileSync(home.file, 'x'.repeat(5_000));
    await expect(home.open()).rejects.toMatchObject({ code: 'SUB_LEDGER_CORRUPT' });
    rmSync(home.file);
    await home.record(new Shim('a').call('c'));
    expect(await home.verify()).toMatchObject({ ok: true, events: 3 });
  });
});

describe('a ledger that cannot grow', () => {
  it('refuses what does not fit, keeps what it has, and goes on when there is room', async () => {
    const home = new LedgerHome();
    const ledger = await home.open({ bytesMax: 600_000 });
    const shim = new Shim('a');
    const preview = { truncated: false, args_preview: 'x'.repeat(10_000) };
    const batch = () =>
      Array.from({ length: 10 }, (_, n) => shim.start(`c${shim.count}-${n}`, { preview }));
    await ledger.ingest(batch());
    const lost = batch();
    const huge = async () => {
      for (let more = 0; more < 20; more++) await ledger.ingest(batch());
    };
    await expect(huge()).rejects.toMatchObject({ code: 'SUB_LEDGER_FULL' });
    await ledger.close().catch(() => undefined);
    const report = await home.verify({ deep: true });
    expect(report).toMatchObject({ ok: true });
    const again = await home.open();
    expect(await again.ingest(lost)).toMatchObject({ accepted: 10 });
    await again.close();
    const after = await home.verify({ deep: true });
    expect(after).toMatchObject({ ok: true });
    expect(after.events).toBeGreaterThanOrEqual(report.events + 10);
  });
});

describe('migrations', () => {
  const OLD = 'CREATE TABLE t (a TEXT);';

  it('bring an older database to the newest schema, keeping its rows', async () => {
    const { DatabaseSync } = await loadSqlite();
    const db = new DatabaseSync(':memory:');
    migrate(db, { file: 'f', migrations: [OLD] });
    db.exec("INSERT INTO t VALUES ('kept')");
    const steps = [OLD, 'ALTER TABLE t ADD COLUMN b TEXT;', "UPDATE t SET b = a || '!';"];
    migrate(db, { file: 'f', migrations: steps });
    migrate(db, { file: 'f', migrations: steps });
    expect(db.prepare('SELECT b FROM t').get()).toMatchObject({ b: 'kept!' });
    expect(() => migrate(db, { file: 'f', migrations: [OLD] })).toThrow('schema 3');
    db.close();
  });

  it('happen as a whole or not at all', async () => {
    const { DatabaseSync } = await loadSqlite();
    const db = new DatabaseSync(':memory:');
    migrate(db, { file: 'f', migrations: [OLD] });
    const broken = [OLD, 'ALTER TABLE t ADD COLUMN b TEXT;', 'NONSENSE;'];
    expect(() => migrate(db, { file: 'f', migrations: broken })).toThrow('NONSENSE');
    expect(() => db.prepare('SELECT b FROM t').all()).toThrow('no such column');
    migrate(db, { file: 'f', migrations: [OLD] });
    db.close();
  });

  it('that were released never change', () => {
    expect(MIGRATIONS.map((step) => hash('sha256', step).slice(0, 16))).toEqual([
      'aebd9fe421838db8',
      'c9ec04c53cc181b0',
      'e19d29c9a237b1cf',
      '51df80e710fa219e',
      '7e11d07680efa71b',
      '2d73dd7289b18702',
      '3bc025e4a5e3958b',
      'a6ae4342dbf5e364',
      '3716ae56ca3f38b0',
    ]);
  });
});

describe('a ledger that was put back', () => {
  async function putBack(): Promise<{ home: LedgerHome; shim: Shim }> {
    const home = new LedgerHome();
    const shim = new Shim('a');
    await home.record(shim.call('a'));
    copyFileSync(home.file, `${home.file}.old`);
    await home.record(shim.call('b'));
    copyFileSync(`${home.file}.old`, home.file);
    return { home, shim };
  }

  it('does not go on as if nothing had happened', async () => {
    const { home } = await putBack();
    await expect(home.open()).rejects.toMatchObject({ code: 'SUB_LEDGER_ROLLED_BACK' });
    rmSync(home.file);
    await expect(home.open()).rejects.toMatchObject({ code: 'SUB_LEDGER_ROLLED_BACK' });
  });

  it('goes on when told to, and says so for good', async () => {
    const { home, shim } = await putBack();
    const ledger = await home.open({ onRollback: 'record' });
    await ledger.ingest(shim.call('c'));
    await ledger.close();
    await home.record(shim.call('d'));
    expect(await home.verify({ deep: true })).toMatchObject({
      ok: true,
      findings: [{ kind: 'rollback', level: 'warning', fromSeq: 4 }],
    });
  });
});
