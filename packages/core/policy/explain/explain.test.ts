import type { Rule, RuleOf } from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import type { Snapshot } from '../compile/snapshot.ts';
import { decide } from '../decide/decide.ts';
import { initialState, type PolicyState } from '../decide/verdict.ts';
import type { Call } from '../model/call.ts';
import { allow, budget, callOf, dedupe, deny, IDENTITY, snapshotOf } from '../testing/scenario.ts';
import { explain } from './explain.ts';

const NOON_MS = 12 * 3_600_000;
const FRAME = { enabled: true, match: {}, severity: 'info' } as const;
const tag = (rule_id: string, ...add_risk_class: string[]): Rule => ({
  ...FRAME,
  rule_id,
  kind: 'tag',
  effect: { tag: { add_risk_class } },
});
const asks: RuleOf<'approval'> = {
  ...FRAME,
  rule_id: 'asks',
  kind: 'approval',
  effect: { approval: { wait: 'hold' } },
};

function ask(snapshot: Snapshot, parts: Partial<Call> = {}, state?: PolicyState) {
  const call = callOf(parts);
  return explain(snapshot, { call, state: state ?? initialState(snapshot), nowMs: NOON_MS });
}
async function whyNot(rule: Rule, parts: Partial<Call> = {}): Promise<string> {
  const [first] = ask(await snapshotOf([rule]), parts).rules;
  return `${first?.outcome}: ${first?.why}`;
}

