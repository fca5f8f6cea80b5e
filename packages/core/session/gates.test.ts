import type { JsonObject, Rule } from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import { budget, dedupe, deny, snapshotOf } from '../policy/testing/scenario.ts';
import { asksFor, guardOf, stops } from './guard.test-support.ts';
import type { CallEnd, ContentNote, GateVerdict, Guard, GuardedCall } from './guard.ts';
import { approvalRule, people } from './people.test-support.ts';
import {
  answersOf,
  bytesOf,
  call,
  eventsOf,
  initialize,
  inShort,
  lineOf,
  play,
  result,
} from './playbook.test-support.ts';
import type { ApprovalWanted, Command } from './types.ts';

const denied = deny('no', { tool_name: { glob: ['pay'] } });
const asking = approvalRule('ask', 'hold', 'pay');

/** A session of control mode with this guard. */
function guarded(
  guard: Guard,
  rules: readonly Rule[] = [],
  { granted = [], asked = [] }: { granted?: string[]; asked?: ApprovalWanted[] } = {},
) {
  return play(rules, { mode: 'control', config: { guard, approver: people(granted, asked) } });
}

const decisionsOf = (commands: readonly Command[]) =>
  eventsOf(commands, 'tool_call_decision').map(({ decision }) => decision.rule_id);

const linesOf = (commands: readonly Command[]) =>
  commands.flatMap((command) =>
    command.do === 'forward' && command.bytes !== undefined
      ? [Buffer.from(command.bytes).toString()]
      : [],
  );

