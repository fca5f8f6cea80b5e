import { describe, expect, it } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { budget, snapshotOf } from '../policy/testing/scenario.ts';
import { approvalRule, people } from './people.test-support.ts';
import {
  answersOf,
  call,
  eventsOf,
  inShort,
  play,
  request,
  result,
} from './playbook.test-support.ts';
import type { ApprovalWanted } from './types.ts';

const asks = approvalRule('ask', 'hold', 'pay');
const hinting = approvalRule('ask', 'hint', 'pay');

const control = { mode: 'control', config: { approver: people() } } as const;

describe('a call that waits for a person', () => {
  it('is held, then forwarded once it is approved', async () => {
    const asked: ApprovalWanted[] = [];
    const config = { approver: people([], asked) };
    const rules = [asks, budget('cap', { limit_calls: 1 })];
    const { send, sendInShort, session } = await play(rules, { ...control, config });
    const held = send('agent', call(1, 'pay', { sum: 5 }));
    expect(inShort(held)).toEqual(['start pay', 'approval']);
    expect(eventsOf(held, 'approval')[0]).toEqual({
      call: { call_id: 'call-1' },
      approval: { id: 'request-1', rule_id: 'ask', state: 'asked' },
    });
    expect(asked).toMatchObject([
      {
        wait: 'hold',
        timeout_ms: 1_000,
        rule_id: 'ask',
        call: { call_id: 'call-1', tool_name: 'pay' },
        args: { text: '{"sum":5}', complete: true },
      },
    ]);
    expect(sendInShort('server', result(1))).toContain('drop unsolicited_answer');
    expect(inShort(session.approval('call-1', 'approved', 500))).toEqual([
      'decision ALLOW DEFAULT_ALLOW',
      'forward to server in part',
    ]);
    expect(session.approval('call-1', 'approved', 501)).toEqual([]);
    expect(sendInShort('server', result(1), 600)).toEqual(['end OK', 'forward to agent']);
    // It was counted once, when it passed.
    expect(sendInShort('agent', call(2, 'read'))).toContain('decision BLOCK BUDGET_EXCEEDED');
    expect(session.summary()).toMatchObject({ calls_total: 2, calls_allowed: 1, calls_blocked: 1 });
  });

  it('waits without an end where somebody else asks, until it is said what came of it', async () => {
    const asked = { id: 'question', advice: '', channel: 'client', isUntimed: true };
    const approver = { ...people(), ask: () => asked };
    const { send, session } = await play([asks], { ...control, config: { approver } });
    const held = send('agent', call(1, 'pay'));
    expect(eventsOf(held, 'approval')).toMatchObject([
      { approval: { id: 'question', state: 'asked', channel: 'client' } },
    ]);
    expect(session.tick(1_000_000_000)).toEqual([]);
    const declined = session.approval('call-1', 'declined', 1_000_000_001);
    expect(inShort(declined)).toContain('decision BLOCK APPROVAL_REJECTED');
    expect(JSON.stringify(answersOf(declined))).toMatch(/has not run this call/);
  });

  it('tells who asks which request it is, and whether its arguments are to be changed', async () => {
    const asked: ApprovalWanted[] = [];
    const config = { approver: people([], asked) };
    const { send } = await play([asks], { ...control, config });
    send('agent', call(7, 'pay'));
    expect(asked).toMatchObject([{ messageId: '7', isRewritten: false }]);
  });

  it('is refused at once where nobody is there, with a hint', async () => {
    const approver = { ...people(), isUnattended: true };
    const { send, sendInShort } = await play([asks, hinting], { ...control, config: { approver } });
    const refused = send('agent', call(1, 'pay'));
    expect(inShort(refused)).toContain('decision REJECT_WITH_HINT APPROVAL_UNAVAILABLE');
    expect(eventsOf(refused, 'hint_issued')).toHaveLength(1);
    expect(eventsOf(refused, 'approval')).toEqual([]);
    expect(sendInShort('agent', call(2, 'read'))).toContain('forward to server');
  });

  it.each([
    ['rejected', 'APPROVAL_REJECTED'],
    ['unavailable', 'APPROVAL_UNAVAILABLE'],
  ] as const)('is refused when the answer is %s', async (answer, reason) => {
    const { send, session } = await play([asks], control);
    send('agent', call(1, 'pay'));
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

  it('is refused with the words of the person: short, harmless and marked', async () => {
    const said = async (note: string) => {
      const { send, session } = await play([asks], control);
      send('agent', call(1, 'pay'));
      const ended = session.approval('call-1', { kind: 'rejected', note }, 10);
      return eventsOf(ended, 'tool_call_decision')[0]?.decision.explain?.summary ?? '';
    };
    expect(await said('not on\u001b Friday')).toBe(
      'A person has rejected this call. In their words: "not on\\u{1b} Friday"',
    );
    expect(await said(' ')).toBe('A person has rejected this call.');
    expect((await said('x'.repeat(2_000))).length).toBeLessThan(400);
  });

  it('is refused when its time is up', async () => {
    const { send, session } = await play([asks], control);
    send('agent', call(1, 'pay'), 100);
    expect(session.tick(1_099)).toEqual([]);
    expect(inShort(session.tick(1_100))).toContain('decision BLOCK APPROVAL_TIMEOUT');
    expect(session.tick(9_999)).toEqual([]);
  });

  it('gives signs of life to a caller that wants progress', async () => {
    const { send, session } = await play([asks], {
      ...control,
      config: { ...control.config, limits: { progressMs: 100 } },
    });
    const params = { name: 'pay', arguments: {}, _meta: { progressToken: 'tok' } };
    send('agent', request(1, 'tools/call', params), 0);
    expect(session.tick(50)).toEqual([]);
    expect(answersOf(session.tick(100))[0]).toMatchObject({
      method: 'notifications/progress',
      params: { progressToken: 'tok', progress: 1 },
    });
    expect(answersOf(session.tick(210))[0]).toMatchObject({ params: { progress: 2 } });
  });

  it('is given up when it is cancelled', async () => {
    verifies('EC-STDIO-031');
    const { send, sendInShort, session } = await play([asks], control);
    send('agent', call(1, 'pay'));
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    expect(sendInShort('agent', cancel, 5)).toEqual([
      'decision BLOCK APPROVAL_CANCELLED',
      'end CANCELLED',
      'discard call-1',
      'forward to server',
    ]);
    expect(session.approval('call-1', 'approved', 6)).toEqual([]);
  });

  it('ends with the server or the agent', async () => {
    const one = await play([asks], control);
    one.send('agent', call(1, 'pay'));
    expect(inShort(one.session.serverExited({ started: true, code: 0 }, 5))).toEqual([
      'decision BLOCK APPROVAL_CANCELLED',
      'end CANCELLED',
      'discard call-1',
      'answer 1 -32603',
    ]);
    const two = await play([asks], control);
    two.send('agent', call(1, 'pay'));
    expect(inShort(two.session.agentClosed(5))).toEqual([
      'decision BLOCK APPROVAL_CANCELLED',
      'end CANCELLED',
      'discard call-1',
    ]);
  });

  it('waits again when a second rule asks too', async () => {
    const { send, session } = await play([asks, approvalRule('ask-2', 'hold', 'p*')], control);
    send('agent', call(1, 'pay'), 0);
    expect(inShort(session.approval('call-1', 'approved', 900))).toEqual(['approval']);
    expect(session.tick(1_500)).toEqual([]);
    expect(inShort(session.approval('call-1', 'approved', 1_600))).toContain(
      'forward to server in part',
    );
  });
});

describe('a call that may be tried again once it is approved', () => {
  it('is answered with a hint at once, and passes when a person has agreed', async () => {
    verifies('IP-3.3');
    const granted: string[] = [];
    const config = { approver: people(granted) };
    const { send, sendInShort } = await play([hinting], { ...control, config });
    const hinted = send('agent', call(1, 'pay'));
    expect(inShort(hinted)).toEqual([
      'start pay',
      'approval',
      'decision REJECT_WITH_HINT APPROVAL_REQUIRED',
      'hint_issued',
      'end ERROR',
      'answer 1 -32083',
      'drop refused',
    ]);
    expect(JSON.stringify(answersOf(hinted))).toContain('Ask Ann. Try the same call again');
    granted.push('ask');
    const passed = send('agent', call(2, 'pay'));
    expect(inShort(passed)).toContain('forward to server');
    expect(eventsOf(passed, 'approval')[0]?.approval).toMatchObject({
      rule_id: 'ask',
      state: 'approved',
      grant_id: 'grant',
      by: 'ann',
    });
    // It was for once.
    expect(sendInShort('agent', call(3, 'pay'))).toContain('answer 3 -32083');
  });

  it('uses up no grant when another rule refuses it', async () => {
    const granted = ['ask'];
    const config = { approver: people(granted) };
    const cap = budget('cap', { limit_calls: 1 });
    const { sendInShort } = await play([hinting, cap], { ...control, config });
    expect(sendInShort('agent', call(1, 'read'))).toContain('forward to server');
    expect(sendInShort('agent', call(2, 'pay'))).toContain('decision BLOCK BUDGET_EXCEEDED');
    expect(granted).toEqual(['ask']);
  });

  it('needs all of its grants at once', async () => {
    const granted = ['ask'];
    const config = { approver: people(granted) };
    const both = [hinting, approvalRule('ask-2', 'hint', 'p*')];
    const { sendInShort } = await play(both, { ...control, config });
    expect(sendInShort('agent', call(1, 'pay'))).toContain('answer 1 -32083');
    expect(granted).toEqual(['ask']);
    granted.push('ask-2');
    expect(sendInShort('agent', call(2, 'pay'))).toContain('forward to server');
    expect(granted).toEqual([]);
  });
});

describe('without anybody to ask', () => {
  it.each(['hold', 'hint'] as const)('production refuses a call that would %s', async (wait) => {
    verifies('EC-STDIO-021');
    const { sendInShort } = await play([approvalRule('ask', wait, 'pay')], { mode: 'control' });
    expect(sendInShort('agent', call(1, 'pay'))).toEqual([
      'start pay',
      'decision BLOCK APPROVAL_UNAVAILABLE',
      'end ERROR',
      'answer 1 -32081',
      'drop refused',
    ]);
  });

  it('development approves by itself, and records it', async () => {
    verifies('EC-STDIO-021', 'F-023');
    const { send } = await play([asks], { mode: 'control', profile: 'development' });
    const passed = send('agent', call(1, 'pay'));
    expect(inShort(passed)).toEqual([
      'start pay',
      'approval',
      'decision ALLOW WOULD_BLOCK',
      'forward to server',
    ]);
    expect(eventsOf(passed, 'approval')[0]?.approval).toEqual({
      rule_id: 'ask',
      state: 'auto_approved',
    });
  });
});

describe('the request that people see', () => {
  it.each([
    ['small arguments', '{"sum":5}', '{"sum":5}', true],
    ['a number that cannot be repeated', '{"sum":12345678901234567890}', '{"sum":1234', false],
    ['long arguments', `{"text":"${'x'.repeat(70_000)}"}`, '{"text":"xxx', false],
    ['secrets', '{"key":"hunter2","sum":5}', '{"key":"***","sum":5}', true],
  ])('says whether it is all of it: %s', async (_what, args, start, complete) => {
    const asked: ApprovalWanted[] = [];
    const redact = (text: string) => text.replaceAll('hunter2', '***');
    const limits = { previewBytesMax: 0 };
    const config = { approver: people([], asked), redact, limits };
    const { send } = await play([asks], { ...control, config });
    send(
      'agent',
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay","arguments":${args}}}`,
    );
    expect(asked[0]?.args?.text.startsWith(start)).toBe(true);
    expect(asked[0]?.args?.complete).toBe(complete);
  });
});

describe('a held call', () => {
  it('is refused with an answer when the agent sends nothing more', async () => {
    const { send, session } = await play([asks], control);
    send('agent', call(1, 'pay'));
    expect(inShort(session.inputEnded(5))).toEqual([
      'decision BLOCK APPROVAL_CANCELLED',
      'discard call-1',
      'end ERROR',
      'answer 1 -32081',
      'drop refused',
    ]);
    expect(session.approval('call-1', 'approved', 6)).toEqual([]);
  });

  it('is asked about again when the policy has changed meanwhile', async () => {
    const asked: ApprovalWanted[] = [];
    const config = { approver: people([], asked) };
    const { send, session } = await play([asks], { ...control, config });
    send('agent', call(1, 'pay'));
    session.usePolicy(await snapshotOf([asks, budget('cap', { limit_calls: 9 })], control));
    expect(inShort(session.approval('call-1', 'approved', 5))).toEqual(['approval']);
    expect(asked[1]?.policy_hash).not.toBe(asked[0]?.policy_hash);
    expect(inShort(session.approval('call-1', 'approved', 6))).toContain(
      'forward to server in part',
    );
  });

  it('that was rejected does not pass when the policy no longer asks', async () => {
    const { send, session } = await play([asks], control);
    send('agent', call(1, 'pay'));
    session.usePolicy(await snapshotOf([], control));
    const ended = inShort(session.approval('call-1', 'rejected', 5));
    expect(ended).toContain('decision BLOCK APPROVAL_REJECTED');
  });
});
