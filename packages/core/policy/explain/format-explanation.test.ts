import { CONTENT_DEFAULTS, type Rule } from '@subluminal/contracts';
import { expect, it } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { initialState } from '../decide/state.ts';
import { allow, budget, callOf, deny, rateLimit, snapshotOf } from '../testing/scenario.ts';
import { explain } from './explain.ts';
import { formatExplanation } from './format-explanation.ts';

type Options = Parameters<typeof snapshotOf>[1];

async function linesOf(rules: readonly Rule[], options: Options = {}, parts = {}) {
  const snapshot = await snapshotOf(rules, options);
  const question = { call: callOf(parts), state: initialState(snapshot), nowMs: 0 };
  return formatExplanation(explain(snapshot, question)).split('\n');
}

it('shows the decision, the hint and one aligned line per rule', async () => {
  verifies('T-B.5', 'SL-10.2');
  const clamps: Rule = {
    rule_id: 'clamps',
    kind: 'deny',
    enabled: true,
    severity: 'critical',
    match: { args: { numeric_range: { limit: { min: 101 } } } },
    effect: {
      action: 'BLOCK',
      message: 'Too many at once.',
      hint: { hint_text: 'Ask for fewer.', suggest: { clamp: { limit: { max: 100 } } } },
    },
  };
  const lines = await linesOf(
    [allow('a', { tool_name: { glob: ['x'] } }), clamps],
    { mode: 'control' },
    { args: { limit: 500 } },
  );
  expect(lines.map((line) => line.replace(/[0-9a-f]{12}\)/, 'HASH)'))).toEqual([
    'REJECT_WITH_HINT by clamps: Too many at once. [DENYLIST_MATCH, critical]',
    '  hint       Ask for fewer. [ARG_FIX]',
    '  suggested  {"limit":100}',
    '  call       server / tool',
    '  policy     tests 1 (control, production, HASH)',
    '  risk       none',
    '',
    'a       allow  no_match  tool_name `tool` matches none of x',
    'clamps  deny   decided   it decides: REJECT_WITH_HINT, `DENYLIST_MATCH`',
  ]);
});

it('shows what an enforcing policy would do', async () => {
  const lines = await linesOf([deny('r')], { mode: 'observe' });
  expect(lines.slice(0, 2)).toEqual([
    'ALLOW, because nothing is enforced here [WOULD_BLOCK]',
    '  would be   BLOCK by r: A rule denies this call. [DENYLIST_MATCH, warn]',
  ]);
});

it('shows how long to wait, and why a run ends', async () => {
  const busy = rateLimit('busy', {
    cost_tokens_per_call: 2,
    on_limit: 'THROTTLE',
    backoff_ms: 250,
  });
  expect(await linesOf([busy])).toContain('  wait       250 ms');
  const ends = budget('ends', { limit_calls: 0, on_exceed: 'TERMINATE_RUN' });
  const lines = await linesOf([ends]);
  expect(lines.find((line) => line.includes('ends run'))).toMatch(
    /^ {2}ends run {3}BUDGET_EXCEEDED: /,
  );
});

it('shows how a person is asked', async () => {
  const asks: Rule = {
    ...deny('asks'),
    kind: 'approval',
    effect: { approval: { wait: 'hold', timeout_ms: 9 } },
  };
  const lines = await linesOf([asks], { mode: 'control' });
  expect(lines).toContain('  approval   hold, within 9 ms');
  // A request that is held open is answered; to retry it would be a second call.
  expect(lines.join()).not.toContain('retry');
  const hints: Rule = { ...asks, effect: { approval: { wait: 'hint', timeout_ms: 9 } } };
  expect(await linesOf([hints], { mode: 'control' })).toContain(
    '  retry      Try the same call again once it has been approved.',
  );
});

it('shows why the policy is not for the agent', async () => {
  const lines = await linesOf([], { selectors: { env: ['ci'] } });
  expect(lines[0]).toBe('ALLOW: The policy is not for this agent. [NOT_SELECTED, info]');
  expect(lines).toContain('  selector   env is "dev", none of ci');
  expect(lines.at(-1)).toBe('The policy has no rules.');
});

it('lets no hostile text reach the terminal', async () => {
  const evil = '\u001b]0;owned\u0007\u202e\u200b\r\n';
  const rule: Rule = {
    ...deny(`r${evil}`),
    kind: 'deny',
    effect: { action: 'BLOCK', message: `m${evil}` },
  };
  const parts = {
    server_name: evil,
    tool_name: `t${evil}`,
    risk_class: [evil],
    args: { [evil]: evil },
  };
  const other = deny('other', { args: { key_equals: { [evil]: `x${evil}` } } });
  const lines = await linesOf([rule, other], { mode: 'control' }, parts);
  expect(lines.join('')).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
  expect(lines).toHaveLength(7);
});

it('says which sections it leaves out', async () => {
  const snapshot = await snapshotOf([deny('no')]);
  const document = { ...snapshot.document, content: CONTENT_DEFAULTS };
  const question = { call: callOf({}), state: initialState(snapshot), nowMs: 0 };
  const explained = explain({ ...snapshot, document }, question);
  expect(explained.not_evaluated).toEqual(['content']);
  expect(formatExplanation(explained).split('\n').at(-1)).toBe(
    'Not evaluated here: `content`, which may stop more.',
  );
  expect((await linesOf([deny('no')])).join('\n')).not.toContain('Not evaluated');
});