describe('the order of rules and gates', () => {
  const no = { stop: true } as const;
  const ask = { ask: true } as const;
  type Said = typeof no | typeof ask | undefined;
  const gate = (rule: string, said: Said) => (said === no ? stops(rule) : asksFor(rule));
  const rows: readonly (readonly [Said, Said, Said, string | null])[] = [
    [undefined, undefined, undefined, null],
    [no, no, no, 'gate:pins'],
    [no, ask, ask, 'gate:pins'],
    [ask, no, no, 'no'],
    [ask, no, ask, 'no'],
    [undefined, no, no, 'no'],
    [ask, ask, no, 'gate:content'],
    [undefined, undefined, no, 'gate:content'],
    [ask, ask, ask, 'ask'],
    [undefined, ask, ask, 'ask'],
    [ask, undefined, ask, 'gate:pins'],
    [undefined, undefined, ask, 'gate:content'],
  ];

  it.each(rows)('surface %j, rules %j, content %j: %s', async (surface, rules, content, by) => {
    const asked: ApprovalWanted[] = [];
    const guard = guardOf({
      ...(surface !== undefined && { surface: gate('gate:pins', surface) }),
      ...(content !== undefined && { content: gate('gate:content', content) }),
    });
    const bundle = rules === undefined ? [] : [rules === no ? denied : asking];
    const { send } = await guarded(guard, bundle, { asked });
    const said = send('agent', call(1, 'pay'));
    const who = asked.length > 0 ? asked.map(({ rule_id }) => rule_id) : decisionsOf(said);
    expect(who).toEqual([by]);
    expect(inShort(said).includes('forward to server')).toBe(by === null);
  });

  it('asks the rules even where the surface refuses, so that they count', async () => {
    let isOpen = false;
    const surface = () => (isOpen ? ({ kind: 'pass' } as const) : stops('gate:pins')());
    const { sendInShort } = await guarded(guardOf({ surface }), [
      budget('cap', { limit_calls: 1 }),
    ]);
    expect(sendInShort('agent', call(1, 'pay'))).toContain('decision BLOCK BY_PINS');
    isOpen = true;
    expect(sendInShort('agent', call(2, 'pay'))).toContain('decision BLOCK BUDGET_EXCEEDED');
  });

  it('does not show the content gate a call that is refused already', async () => {
    const seen: string[] = [];
    const content = ({ callId }: GuardedCall): GateVerdict => {
      seen.push(callId);
      return { kind: 'pass' };
    };
    const { send } = await guarded(guardOf({ content }), [denied]);
    send('agent', call(1, 'pay'));
    send('agent', call(2, 'read'));
    expect(seen).toEqual(['call-2']);
  });

  it('does not count the retry of a call that a gate has stopped as a duplicate', async () => {
    let isOpen = false;
    const content = () => (isOpen ? ({ kind: 'pass' } as const) : stops('gate:content')());
    const rules = [dedupe('twice', { window_ms: 60_000 })];
    const { sendInShort } = await guarded(guardOf({ content }), rules);
    expect(sendInShort('agent', call(1, 'pay'))).toContain('decision BLOCK BY_CONTENT');
    isOpen = true;
    expect(sendInShort('agent', call(2, 'pay'))).toContain('forward to server');
    expect(sendInShort('agent', call(3, 'pay')).join()).toContain('DUPLICATE_CALL');
  });

  it('records what a gate that is not enforced would have done', async () => {
    const would = { action: 'BLOCK', rule_id: 'gate:pins', reason_code: 'PIN_CHANGED' } as const;
    const surface = (): GateVerdict => ({ kind: 'pass', would: { ...would, summary: 'Changed.' } });
    const { send } = await guarded(guardOf({ surface }));
    const said = send('agent', call(1, 'pay'));
    expect(inShort(said)).toContain('forward to server');
    expect(eventsOf(said, 'tool_call_decision')[0]?.decision).toMatchObject({
      action: 'ALLOW',
      rule_id: 'gate:pins',
      explain: { reason_code: 'WOULD_BLOCK', summary: 'Would be refused: Changed.' },
      would,
    });
  });

  it.each(['production', 'development'] as const)(
    'survives a gate that breaks: %s',
    async (profile) => {
      const surface = (): GateVerdict => {
        throw new Error('broken');
      };
      const config = { guard: guardOf({ surface }) };
      const { sendInShort } = await play([], { profile, config });
      const isOpen = profile === 'development';
      expect(sendInShort('agent', call(1, 'pay'))).toContain(
        isOpen ? 'decision ALLOW WOULD_BLOCK' : 'decision BLOCK POLICY_ERROR',
      );
    },
  );

  it('asks no gate that was taken away, and asks the new one from the next message on', async () => {
    const { sendInShort, session } = await guarded(guardOf({ surface: stops('gate:pins') }));
    session.useGuard(undefined);
    expect(sendInShort('agent', call(1, 'pay'))).toContain('forward to server');
    session.useGuard(guardOf({ content: stops('gate:leak') }));
    expect(sendInShort('agent', call(2, 'pay'))).toContain('decision BLOCK BY_LEAK');
  });

  it('gates a call without an id', async () => {
    const { sendInShort } = await guarded(guardOf({ content: asksFor('gate:content') }));
    const notified = { jsonrpc: '2.0', method: 'tools/call', params: { name: 'pay' } };
    expect(sendInShort('agent', notified)).toEqual([
      'start pay',
      'decision BLOCK APPROVAL_UNAVAILABLE',
      'end ERROR',
      'report DROPPED call_without_id',
      'drop refused',
    ]);
  });
});

describe('a gate and its call', () => {
  it('is its arguments, parsed only when it looks', async () => {
    const seen: unknown[] = [];
    const content = ({ args, tool }: GuardedCall): GateVerdict => {
      seen.push([tool, args]);
      return { kind: 'pass' };
    };
    const { send } = await guarded(guardOf({ content }));
    send('agent', call(1, 'pay', { sum: 5 }));
    send('agent', { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'read' } });
    expect(seen).toEqual([
      ['pay', { sum: 5 }],
      ['read', {}],
    ]);
  });

  it('learns once that the call passed, and once that it ended', async () => {
    const heard: string[] = [];
    const guard = guardOf({
      content: asksFor('gate:content'),
      passed: ({ callId, tool }) => heard.push(`${callId} ${tool} passed`),
      ended: ({ callId, isError, tookMs }: CallEnd) =>
        heard.push(`${callId} ended ${isError} ${tookMs}`),
    });
    const { send, session } = await guarded(guard, [denied]);
    send('agent', call(1, 'read'), 0);
    expect(heard).toEqual([]);
    session.approval('call-1', 'approved', 100);
    expect(heard).toEqual(['call-1 read passed']);
    send('server', result(1, { isError: true }), 130);
    send('agent', call(2, 'pay'), 200);
    expect(heard).toEqual(['call-1 read passed', 'call-1 ended true 30']);
  });

  it.each([
    ['a cancelled call, once the server answers', 'cancel', ['ended false']],
    ['a cancelled call without an answer: nobody knows how it went', 'give up', []],
    ['a call that nobody waits for: nobody knows how it went', 'notify', []],
    ['a call whose server is gone', 'exit', ['ended true']],
  ])('is the end of %s', async (_what, how, end) => {
    const heard: string[] = [];
    const ended = ({ isError }: CallEnd) => heard.push(`ended ${isError}`);
    const { send, session } = await guarded(guardOf({ ended }));
    if (how === 'notify') {
      send('agent', { jsonrpc: '2.0', method: 'tools/call', params: { name: 'read' } });
    } else send('agent', call(1, 'read'));
    if (how === 'exit') session.serverExited({ started: true, code: 1 }, 5);
    if (how === 'cancel' || how === 'give up') {
      const params = { requestId: 1 };
      send('agent', { jsonrpc: '2.0', method: 'notifications/cancelled', params });
    }
    if (how === 'cancel') send('server', result(1));
    expect(heard).toEqual(end);
  });
});

