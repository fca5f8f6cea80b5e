import type { Rule } from '@subluminal/contracts';
import type { Lease } from '@subluminal/contracts/hub-frames';
import { describe, expect, it } from 'vitest';
import { breaker, budget, snapshotOf } from '../policy/testing/scenario.ts';
import { asksFor, guardOf } from './guard.test-support.ts';
import { call, initialize, inShort, lineOf, type Play, play } from './playbook.test-support.ts';
import type { Approver, HubAnswer, HubReply } from './types.ts';

const COUNTER = { rule: 'budget cap', key: 'run' };
const RULES = [budget('cap', { limit_calls: 50 })];
const approver: Approver = {
  granted: () => [],
  take: () => [],
  ask: () => ({ id: 'request', advice: 'Ask ann.' }),
};

async function leasing(): Promise<Play & { readonly leased: (calls: number) => HubReply }> {
  const { policy_hash: policyHash } = (await snapshotOf(RULES)).ref;
  const config = { hub: true, leases: true, approver };
  const leased = (calls: number): HubReply => ({
    answers: [
      { callId: '', outcome: undefined, leased: { policyHash, leases: [{ ...COUNTER, calls }] } },
    ],
  });
  return { ...(await play(RULES, { config })), leased };
}

/** What must be leased for a call, and what becomes of it. */
function make({ session }: Play, id: number, reply?: HubReply) {
  const message = session.read('agent', lineOf(call(id, 'do')));
  const needed = session
    .questions(message, 0)
    .flatMap(({ leases = [] }): readonly Lease[] => leases);
  return { needed, done: inShort(session.handle(message, 0, reply)) };
}

const passes = expect.arrayContaining(['forward to server']) as unknown;

it('a session decides by itself while it holds calls, and then needs another lease', async () => {
  const scene = await leasing();
  const first = make(scene, 1, scene.leased(2));
  expect(first).toEqual({ needed: [{ ...COUNTER, calls: 1 }], done: passes });
  expect(make(scene, 2)).toEqual({ needed: [], done: passes });
  expect(make(scene, 3, scene.leased(0)).needed).toEqual([{ ...COUNTER, calls: 1 }]);
  expect(scene.session.summary()).toMatchObject({ calls_allowed: 2, calls_blocked: 1 });
});

it('of all counters of a call calls are leased when one of them has too few: the others may be recalled meanwhile', async () => {
  const rules = [...RULES, budget('few', { limit_calls: 50 })];
  const few = { rule: 'budget few', key: 'run' };
  const { policy_hash: policyHash } = (await snapshotOf(rules)).ref;
  const scene = await play(rules, { config: { hub: true, leases: true, approver } });
  const leases = [
    { ...COUNTER, calls: 9 },
    { ...few, calls: 1 },
  ];
  const reply = { answers: [{ callId: '', outcome: undefined, leased: { policyHash, leases } }] };
  expect(make(scene, 1, reply).done).toEqual(passes);
  expect(make(scene, 2, reply).needed).toEqual([
    { ...COUNTER, calls: 1 },
    { ...few, calls: 1 },
  ]);
});

it('a call without a lease is refused where the hub has not answered, not for the budget', async () => {
  const scene = await leasing();
  const { done } = make(scene, 1);
  expect(done.join()).not.toContain('forward');
  const answered = make(scene, 2, scene.leased(1));
  expect(answered.done).toEqual(passes);
});

it('a session that gives its leases up counts nothing by them any more', async () => {
  const scene = await leasing();
  make(scene, 1, scene.leased(5));
  expect(scene.session.giveUpLeases(0)).toEqual([{ ...COUNTER, calls: 4 }]);
  expect(scene.session.giveUpLeases(0)).toEqual([]);
  expect(make(scene, 2).done.join()).not.toContain('forward');
});

it('a lease of another policy than that in force counts for nothing', async () => {
  const scene = await leasing();
  scene.session.usePolicy(await snapshotOf([budget('cap', { limit_calls: 9_000 })]));
  expect(make(scene, 1, scene.leased(5)).done.join()).not.toContain('forward');
});

