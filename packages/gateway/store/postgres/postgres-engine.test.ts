import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { createTestDatabase, POSTGRES_START_MS, type TestDatabase } from '../testing/postgres.ts';
import {
  NOON_MS,
  sampleApproval,
  sampleCost,
  sampleLimit,
  sampleRecord,
  sampleReservation,
  TABLE_NAMES,
} from '../testing/sample-rows.ts';
import type { GatewayStore } from '../types.ts';
import { POSTGRES_STEPS } from './migrate.ts';
import { openPostgresGatewayStore } from './open-postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
}, POSTGRES_START_MS);
afterAll(() => database.drop());

const empty = () => database.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
const opened: GatewayStore[] = [];
async function open(options: Partial<Parameters<typeof openPostgresGatewayStore>[0]> = {}) {
  const store = await openPostgresGatewayStore({ url: database.url, ...options });
  opened.push(store);
  return store;
}
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  await empty();
});

describe('the schema', () => {
  it('is made once when several gateways start at the same time', async () => {
    const stores = await Promise.all([1, 2, 3, 4].map(() => open()));
    for (const store of stores) expect(await store.ping()).toBe(true);
    expect(await database.query('SELECT version FROM gateway_schema')).toEqual(
      POSTGRES_STEPS.map((_, place) => ({ version: place + 1 })),
    );
  });

  it('of an older version is brought up to date, of a newer one refused and left alone', async () => {
    verifies('R-3');
    const steps = [...POSTGRES_STEPS, () => 'CREATE TABLE added (a INTEGER);'];
    await open();
    await open({ steps });
    expect(await database.query('SELECT count(*)::int AS n FROM added')).toEqual([{ n: 0 }]);
    await expect(open()).rejects.toMatchObject({ code: 'SUB_STORE_NEWER' });
  });

  it('has the tables of the gateway, each with its tenant', async () => {
    verifies('R-4');
    await open();
    const tables = await database.query(`SELECT table_name AS name FROM information_schema.columns
      WHERE table_schema = 'public' AND column_name = 'tenant_id' ORDER BY 1`);
    expect(tables.map(({ name }) => name)).toEqual(TABLE_NAMES);
  });

  it('keeps nothing of a step that fails', async () => {
    const broken = [...POSTGRES_STEPS, () => 'CREATE TABLE half (a INTEGER); CREATE NONSENSE;'];
    await expect(open({ steps: broken })).rejects.toThrow('NONSENSE');
    const tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'";
    expect(await database.query(tables)).toEqual([]);
  });
});

describe('several gateways on one database', () => {
  it('hear of approvals that another resolves', async () => {
    const [one, other] = [await open(), await open()];
    const approval = sampleApproval();
    await one.approvals.add(approval);
    let tell: () => void = () => {};
    const heard = new Promise<void>((resolve) => (tell = resolve));
    await one.approvals.watch(tell);
    await other.approvals.resolve(approval.id, {
      tenantId: 'default',
      state: 'approved',
      resolver: 'ada',
      note: null,
      nowMs: NOON_MS,
    });
    await heard;
    expect(await one.approvals.get('default', approval.id)).toMatchObject({ state: 'approved' });
  });

  it('share budgets without waiting for each other in a circle', async () => {
    const stores = [await open(), await open(), await open()];
    const base = sampleReservation().limits[0];
    if (base === undefined) throw new Error('The sample has no limit.');
    const limits = ['a', 'b', 'c', 'd'].map((key) => ({ ...base, key, capMicros: 100_000 }));
    await Promise.all(
      Array.from({ length: 150 }, async (_, n) => {
        const store = stores[n % 3];
        const turned = [...limits.slice(n % 4), ...limits.slice(0, n % 4)];
        const reservation = sampleReservation({
          limits: n % 2 === 0 ? turned : turned.toReversed(),
        });
        await store?.budgets.reserve(reservation);
        const settlement = {
          kind: 'commit',
          reservationId: reservation.id,
          actualMicros: 10,
        } as const;
        const costs = [sampleCost({ traceId: `t${n}`, userId: `user${n % 5}` })];
        await stores[(n + 1) % 3]?.records.write(sampleRecord({ settlement, costs }));
      }),
    );
    const states = await stores[0]?.budgets.states('default', limits);
    expect(states?.map(({ usedMicros, reservedMicros }) => [usedMicros, reservedMicros])).toEqual(
      limits.map(() => [1_500, 0]),
    );
    const [sum] =
      (await stores[0]?.records.costs({
        tenantId: 'default',
        by: 'team',
        every: null,
        fromMs: NOON_MS - 43_200_000,
        toMs: NOON_MS + 43_200_000,
      })) ?? [];
    expect(sum?.requests).toBe(150);
  });
});

