import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { openGatewayStore } from '../store/open/index.ts';
import { NOON_MS, sampleReservation } from '../store/testing/sample-rows.ts';
import type { ExpiredReservation, GatewayStore } from '../store/types.ts';
import { Settler } from './settler.ts';

let folder: string;
let store: GatewayStore;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'settler-'));
  store = await openGatewayStore({ database: join(folder, 'gateway.db') });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

it('gives back reservations of more than ten minutes, tells of them and writes them to the audit', async () => {
  verifies('R-16');
  const old = sampleReservation();
  const young = sampleReservation({ nowMs: NOON_MS + 1_000 });
  await store.budgets.reserve(old);
  await store.budgets.reserve(young);
  const expired: ExpiredReservation[] = [];
  const settler = new Settler({
    store,
    expiresMs: 600_000,
    expired: (reservation) => void expired.push(reservation),
    failed: () => {},
  });
  await settler.sweep(NOON_MS + 600_500);
  await settler.sweep(NOON_MS + 600_600);
  expect(expired.map(({ id }) => id)).toEqual([old.id]);
  const audit = await store.records.audit({ tenantId: 'default', limit: 10 });
  expect(audit).toMatchObject([
    {
      eventType: 'reservation_expired',
      traceId: old.traceId,
      detail: { reservation_id: old.id, estimated_micros: 100 },
    },
  ]);
  const [state] = await store.budgets.states('default', young.limits);
  expect(state?.reservedMicros).toBe(100);
});

it('sweeps when the gateway starts, and tells when the database fails', async () => {
  await store.budgets.reserve(sampleReservation({ nowMs: 0 }));
  const expired: string[] = [];
  const failed: unknown[] = [];
  const options = {
    store,
    expiresMs: 600_000,
    expired: ({ id }: ExpiredReservation) => void expired.push(id),
    failed: (cause: unknown) => void failed.push(cause),
  };
  const startAndStop = async () => {
    const settler = new Settler(options);
    settler.start();
    await settler.stop();
  };
  await startAndStop();
  expect([expired.length, failed.length]).toEqual([1, 0]);
  await store.close();
  await startAndStop();
  expect([expired.length, failed.length]).toEqual([1, 1]);
});

it('keeps what is reserved for a turn that runs here, until it ends or its time is over', async () => {
  const long = sampleReservation();
  const lost = sampleReservation();
  const expired: string[] = [];
  const settler = new Settler({
    store,
    expiresMs: 600_000,
    expired: ({ id }) => void expired.push(id),
    failed: () => {},
  });
  for (const reservation of [long, lost]) {
    await store.budgets.reserve(reservation);
    settler.reserved(reservation.id, NOON_MS);
  }
  await settler.sweep(NOON_MS + 900_000);
  expect(expired).toEqual([]);
  settler.ended(lost.id);
  await settler.sweep(NOON_MS + 1_600_000);
  expect(expired).toEqual([lost.id]);
  await settler.sweep(NOON_MS + 2 * 3_600_000 + 1_600_001);
  expect(expired).toEqual([lost.id, long.id]);
});
