import { expect, test } from 'vitest';
import { explainTurn } from './explain-turn.ts';
import {
  envelope,
  policyFrom,
  policyOf,
  turn,
  WORKED_POLICY,
} from './worked-policy.test-support.ts';

const like = (pattern: RegExp): unknown => expect.stringMatching(pattern);

test('an explanation names every rule, with what did not hold', () => {
  const { decision, checked_rules } = explainTurn(policyFrom(WORKED_POLICY), turn());
  expect(decision).toMatchObject({ primary_action: 'route', model_pool: 'standard' });
  const byId = Object.fromEntries(checked_rules.map(({ id, ...rule }) => [id, rule]));
  expect(Object.keys(byId)).toEqual([
    'P-SEC-001',
    'P-SEC-002',
    'P-BUDGET-001',
    'P-ROUTE-004',
    'P-ROUTE-001',
    'P-ROUTE-002',
    'P-ROUTE-003',
    'P-EVAL-001',
  ]);
  expect(byId['P-ROUTE-002']).toEqual({ matched: true });
  expect(byId['P-SEC-001']).toEqual({
    matched: false,
    trace: like(
      /envelope\.repo\.repo_id in restricted_repos is false \(envelope\.repo\.repo_id = "repo_web"/,
    ),
  });
  expect(byId['P-EVAL-001']).toEqual({
    matched: false,
    trace: like(/^rand\(\) < 0\.05 is false; rand\(\)=0\.\d{3}$/),
  });
});

test('an explanation shows the number that was drawn for a rule that matched', () => {
  const policy = policyOf([{ when: 'rand() < 2.0', action: 'log_only' }]);
  expect(explainTurn(policy, turn()).checked_rules).toEqual([
    { id: 'R1', matched: true, trace: like(/^rand\(\)=0\.\d{3}$/) },
  ]);
});

test('an explanation says what became of a rule that could not be evaluated', () => {
  const when = '1 / (request.max_tokens - request.max_tokens) == 1';
  const policy = policyOf([
    { when, action: 'block' },
    { when, action: 'allow' },
  ]);
  expect(explainTurn(policy, turn()).checked_rules).toEqual([
    {
      id: 'R1',
      matched: true,
      trace: like(/could not be evaluated .* counts as a match$/),
    },
    {
      id: 'R2',
      matched: false,
      trace: like(/could not be evaluated .* counts as none$/),
    },
  ]);
});

test('what a client wrote is cut and made harmless in an explanation', () => {
  const policy = policyOf([{ when: 'envelope.repo.branch == "main"', action: 'block' }]);
  const branch = `\u001b[31m${'x'.repeat(900)}`;
  const [rule] = explainTurn(
    policy,
    turn({ envelope: envelope({ repo: { branch } }) }),
  ).checked_rules;
  expect(rule?.trace).not.toContain('\u001b');
  expect(rule?.trace?.length).toBeLessThan(200);
});