describe('a database that goes away', () => {
  const cut = () =>
    database.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'subluminal-gateway'`);

  it('is found again by writes, reservations and watchers', async () => {
    const store = await open();
    let heard: () => void = () => {};
    await store.approvals.watch(() => heard());
    // Watchers are told when they are connected again: something may have changed meanwhile.
    const again = new Promise<void>((resolve) => (heard = resolve));
    const writes = Array.from({ length: 200 }, (_, n) =>
      store.records.write(sampleRecord({ costs: [sampleCost({ traceId: `t${n}` })] })),
    );
    const reserved = store.budgets.reserve(sampleReservation());
    await cut();
    await Promise.all(writes);
    expect((await reserved).kind).toBe('reserved');
    await again;
    const added = new Promise<void>((resolve) => (heard = resolve));
    await store.approvals.add(sampleApproval());
    await added;
    const [row] = await database.query('SELECT count(*)::int AS n FROM cost_event');
    expect(row).toEqual({ n: 200 });
    const [daily] = await database.query('SELECT sum(requests)::int AS n FROM cost_daily');
    expect(daily).toEqual({ n: 200 });
  });

  it('is asked again by reads that were broken off', async () => {
    const store = await open();
    const other = new Client(database.url);
    await other.connect();
    onTestFinished(() => other.end());
    const tables = 'budget_counter, approval_request';
    await other.query(`BEGIN; LOCK TABLE ${tables} IN ACCESS EXCLUSIVE MODE`);
    const limit = sampleLimit();
    const reads = Promise.all([
      store.budgets.states('default', [limit]),
      store.approvals.list('default', null),
    ]);
    const waiting = () =>
      database.query(`SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'
        AND datname = current_database() AND application_name = 'subluminal-gateway'`);
    await expect.poll(waiting, { timeout: 10_000 }).toHaveLength(2);
    await cut();
    await other.query('COMMIT');
    expect(await reads).toEqual([[{ limit, usedMicros: 0, reservedMicros: 0 }], []]);
  });

  it('that never answered is a clear failure, without the password', async () => {
    const url = 'postgres://user:hidden-word@127.0.0.1:1/none';
    const failed = await openPostgresGatewayStore({ url }).catch((cause: unknown) => cause);
    expect(failed).toMatchObject({ code: 'SUB_STORE_DOWN' });
    expect(String(failed)).not.toContain('hidden-word');
  });

  it('refuses a wrong password and an unknown database clearly', async () => {
    const address = new URL(database.url);
    address.pathname = '/nothing_here';
    await expect(openPostgresGatewayStore({ url: address.href })).rejects.toMatchObject({
      code: 'SUB_STORE_UNUSABLE',
    });
  });

  it('refuses a database that can not hold every text', async () => {
    await database.query("CREATE DATABASE narrow ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
    const address = new URL(database.url);
    address.pathname = '/narrow';
    const failed = await openPostgresGatewayStore({ url: address.href }).catch(
      (cause: unknown) => cause,
    );
    expect(failed).toMatchObject({ code: 'SUB_STORE_UNUSABLE' });
    expect(String(failed)).toContain('LATIN1');
    await database.query('DROP DATABASE narrow WITH (FORCE)');
  });
});