it('a call in a batch passes though its lease is recalled while the hub decides another one', async () => {
  const watched: Rule = {
    ...breaker('watched', { error_threshold: 5, window_ms: 60_000 }),
    match: { tool_name: { glob: ['watched'] } },
  };
  const rules = [...RULES, watched];
  const { policy_hash: policyHash } = (await snapshotOf(rules)).ref;
  const scene = await play(rules, { config: { hub: true, leases: true, approver } });
  const [hello, welcome] = initialize('2025-03-26');
  scene.send('agent', hello);
  scene.send('server', welcome);
  const leased = { policyHash, leases: [{ ...COUNTER, calls: 2 }] };
  make(scene, 1, { answers: [{ callId: '', outcome: undefined, leased }] });
  const batch = scene.session.read('agent', lineOf([call(2, 'watched'), call(3, 'do')]));
  const [decided, needed] = scene.session.questions(batch, 0);
  expect(needed?.leases).toEqual([{ ...COUNTER, calls: 1 }]);
  scene.session.giveUpLeases(0);
  const decision = { action: 'ALLOW', rule_id: null, severity: 'info' } as const;
  const allowed = { ...decision, reason_code: 'DEFAULT_ALLOW', summary: 'No rule decided.' };
  const outcome = { decision: allowed, trace: [], risk_class: [] };
  const answers = [
    { callId: decided?.ref.call_id ?? '', outcome },
    { callId: needed?.ref.call_id ?? '', outcome: undefined, leased },
  ];
  expect(inShort(scene.session.handle(batch, 0, { answers }))).toEqual(passes);
  expect(scene.session.summary()).toMatchObject({ calls_allowed: 3, calls_blocked: 0 });
});

it('a held call that is refused brings no call back that was counted meanwhile', async () => {
  const asks: HubAnswer['outcome'] = {
    decision: {
      action: 'REJECT_WITH_HINT',
      rule_id: 'ask',
      severity: 'warn',
      reason_code: 'APPROVAL_REQUIRED',
      summary: 'A person decides.',
      hint: { hint_text: 'Wait.', suggested_args: null, retry_advice: null, hint_kind: 'SAFETY' },
      approval: { wait: 'hold', timeout_ms: 1_000 },
    },
    trace: [],
    risk_class: [],
  };
  const ask: Parameters<typeof play>[0] = [
    ...RULES,
    {
      rule_id: 'ask',
      kind: 'approval',
      enabled: true,
      severity: 'warn',
      match: { tool_name: { glob: ['ask'] } },
      effect: { approval: { wait: 'hold', timeout_ms: 1_000 } },
    },
  ];
  const { policy_hash: policyHash } = (await snapshotOf(ask)).ref;
  const scene = await play(ask, { config: { hub: true, leases: true, approver } });
  const leased = { policyHash, leases: [{ ...COUNTER, calls: 2 }] };
  make(scene, 1, { answers: [{ callId: '', outcome: undefined, leased }] });
  const held = scene.session.read('agent', lineOf(call(2, 'ask')));
  const [question] = scene.session.questions(held, 0);
  const callId = question?.ref.call_id ?? '';
  scene.session.handle(held, 0, { answers: [{ callId, outcome: asks }] });
  expect(make(scene, 3)).toEqual({ needed: [], done: passes });
  scene.session.approval(callId, 'rejected', 0);
  expect(make(scene, 4).needed).toEqual([{ ...COUNTER, calls: 1 }]);
});

describe('a call that a gate holds, and whose lease has gone back meanwhile', () => {
  async function approved(given: (policyHash: string) => HubAnswer['leased']) {
    const { policy_hash: policyHash } = (await snapshotOf(RULES)).ref;
    const guard = guardOf({ content: asksFor('gate:content') });
    const config = { hub: true, leases: true, approver, guard };
    const scene = await play(RULES, { config });
    const leased = { policyHash, leases: [{ ...COUNTER, calls: 2 }] };
    make(scene, 1, { answers: [{ callId: '', outcome: undefined, leased }] });
    expect(scene.session.giveUpLeases(0)).toEqual([{ ...COUNTER, calls: 2 }]);
    const [command] = scene.session.approval('call-1', 'approved', 0);
    if (command?.do !== 'consult') throw new Error('the hub is not asked');
    const { ref, leases } = command.question;
    expect(leases).toEqual([{ ...COUNTER, calls: 1 }]);
    const answer = { callId: ref.call_id, outcome: undefined, leased: given(policyHash) };
    const done = inShort(scene.session.consulted(answer, 0));
    return { done, left: scene.session.giveUpLeases(0) };
  }

  it('passes with what the hub leases then, and counts it', async () => {
    const { done, left } = await approved((policyHash) => ({
      policyHash,
      leases: [{ ...COUNTER, calls: 3 }],
    }));
    expect(done).toEqual(expect.arrayContaining(['forward to server in part']));
    expect(left).toEqual([{ ...COUNTER, calls: 2 }]);
  });

  it('is refused when nothing is left of the budget', async () => {
    const none = { ...COUNTER, calls: 0 };
    const { done, left } = await approved((policyHash) => ({ policyHash, leases: [none] }));
    expect(done.join()).not.toContain('forward');
    expect(left).toEqual([]);
  });

  it('is refused when the hub does not answer', async () => {
    const { done } = await approved(() => undefined);
    expect(done.join()).not.toContain('forward');
  });
});