describe('a gate that asks for a person', () => {
  it('asks after the rules and the surface, one at a time', async () => {
    const asked: ApprovalWanted[] = [];
    const guard = guardOf({ surface: asksFor('gate:pins'), content: asksFor('gate:content') });
    const { send, session } = await guarded(guard, [asking], { asked });
    expect(inShort(send('agent', call(1, 'pay', { sum: 5 }), 0))).toEqual([
      'start pay',
      'approval',
    ]);
    expect(inShort(session.approval('call-1', 'approved', 900))).toEqual(['approval']);
    expect(session.tick(1_500)).toEqual([]);
    expect(inShort(session.approval('call-1', 'approved', 1_600))).toEqual(['approval']);
    expect(inShort(session.approval('call-1', 'approved', 2_000))).toEqual([
      'decision ALLOW DEFAULT_ALLOW',
      'forward to server in part',
    ]);
    expect(asked.map(({ rule_id, args }) => [rule_id, args?.text])).toEqual([
      ['ask', '{"sum":5}'],
      ['gate:pins', '{"sum":5}'],
      ['gate:content', '{"sum":5}'],
    ]);
  });

  it.each([
    ['rejected', 'APPROVAL_REJECTED'],
    ['timeout', 'APPROVAL_TIMEOUT'],
  ] as const)('refuses when the answer is %s, and the retry is no duplicate', async (end, why) => {
    const rules = [dedupe('twice', { window_ms: 60_000 })];
    const guard = guardOf({ content: asksFor('gate:content') });
    const { send, sendInShort, session } = await guarded(guard, rules);
    send('agent', call(1, 'pay'));
    const ended = session.approval('call-1', end, 10);
    expect(inShort(ended)).toContain(`decision BLOCK ${why}`);
    expect(decisionsOf(ended)).toEqual(['gate:content']);
    session.useGuard(guardOf());
    expect(sendInShort('agent', call(2, 'pay'))).toContain('forward to server');
  });

  it('is given up when the call is cancelled', async () => {
    const heard: string[] = [];
    const guard = guardOf({
      surface: asksFor('gate:manifest'),
      passed: () => heard.push('passed'),
      ended: () => heard.push('ended'),
    });
    const { send, sendInShort, session } = await guarded(guard);
    send('agent', call(1, 'pay'));
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    expect(sendInShort('agent', cancel, 5)).toEqual([
      'decision BLOCK APPROVAL_CANCELLED',
      'end CANCELLED',
      'discard call-1',
      'forward to server',
    ]);
    expect(session.approval('call-1', 'approved', 6)).toEqual([]);
    expect(heard).toEqual([]);
  });

  it('answers with a hint, and a grant lets the retry pass once', async () => {
    const granted: string[] = [];
    const guard = guardOf({ content: asksFor('gate:content', 'hint') });
    const rules = [dedupe('twice', { window_ms: 1 })];
    const { send, sendInShort } = await guarded(guard, rules, { granted });
    const hinted = send('agent', call(1, 'pay'), 0);
    expect(inShort(hinted)).toEqual([
      'start pay',
      'approval',
      'decision REJECT_WITH_HINT BY_CONTENT',
      'hint_issued',
      'end ERROR',
      'answer 1 -32083',
      'drop refused',
    ]);
    expect(JSON.stringify(answersOf(hinted))).toContain('Ask Ann. Try the same call again');
    granted.push('gate:content');
    const passed = send('agent', call(2, 'pay'), 0);
    expect(inShort(passed)).toContain('forward to server');
    expect(eventsOf(passed, 'approval')[0]?.approval).toMatchObject({
      rule_id: 'gate:content',
      state: 'approved',
      grant_id: 'grant',
    });
    expect(sendInShort('agent', call(3, 'pay'), 9)).toContain('answer 3 -32083');
  });

  it('uses up no grant when another gate refuses', async () => {
    const granted = ['gate:manifest', 'ask'];
    const guard = guardOf({ surface: asksFor('gate:manifest'), content: stops('gate:leak') });
    const { sendInShort } = await guarded(guard, [asking], { granted });
    expect(sendInShort('agent', call(1, 'pay'))).toContain('decision BLOCK BY_LEAK');
    expect(granted).toEqual(['gate:manifest', 'ask']);
  });

  it('takes the grants of rules and gates together', async () => {
    const granted = ['gate:manifest', 'ask'];
    const guard = guardOf({ surface: asksFor('gate:manifest') });
    const { send } = await guarded(guard, [asking], { granted });
    const passed = send('agent', call(1, 'pay'));
    expect(eventsOf(passed, 'approval').map(({ approval }) => approval.rule_id)).toEqual([
      'ask',
      'gate:manifest',
    ]);
    expect(granted).toEqual([]);
  });

  it('asks when the grant is gone in the very moment', async () => {
    const approver = { ...people(['gate:content']), take: () => undefined };
    const config = { guard: guardOf({ content: asksFor('gate:content') }), approver };
    const { sendInShort } = await play([], { mode: 'control', config });
    expect(sendInShort('agent', call(1, 'pay'))).toEqual(['start pay', 'approval']);
  });

  it('finds no grant in a mode that asks nobody', async () => {
    const config = {
      guard: guardOf({ content: asksFor('gate:content') }),
      approver: people(['gate:content']),
    };
    const { sendInShort } = await play([], { mode: 'guardrails', config });
    expect(sendInShort('agent', call(1, 'pay'))).toContain('approval');
  });

  it('finds no grant for a name that is not shown as it is', async () => {
    const config = {
      guard: guardOf({ content: asksFor('gate:content') }),
      approver: people(['gate:content']),
      redact: (text: string) => text.replaceAll('s3cret', '***'),
    };
    const { sendInShort } = await play([], { mode: 'control', config });
    expect(sendInShort('agent', call(1, 'pay_s3cret'))).toContain('approval');
    expect(sendInShort('agent', call(2, 'pay'))).toContain('forward to server');
  });

  it('asks again when the gates have changed meanwhile', async () => {
    const asked: ApprovalWanted[] = [];
    const guard = guardOf({ content: asksFor('gate:content') });
    const { send, session } = await guarded(guard, [], { asked });
    send('agent', call(1, 'pay'));
    session.useGuard(guardOf({ content: asksFor('gate:content') }));
    expect(inShort(session.approval('call-1', 'approved', 5))).toEqual(['approval']);
    expect(inShort(session.approval('call-1', 'approved', 6))).toContain(
      'forward to server in part',
    );
  });

  it('lets nothing pass that a new policy refuses', async () => {
    const { send, session } = await guarded(guardOf({ content: asksFor('gate:content') }));
    send('agent', call(1, 'pay'));
    session.usePolicy(await snapshotOf([denied], { mode: 'control', version: '2' }));
    const ended = inShort(session.approval('call-1', 'approved', 5));
    expect(ended).toContain('decision BLOCK DENYLIST_MATCH');
  });
});

