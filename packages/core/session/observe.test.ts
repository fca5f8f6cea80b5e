import { describe, expect, it } from 'vitest';
import { budget } from '../policy/testing/scenario.ts';
import { guardOf } from './guard.test-support.ts';
import { approvalRule, people } from './people.test-support.ts';
import {
  answersOf,
  call,
  eventsOf,
  initialize,
  inShort,
  lineOf,
  play,
  readOnce,
  request,
  result,
} from './playbook.test-support.ts';
import type { HubAnswer } from './types.ts';

const observing = { config: { hubNeeds: { observes: true } } };

describe('the content that the hub must know before the agent does', () => {
  it('is the content of answers to calls, resources and prompts, and nothing else', async () => {
    const { session, send } = await play([], observing);
    send('agent', call(1, 'fetch'));
    send('agent', request(2, 'resources/read'));
    send('agent', request(3, 'prompts/get'));
    send('agent', request(4, 'tools/list'));
    send('agent', call(5, 'fetch'));
    const heard = [
      '{"jsonrpc":"2.0","id":1,"result":{ "content":[]}}',
      result(2, { contents: [1] }),
      result(3, { messages: [] }),
      result(4, { tools: [] }),
      { jsonrpc: '2.0', id: 5, error: { code: 1, message: 'x' } },
      result(6, {}),
      { jsonrpc: '2.0', method: 'notifications/message', params: {} },
    ].map((message) => session.observations(readOnce(session, 'server', lineOf(message))));
    expect(heard).toEqual([
      [{ callId: 'call-1', tool: 'fetch', text: '{ "content":[]}' }],
      [{ callId: '', tool: 'resources/read', text: '{"contents":[1]}' }],
      [{ callId: '', tool: 'prompts/get', text: '{"messages":[]}' }],
      [{ callId: '', tool: 'tools/list', text: '{"tools":[]}' }],
      [{ callId: 'call-2', tool: 'fetch', text: '{"code":1,"message":"x"}' }],
      [],
      [],
    ]);
    // Looking has answered nothing.
    expect(session.openRequests('agent')).toBe(5);
  });

  it('is the text of requests and notifications of the server', async () => {
    const { session } = await play([], observing);
    const said = [
      { jsonrpc: '2.0', id: 1, method: 'elicitation/create', params: { message: 'a' } },
      { jsonrpc: '2.0', method: 'notifications/x/channel', params: { content: 'b' } },
      { jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1 } },
      { jsonrpc: '2.0', id: 2, method: 'x/y' },
    ];
    expect(
      said.map((message) => session.observations(readOnce(session, 'server', lineOf(message)))),
    ).toEqual([
      [{ callId: '', tool: 'elicitation/create', text: '{"message":"a"}' }],
      [{ callId: '', tool: 'notifications/x/channel', text: '{"content":"b"}' }],
      [],
      [],
    ]);
    const forwards = (message: object, heard: boolean) =>
      inShort(session.handle(readOnce(session, 'server', lineOf(message)), 0, { heard })).includes(
        'forward to agent',
      );
    expect(said.map((message) => forwards(message, false))).toEqual([false, false, true, true]);
    const [asked = {}, sendInShort = {}] = said;
    expect(forwards({ ...asked, id: 3 }, true)).toBe(true);
    expect(forwards(sendInShort, true)).toBe(true);
  });

  it('is found in a batch', async () => {
    const { session, send } = await play([], observing);
    const [first, second] = initialize('2025-03-26');
    send('agent', first);
    send('server', second);
    send('agent', [call(1, 'a'), call(2, 'b')]);
    const line = lineOf([result(1, {}), result(2, {})]);
    expect(session.observations(readOnce(session, 'server', line)).map(({ tool }) => tool)).toEqual(
      ['a', 'b'],
    );
    expect(inShort(session.handle(readOnce(session, 'server', line), 1, { heard: true }))).toEqual([
      'end OK',
      'end OK',
      'forward to agent',
    ]);
  });

  it('is empty when the hub does not observe', async () => {
    const { session, send, sendInShort } = await play();
    send('agent', call(1, 'fetch'));
    expect(session.observations(readOnce(session, 'server', lineOf(result(1))))).toEqual([]);
    expect(sendInShort('server', result(1))).toEqual(['end OK', 'forward to agent']);
  });
});

