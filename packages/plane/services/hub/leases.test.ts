import { type Lease, parseLeaseRequest } from '@subluminal/contracts/hub-frames';
import { expect, it } from 'vitest';
import { sha256 } from '../../os/crypto/index.ts';
import { Hub } from './hub.ts';
import { LeaseShim } from './testing/lease-shim.ts';
import { budget, policyOf, RUN, type SealedPolicy } from './testing/scenario.ts';

const COUNTER = { rule: 'budget cap', key: 'run' };

/** A hub with these policies, and a client of it that keeps to no rules. */
async function rogue(...policies: readonly SealedPolicy[]) {
  const hub = new Hub({ runId: RUN, nowMs: () => 0, sha256 });
  for (const { file } of policies) await hub.policy(file);
  const holder = { recall: () => {}, stop: () => {} };
  hub.join(holder);
  const lease = async ({ hash: policy_hash }: SealedPolicy, calls: number, more = COUNTER) => {
    const leases = [{ ...more, calls }];
    const answer = await hub.lease({ run_id: RUN, policy_hash, leases }, holder);
    if ('kind' in answer) throw new Error(answer.message);
    return answer.leases[0]?.calls ?? 0;
  };
  const giveBack = (
    { hash: policy_hash }: SealedPolicy,
    leases: readonly Lease[],
    more: { readonly recall?: number } = {},
  ) => hub.giveBack({ policy_hash, leases, ...more }, holder);
  return { lease, giveBack };
}

it('calls that are leased while a recall is on its way count as used only when they are', async () => {
  const policy = await policyOf([budget('all', { limit_calls: 200 })]);
  const limits = { recallMs: 3_600_000 };
  const hub = new Hub({ runId: RUN, nowMs: () => 0, sha256, limits });
  await hub.policy(policy.file);
  const [idle, busy] = [new LeaseShim(hub, policy, 'idle'), new LeaseShim(hub, policy, 'busy')];
  const settle = async (...shims: readonly LeaseShim[]): Promise<void> => {
    for (let quiet = 0; quiet < 5; quiet++) {
      await new Promise(setImmediate);
      const moved = shims.map((shim) => [shim.deliverToHub(), shim.deliverToShim()]);
      if (moved.flat().includes(true)) quiet = 0;
    }
  };
  idle.call('read');
  await settle(idle, busy);
  while (!busy.isWaiting) {
    busy.call('read');
    await settle(busy);
  }
  // The recall is on its way to the other one, which gives back, and goes on.
  idle.giveBack();
  idle.call('read');
  await settle(idle, busy);
  for (let n = 0; n < 250; n++) {
    busy.call('read');
    await settle(idle, busy);
  }
  expect(idle.passes + busy.passes).toBe(200);
});

it.each(['key', 'rule'] as const)('a counter whose %s is very long is not leased', async (name) => {
  const policy = await policyOf([budget('cap', { limit_calls: 10 })]);
  const long = { ...COUNTER, [name]: 'x'.repeat(1_025), calls: 1 };
  const asked = { run_id: RUN, policy_hash: policy.hash, leases: [long] };
  expect(parseLeaseRequest(asked).ok).toBe(false);
});

it('a shim that names very many counters is leased calls of one that it had before', async () => {
  const policy = await policyOf([budget('cap', { limit_calls: 100_000 })]);
  const { lease, giveBack } = await rogue(policy);
  expect(await lease(policy, 1)).toBeGreaterThan(0);
  for (let n = 0; n < 5_000; n++) {
    const other = { ...COUNTER, key: `tool ${n}` };
    expect(await lease(policy, 1, other)).toBeGreaterThan(0);
  }
  expect(await lease(policy, 1)).toBeGreaterThan(0);
  giveBack(policy, [back(1)]);
});

const back = (calls: number, more = COUNTER): Lease => ({ ...more, calls });

it.each<[string, readonly Lease[]]>([
  ['more than were leased', [back(1_000)]],
  ['the most that a number can be', [back(Number.MAX_SAFE_INTEGER)]],
  ['the same calls twice', [back(10), back(10)]],
  ['calls of a rule that is not there', [back(10, { ...COUNTER, rule: 'budget other' })]],
  ['calls under another key', [back(10, { ...COUNTER, key: 'tool other' })]],
])('whoever returns %s adds no call to the budget', async (_what, returned) => {
  const policy = await policyOf([budget('cap', { limit_calls: 10 })]);
  const { lease, giveBack } = await rogue(policy);
  expect(await lease(policy, 10)).toBe(10);
  giveBack(policy, returned);
  giveBack(policy, returned, { recall: 1 });
  expect(await lease(policy, 1_000)).toBeLessThanOrEqual(10);
  expect(await lease(policy, 1)).toBe(0);
});

it('calls that were leased by one version of a policy are not returned by one in which they cost more', async () => {
  const rule = (cost: number) =>
    budget('cap', { limit_cost_units: 100, cost_units_per_call: cost });
  const cheap = await policyOf([rule(1)]);
  const dear = await policyOf([rule(50)], { version: '2' });
  const { lease, giveBack } = await rogue(cheap, dear);
  expect(await lease(cheap, 20)).toBeGreaterThanOrEqual(20);
  expect(await lease(dear, 1)).toBe(1);
  giveBack(dear, [back(21)]);
  expect(await lease(cheap, 1_000)).toBeLessThanOrEqual(80);
  expect(await lease(cheap, 1)).toBe(0);
});
