import { describe, expect, it } from 'vitest';
import { budget, deny } from '../policy/testing/scenario.ts';
import {
  answersOf,
  call,
  initialize,
  inShort,
  lineOf,
  play,
  readHeadOnce,
  readOnce,
  result,
} from './playbook.test-support.ts';
import type { Approver, HubAnswer, HubQuestion } from './types.ts';

const shared = budget('cap', { limit_calls: 1 });
const own = {
  ...budget('own', { limit_calls: 1, scope: 'server_tool' }),
  match: { tool_name: { glob: ['own_*'] } },
};
const withHub = { config: { hub: true } };

const NOT_ASKED = undefined;
const ALLOWED: HubAnswer['outcome'] = {
  decision: {
    action: 'ALLOW',
    rule_id: null,
    severity: 'info',
    reason_code: 'DEFAULT_ALLOW',
    summary: 'It passes.',
  },
  trace: [],
  risk_class: ['write_like'],
};
const REFUSED: HubAnswer['outcome'] = {
  ...ALLOWED,
  decision: {
    action: 'BLOCK',
    rule_id: 'cap',
    severity: 'warn',
    reason_code: 'BUDGET_EXCEEDED',
    summary: 'It is used up.',
  },
};

function answer(
  questions: readonly HubQuestion[],
  ...outcomes: readonly HubAnswer['outcome'][]
): readonly HubAnswer[] {
  return questions.map(({ ref }, index) => ({
    callId: ref.call_id,
    outcome: outcomes[index],
  }));
}

