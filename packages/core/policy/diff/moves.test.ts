import type { Rule } from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import type { PolicyChange } from '../changes/change.ts';
import { movesOf } from './moves.ts';
import { comparisonOf } from './reach.ts';

const BLOCKING = { decision_on_error: 'BLOCK', fail_open_read_tools: false } as const;
const BASE = { enabled: true, severity: 'warn' } as const;
const on = (...glob: string[]) => ({ ...BASE, match: { tool_name: { glob } } });

const allow: Rule = {
  ...on('git_*'),
  rule_id: 'allow',
  kind: 'allow',
  effect: { action: 'ALLOW' },
};
const deny: Rule = { ...on('*'), rule_id: 'deny', kind: 'deny', effect: { action: 'BLOCK' } };
const denyOther: Rule = { ...deny, ...on('mail_send'), rule_id: 'deny-other' };
const ends: Rule = {
  ...on('*'),
  rule_id: 'ends',
  kind: 'budget',
  effect: { budget: { scope: 'run', limit_calls: 1, on_exceed: 'TERMINATE_RUN' } },
};
const tag: Rule = {
  ...on('*'),
  rule_id: 'tag',
  kind: 'tag',
  effect: { tag: { add_risk_class: ['write_like'] } },
};
const denyWrites: Rule = {
  ...deny,
  rule_id: 'deny-writes',
  match: { risk_class: ['write_like'] },
};
const asks: Rule = {
  ...on('*'),
  rule_id: 'asks',
  kind: 'approval',
  effect: { approval: { wait: 'hold' } },
};

const POLICY = { mode: 'guardrails', defaults: BLOCKING } as const;
const movesBetween = (before: readonly Rule[], after: readonly Rule[]) =>
  movesOf(comparisonOf({ ...POLICY, rules: before }, { ...POLICY, rules: after }));
const moved = (before: readonly Rule[], after: readonly Rule[]) =>
  movesBetween(before, after).map(
    ({ rule_id, effect, summary }: PolicyChange) => `${rule_id} ${effect}: ${summary}`,
  );

describe('a rule that moves', () => {
  it('is not reported while the order stays, whatever rules come and go', () => {
    expect(moved([allow, deny], [tag, allow, ends, deny])).toEqual([]);
  });

  it('loosens when an allow comes to stand above what it shields from', () => {
    verifies('SL-9.4', 'IP-2.3');
    expect(moved([deny, allow], [allow, deny])).toEqual([
      'allow loosens: the allow rule now stands above `deny`',
    ]);
  });

  it('tightens when an allow comes to stand below it', () => {
    expect(moved([allow, deny], [deny, allow])).toEqual([
      'allow tightens: the allow rule now stands below `deny`',
    ]);
  });

  it('changes nothing when no call can match both rules', () => {
    expect(moved([denyOther, allow], [allow, denyOther])).toHaveLength(1);
    expect(moved([denyOther, allow], [allow, denyOther])[0]).toContain(' none: ');
  });

  it('changes nothing while one of the two is off', () => {
    const off = { ...deny, enabled: false };
    expect(moved([off, allow], [allow, off])[0]).toContain(' none: ');
  });

  it('loosens when a tag comes too late for a deny that looks for its class', () => {
    expect(moved([tag, denyWrites], [denyWrites, tag])).toEqual([
      'tag loosens: the tag rule now stands below `deny-writes`',
    ]);
    expect(moved([denyWrites, tag], [tag, denyWrites])[0]).toContain('tag tightens');
  });

  it('loosens when a milder refusal comes first', () => {
    expect(moved([ends, deny], [deny, ends])).toHaveLength(1);
    expect(moved([ends, deny], [deny, ends])[0]).toContain(' loosens: ');
    expect(moved([deny, ends], [ends, deny])[0]).toContain(' tightens: ');
  });

  it('keeps the action but perhaps not the reason when refusals of one kind change sides', () => {
    const blocks: Rule = {
      ...ends,
      rule_id: 'blocks',
      effect: { budget: { scope: 'run', limit_calls: 1, on_exceed: 'BLOCK' } },
    };
    expect(moved([deny, blocks], [blocks, deny])).toEqual([
      'deny none: the deny rule now stands below `blocks`: the action stays, the reason may change',
    ]);
    const elsewhere: Rule = { ...blocks, ...on('git_push') };
    expect(moved([denyOther, elsewhere], [elsewhere, denyOther])[0]).toContain('changes nothing');
  });

  it('changes nothing between a question to a person and a refusal', () => {
    expect(moved([asks, deny], [deny, asks])[0]).toContain(' none: ');
  });

  it('names one rule when one rule went past many', () => {
    const before = [deny, denyWrites, ends, allow];
    expect(moved(before, [allow, deny, denyWrites, ends])).toEqual([
      'allow loosens: the allow rule now stands above `deny` (2 more changed sides)',
    ]);
  });

  it('both loosens and tightens when an allow went past one rule in each direction', () => {
    const before = [denyWrites, allow, deny];
    expect(moved(before, [deny, allow, denyWrites])).toContainEqual(
      expect.stringContaining('allow mixed'),
    );
  });

  it('gives its places, counted from 1', () => {
    const [change] = movesBetween([deny, tag, allow], [allow, deny, tag]);
    expect(change).toMatchObject({ change: 'moved', before: 3, after: 1, severity: 'critical' });
  });
});
