import { parseEvaluateResponse } from '@subluminal/contracts';
import type { Call } from '@subluminal/core/policy';
import { describe, expect, it } from 'vitest';
import { cedarRequest } from './build-request.ts';
import { cedarRefusal } from './evaluate.ts';
import { openCedar, opened } from './testing/requests.ts';

const CALL: Call = {
  identity: {
    run_id: 'run-1',
    agent_id: 'coder',
    client: 'codex',
    env: 'ci',
    principal: 'ada@desk',
    workload: { ci_provider: 'github', repo: 'acme/app', job_id: '7' },
  },
  server_name: 'git',
  tool_name: 'push',
  args_hash: 'a'.repeat(64),
  args: { force: true },
  bytes_in: 14,
};
const AT = { riskClass: ['write'], nowMs: Date.UTC(2026, 0, 31, 12) };

/** What is decided of the call by these policies. */
async function decided(policies: Readonly<Record<string, string>>, call: Call = CALL) {
  const cedar = opened(await openCedar({ policies }));
  const answer = cedar.evaluate(cedarRequest(call, AT));
  cedar.close();
  return cedarRefusal(answer);
}

describe('a call of a run', () => {
  it.each([
    'principal == Agent::"coder"',
    'resource == Tool::"git::push"',
    'context.agent == Agent::"coder"',
    'context.user == User::"ada@desk"',
    'context.workload == Workload::"github/acme/app"',
    'context.env == "ci" && context.client == "codex" && context.run == "run-1"',
    'context.risk.contains("write")',
    'context.flat.getTag("force") == "true"',
    'context.now == datetime("2026-01-31T12:00:00Z")',
  ])('has %s', async (condition) => {
    const guarded = condition
      .replace('context.user', 'context has user && context.user')
      .replace('context.workload', 'context has workload && context.workload')
      .replace('context.flat.get', 'context.flat.hasTag("force") && context.flat.get');
    const permit = `permit (principal, action, resource) when { ${guarded} };`;
    expect(await decided({ permit })).toBeUndefined();
  });

  it.each([
    [{ namespace: 'shop', service_account: 'cleaner', pod: 'p' }, 'shop/cleaner'],
    [{ user: 'ada', repo_path: '/src' }, undefined],
    [{ namespace: 'shop' }, undefined],
  ])('in %j is of the workload %s', (workload, name) => {
    const call = { ...CALL, identity: { ...CALL.identity, workload } };
    expect(cedarRequest(call, AT).workload).toBe(name);
  });
});

describe('a refusal', () => {
  const ALL = 'permit (principal, action, resource);';
  const forbid = (words: string) => `${words} forbid (principal, action, resource);`;

  it('has the words of the policy that speaks, and is one that contracts know', async () => {
    const loud = forbid('@message("Not now.") @hint("Wait.") @reason_code("NOT_NOW")');
    const refusal = await decided({ all: ALL, quiet: forbid(''), loud });
    expect(refusal).toMatchObject({
      action: 'REJECT_WITH_HINT',
      rule_id: 'cedar:loud',
      reason_code: 'NOT_NOW',
      summary: 'Not now.',
      hint: { hint_text: 'Wait.' },
    });
    const response = { decision: 'deny', shutdown: false, call_decision: refusal };
    expect(parseEvaluateResponse(response).ok).toBe(true);
  });

  it.each([
    ['of a forbid without words', { no: forbid('') }, 'cedar:no'],
    ['for want of a permit', { no: 'permit (principal == User::"x", action, resource);' }, null],
  ])('%s blocks', async (_what, policies, ruleId) => {
    const refusal = await decided({ ...policies });
    expect(refusal).toMatchObject({
      action: 'BLOCK',
      rule_id: ruleId,
      reason_code: 'CEDAR_DENIED',
    });
  });

  it('of an engine that fails is CEDAR_UNAVAILABLE', () => {
    const base = { reasons: [], errors: [], policyId: null, hint: null, reasonCode: null };
    const answer = { ...base, decision: 'deny', cause: 'engine', message: 'Broken.' } as const;
    expect(cedarRefusal(answer)).toMatchObject({ reason_code: 'CEDAR_UNAVAILABLE' });
  });
});