describe('a call that counts for the whole run', () => {
  it('sends the hub the members beside its arguments', async () => {
    const { session } = await play([shared], withHub);
    const inputResponses = { whom: { action: 'accept', content: { to: 'bob' } } };
    const params = { name: 'pay', arguments: { sum: 5 }, inputResponses };
    const line = lineOf({ jsonrpc: '2.0', id: 1, method: 'tools/call', params, odd: 1 });
    const [question] = session.questions(readOnce(session, 'agent', line), 0);
    expect(question?.beside).toEqual({ params: { inputResponses }, message: { odd: 1 } });
    const [plain] = session.questions(
      readOnce(session, 'agent', lineOf(call(2, 'pay', { sum: 5 }))),
      0,
    );
    expect(plain).toMatchObject({ beside: undefined });
  });

  it('is a question for the hub, with everything that decides it', async () => {
    const { session } = await play([shared], withHub);
    const line = lineOf(call(1, 'pay', { sum: 5 }));
    const [question, ...others] = session.questions(readOnce(session, 'agent', line), 0);
    expect(others).toEqual([]);
    expect(question?.ref).toMatchObject({
      call_id: 'call-1',
      server_name: 'files',
      tool_name: 'pay',
    });
    expect(question?.call.args).toEqual({ sum: 5 });
    expect(session.summary().calls_total).toBe(0);
  });

  it('follows the decision of the hub, under the id that the hub knows', async () => {
    const { session } = await play([shared], withHub);
    const line = lineOf(call(1, 'pay'));
    const questions = session.questions(readOnce(session, 'agent', line), 0);
    const passed = session.handle(readOnce(session, 'agent', line), 0, {
      answers: answer(questions, ALLOWED),
    });
    expect(inShort(passed)).toEqual([
      'start pay',
      'decision ALLOW DEFAULT_ALLOW',
      'forward to server',
    ]);
    expect(passed[1]).toMatchObject({
      body: { call: { call_id: 'call-1' }, counter_scope: 'run' },
    });
    const second = lineOf(call(2, 'pay'));
    const refused = session.handle(readOnce(session, 'agent', second), 1, {
      answers: answer(session.questions(readOnce(session, 'agent', second), 1), REFUSED),
    });
    expect(inShort(refused)).toContain('decision BLOCK BUDGET_EXCEEDED');
    expect(answersOf(refused)).toMatchObject([{ id: 2, error: { code: -32081 } }]);
  });

  it('is refused when the hub cannot be asked, and passes in development', async () => {
    const closed = await play([shared], withHub);
    expect(closed.sendInShort('agent', call(1, 'pay'))).toContain('decision BLOCK HUB_UNAVAILABLE');
    const line = lineOf(call(2, 'pay'));
    const unanswered = answer(
      closed.session.questions(readOnce(closed.session, 'agent', line), 0),
      NOT_ASKED,
    );
    expect(
      inShort(
        closed.session.handle(readOnce(closed.session, 'agent', line), 0, { answers: unanswered }),
      ),
    ).toContain('decision BLOCK HUB_UNAVAILABLE');
    const open = await play([shared], { ...withHub, profile: 'development' });
    const passed = open.send('agent', call(1, 'pay'));
    expect(inShort(passed)).toContain('forward to server');
    expect(passed[1]).toMatchObject({
      body: { decision: { would: { reason_code: 'HUB_UNAVAILABLE' } } },
    });
  });

  it('reports an error to the hub when a breaker counts there', async () => {
    const { session, sendInShort } = await play([shared], withHub);
    const failing = {
      ...ALLOWED,
      trace: [{ rule_id: 'b', kind: 'breaker', outcome: 'counted', tally: null, note: null }],
    } as const;
    const line = lineOf(call(1, 'pay'));
    session.handle(readOnce(session, 'agent', line), 0, {
      answers: answer(session.questions(readOnce(session, 'agent', line), 0), failing),
    });
    expect(sendInShort('server', result(1, { isError: true }))).toContain('result call-1 error');
  });

  it('is asked about in a batch and by the head of a large message too', async () => {
    const { session, send } = await play([shared], withHub);
    const [hello, welcome] = initialize('2025-03-26');
    send('agent', hello);
    send('server', welcome);
    const batch = lineOf([
      call(1, 'pay'),
      { jsonrpc: '2.0', id: 9, method: 'ping' },
      call(2, 'pay'),
    ]);
    const questions = session.questions(readOnce(session, 'agent', batch), 0);
    expect(questions).toHaveLength(2);
    const done = session.handle(readOnce(session, 'agent', batch), 0, {
      answers: answer(questions, ALLOWED, REFUSED),
    });
    expect(inShort(done)).toContain('forward to server in part');
    expect(answersOf(done)).toMatchObject([{ id: 2, error: { code: -32081 } }]);
    const head = lineOf(call(3, 'pay', { data: 'x'.repeat(2_000) })).subarray(0, 1_000);
    const asked = session.questions(readHeadOnce(session, 'agent', head), 0);
    expect(asked.map(({ call: { args } }) => args)).toEqual([undefined]);
    const opened = session.handle(readHeadOnce(session, 'agent', head), 0, {
      answers: answer(asked, REFUSED),
    });
    expect(inShort(opened)).toEqual(['swallow']);
  });
});

describe('a call that does not', () => {
  it.each([
    ['no rule counts', [deny('no', { tool_name: { glob: ['rm'] } })], 'read'],
    ['only rules of its own server count', [own], 'own_call'],
  ])('is decided here when %s', async (_why, rules, tool) => {
    const { session, sendInShort } = await play(rules, withHub);
    expect(session.questions(readOnce(session, 'agent', lineOf(call(1, tool))), 0)).toEqual([]);
    expect(sendInShort('agent', call(1, tool))).toContain('forward to server');
  });

  it.each([
    ['a malformed call', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: '' } }],
    ['another request', { jsonrpc: '2.0', id: 1, method: 'tools/list' }],
    ['a batch that is refused', [call(1, 'pay')]],
    ['no message', 'nonsense'],
  ])('is no question: %s', async (_what, message) => {
    const { session } = await play([shared], withHub);
    expect(session.questions(readOnce(session, 'agent', lineOf(message)), 0)).toEqual([]);
  });

  it('needs no hub where there is none', async () => {
    const { session, sendInShort } = await play([shared]);
    expect(session.questions(readOnce(session, 'agent', lineOf(call(1, 'pay'))), 0)).toEqual([]);
    expect(sendInShort('agent', call(1, 'pay'))).toContain('forward to server');
    expect(sendInShort('agent', call(2, 'pay'))).toContain('decision BLOCK BUDGET_EXCEEDED');
  });
});

