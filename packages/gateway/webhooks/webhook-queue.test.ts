import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { eventually, TENANT, testStore } from '../api/testing/live-gateway.ts';
import type { GatewayStore, WebhookRow } from '../store/types.ts';
import { WebhookQueue, WebhookSender } from './index.ts';

const NOW_MS = 1_794_916_800_000;

class Receiver {
  readonly bodies: { id: string; event: string; data: object }[] = [];
  statuses: number[] = [];
  url = '';

  async listen(): Promise<this> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        this.bodies.push(JSON.parse(Buffer.concat(chunks).toString('utf8')) as never);
        response.writeHead(this.statuses.shift() ?? 200).end();
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    return this;
  }

  hook(row: Partial<WebhookRow> = {}): WebhookRow {
    const secretRef = 'env://HOOK';
    const base = { id: 'h1', tenantId: TENANT, url: this.url, events: ['budget_soft'], secretRef };
    return { ...base, createdMs: NOW_MS, ...row };
  }
}

interface Setup {
  readonly store?: GatewayStore;
  readonly hooks: readonly WebhookRow[];
}

async function queueOf({ hooks, store }: Setup) {
  const { webhooks } = store ?? (await testStore());
  const clock = { nowMs: NOW_MS };
  const sender = new WebhookSender({
    rules: () => ({ allowedHosts: ['127.0.0.1'], allowPrivateAddresses: true }),
    secretOf: async () => 'a-secret-of-the-receiver',
    nowMs: () => clock.nowMs,
  });
  const outcomes: string[] = [];
  const warnings: string[] = [];
  let ids = 0;
  const configured = { hooks };
  const queue = new WebhookQueue({
    tenantId: TENANT,
    store: webhooks,
    sender,
    configured: () => configured.hooks,
    nowMs: () => clock.nowMs,
    newId: () => `${Math.random()}-${++ids}`,
    onWarning: (message) => warnings.push(message),
    onOutcome: (event, outcome) => outcomes.push(`${event} ${outcome}`),
    pollMs: 5,
  });
  onTestFinished(async () => {
    await queue.stop();
    await sender.close();
  });
  return { queue, webhooks, clock, outcomes, warnings, configured };
}

it('sends an event to those who want it, once', async () => {
  const receiver = await new Receiver().listen();
  const hooks = [receiver.hook(), receiver.hook({ id: 'h2', events: ['budget_hard'] })];
  const { queue, outcomes } = await queueOf({ hooks });
  await queue.emit('budget_soft', { team_id: 'core' });
  await queue.emit('config_rejected', {});
  queue.start();
  await eventually(() => expect(outcomes).toEqual(['budget_soft delivered']));
  expect(receiver.bodies).toMatchObject([
    { v: 1, event: 'budget_soft', tenant_id: TENANT, data: { team_id: 'core' } },
  ]);
});

it('tries again with growing pauses, and gives up at last', async () => {
  verifies('R-P1.8');
  const receiver = await new Receiver().listen();
  receiver.statuses = Array.from({ length: 20 }, () => 500);
  const { queue, clock, outcomes, warnings } = await queueOf({ hooks: [receiver.hook()] });
  await queue.emit('budget_soft', {});
  queue.start();
  for (let attempt = 1; attempt <= 10; attempt++) {
    await eventually(() => expect(outcomes).toHaveLength(attempt));
    clock.nowMs += 3_600_000;
  }
  expect(outcomes.slice(0, 9)).toEqual(Array.from({ length: 9 }, () => 'budget_soft retried'));
  expect(outcomes[9]).toBe('budget_soft given_up');
  expect(warnings).toEqual(['The webhook h1 did not take budget_soft: It answered 500.']);
  expect(receiver.bodies).toHaveLength(10);
  // The receiver can tell a repetition from a new message.
  expect(new Set(receiver.bodies.map(({ id }) => id)).size).toBe(1);
});

it('does not try again before its time, nor what was refused', async () => {
  const receiver = await new Receiver().listen();
  receiver.statuses = [503];
  const { queue, webhooks, clock, outcomes } = await queueOf({ hooks: [receiver.hook()] });
  await queue.emit('budget_soft', {});
  queue.start();
  await eventually(() => expect(outcomes).toEqual(['budget_soft retried']));
  expect(await webhooks.take(clock.nowMs + 7_999, 1, 9)).toEqual([]);
  receiver.statuses = [404];
  clock.nowMs += 10_000;
  await eventually(() => expect(outcomes).toEqual(['budget_soft retried', 'budget_soft given_up']));
});

it('lets one of several gateways send each message', async () => {
  const receiver = await new Receiver().listen();
  const store = await testStore();
  const hooks = [receiver.hook()];
  const queues = [await queueOf({ store, hooks }), await queueOf({ store, hooks })];
  for (let n = 0; n < 40; n++) await queues[n % 2]?.queue.emit('budget_soft', { n });
  for (const { queue } of queues) queue.start();
  await eventually(() => expect(queues.flatMap(({ outcomes }) => outcomes)).toHaveLength(40));
  expect(receiver.bodies).toHaveLength(40);
  expect(new Set(receiver.bodies.map(({ id }) => id)).size).toBe(40);
});

it('keeps messages over a restart, and forgets those of a webhook that is gone', async () => {
  const receiver = await new Receiver().listen();
  const store = await testStore();
  const first = await queueOf({ store, hooks: [receiver.hook(), receiver.hook({ id: 'gone' })] });
  await first.queue.emit('budget_soft', {});
  await first.queue.stop();
  const second = await queueOf({ store, hooks: [receiver.hook()] });
  second.queue.start();
  await eventually(async () => {
    expect(second.outcomes).toEqual(['budget_soft delivered']);
    expect(await store.webhooks.take(NOW_MS * 2, 1, 9)).toEqual([]);
  });
  expect(receiver.bodies).toHaveLength(1);
});

it('drops what would flood the store, or is too long', async () => {
  const receiver = await new Receiver().listen();
  const { queue, outcomes, warnings } = await queueOf({ hooks: [receiver.hook()] });
  for (let n = 0; n < 601; n++) await queue.emit('budget_soft', {});
  expect(outcomes).toEqual(['budget_soft dropped']);
  await queue.emit('budget_soft', { text: 'x'.repeat(20_000) });
  expect(outcomes).toHaveLength(2);
  expect(warnings[0]).toContain('was dropped');
});

it('tests a webhook at once, and tells what came of it', async () => {
  const receiver = await new Receiver().listen();
  const { queue } = await queueOf({ hooks: [] });
  expect(await queue.test(receiver.hook())).toEqual({ delivered: true, status: 200, error: null });
  receiver.statuses = [500];
  const failed = { delivered: false, status: 500, error: 'It answered 500.' };
  expect(await queue.test(receiver.hook())).toEqual(failed);
  expect(receiver.bodies[0]).toMatchObject({ event: 'test' });
});
