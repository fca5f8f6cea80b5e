import type { Decision, EvaluateRequest, EvaluateResponse, Rule } from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../os/crypto/index.ts';
import { type Judge, type JudgedCall, type Said, weigh } from './gates.ts';
import { Hub } from './hub.ts';
import type { HubOptions } from './hub-options.ts';
import { budget, deny, policyOf, RUN, requestOf, type SealedPolicy } from './testing/scenario.ts';

const base = { severity: 'warn', reason_code: 'X', summary: 'No.' } as const;
const hint = { hint_text: 'h', suggested_args: null, retry_advice: null, hint_kind: 'SAFETY' };
const ALLOW: Decision = { ...base, action: 'ALLOW', rule_id: null };
const BLOCK = (rule_id: string): Decision => ({ ...base, action: 'BLOCK', rule_id });
const ASK = (rule_id: string): Decision => ({
  ...base,
  action: 'REJECT_WITH_HINT',
  rule_id,
  hint: { ...hint, hint_kind: 'SAFETY' },
  approval: { wait: 'hold', timeout_ms: 1_000 },
});
const SPARED: Decision = { ...ALLOW, would: { ...base, action: 'BLOCK', rule_id: 'rule' } };

describe('rules and gates together', () => {
  const on = (decision: Decision): Said => ({ decision, enforced: true });
  const off = (decision: Decision): Said => ({ decision, enforced: false });

  it.each<[string, Decision, readonly Said[], string | null]>([
    ['nobody objects', ALLOW, [], null],
    ['a rule refuses', BLOCK('rule'), [on(BLOCK('gate'))], 'rule'],
    ['a gate refuses', ALLOW, [on(BLOCK('gate'))], 'gate'],
    ['a gate refuses what a rule asks for', ASK('rule'), [on(BLOCK('gate'))], 'gate'],
    ['a later gate refuses what an earlier asks for', ALLOW, [on(ASK('a')), on(BLOCK('b'))], 'b'],
    ['a rule asks before a gate does', ASK('rule'), [on(ASK('gate'))], 'rule'],
    ['a gate asks', ALLOW, [on(ASK('a')), on(ASK('b'))], 'a'],
  ])('%s', (_what, rules, said, decider) => {
    expect(weigh(rules, said).rule_id).toBe(decider);
  });

  it('tell what a gate would have done where nothing is enforced', () => {
    expect(weigh(ALLOW, [off(BLOCK('gate'))])).toMatchObject({
      action: 'ALLOW',
      reason_code: 'WOULD_BLOCK',
      would: { action: 'BLOCK', rule_id: 'gate' },
    });
    expect(weigh(SPARED, [off(BLOCK('gate'))]).would?.rule_id).toBe('rule');
    expect(weigh(SPARED, [on(BLOCK('gate'))])).toMatchObject({ action: 'BLOCK', rule_id: 'gate' });
  });
});

const CEDAR_NO: Decision = { ...BLOCK('cedar:no'), reason_code: 'CEDAR_DENIED' };

function hubWith(refusal: Judge['refusal'], options: Partial<HubOptions> = {}): Hub {
  const judge: Judge = { name: 'cedar', refusal };
  return new Hub({ runId: RUN, nowMs: () => 1_000, sha256, judge, ...options });
}

async function send(hub: Hub, { file }: SealedPolicy): Promise<void> {
  await hub.policy(file);
}

function ask(hub: Hub, policy: SealedPolicy, parts: Partial<EvaluateRequest> = {}) {
  const reply = hub.evaluate(requestOf(policy, parts));
  if ('kind' in reply) throw new Error(reply.message);
  return reply;
}

function decisionOf({ call_decision }: EvaluateResponse): Decision {
  if (call_decision === undefined) throw new Error('no decision');
  return call_decision;
}

