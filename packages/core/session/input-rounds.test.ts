import { describe, expect, it } from 'vitest';
import { breaker, budget, dedupe } from '../policy/testing/scenario.ts';
import { guardOf } from './guard.test-support.ts';
import { approvalRule } from './people.test-support.ts';
import { type Play, play, readOnce, result } from './playbook.test-support.ts';

const ANSWERS = { inputResponses: { confirm: { action: 'accept', content: { sum: 9 } } } };
const JUNK = { inputResponses: { junk: { action: 'accept' } } };

function callWith(id: unknown, more: object = {}, sum = 5): unknown {
  const params = { name: 'pay', arguments: { sum }, ...more };
  return { jsonrpc: '2.0', id, method: 'tools/call', params };
}

function inputRequired(id: unknown, more: object = {}): unknown {
  const inputRequests = { confirm: { method: 'elicitation/create', params: {} } };
  return result(id, { resultType: 'input_required', inputRequests, ...more });
}

const RULES = [
  ['dedupe', dedupe('twice', { window_ms: 60_000 })],
  ['a breaker', breaker('loop', { repeat_threshold: 2, repeat_window_ms: 60_000, scope: 'run' })],
] as const;

describe.each(RULES)('by %s, a call with answers for the server', (_what, rule) => {
  const started = async (): Promise<Play> => play([rule], { mode: 'control' });
  const passes = ({ sendInShort }: Play, id: number, more: object = {}) =>
    sendInShort('agent', callWith(id, more)).includes('forward to server');

  it('is a repeat when the server has asked for nothing', async () => {
    const session = await started();
    expect(passes(session, 1)).toBe(true);
    session.sendInShort('server', result(1));
    const junk = [
      ANSWERS,
      JUNK,
      { requestState: 'x' },
      { ...ANSWERS, requestState: 'x' },
      { x: 1 },
    ];
    expect(junk.map((more, at) => passes(session, 2 + at, more))).toEqual(junk.map(() => false));
  });

  it('is a further round when the server has asked for it, once', async () => {
    const session = await started();
    expect(passes(session, 1)).toBe(true);
    session.sendInShort('server', inputRequired(1, { requestState: 'one' }));
    expect(passes(session, 2, { ...JUNK, requestState: 'one' })).toBe(false);
    expect(passes(session, 3, { ...ANSWERS, requestState: 'two' })).toBe(false);
    expect(passes(session, 4, ANSWERS)).toBe(false);
    expect(passes(session, 5, { ...ANSWERS, requestState: 'one' })).toBe(true);
    // Other answers to the same question are a repeat of the round.
    const other = { inputResponses: { confirm: { action: 'decline' } }, requestState: 'one' };
    expect(passes(session, 6, other)).toBe(false);
    session.sendInShort('server', inputRequired(5, { requestState: 'two' }));
    expect(passes(session, 7, { ...ANSWERS, requestState: 'two' })).toBe(true);
  });

  it('is a further round each time that the server asks the same without a state', async () => {
    const session = await started();
    expect(passes(session, 1)).toBe(true);
    for (const id of [2, 3, 4]) {
      session.sendInShort('server', inputRequired(id - 1));
      expect(passes(session, id, ANSWERS)).toBe(true);
    }
    expect(passes(session, 5, ANSWERS)).toBe(false);
  });

  it('is a repeat when the server has asked about another call', async () => {
    const session = await started();
    expect(passes(session, 1)).toBe(true);
    session.sendInShort('server', result(1));
    session.sendInShort('agent', callWith('other', {}, 6));
    session.sendInShort('server', inputRequired('other', { requestState: 's' }));
    expect(passes(session, 2, { ...ANSWERS, requestState: 's' })).toBe(false);
  });

  it('is a repeat when the request for input never reached the agent', async () => {
    const passing = () =>
      ({ kind: 'refused', reason_code: 'NO', summary: 'It may not pass.' }) as const;
    const guard = guardOf({ wants: (way, kind) => way === 'in' && kind === 'answer', passing });
    const session = await play([rule], { mode: 'control', config: { guard } });
    expect(passes(session, 1)).toBe(true);
    session.sendInShort('server', inputRequired(1, { requestState: 's' }));
    expect(passes(session, 2, { ...ANSWERS, requestState: 's' })).toBe(false);
  });
});