describe('explain', () => {
  it('gives the decision and the result of every rule, in order', async () => {
    verifies('T-B.5', 'IP-2.3');
    const rules = [
      { ...deny('off'), enabled: false },
      tag('tags', 'write_like'),
      deny('other', { tool_name: { glob: ['git_*', 'git-*'] } }),
      budget('counts', { limit_calls: 5 }),
      deny('stops', { risk_class: ['write_like'] }),
      allow('late'),
    ];
    const snapshot = await snapshotOf(rules, { mode: 'control' });
    const explanation = ask(snapshot, { tool_name: 'x' });
    expect(explanation).toMatchObject({
      decision: { action: 'BLOCK', rule_id: 'stops' },
      policy: snapshot.ref,
      mode: 'control',
      profile: 'production',
      selected: true,
      risk_class: ['write_like'],
    });
    expect(explanation.rules.map(({ rule_id, outcome, why }) => [rule_id, outcome, why])).toEqual([
      ['off', 'disabled', 'the rule is switched off'],
      ['tags', 'tagged', 'it adds write_like'],
      ['other', 'no_match', 'tool_name `x` matches none of git-*, git_*'],
      ['counts', 'counted', '1 of 5 used'],
      ['stops', 'decided', 'it decides: BLOCK, `DENYLIST_MATCH`'],
      ['late', 'would_decide', 'it matches too, but `stops` decides'],
    ]);
    expect(explanation.rules[3]).toMatchObject({
      kind: 'budget',
      severity: 'warn',
      tally: { count: 1, limit: 5 },
    });
  });

  it('agrees with the decision and counts nothing', async () => {
    const snapshot = await snapshotOf([budget('once', { limit_calls: 1 })]);
    const state = initialState(snapshot);
    expect(ask(snapshot, {}, state).decision.action).toBe('ALLOW');
    expect(ask(snapshot, {}, state).decision).toEqual(
      decide(snapshot, callOf(), state, 0).decision,
    );
    expect(ask(snapshot, {}, state).decision.action).toBe('ALLOW');
  });

  it.each<[string, Rule, Partial<Call>]>([
    [
      'server_name `a` matches none of /^b$/',
      deny('r', { server_name: { regex: ['^b$'] } }),
      { server_name: 'a' },
    ],
    [
      'risk_class has none of write_like; the call has read_like',
      deny('r', { risk_class: ['write_like'] }),
      { risk_class: ['read_like'] },
    ],
    [
      'risk_class has none of write_like; the call has none',
      deny('r', { risk_class: ['write_like'] }),
      {},
    ],
    ['the hour is 12 UTC, none of 1, 2', deny('r', { time: { utc_hours: [1, 2] } }), {}],
    [
      'the time is not from 14:00 to 16:00 (UTC)',
      deny('r', { time: { hours: { from: '14:00', to: '16:00' } } }),
      {},
    ],
    [
      'the time is from 09:00 to 16:00 (-02:00)',
      deny('r', { time: { not_hours: { from: '09:00', to: '16:00', utc_offset: '-02:00' } } }),
      {},
    ],
    ['args.path is missing', deny('r', { args: { has_keys: ['path'] } }), {}],
    ['args.a is 2, not 1', deny('r', { args: { key_equals: { a: 1 } } }), { args: { a: 2 } }],
    [
      'args.a is "z", none of "x", "y"',
      deny('r', { args: { key_in: { a: ['x', 'y'] } } }),
      { args: { a: 'z' } },
    ],
    [
      'args.limit is 5, not in 100..',
      deny('r', { args: { numeric_range: { limit: { min: 100 } } } }),
      { args: { limit: 5 } },
    ],
    [
      'args.limit is "5", not in ..9',
      deny('r', { args: { numeric_range: { limit: { max: 9 } } } }),
      { args: { limit: '5' } },
    ],
    [
      'when: `call.tool_name == "other"` is false (call.tool_name is "tool")',
      deny('r', {}, 'call.tool_name == "other"'),
      {},
    ],
    [
      'when: `args.branch in ["main", "release"]` is false (args.branch is "dev")',
      deny('r', {}, 'has(args.force) && args.force && args.branch in ["main", "release"]'),
      { args: { force: true, branch: 'dev' } },
    ],
    [
      'when: `args.n > 10` is false (args.n is 3), `has(args.all)` is false (args.all is missing)',
      deny('r', {}, '(args.n > 10 || has(args.all)) && call.bytes_in >= 0'),
      { args: { n: 3 } },
    ],
    [
      'when: `args.path.startsWith("/tmp")` is true (args.path is "/tmp/x")',
      deny('r', {}, '!args.path.startsWith("/tmp")'),
      { args: { path: '/tmp/x' } },
    ],
    [
      'when: `args.a == 1` is false (args.a is 2)',
      deny('r', {}, 'has(args.b) ? args.b == 1 : args.a == 1'),
      { args: { a: 2 } },
    ],
    [
      'when: `args.paths.exists(p, p.startsWith("/etc"))` is false (args.paths is ["/srv","/tmp"])',
      deny('r', {}, 'args.paths.exists(p, p.startsWith("/etc"))'),
      { args: { paths: ['/srv', '/tmp'] } },
    ],
  ])('names the first part that did not match: %s', async (why, rule, parts) => {
    verifies('T-B.5', 'IP-2.4');
    expect(await whyNot(rule, parts)).toBe(`no_match: ${why}`);
  });

  it('sees only the classes that earlier tags have added', async () => {
    const snapshot = await snapshotOf([deny('early', { risk_class: ['w'] }), tag('t', 'w')]);
    expect(ask(snapshot).rules[0]?.why).toBe('risk_class has none of w; the call has none');
  });

  it('explains why the policy is not for an agent, and skips the rules', async () => {
    verifies('IP-2.2');
    const snapshot = await snapshotOf([deny('r')], {
      selectors: { env: ['ci'], workload: { labels: { team: 'a' } } },
    });
    const explanation = ask(snapshot);
    expect(explanation).toMatchObject({ selected: false, selector: 'env is "dev", none of ci' });
    expect(explanation.rules[0]).toMatchObject({
      outcome: 'skipped',
      why: 'the policy is not for this agent',
    });
    const inCi = { identity: { ...IDENTITY, env: 'ci', workload: { labels: { team: 'b' } } } };
    expect(ask(snapshot, inCi).selector).toBe('workload.labels.team is "b", none of a');
  });

  it('skips the rules once the run has been ended', async () => {
    const ends = budget('ends', { limit_calls: 0, on_exceed: 'TERMINATE_RUN' });
    const snapshot = await snapshotOf([ends]);
    const { state } = decide(snapshot, callOf(), initialState(snapshot), 0);
    const { decision, rules } = ask(snapshot, {}, state);
    expect(decision.reason_code).toBe('RUN_TERMINATED');
    expect(rules[0]).toMatchObject({ outcome: 'skipped', why: 'the run had been ended before' });
  });

  it('skips the rules for an invalid name, unless a rule gave that reason', async () => {
    const snapshot = await snapshotOf([deny('no', { tool_name: { glob: ['a'] } })]);
    for (const tool_name of ['a'.repeat(2_000), 'a\nb', '']) {
      const { decision, rules } = ask(snapshot, { tool_name });
      expect(decision).toMatchObject({ reason_code: 'INVALID_NAME', rule_id: null });
      expect(rules[0]).toMatchObject({ outcome: 'skipped', why: 'the name is not valid' });
    }
    const effect = { action: 'BLOCK', reason_code: 'INVALID_NAME' } as const;
    const borrowed = await snapshotOf([{ ...deny('no'), kind: 'deny', effect }]);
    expect(ask(borrowed).rules[0]).toMatchObject({ outcome: 'decided' });
  });

  it('gives the same mismatch for each call and each policy every time', async () => {
    const names = (glob: string) => ({ tool_name: { glob: [glob] } });
    const first = await snapshotOf([deny('no', names('a'))]);
    const second = await snapshotOf([deny('no', names('b'))]);
    const why = (snapshot: Snapshot, tool_name: string) =>
      ask(snapshot, { tool_name }).rules[0]?.why;
    expect(why(first, 'x')).toBe('tool_name `x` matches none of a');
    expect(why(first, 'y')).toBe('tool_name `y` matches none of a');
    expect(why(second, 'y')).toBe('tool_name `y` matches none of b');
    expect(why(first, 'a')).toContain('it decides');
  });

  it('is not misled by a rule that borrows the reason of another outcome', async () => {
    const rule: Rule = {
      ...FRAME,
      rule_id: 'r',
      kind: 'deny',
      effect: { action: 'BLOCK', reason_code: 'NOT_SELECTED' },
    };
    expect(ask(await snapshotOf([rule])).rules[0]?.outcome).toBe('decided');
  });

  it('gives the decision that a policy without enforcement would have made', async () => {
    const { decision, rules } = ask(await snapshotOf([deny('r')], { mode: 'observe' }));
    expect(decision).toMatchObject({ action: 'ALLOW', would: { action: 'BLOCK', rule_id: 'r' } });
    expect(rules[0]).toMatchObject({
      outcome: 'decided',
      why: 'it would decide: BLOCK, `DENYLIST_MATCH`',
    });
  });

  it('describes what each rule of a policy without enforcement would do', async () => {
    const options = { mode: 'observe' } as const;
    const whys = async (...rules: Rule[]) =>
      ask(await snapshotOf(rules, options)).rules.map(({ why }) => why);
    expect(await whys(asks)).toEqual(['it would need a person to approve']);
    expect(await whys(asks, deny('no'), deny('late'))).toEqual([
      'it asks a person, but `no` would decide',
      'it would decide: BLOCK, `DENYLIST_MATCH`',
      'it matches too, but `no` would decide',
    ]);
    const [failed] = await whys(deny('r', {}, 'args.a.b == 1'));
    expect(failed).toContain('so the call would be stopped');
    // An allow is carried out everywhere.
    expect(await whys(allow('yes'))).toEqual(['it decides: ALLOW, `ALLOWLIST_MATCH`']);
  });

  it('names the rules that ask, that are approved, and that outweigh them', async () => {
    const snapshot = await snapshotOf([asks, allow('lets')], { mode: 'control' });
    const whys = (parts: Partial<Call>) => ask(snapshot, parts).rules.map(({ why }) => why);
    expect(whys({})).toEqual([
      'it needs a person to approve',
      'it matches too, but `asks` decides',
    ]);
    expect(whys({ approved: ['asks'] })).toEqual([
      'a person has approved it',
      'it decides: ALLOW, `ALLOWLIST_MATCH`',
    ]);
    const denied = await snapshotOf([asks, deny('no')], { mode: 'control' });
    expect(ask(denied).rules[0]?.why).toBe('it asks a person, but `no` decides');
  });

  it('names a rule that could not be evaluated, and the consequence', async () => {
    const rule = deny('r', { args: { has_keys: ['a'] } });
    const { args: _unread, ...unread } = callOf();
    const blind = await snapshotOf([rule]);
    const state = initialState(blind);
    expect(explain(blind, { call: unread, state, nowMs: 0 }).rules[0]).toMatchObject({
      outcome: 'failed',
      why: 'it could not be evaluated (`the arguments were not inspected`), so the call is stopped',
    });
    const lenient = await snapshotOf([deny('r', {}, 'args.a.b == 1')], {
      defaults: { decision_on_error: 'ALLOW' },
    });
    expect(ask(lenient).rules[0]?.why).toMatch(
      /^it could not be evaluated \(`.+`\), and it does not count here: `args.a.b == 1` fails \(args.a.b is missing\)$/,
    );
  });

  it('mentions that a call has not passed before', async () => {
    const snapshot = await snapshotOf([dedupe('once', {})]);
    expect(ask(snapshot).rules[0]?.why).toBe('the same call has not passed within its window');
  });

  it('makes hostile names and arguments harmless and short', async () => {
    const why = await whyNot(deny('r', { tool_name: { glob: ['a'] } }), {
      tool_name: `\u202e${'x'.repeat(999)}`,
    });
    expect(why).toContain('tool_name `\\u{202e}xxx');
    expect(why.length).toBeLessThan(200);
  });

  it('shortens a long list of what would have matched', async () => {
    const glob = Array.from({ length: 30 }, (_, index) => `t${index}`);
    expect(await whyNot(deny('r', { tool_name: { glob } }))).toContain('t14, t15 and 22 more');
  });

  it('shows the values of a condition without secrets and cut, as data too', async () => {
    const rule = deny('r', {}, 'args.token == "x" || args.long == "x"');
    const snapshot = await snapshotOf([rule]);
    const explanation = explain(snapshot, {
      call: callOf({ args: { token: 'tell-nobody', long: 'y'.repeat(500) } }),
      state: initialState(snapshot),
      nowMs: NOON_MS,
      redact: (text) => text.replaceAll('tell-nobody', '[redacted]'),
    });
    const [first] = explanation.rules;
    expect(JSON.stringify(first)).not.toContain('tell-nobody');
    expect(first?.why.length).toBeLessThan(300);
    expect(first?.unmet).toMatchObject({
      part: 'when',
      conditions: [
        {
          expression: 'args.token == "x"',
          gave: false,
          values: { 'args.token': '"[redacted]"' },
        },
        { expression: 'args.long == "x"', gave: false },
      ],
    });
  });
});