describe('an answer that the hub did not receive', () => {
  it('does not reach the agent in production', async () => {
    const { session, send } = await play([], observing);
    send('agent', call(1, 'fetch'));
    const said = session.handle(
      readOnce(session, 'server', lineOf(result(1, { content: 'x' }))),
      1,
      { heard: false },
    );
    expect(inShort(said)).toEqual([
      'end ERROR',
      'report REJECTED refused',
      'answer 1 isError',
      'drop refused',
    ]);
    expect(answersOf(said)[0]).toMatchObject({
      result: { _meta: { subluminal: { reason_code: 'ANSWER_REFUSED' } } },
    });
    expect(session.summary()).toMatchObject({ calls_allowed: 1, errors_total: 0 });
  });

  it('passes in development, which reports it', async () => {
    const { send, sendInShort } = await play([], { profile: 'development', ...observing });
    send('agent', call(1, 'fetch'));
    expect(sendInShort('server', result(1))).toEqual([
      'report WOULD_REJECT unheard',
      'end OK',
      'forward to agent',
    ]);
  });

  it('passes if the hub received it, or if it holds nothing to observe', async () => {
    const { session, send, sendInShort } = await play([], observing);
    send('agent', call(1, 'fetch'));
    send('agent', request(2, 'ping'));
    expect(
      inShort(session.handle(readOnce(session, 'server', lineOf(result(1))), 1, { heard: true })),
    ).toEqual(['end OK', 'forward to agent']);
    expect(sendInShort('server', result(2))).toEqual(['forward to agent']);
  });
});

describe('a hub that decides every call', () => {
  const ALLOWED: NonNullable<HubAnswer['outcome']> = {
    decision: {
      action: 'ALLOW',
      rule_id: null,
      severity: 'info',
      reason_code: 'DEFAULT_ALLOW',
      summary: 'It passes.',
    },
    trace: [],
    risk_class: [],
  };

  it('is asked whatever the rules are', async () => {
    const { session } = await play([], { config: { hub: true, hubNeeds: { asksAlways: true } } });
    const line = lineOf(call(1, 'pay'));
    const [question] = session.questions(readOnce(session, 'agent', line), 0);
    expect(question?.ref).toMatchObject({ call_id: 'call-1', tool_name: 'pay' });
    const { ref } = question ?? {};
    const content = { action: 'tag', findings: ['taint:url'] } as const;
    const outcome = { ...ALLOWED, content };
    const answers = [{ callId: ref?.call_id ?? '', outcome }];
    const said = session.handle(readOnce(session, 'agent', line), 0, { answers });
    expect(inShort(said)).toContain('forward to server');
    expect(eventsOf(said, 'tool_call_decision')[0]?.call.content).toEqual(content);
  });

  it.each([
    ['production', 'decision BLOCK HUB_UNAVAILABLE'],
    ['development', 'decision ALLOW WOULD_BLOCK'],
  ] as const)('cannot be asked where there is none: %s', async (profile, decision) => {
    const { send, session } = await play([], {
      profile,
      config: { hubNeeds: { asksAlways: true } },
    });
    expect(session.questions(readOnce(session, 'agent', lineOf(call(1, 'pay'))), 0)).toEqual([]);
    const said = send('agent', call(1, 'pay'));
    expect(inShort(said)).toContain(decision);
    // Only Cedar makes a server without a run ask.
    const [sendInShort] = eventsOf(said, 'tool_call_decision');
    expect(sendInShort?.decision.explain.summary).toMatch(
      /Cedar policies.*`sub run` or `sub wrap`/,
    );
  });

  it('gets the grants for the approvals that its gates ask for, which are then used up', async () => {
    const granted = ['gate:taint'];
    const config = { hub: true, hubNeeds: { asksAlways: true }, approver: people(granted) };
    const { session } = await play([], { mode: 'control', config });
    const line = lineOf(call(1, 'pay'));
    const [question] = session.questions(readOnce(session, 'agent', line), 0);
    expect(question?.call.approved).toEqual(['gate:taint']);
    const { ref } = question ?? {};
    session.handle(readOnce(session, 'agent', line), 0, {
      answers: [{ callId: ref?.call_id ?? '', outcome: ALLOWED }],
    });
    expect(granted).toEqual([]);
  });

  it('is not asked twice about a call that only a gate here has held', async () => {
    const guard = guardOf({
      content: (made) =>
        made.isApproved('gate:content')
          ? { kind: 'pass', args: { sum: '*' } }
          : {
              kind: 'stop',
              decision: {
                ...ALLOWED.decision,
                action: 'REJECT_WITH_HINT',
                rule_id: 'gate:content',
                hint: {
                  hint_text: 'x',
                  suggested_args: null,
                  retry_advice: null,
                  hint_kind: 'OTHER',
                },
                approval: { wait: 'hold', timeout_ms: 1_000 },
              },
            },
    });
    const config = { hub: true, guard, approver: people() };
    const rules = [budget('cap', { limit_calls: 9 }), approvalRule('ask', 'hold', 'x')];
    const { session } = await play(rules, { mode: 'control', config });
    const line = lineOf(call(1, 'pay', { sum: 5 }));
    const [question] = session.questions(readOnce(session, 'agent', line), 0);
    const { ref } = question ?? {};
    const answers = [{ callId: ref?.call_id ?? '', outcome: ALLOWED }];
    expect(inShort(session.handle(readOnce(session, 'agent', line), 0, { answers }))).toContain(
      'approval',
    );
    expect(inShort(session.approval('call-1', 'approved', 5))).toEqual([
      'decision ALLOW DEFAULT_ALLOW',
      'forward to server in part',
    ]);
  });
});
