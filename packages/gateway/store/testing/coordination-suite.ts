import { describe, expect, it } from 'vitest';
import { NOON_MS, sampleApproval } from './sample-rows.ts';
import type { Tested } from './suite.ts';

export function coordinationSuite(tested: Tested): void {
  describe('approvals', () => {
    it('keeps an approval, and lists by state', async () => {
      const { approvals } = tested.store;
      const first = sampleApproval();
      const second = sampleApproval({ createdMs: NOON_MS + 1 });
      await approvals.add(first);
      await approvals.add(second);
      expect(await approvals.get('default', first.id)).toEqual(first);
      expect(await approvals.get('other', first.id)).toBeUndefined();
      await approvals.resolve(first.id, answer('rejected'));
      expect(await approvals.list('default', 'pending')).toEqual([second]);
      const all = await approvals.list('default', null);
      expect(all.map(({ id }) => id)).toEqual([second.id, first.id]);
    });

    it('keeps an approval of a model whose name is strange', async () => {
      const { approvals } = tested.store;
      const approval = sampleApproval({ snapshot: { model: 'a\0b\ud800' } });
      await approvals.add(approval);
      expect(await approvals.get('default', approval.id)).toMatchObject({
        snapshot: { model: 'a\ufffdb\ufffd' },
      });
    });

    it('the first answer holds', async () => {
      const { approvals } = tested.store;
      const approval = sampleApproval();
      await approvals.add(approval);
      expect(await approvals.resolve(approval.id, { ...answer('approved'), tenantId: 'x' })).toBe(
        false,
      );
      const answers = await Promise.all(
        (['approved', 'rejected', 'expired'] as const).map((state) =>
          approvals.resolve(approval.id, answer(state)),
        ),
      );
      expect(answers.filter(Boolean)).toHaveLength(1);
      expect(await approvals.get('default', approval.id)).toMatchObject({
        state: ['approved', 'rejected', 'expired'][answers.indexOf(true)],
        resolver: 'ada',
        note: 'seen',
        resolvedMs: NOON_MS + 5,
      });
    });

    it('is used once, when it was approved and is in time', async () => {
      const { approvals } = tested.store;
      const approval = sampleApproval({ requestHash: 'h' });
      await approvals.add(approval);
      const use = (nowMs: number) => approvals.use('default', approval.id, nowMs);
      expect(await use(NOON_MS + 1)).toBe(false);
      await approvals.resolve(approval.id, answer('approved'));
      expect(await use(approval.expiresMs)).toBe(false);
      expect(await approvals.use('other', approval.id, NOON_MS + 6)).toBe(false);
      const uses = await Promise.all(Array.from({ length: 6 }, () => use(NOON_MS + 6)));
      expect(uses.filter(Boolean)).toHaveLength(1);
      expect(await approvals.get('default', approval.id)).toMatchObject({
        state: 'approved',
        requestHash: 'h',
        usedMs: NOON_MS + 6,
      });
    });

    it('tells of each change until the watch ends', async () => {
      const { approvals } = tested.store;
      let told = 0;
      let heard: () => void = () => {};
      const end = await approvals.watch(() => {
        told += 1;
        heard();
      });
      const next = () => new Promise<void>((resolve) => (heard = resolve));
      const approval = sampleApproval();
      const added = next();
      await approvals.add(approval);
      await added;
      const resolved = next();
      await approvals.resolve(approval.id, answer('approved'));
      await resolved;
      await end();
      const before = told;
      await approvals.add(sampleApproval());
      expect(told).toBe(before);
    });
  });

  describe('webhooks', () => {
    const webhook = {
      id: 'hook',
      tenantId: 'default',
      url: 'https://hooks.example/x',
      events: ['budget_soft', 'approval_pending'],
      secretRef: 'env://HOOK',
      createdMs: NOON_MS,
    };
    const delivery = {
      id: 'd1',
      webhookId: 'hook',
      event: 'budget_soft',
      body: '{}',
      attempts: 0,
      dueMs: NOON_MS,
    };

    it('lists and removes webhooks of one tenant, with what waits for them', async () => {
      const { webhooks } = tested.store;
      await webhooks.add(webhook);
      await webhooks.enqueue(delivery);
      expect(await webhooks.list('default')).toEqual([webhook]);
      expect(await webhooks.remove('other', 'hook')).toBe(false);
      expect(await webhooks.remove('default', 'hook')).toBe(true);
      expect(await webhooks.list('default')).toEqual([]);
      expect(await webhooks.take(NOON_MS, 1_000, 10)).toEqual([]);
    });

    it('lends what is due to one of many, and again when the lease is over', async () => {
      const { webhooks } = tested.store;
      for (let n = 0; n < 20; n += 1) await webhooks.enqueue({ ...delivery, id: `d${n}` });
      await webhooks.enqueue({ ...delivery, id: 'later', dueMs: NOON_MS + 1 });
      await webhooks.enqueue(delivery);
      const taken = await Promise.all(
        Array.from({ length: 6 }, () => webhooks.take(NOON_MS, 1_000, 5)),
      );
      const ids = taken.flat().map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      expect(Math.max(...taken.map((rows) => rows.length))).toBeLessThanOrEqual(5);
      // Those that met may have left each other some.
      const rest = await webhooks.take(NOON_MS, 1_000, 100);
      expect(ids.length + rest.length).toBe(20);
      const again = await webhooks.take(NOON_MS + 1_000, 1_000, 100);
      expect(again).toHaveLength(21);
      expect(again.find(({ id }) => id === 'd3')).toEqual({
        ...delivery,
        id: 'd3',
        attempts: 2,
        dueMs: NOON_MS + 2_000,
      });
    });

    it('forgets what is finished, and sends later what is put off', async () => {
      const { webhooks } = tested.store;
      await webhooks.enqueue(delivery);
      await webhooks.enqueue({ ...delivery, id: 'd2' });
      await webhooks.take(NOON_MS, 1_000, 10);
      await webhooks.finish('d1');
      await webhooks.retry('d2', NOON_MS + 50);
      const due = await webhooks.take(NOON_MS + 50, 1_000, 10);
      expect(due.map(({ id, attempts }) => [id, attempts])).toEqual([['d2', 2]]);
    });
  });

  describe('breakers', () => {
    it('are open for all until they are cleared, and one gets the probe', async () => {
      const { breakers } = tested.store;
      const open = { key: 'anthropic/claude', openedMs: NOON_MS, probeMs: null };
      await breakers.set({ ...open, openedMs: 1 });
      await breakers.set(open);
      expect(await breakers.open()).toEqual([open]);
      const probes = await Promise.all(
        Array.from({ length: 6 }, () => breakers.takeProbe(open.key, NOON_MS + 5)),
      );
      expect(probes.filter(Boolean)).toHaveLength(1);
      expect(await breakers.open()).toEqual([{ ...open, probeMs: NOON_MS + 5 }]);
      // The one that took it may have died.
      expect(await breakers.takeProbe(open.key, NOON_MS + 60_006)).toBe(true);
      await breakers.clear(open.key);
      expect(await breakers.open()).toEqual([]);
      expect(await breakers.takeProbe(open.key, NOON_MS)).toBe(false);
    });
  });
}

function answer(state: 'approved' | 'rejected' | 'expired') {
  return { tenantId: 'default', state, resolver: 'ada', note: 'seen', nowMs: NOON_MS + 5 };
}
