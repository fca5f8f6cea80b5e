import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { openGatewayStore } from '../store/open/index.ts';
import { NOON_MS, sampleReservation } from '../store/testing/sample-rows.ts';
import type { ExpiredReservation, GatewayStore } from '../store/types.ts';
import { startSettler, sweepReservations } from './settler.ts';

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
  const options = {
    store,
    expired: (reservation: ExpiredReservation) => void expired.push(reservation),
    failed: () => {},
  };
  await sweepReservations(options, NOON_MS + 600_500);
  await sweepReservations(options, NOON_MS + 600_600);
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
    expired: ({ id }: ExpiredReservation) => void expired.push(id),
    failed: (cause: unknown) => void failed.push(cause),
  };
  await startSettler(options)();
  expect([expired.length, failed.length]).toEqual([1, 0]);
  await store.close();
  await startSettler(options)();
  expect([expired.length, failed.length]).toEqual([1, 1]);
});
