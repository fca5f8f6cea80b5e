import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { openGatewayStore } from '../open/index.ts';
import { createTestDatabase, POSTGRES_START_MS, type TestDatabase } from './postgres.ts';
import { NOON_MS, sampleLimit } from './sample-rows.ts';
import { bundleProcess, startProcess } from './start-process.ts';

let folder: string;
let program: string;
let postgres: TestDatabase;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'budget-race-'));
  program = await bundleProcess('reserve-process');
  postgres = await createTestDatabase();
}, POSTGRES_START_MS);
afterAll(async () => {
  await postgres.drop();
  rmSync(folder, { recursive: true });
  rmSync(program);
});

describe.each(['SQLite', 'Postgres'])('gateways as processes on %s', (engine) => {
  const database = () => (engine === 'SQLite' ? join(folder, 'gateway.db') : postgres.url);
  const limit = sampleLimit();

  it('two that race 200 times for a cap of 50 get exactly 50, and a kill -9 leaks nothing past the expiry', async () => {
    verifies('R-P1.3');
    const gateways = [1, 2].map(() => startProcess(program, database(), '100', '5000'));
    for (const gateway of gateways) expect(await gateway.line()).toBe('ready');
    for (const gateway of gateways) gateway.send('go');
    const reserved = await Promise.all(
      gateways.map(async (gateway) => Number(await gateway.line())),
    );
    expect(reserved.reduce((sum, count) => sum + count, 0)).toBe(50);
    // Nothing of it was settled.
    for (const gateway of gateways) await gateway.kill();
    const store = await openGatewayStore({ database: database() });
    const held = async () => (await store.budgets.states('default', [limit]))[0]?.reservedMicros;
    expect(await held()).toBe(5_000);
    expect(await store.budgets.expire(NOON_MS + 1, NOON_MS + 600_000)).toHaveLength(50);
    expect(await held()).toBe(0);
    await store.close();
  });
});
