import type { Bundle, Rule } from '@subluminal/contracts';
import { compileBundle } from '@subluminal/core/policy';
import { sha256 } from '@subluminal/plane/crypto';
import picocolors from 'picocolors';
import { expect, test } from 'vitest';
import { parseCalls } from './call-file.ts';
import { explainCalls, lastOf } from './explain-calls.ts';
import { renderExplained, renderHead } from './render-explanation.ts';

const colors = picocolors.createColors(false);
const IDENTITY = { run_id: 'r', agent_id: 'a', client: 'custom', env: 'dev' };
const FRAME = { enabled: true, match: {}, severity: 'warn' } as const;
const BUDGET: Rule = {
  ...FRAME,
  rule_id: 'call-budget',
  kind: 'budget',
  effect: { budget: { scope: 'run', limit_calls: 3, on_exceed: 'BLOCK' } },
};
const DENY: Rule = { ...FRAME, rule_id: 'no', kind: 'deny', effect: { action: 'BLOCK' } };
const asks = (wait: 'hold' | 'hint'): Rule => ({
  ...FRAME,
  rule_id: 'asks',
  kind: 'approval',
  effect: { approval: { wait, timeout_ms: 600_000 } },
});

async function compiled(rules: readonly Rule[], mode: Bundle['mode'] = 'control') {
  const defaults = { decision_on_error: 'BLOCK' } as const;
  const bundle: Bundle = { policy_id: 'p', version: '1', mode, defaults, selectors: {}, rules };
  return compileBundle(bundle, { sha256 });
}

async function explained(rules: readonly Rule[], repeat: number, mode?: Bundle['mode']) {
  const text = JSON.stringify({ server_name: 's', tool_name: 't', repeat });
  const calls = parseCalls({ name: 'f', text, identity: IDENTITY });
  return explainCalls(await compiled(rules, mode), calls, { startMs: 0 });
}

const render = (one: Awaited<ReturnType<typeof explained>>[number], columns = 200) =>
  renderExplained(one, { write: () => undefined, colors, columns, isTerminal: false });

test('calls that come out the same are shown once, with all that was counted', async () => {
  const [passed, stopped, ...more] = await explained([BUDGET], 5);
  if (passed === undefined || stopped === undefined) throw new Error('there are two rows');
  expect(more).toEqual([]);
  expect(render(passed)).toContain('calls 1–3');
  expect(render(passed)).toContain('1–3 of 3 used');
  expect(render(stopped)).toContain('calls 4–5');
  expect(passed.explanation.rules[0]?.tally).toEqual({ count: 3, limit: 3 });
});

test('the last call of a row can be shown by itself', async () => {
  const [passed] = await explained([BUDGET], 3);
  if (passed === undefined) throw new Error('there is a row');
  const text = render(lastOf(passed));
  expect(text).toContain('call 3  ');
  expect(text).toContain('3 of 3 used');
  expect(text).not.toContain('–');
});

test('calls in which a rule did something else are not shown as one', async () => {
  // The deny decides all of them, but from the fourth on the budget would have as well.
  const rows = await explained([DENY, BUDGET], 5);
  expect(rows.map(({ from, to }) => [from, to])).toEqual([
    [1, 3],
    [4, 5],
  ]);
});

test('a rule that is not enforced only would have decided', async () => {
  const [row] = await explained([DENY], 1, 'observe');
  if (row === undefined) throw new Error('there is a row');
  const text = render(row);
  expect(text).toContain('● ALLOW [WOULD_BLOCK], but enforced it would be ■ BLOCK by no: ');
  expect(text).toContain('[DENYLIST_MATCH]');
  expect(text).toContain('▷ no  deny  it would decide: BLOCK');
  expect(text).not.toContain('▶');
});

test('a request that is held open is not to be tried again', async () => {
  const [held] = await explained([asks('hold')], 1);
  const [hinted] = await explained([asks('hint')], 1);
  if (held === undefined || hinted === undefined) throw new Error('there are rows');
  expect(render(held)).toContain(
    'the request is held open until a person answers, at most 10 min; the agent need not retry',
  );
  expect(render(held)).not.toMatch(/^ +retry /m);
  expect(render(hinted)).toMatch(/^ +retry +Try the same call again/m);
  expect(render(hinted)).toContain('the retry passes once a person has approved, within 10 min');
});

test('a narrow terminal gives the reason lines of its own', async () => {
  const [row] = await explained([{ ...DENY, rule_id: 'a-rule-with-a-long-name' }], 1);
  if (row === undefined) throw new Error('there is a row');
  const lines = render(row, 40).split('\n');
  const at = lines.findIndex((line) => line.includes('▶'));
  expect(lines[at]).toBe('    ▶ a-rule-with-a-long-name  deny');
  expect(lines[at + 1]).toBe('        it decides: BLOCK,');
  expect(Math.max(...lines.slice(at).map((line) => line.length))).toBeLessThanOrEqual(40);
});

test('the head marks a mode that is not the mode of the policy', async () => {
  const policy = { kind: 'policy', name: 'f', snapshot: await compiled([], 'observe') } as const;
  const head = (modeOverridden: boolean) =>
    renderHead(
      { ...policy, modeOverridden },
      { write: () => undefined, colors, columns: 80, isTerminal: false },
    );
  expect(head(false)).toContain('· mode observe ·');
  expect(head(true)).toContain('· mode overridden to observe ·');
});