describe('a judge beside the rules', () => {
  const ASKS: Rule = {
    rule_id: 'ask',
    kind: 'approval',
    enabled: true,
    match: { tool_name: { glob: ['pay'] } },
    effect: { approval: { wait: 'hold', timeout_ms: 1_000 } },
    severity: 'warn',
  };
  const TAGS: Rule = {
    rule_id: 'tag',
    kind: 'tag',
    enabled: true,
    match: {},
    effect: { tag: { add_risk_class: ['write'] } },
    severity: 'info',
  };

  it('is asked with the call, its risk and the time, and stops what the rules let pass', async () => {
    const asked: JudgedCall[] = [];
    const hub = hubWith((judged) => {
      asked.push(judged);
      return judged.call.tool_name === 'bad' ? CEDAR_NO : undefined;
    });
    const policy = await policyOf([TAGS]);
    await send(hub, policy);
    expect(ask(hub, policy).decision).toBe('forward');
    expect(ask(hub, policy, { tool_name: 'bad' })).toMatchObject({
      decision: 'deny',
      call_decision: { action: 'BLOCK', rule_id: 'cedar:no', reason_code: 'CEDAR_DENIED' },
    });
    expect(asked[0]).toMatchObject({ riskClass: ['write'], nowMs: 1_000, call: { args: {} } });
  });

  it('never releases what the rules have stopped', async () => {
    const hub = hubWith(() => undefined);
    const policy = await policyOf([deny('no-rm', 'rm')]);
    await send(hub, policy);
    expect(decisionOf(ask(hub, policy, { tool_name: 'rm' })).rule_id).toBe('no-rm');
  });

  it('lets a person be asked only for what it permits', async () => {
    let refuses = true;
    const hub = hubWith(() => (refuses ? CEDAR_NO : undefined));
    const policy = await policyOf([ASKS], { mode: 'control' });
    await send(hub, policy);
    expect(decisionOf(ask(hub, policy, { tool_name: 'pay' }))).toMatchObject({ action: 'BLOCK' });
    refuses = false;
    const held = decisionOf(ask(hub, policy, { tool_name: 'pay', call_id: 'held' }));
    expect(held).toMatchObject({ rule_id: 'ask', approval: { wait: 'hold' } });
    refuses = true;
    const again = { tool_name: 'pay', call_id: 'held', approved: ['ask'] };
    expect(decisionOf(ask(hub, policy, again)).rule_id).toBe('cedar:no');
  });

  it('stops the call when it fails', async () => {
    const hub = hubWith(() => {
      throw new Error('out of \u001b[31mmemory');
    });
    const policy = await policyOf([]);
    await send(hub, policy);
    const decision = decisionOf(ask(hub, policy));
    expect(decision).toMatchObject({ action: 'BLOCK', reason_code: 'CEDAR_UNAVAILABLE' });
    expect(decision.summary).not.toContain('\u001b');
  });

  it('only tells where nothing is enforced, but is enforced where there is no bundle', async () => {
    const hub = hubWith(() => CEDAR_NO);
    const policy = await policyOf([]);
    const watching = await policyOf([], { mode: 'observe', policy_id: 'watching' });
    const none = await policyOf([], { mode: 'observe', policy_id: 'none', version: '0' });
    for (const one of [policy, watching, none]) await send(hub, one);
    const told = { decision: 'forward', call_decision: { would: { rule_id: 'cedar:no' } } };
    expect(ask(hub, policy, { profile: 'development' })).toMatchObject(told);
    expect(ask(hub, watching)).toMatchObject(told);
    expect(ask(hub, none).decision).toBe('deny');
    expect(ask(hub, none, { profile: 'development' })).toMatchObject(told);
  });

  it('leaves the counts as they are: what it refuses has counted', async () => {
    const hub = hubWith(({ call }) => (call.tool_name === 'bad' ? CEDAR_NO : undefined));
    const policy = await policyOf([budget('two', { limit_calls: 2 })]);
    await send(hub, policy);
    ask(hub, policy, { tool_name: 'bad' });
    expect([1, 2].map(() => ask(hub, policy).decision)).toEqual(['forward', 'deny']);
  });
});
