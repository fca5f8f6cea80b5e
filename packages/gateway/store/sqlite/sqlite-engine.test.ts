import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSqlite } from '@subluminal/plane/sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import {
  sampleCost,
  sampleKey,
  sampleRecord,
  TABLE_NAMES,
  wholeRecord,
} from '../testing/sample-rows.ts';
import { describeStore } from '../testing/suite.ts';
import { SQLITE_STEPS } from './migrate.ts';
import { openSqliteGatewayStore } from './open-sqlite.ts';

let folder: string;
const file = () => join(folder, 'state', 'gateway.db');

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-store-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function beside() {
  const { DatabaseSync } = await loadSqlite();
  return new DatabaseSync(file(), { timeout: 1_000 });
}

describeStore('SQLite', async () => {
  const store = await openSqliteGatewayStore({ file: file() });
  const shell = await beside();
  return {
    store,
    sql: async (text) => shell.prepare(text).all(),
    end: async () => {
      shell.close();
      await store.close();
    },
  };
});

describe('the file', () => {
  it('is for its user alone', async () => {
    const store = await openSqliteGatewayStore({ file: file() });
    await store.close();
    expect(statSync(file()).mode & 0o777).toBe(0o600);
  });

  it('keeps what was written when it is opened again, and brings an older one up to date', async () => {
    verifies('R-3');
    const user = { tenantId: 'default', userId: 'ann', role: 'developer', createdMs: 1 } as const;
    const key = sampleKey();
    const first = await openSqliteGatewayStore({ file: file() });
    await first.people.setUser(user);
    await first.keys.add(key);
    await first.close();
    const steps = [...SQLITE_STEPS, () => 'CREATE TABLE added (a INTEGER) STRICT;'];
    const second = await openSqliteGatewayStore({ file: file(), steps });
    expect(await second.keys.find(key.hash)).toMatchObject({ key: { id: key.id } });
    await second.close();
    const shell = await beside();
    expect(shell.prepare('SELECT count(*) AS n FROM added').get()).toMatchObject({ n: 0 });
    shell.close();
  });

  it.each(SQLITE_STEPS.map((_, place) => place + 1))(
    'with the first %i steps of the schema keeps its records when it gets the others',
    async (count) => {
      const earlier = { file: file(), steps: SQLITE_STEPS.slice(0, count) };
      const first = await openSqliteGatewayStore(earlier);
      await first.records.write(wholeRecord('one'));
      await first.close();
      const second = await openSqliteGatewayStore({ file: file() });
      await second.records.write(wholeRecord('two'));
      for (const traceId of ['one', 'two']) {
        expect((await second.records.trace('default', traceId))?.audit).toHaveLength(2);
      }
      await second.close();
    },
  );

  it('of a newer version is refused and left alone', async () => {
    const steps = [...SQLITE_STEPS, () => 'CREATE TABLE added (a INTEGER) STRICT;'];
    await (await openSqliteGatewayStore({ file: file(), steps })).close();
    await expect(openSqliteGatewayStore({ file: file() })).rejects.toMatchObject({
      code: 'SUB_STORE_NEWER',
    });
    await (await openSqliteGatewayStore({ file: file(), steps })).close();
  });

  it('of another program is refused', async () => {
    await (await openSqliteGatewayStore({ file: file() })).close();
    const shell = await beside();
    shell.exec('PRAGMA application_id = 7');
    shell.close();
    await expect(openSqliteGatewayStore({ file: file() })).rejects.toMatchObject({
      code: 'SUB_STORE_UNUSABLE',
    });
  });

  it('gets its schema once when two open it at the same time', async () => {
    const stores = await Promise.all([1, 2].map(() => openSqliteGatewayStore({ file: file() })));
    for (const store of stores) expect(await store.ping()).toBe(true);
    for (const store of stores) await store.close();
  });

  it('keeps nothing of a step that fails', async () => {
    const broken = [...SQLITE_STEPS, () => 'CREATE TABLE half (a INTEGER); CREATE NONSENSE;'];
    await expect(openSqliteGatewayStore({ file: file(), steps: broken })).rejects.toThrow(
      'NONSENSE',
    );
    const shell = await beside();
    expect(shell.prepare('SELECT * FROM sqlite_schema').all()).toEqual([]);
    shell.close();
  });
});

it('has the tables of the gateway, each with its tenant', async () => {
  verifies('R-4');
  const store = await openSqliteGatewayStore({ file: file() });
  const shell = await beside();
  const tables = shell.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  const names = tables
    .map(({ name }) => String(name))
    .filter((name) => !name.startsWith('sqlite_'));
  expect(names.toSorted()).toEqual(TABLE_NAMES);
  for (const name of names) {
    const columns = shell.prepare(`SELECT name FROM pragma_table_info('${name}')`).all();
    expect(columns.map((column) => column['name'])).toContain('tenant_id');
  }
  shell.close();
  await store.close();
});

describe('a locked file', () => {
  it('makes a write wait until it is free', async () => {
    const store = await openSqliteGatewayStore({ file: file(), busyMs: 1 });
    const shell = await beside();
    shell.exec('BEGIN IMMEDIATE');
    const written = store.records.write(sampleRecord({ costs: [sampleCost()] }));
    // The first try comes within the next turns of the event loop, and is refused at once.
    for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
    shell.exec('COMMIT');
    await written;
    expect(await store.records.costsOf({ traceId: 'trace' })).toHaveLength(1);
    shell.close();
    await store.close();
  });

  it('fails a write loudly when it stays locked', async () => {
    const store = await openSqliteGatewayStore({ file: file(), busyMs: 5, patienceMs: 60 });
    const shell = await beside();
    shell.exec('BEGIN IMMEDIATE');
    const record = sampleRecord({ costs: [sampleCost()] });
    await expect(store.records.write(record)).rejects.toMatchObject({ code: 'SUB_STORE_DOWN' });
    shell.exec('COMMIT');
    await store.records.write(record);
    shell.close();
    await store.close();
  });
});

it('a closed store takes no more writes, and keeps those it took', async () => {
  const store = await openSqliteGatewayStore({ file: file() });
  const written = store.records.write(sampleRecord({ costs: [sampleCost()] }));
  await store.close();
  await written;
  await expect(store.records.write(sampleRecord())).rejects.toMatchObject({
    code: 'SUB_STORE_DOWN',
  });
  expect(await store.ping()).toBe(false);
  const again = await openSqliteGatewayStore({ file: file() });
  expect(await again.records.costsOf({ traceId: 'trace' })).toHaveLength(1);
  await again.close();
});
