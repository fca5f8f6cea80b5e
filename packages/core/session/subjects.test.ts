import type { Match, Rule } from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import { budget, deny } from '../policy/testing/scenario.ts';
import { guardOf, SAME } from './guard.test-support.ts';
import type { MessageVerdict } from './guard.ts';
import { approvalRule, people } from './people.test-support.ts';
import {
  answersOf,
  bytesOf,
  call,
  eventsOf,
  inShort,
  lineOf,
  play,
  readOnce,
  request,
  result,
} from './playbook.test-support.ts';

const env = deny('no-env', { subjects: ['tool', 'resource'], any_arg: { glob: ['*.env'] } });
const read = (id: unknown, uri: string) => request(id, 'resources/read', { uri });
const prompt = (id: unknown, name: string, args: unknown = {}) =>
  request(id, 'prompts/get', { name, arguments: args });
const refusedBySelf: MessageVerdict = {
  kind: 'refused',
  rule_id: 'gate:self-protection',
  severity: 'critical',
  reason_code: 'SELF_PROTECTION',
  summary: 'It may not pass.',
};
const REFUSING = guardOf({
  wants: () => true,
  passing: (way) => (way === 'out' ? refusedBySelf : SAME),
});

describe('a rule with subjects', () => {
  it('refuses a resource as it refuses a tool, by an error', async () => {
    const { send } = await play([env], { mode: 'control', hint_delivery: 'tool_result' });
    const commands = send('agent', read(1, 'file:///repo/.env'));
    expect(inShort(commands)).toEqual([
      'start resources/read',
      'decision BLOCK DENYLIST_MATCH',
      'end ERROR',
      'answer 1 -32081',
      'drop refused',
    ]);
    expect(eventsOf(commands, 'tool_call_start')[0]).toMatchObject({
      call: {
        tool_name: 'resources/read',
        subject: 'resource',
        preview: { args_preview: '{"uri":"file:///repo/.env"}' },
      },
    });
    expect(answersOf(commands)[0]).toMatchObject({
      error: { data: { subluminal: { rule_id: 'no-env' } } },
    });
    expect(inShort(send('agent', call(2, 'cat', { path: 'a.env' })))).toContain(
      'decision BLOCK DENYLIST_MATCH',
    );
  });

  it('lets others pass, and records how they end', async () => {
    const { sendInShort } = await play([env], { mode: 'control' });
    expect(sendInShort('agent', read(1, 'file:///repo/a.ts'))).toEqual([
      'start resources/read',
      'decision ALLOW DEFAULT_ALLOW',
      'forward to server',
    ]);
    expect(sendInShort('server', result(1, { contents: [] }))).toEqual([
      'end OK',
      'forward to agent',
    ]);
    // No rule sees prompts.
    expect(sendInShort('agent', prompt(2, '.env'))).toEqual(['forward to server']);
  });

  it('sees nothing but tools where it names no subjects', async () => {
    const { sendInShort } = await play([deny('all'), budget('cap', { limit_calls: 0 })]);
    expect(sendInShort('agent', read(1, 'file:///repo/.env'))).toEqual(['forward to server']);
    expect(sendInShort('agent', prompt(2, 'x'))).toEqual(['forward to server']);
  });

  it('sees the name and the arguments of a prompt', async () => {
    const match: Match = { subjects: ['prompt'], args: { key_equals: { name: 'deploy' } } };
    const { sendInShort } = await play([deny('no-deploy', match)], { mode: 'control' });
    expect(sendInShort('agent', prompt(1, 'deploy', { to: 'prod' }))).toContain(
      'decision BLOCK DENYLIST_MATCH',
    );
    expect(sendInShort('agent', prompt(2, 'review'))).toContain('forward to server');
    // A tool of the same name is not meant.
    expect(sendInShort('agent', call(3, 'prompts/get', { name: 'deploy' }))).toContain(
      'decision ALLOW DEFAULT_ALLOW',
    );
  });

  it('counts what it sees', async () => {
    const cap: Rule = {
      ...budget('cap', { limit_calls: 2 }),
      match: { subjects: ['tool', 'resource'] },
    };
    const { sendInShort } = await play([cap], { mode: 'control' });
    sendInShort('agent', read(1, 'a'));
    sendInShort('agent', call(2, 'x'));
    expect(sendInShort('agent', read(3, 'b'))).toContain('decision BLOCK BUDGET_EXCEEDED');
  });

  it('is counted by the hub of the run', async () => {
    const cap: Rule = { ...budget('cap', { limit_calls: 1 }), match: { subjects: ['resource'] } };
    const { session, send } = await play([cap], { mode: 'control', config: { hub: true } });
    const ask = (message: unknown) =>
      session.questions(readOnce(session, 'agent', lineOf(message)), 0);
    const line = lineOf(read(1, 'a'));
    const [question, ...others] = session.questions(readOnce(session, 'agent', line), 0);
    expect(others).toEqual([]);
    expect(question?.call).toMatchObject({ subject: 'resource', args: { uri: 'a' } });
    expect(ask(call(2, 'x'))).toEqual([]);
    expect(ask(prompt(3, 'x'))).toEqual([]);
    // A request that is refused in any case does not use the budget.
    const twice =
      '{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":{"a":1,"a":2}}}\n';
    expect(session.questions(readOnce(session, 'agent', bytesOf(twice)), 0)).toEqual([]);
    // Without an answer of the hub nothing passes.
    expect(inShort(send('agent', read(4, 'a')))).toContain('decision BLOCK HUB_UNAVAILABLE');
  });

  it('holds a resource until a person approves it', async () => {
    const asks: Rule = { ...approvalRule('ask', 'hold', '*'), match: { subjects: ['resource'] } };
    const config = { approver: people() };
    const { sendInShort, session } = await play([asks], { mode: 'control', config });
    expect(sendInShort('agent', read(1, 'a'))).toEqual(['start resources/read', 'approval']);
    expect(inShort(session.approval('call-1', 'approved', 5))).toEqual([
      'decision ALLOW DEFAULT_ALLOW',
      'forward to server in part',
    ]);
    expect(sendInShort('server', result(1))).toEqual(['end OK', 'forward to agent']);
  });

  it('does not keep the gates from refusing what it lets pass, on record as refused', async () => {
    const { send, session } = await play([env], { mode: 'control', config: { guard: REFUSING } });
    const commands = send('agent', read(1, 'a'));
    expect(inShort(commands)).toEqual([
      'start resources/read',
      'decision BLOCK SELF_PROTECTION',
      'end ERROR',
      'answer 1 -32081',
      'drop refused',
    ]);
    expect(eventsOf(commands, 'tool_call_decision')[0]).toMatchObject({
      decision: { rule_id: 'gate:self-protection', severity: 'critical' },
    });
    expect(session.summary()).toMatchObject({
      calls_total: 1,
      calls_allowed: 0,
      calls_blocked: 1,
      answers_held_back: 0,
    });
  });

  it('asks nobody about a resource that a gate refuses, and uses up no grant', async () => {
    const asks: Rule = { ...approvalRule('ask', 'hold', '*'), match: { subjects: ['resource'] } };
    const config = { approver: people(), guard: REFUSING };
    const { sendInShort } = await play([asks], { mode: 'control', config });
    expect(sendInShort('agent', read(1, 'a'))).toContain('decision BLOCK SELF_PROTECTION');
  });

  it('keeps nothing of content that may not travel', async () => {
    const note = { action: 'block', findings: ['secret:github-token'] } as const;
    const passing = (way: string) =>
      way === 'out' ? { ...refusedBySelf, reason_code: 'CONTENT_BLOCKED', note } : SAME;
    const guard = guardOf({ wants: () => true, passing });
    const { send } = await play([env], { mode: 'control', config: { guard } });
    const commands = send('agent', read(1, 'x'));
    expect(eventsOf(commands, 'tool_call_start')[0]).toMatchObject({
      call: { preview: { truncated: true } },
    });
    expect(eventsOf(commands, 'tool_call_decision')[0]).toMatchObject({ call: { content: note } });
  });

  it('lets the gates judge a held resource again once it is approved', async () => {
    const asks: Rule = { ...approvalRule('ask', 'hold', '*'), match: { subjects: ['resource'] } };
    let passing = (): MessageVerdict => SAME;
    const guard = guardOf({ wants: (way) => way === 'out', passing: () => passing() });
    const config = { approver: people(), guard };
    const { sendInShort, session } = await play([asks], { mode: 'control', config });
    sendInShort('agent', read(1, 'a'));
    passing = () => refusedBySelf;
    const said = inShort(session.approval('call-1', 'approved', 5));
    expect(said).toContain('decision BLOCK SELF_PROTECTION');
    expect(said.some((one) => one.startsWith('forward'))).toBe(false);
  });

  it('refuses a key that stands twice', async () => {
    const { sendInShort } = await play([env], { mode: 'control' });
    const twice =
      '{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"a","uri":".env"}}';
    expect(sendInShort('agent', twice)).not.toContain('forward to server');
    expect(sendInShort('agent', twice.replace('"uri":"a"', '"a":{"b":1,"b":2}'))).toEqual([
      'start resources/read',
      'decision BLOCK INVALID_CALL',
      'end ERROR',
      'answer 1 -32602',
      'drop refused',
    ]);
  });

  const deep = `${'['.repeat(300)}${']'.repeat(300)}`;
  it.each([
    ['a key that stands twice behind deep lists', `{"x":[${deep},{"a":".env","a":"b"}]}`],
    ['deep lists in `_meta`', `{"_meta":{"x":${deep}},"uri":"a"}`],
    ['a key that stands twice in `_meta`', '{"_meta":{"x":{"a":1,"a":2}},"uri":"a"}'],
    ['an exponent that no reader holds', '{"x":[1e9999999999,{"a":".env","a":"b"}]}'],
    ['a list in place of an object', '["a.env"]'],
  ])('refuses params without a canonical form: %s', async (_what, params) => {
    const { sendInShort } = await play([env], { mode: 'control' });
    const line = `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":${params}}`;
    expect(sendInShort('agent', line)).toContain('decision BLOCK INVALID_CALL');
  });

  it('hashes the params as they were written, without `_meta`', async () => {
    const { send } = await play([env], { mode: 'control' });
    const hashOf = (id: number, params: string) => {
      const line = `{"jsonrpc":"2.0","id":${id},"method":"resources/read","params":${params}}`;
      return eventsOf(send('agent', line), 'tool_call_start')[0]?.call.args_hash;
    };
    const exact = hashOf(1, '{"uri":"a","n":9007199254740993}');
    expect(hashOf(2, '{"uri":"a","n":9007199254740992}')).not.toBe(exact);
    expect(hashOf(3, '{"n": 9007199254740993,"_meta":{"x":1},"\\u0075ri":"a"}')).toBe(exact);
    expect(hashOf(4, 'null')).toBe(hashOf(5, '{}'));
  });
});

describe('a request that no rule sees and a gate refuses', () => {
  it.each([
    ['resources/read', { uri: 'a' }, 'resource'],
    ['prompts/get', { name: 'a' }, 'prompt'],
    ['completion/complete', { ref: {} }, undefined],
  ])('%s is recorded as refused, and counts', async (method, params, subject) => {
    const { send, session } = await play([], { mode: 'control', config: { guard: REFUSING } });
    const commands = send('agent', request(1, method, params));
    expect(inShort(commands)).toEqual([
      `start ${method}`,
      'decision BLOCK SELF_PROTECTION',
      'end ERROR',
      'answer 1 -32081',
      'drop refused',
    ]);
    const [start] = eventsOf(commands, 'tool_call_start');
    expect(start).toMatchObject({ call: { tool_name: method } });
    expect(start?.call.subject).toBe(subject);
    expect(session.summary()).toMatchObject({ calls_total: 1, calls_blocked: 1 });
  });
});