it('asks about exactly the calls whose counters another server could change', async () => {
  const { session } = await play([shared, own], withHub);
  const line = lineOf(call(1, 'own_call'));
  // One rule of the run is enough: then the hub keeps all counters of this tool.
  expect(session.questions(readOnce(session, 'agent', line), 0)).toHaveLength(1);
});

describe('a held call that the hub decided', () => {
  const HELD: HubAnswer['outcome'] = {
    decision: {
      action: 'REJECT_WITH_HINT',
      rule_id: 'ask',
      severity: 'warn',
      reason_code: 'APPROVAL_REQUIRED',
      summary: 'Ask first.',
      hint: { hint_text: 'Ask.', suggested_args: null, retry_advice: null, hint_kind: 'SAFETY' },
      approval: { wait: 'hold', timeout_ms: 1_000 },
    },
    trace: [],
    risk_class: [],
  };
  const approver: Approver = {
    granted: () => [],
    take: () => [],
    ask: () => ({ id: 'request', advice: 'Ask Ann.' }),
  };

  async function held() {
    const { session } = await play([shared], { config: { hub: true, approver } });
    const line = lineOf(call(1, 'pay'));
    session.handle(readOnce(session, 'agent', line), 0, {
      answers: answer(session.questions(readOnce(session, 'agent', line), 0), HELD),
    });
    return session;
  }

  it('is decided by it again when a person has approved it', async () => {
    const session = await held();
    const asked = session.approval('call-1', 'approved', 10);
    expect(inShort(asked)).toEqual(['consult call-1']);
    expect(asked[0]).toMatchObject({ question: { call: { approved: ['ask'] } } });
    // It is no longer a matter of time, nor of another answer.
    expect(session.tick(5_000)).toEqual([]);
    expect(session.approval('call-1', 'rejected', 5_001)).toEqual([]);
    const passed = session.consulted({ callId: 'call-1', outcome: ALLOWED }, 5_002);
    expect(inShort(passed)).toEqual(['decision ALLOW DEFAULT_ALLOW', 'forward to server in part']);
    expect(session.consulted({ callId: 'call-1', outcome: ALLOWED }, 5_003)).toEqual([]);
  });

  it.each([
    ['refuses', REFUSED, 'BUDGET_EXCEEDED'],
    ['does not answer', NOT_ASKED, 'HUB_UNAVAILABLE'],
  ])('does not pass when the hub %s', async (_what, outcome, reason) => {
    const session = await held();
    session.approval('call-1', 'approved', 10);
    const refused = inShort(session.consulted({ callId: 'call-1', outcome }, 11));
    expect(refused.slice(0, 2)).toEqual([`decision BLOCK ${reason}`, 'discard call-1']);
  });

  it('is not asked about again when a person has rejected it', async () => {
    const session = await held();
    const refused = inShort(session.approval('call-1', 'rejected', 10));
    expect(refused[0]).toBe('decision BLOCK APPROVAL_REJECTED');
    expect(session.consulted({ callId: 'call-1', outcome: ALLOWED }, 11)).toEqual([]);
  });

  it('waits on when the hub wants a person for another rule', async () => {
    const session = await held();
    session.approval('call-1', 'approved', 10);
    expect(inShort(session.consulted({ callId: 'call-1', outcome: HELD }, 11))).toEqual([
      'approval',
    ]);
    expect(inShort(session.tick(1_011))).toContain('decision BLOCK APPROVAL_TIMEOUT');
  });
});
