// A Postgres that goes away and comes back, while the gateway stays.
import { expect, it } from 'vitest';
import {
  runningGateway,
  type TestGateway,
} from '../../packages/gateway/serve/testing/running-gateway.ts';
import { startPostgresProcess } from './running-processes.ts';

const ASKED = { model: 'claude', max_tokens: 10, messages: [{ role: 'user', content: 'Hello?' }] };
const POSTGRES_BACK_MS = 30_000;

async function statusOf(gateway: TestGateway, path: string): Promise<number> {
  return (await fetch(gateway.url + path)).status;
}

it('a turn that comes while Postgres restarts waits for it, and what comes later needs no new gateway', async () => {
  const postgres = await startPostgresProcess();
  const gateway = await runningGateway({ database: postgres.url });
  expect((await gateway.turn(ASKED)).status).toBe(200);
  expect(await statusOf(gateway, '/readyz')).toBe(200);

  await postgres.crash();
  const waiting = gateway.turn(ASKED);
  await postgres.start();
  expect((await waiting).status).toBe(200);

  await expect.poll(() => statusOf(gateway, '/readyz'), { timeout: POSTGRES_BACK_MS }).toBe(200);
  expect((await gateway.turn(ASKED)).status).toBe(200);
  expect(gateway.upstream).toHaveLength(3);
});

it('without Postgres nothing passes, the gateway is alive but not ready, and then it is ready again', async () => {
  const postgres = await startPostgresProcess();
  const gateway = await runningGateway({ database: postgres.url });
  await postgres.crash();
  const answer = await gateway.turn(ASKED);
  expect(answer.status).toBe(503);
  expect(await answer.text()).toContain('Try again in a moment.');
  expect(gateway.upstream).toEqual([]);
  expect(await statusOf(gateway, '/healthz')).toBe(200);
  expect(await statusOf(gateway, '/readyz')).toBe(503);

  await postgres.start();
  await expect.poll(() => statusOf(gateway, '/readyz'), { timeout: POSTGRES_BACK_MS }).toBe(200);
  expect((await gateway.turn(ASKED)).status).toBe(200);
});