describe('by a budget, a further round', () => {
  const budgeted = async (limit_calls: number) =>
    play([budget('few', { limit_calls, scope: 'run' })], { mode: 'control' });
  const passes = ({ sendInShort }: Play, id: number, more: object = {}) =>
    sendInShort('agent', callWith(id, more)).includes('forward to server');

  it('is not counted again, but a repeat of the round is', async () => {
    const session = await budgeted(1);
    expect(passes(session, 1)).toBe(true);
    session.sendInShort('server', inputRequired(1, { requestState: 'one' }));
    expect(passes(session, 2, { ...ANSWERS, requestState: 'two' })).toBe(false);
    expect(passes(session, 3, { ...ANSWERS, requestState: 'one' })).toBe(true);
    expect(passes(session, 4, { ...ANSWERS, requestState: 'one' })).toBe(false);
    session.sendInShort('server', inputRequired(3, { requestState: 'three' }));
    expect(passes(session, 5, { requestState: 'three' })).toBe(true);
  });

  it('is counted when a server asks for input without end', async () => {
    const session = await budgeted(1);
    expect(passes(session, 0)).toBe(true);
    let rounds = 0;
    for (let id = 1; id < 50; id++) {
      session.sendInShort('server', inputRequired(id - 1, { requestState: `s${id}` }));
      if (!passes(session, id, { ...ANSWERS, requestState: `s${id}` })) break;
      rounds++;
    }
    expect(rounds).toBe(16);
  });
});

it('the round of a call is known when the call passes by an approval', async () => {
  const approver = {
    granted: () => [],
    take: () => [],
    ask: () => ({ id: 'r', advice: 'Ask Ann.' }),
  };
  const rules = [dedupe('twice', { window_ms: 60_000 }), approvalRule('ask', 'hold', 'pay')];
  const { sendInShort, session } = await play(rules, { mode: 'control', config: { approver } });
  sendInShort('agent', callWith(1));
  session.approval('call-1', 'approved', 1);
  sendInShort('server', inputRequired(1, { requestState: 's' }));
  sendInShort('agent', callWith(2, { ...ANSWERS, requestState: 's' }), 2);
  const released = session.approval('call-2', 'approved', 3);
  expect(released.map((command) => command.do)).toContain('forward');
});

it('the hub gets the round that a call belongs to', async () => {
  const rule = dedupe('twice', { window_ms: 60_000, scope: 'tool' });
  const { sendInShort, session } = await play([rule], {
    mode: 'control',
    config: { hub: true, profile: 'development' },
  });
  const line = (message: unknown) => Buffer.from(`${JSON.stringify(message)}\n`);
  sendInShort('agent', callWith(1));
  const [before] = session.questions(readOnce(session, 'agent', line(callWith(2, ANSWERS))), 0);
  expect(before?.call.round).toBeUndefined();
  sendInShort('server', inputRequired(1));
  const [after] = session.questions(readOnce(session, 'agent', line(callWith(2, ANSWERS))), 0);
  expect(after?.call.round).toBe('call-1');
});

describe.each([
  ['resources/read', { uri: 'notes://one' }, 'resource'],
  ['prompts/get', { name: 'review', arguments: { of: 'one' } }, 'prompt'],
] as const)('a request %s with answers for the server', (method, params, subject) => {
  const asks = (id: unknown, more: object = {}) => ({
    jsonrpc: '2.0',
    id,
    method,
    params: { ...params, ...more },
  });
  const match = { subjects: [subject] };
  const passes = ({ sendInShort }: Play, id: number, more: object = {}) =>
    sendInShort('agent', asks(id, more)).includes('forward to server');

  it.each([
    ['dedupe', { ...dedupe('twice', { window_ms: 60_000 }), match }],
    ['a budget', { ...budget('few', { limit_calls: 1, scope: 'run' }), match }],
  ])('does not get around %s by answers that it makes up', async (_what, rule) => {
    const session = await play([rule], { mode: 'control' });
    expect(passes(session, 1)).toBe(true);
    session.sendInShort('server', result(1, {}));
    const junk = [ANSWERS, JUNK, { requestState: 'x' }, { ...ANSWERS, requestState: 'x' }];
    expect(junk.map((more, at) => passes(session, 2 + at, more))).toEqual(junk.map(() => false));
  });

  it.each([
    ['dedupe', { ...dedupe('twice', { window_ms: 60_000 }), match }],
    ['a budget', { ...budget('few', { limit_calls: 1, scope: 'run' }), match }],
  ])('passes %s when the server has asked, once', async (_what, rule) => {
    const session = await play([rule], { mode: 'control' });
    expect(passes(session, 1)).toBe(true);
    session.sendInShort('server', inputRequired(1, { requestState: 'one' }));
    expect(passes(session, 2, { ...ANSWERS, requestState: 'two' })).toBe(false);
    expect(passes(session, 3, { ...ANSWERS, requestState: 'one' })).toBe(true);
    expect(passes(session, 4, { ...ANSWERS, requestState: 'one' })).toBe(false);
    session.sendInShort('server', inputRequired(3, { requestState: 'three' }));
    expect(passes(session, 5, { requestState: 'three' })).toBe(true);
  });
});
