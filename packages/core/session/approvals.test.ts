import type { Rule } from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { budget } from '../policy/decide/scenario.test-support.ts';
import {
  answersOf,
  call,
  eventsOf,
  inShort,
  play,
  request,
  result,
} from './playbook.test-support.ts';

function approvalRule(rule_id: string, wait: 'hold' | 'hint', tool: string): Rule {
  return {
    rule_id,
    kind: 'approval',
    enabled: true,
    match: { tool_name: { glob: [tool] } },
    effect: { approval: { wait, timeout_ms: 1_000 } },
    severity: 'warn',
  };
}
const asks = approvalRule('ask', 'hold', 'pay');
const control = { mode: 'control' } as const;

describe('a call that waits for a person', () => {
  it('is held, then forwarded once it is approved', async () => {
    const { says, told, session } = await play([asks, budget('cap', { limit_calls: 1 })], control);
    const held = says('agent', call(1, 'pay', { sum: 5 }));
    expect(inShort(held)).toEqual(['start pay', 'hold call-1']);
    expect(held.at(-1)).toMatchObject({
      approval: { wait: 'hold', timeout_ms: 1_000, rule_id: 'ask', args_preview: '{"sum":5}' },
    });
    expect(told('server', result(1))).toContain('drop unsolicited_answer');
    expect(inShort(session.approval('call-1', 'approved', 500))).toEqual([
      'decision ALLOW DEFAULT_ALLOW',
      'release call-1',
    ]);
    expect(session.approval('call-1', 'approved', 501)).toEqual([]);
    expect(told('server', result(1), 600)).toEqual(['end OK', 'forward to agent']);
    // It was counted once, when it passed.
    expect(told('agent', call(2, 'read'))).toContain('decision BLOCK BUDGET_EXCEEDED');
    expect(session.summary()).toMatchObject({ calls_total: 2, calls_allowed: 1, calls_blocked: 1 });
  });

  it.each([
    ['rejected', 'APPROVAL_REJECTED'],
    ['unavailable', 'APPROVAL_UNAVAILABLE'],
  ] as const)('is refused when the answer is %s', async (answer, reason) => {
    const { says, session } = await play([asks], control);
    says('agent', call(1, 'pay'));
    const ended = session.approval('call-1', answer, 10);
    expect(inShort(ended)).toEqual([
      `decision BLOCK ${reason}`,
      'discard call-1',
      'end ERROR',
      'answer 1 -32081',
      'drop refused',
    ]);
    expect(eventsOf(ended, 'tool_call_decision')[0]?.decision.rule_id).toBe('ask');
  });

  it('is refused when its time is up', async () => {
    const { says, session } = await play([asks], control);
    says('agent', call(1, 'pay'), 100);
    expect(session.tick(1_099)).toEqual([]);
    expect(inShort(session.tick(1_100))).toContain('decision BLOCK APPROVAL_TIMEOUT');
    expect(session.tick(9_999)).toEqual([]);
  });

  it('gives signs of life to a caller that wants progress', async () => {
    const { says, session } = await play([asks], {
      ...control,
      config: { limits: { progressMs: 100 } },
    });
    const params = { name: 'pay', arguments: {}, _meta: { progressToken: 'tok' } };
    says('agent', request(1, 'tools/call', params), 0);
    expect(session.tick(50)).toEqual([]);
    expect(answersOf(session.tick(100))[0]).toMatchObject({
      method: 'notifications/progress',
      params: { progressToken: 'tok', progress: 1 },
    });
    expect(answersOf(session.tick(210))[0]).toMatchObject({ params: { progress: 2 } });
  });

  it('is given up when it is cancelled', async () => {
    verifies('EC-STDIO-031');
    const { says, told, session } = await play([asks], control);
    says('agent', call(1, 'pay'));
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    expect(told('agent', cancel, 5)).toEqual([
      'decision BLOCK APPROVAL_CANCELLED',
      'end CANCELLED',
      'discard call-1',
      'forward to server',
    ]);
    expect(session.approval('call-1', 'approved', 6)).toEqual([]);
  });

  it('ends with the server or the agent', async () => {
    const one = await play([asks], control);
    one.says('agent', call(1, 'pay'));
    expect(inShort(one.session.serverExited({ started: true, code: 0 }, 5))).toEqual([
      'decision BLOCK APPROVAL_CANCELLED',
      'end CANCELLED',
      'discard call-1',
      'answer 1 -32603',
    ]);
    const two = await play([asks], control);
    two.says('agent', call(1, 'pay'));
    expect(inShort(two.session.agentClosed(5))).toEqual([
      'decision BLOCK APPROVAL_CANCELLED',
      'end CANCELLED',
      'discard call-1',
    ]);
  });

  it('waits again when a second rule asks too', async () => {
    const { says, session } = await play([asks, approvalRule('ask-2', 'hold', 'p*')], control);
    says('agent', call(1, 'pay'), 0);
    expect(inShort(session.approval('call-1', 'approved', 900))).toEqual(['ask call-1']);
    expect(session.tick(1_500)).toEqual([]);
    expect(inShort(session.approval('call-1', 'approved', 1_600))).toContain('release call-1');
  });
});

describe('a call that may be tried again once it is approved', () => {
  it('is answered with a hint at once, and passes when a person has agreed', async () => {
    verifies('IP-3.3');
    const granted: string[] = [];
    const approvedFor = () => granted;
    const rule = approvalRule('ask', 'hint', 'pay');
    const { told } = await play([rule], { ...control, config: { approvedFor } });
    expect(told('agent', call(1, 'pay'))).toEqual([
      'start pay',
      'decision REJECT_WITH_HINT APPROVAL_REQUIRED',
      'hint_issued',
      'end ERROR',
      'answer 1 -32083',
      'drop refused',
      'ask call-1',
    ]);
    granted.push('ask');
    expect(told('agent', call(2, 'pay'))).toContain('forward to server');
  });
});
