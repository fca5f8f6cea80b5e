import type { Rule } from '@subluminal/contracts';
import { expect, it } from 'vitest';
import {
  allow,
  breaker,
  budget,
  callOf,
  dedupe,
  deny,
  rateLimit,
  snapshotOf,
} from '../testing/scenario.ts';
import { countedWhere } from './counted-where.ts';

const approval: Rule = {
  rule_id: 'ask',
  kind: 'approval',
  enabled: true,
  severity: 'warn',
  match: {},
  effect: { approval: { wait: 'hold', timeout_ms: 1_000 } },
};
const calls = budget('calls', { limit_calls: 10 });
const server = { scope: 'server_tool' } as const;
const bucket = {
  capacity: 5,
  refill_tokens: 5,
  refill_period_ms: 1_000,
  on_limit: 'BLOCK',
} as const;

it.each<[string, string, readonly Rule[]]>([
  ['no rule', 'here', []],
  ['a budget of one server', 'here', [budget('own', { ...server, limit_calls: 10 })]],
  [
    'a budget of the run',
    'leased',
    [calls, deny('no', { tool_name: { glob: ['x'] } }), allow('yes')],
  ],
  [
    'budgets of the run and of a tool',
    'leased',
    [calls, budget('t', { scope: 'tool', limit_calls: 2 })],
  ],
  ['rules that count in one server', 'leased', [calls, dedupe('d', server)]],
  [
    'cost that whole calls use up',
    'leased',
    [budget('c', { limit_cost_units: 9, cost_units_per_call: 3 })],
  ],
  [
    'cost that leaves a rest',
    'together',
    [budget('c', { limit_cost_units: 10, cost_units_per_call: 3 })],
  ],
  ['two limits', 'together', [budget('both', { limit_calls: 9, limit_cost_units: 9 })]],
  ['a bucket of the run', 'together', [calls, rateLimit('r', { ...bucket, scope: 'run' })]],
  ['a duplicate across servers', 'together', [calls, dedupe('d', { scope: 'tool' })]],
  ['errors of the run', 'together', [calls, breaker('b', { error_threshold: 2, window_ms: 9 })]],
  ['a question to a person', 'together', [calls, approval]],
])('a call under %s is counted %s', async (_rules, where, rules) => {
  const snapshot = await snapshotOf(rules);
  expect(countedWhere(snapshot, callOf()).kind).toBe(where);
});