describe('arguments that a gate replaces', () => {
  const cleaned =
    (args: JsonObject): Guard['content'] =>
    () => ({ kind: 'pass', args });
  const written =
    '{ "jsonrpc":"2.0",\t"params":{"arguments" : {"key":"s3cret", "n":1e2} ,"name":"pay"},"method":"tools/call", "id":1.0 }\n';

  it('stand in the original bytes, and nothing else is touched', async () => {
    const guard = guardOf({ content: cleaned({ key: '[secret] é 🙂', n: 100 }) });
    const { send } = await guarded(guard);
    const said = send('agent', bytesOf(written));
    expect(linesOf(said)).toEqual([written.replace('s3cret', '[secret] é 🙂')]);
  });

  it('are those of a held call too, once it is released', async () => {
    const ask = asksFor('gate:content');
    const guard = guardOf({
      content: (made) => {
        const verdict = ask(made);
        return verdict.kind === 'stop' ? verdict : { kind: 'pass', args: { key: '*', n: 100 } };
      },
    });
    const { send, session } = await guarded(guard);
    expect(linesOf(send('agent', bytesOf(written)))).toEqual([]);
    const released = session.approval('call-1', 'approved', 5);
    expect(inShort(released)).toEqual([
      'decision ALLOW DEFAULT_ALLOW',
      'forward to server in part',
    ]);
    expect(linesOf(released)).toEqual([written.replace('s3cret', '*')]);
  });

  it('are replaced in one element of a batch', async () => {
    const content = ({ tool }: GuardedCall): GateVerdict =>
      tool === 'pay' ? { kind: 'pass', args: { a: '*' } } : { kind: 'pass' };
    const { send } = await guarded(guardOf({ content }));
    for (const [at, message] of initialize('2025-03-26').entries()) {
      send(at === 0 ? 'agent' : 'server', message);
    }
    const one = JSON.stringify(call(1, 'pay', { a: 's3cret' }));
    const two = '{"jsonrpc":"2.0",  "id":2,"method":"tools/call","params":{"name":"read"}}';
    const said = send('agent', `[${one} , ${two}]`);
    expect(linesOf(said)).toEqual([`[${one.replace('s3cret', '*')},${two}]\n`]);
  });

  it('must not pass as they are where they cannot be replaced', async () => {
    const { sendInShort } = await guarded(guardOf({ content: cleaned({ key: '*' }) }));
    const params = { name: 'pay' };
    const bare = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    expect(sendInShort('agent', bare)).toContain('decision BLOCK CONTENT_BLOCKED');
  });

  it('keep the hash and the record of the arguments that the agent wrote', async () => {
    const line = lineOf(call(1, 'pay', { key: 'x' }));
    const one = await guarded(guardOf({ content: cleaned({ key: '*' }) }));
    const two = await guarded(guardOf());
    const hashes = [one, two].map(
      ({ send }) => eventsOf(send('agent', line), 'tool_call_start')[0]?.call.args_hash,
    );
    expect(hashes[0]).toBe(hashes[1]);
  });
});

describe('findings in a call', () => {
  const note: ContentNote = { action: 'tag', findings: ['secret:aws', 'secret:aws'] };

  it.each([
    ['passes', (): GateVerdict => ({ kind: 'pass', note })],
    ['is stopped', stops('gate:content', note)],
  ])('is on record when it %s', async (_what, content) => {
    const { send } = await guarded(guardOf({ content }));
    const said = send('agent', call(1, 'pay'));
    expect(eventsOf(said, 'tool_call_decision')[0]?.call.content).toEqual({
      action: 'tag',
      findings: ['secret:aws'],
    });
  });

  it('is bounded, and the strongest action counts', async () => {
    const findings = Array.from({ length: 300 }, (_, at) => `${at}${'x'.repeat(500)}`);
    const surface = (): GateVerdict => ({ kind: 'pass', note: { action: 'redact', findings } });
    const content = (): GateVerdict => ({ kind: 'pass', note });
    const { send } = await guarded(guardOf({ surface, content }));
    const said = send('agent', call(1, 'pay'));
    const told = eventsOf(said, 'tool_call_decision')[0]?.call.content;
    expect(told?.action).toBe('redact');
    expect(told?.findings.length).toBe(100);
    expect(Math.max(...(told?.findings ?? []).map(({ length }) => length))).toBe(200);
  });
});
