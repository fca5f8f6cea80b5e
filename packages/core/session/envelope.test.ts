import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasDuplicateKeys } from '../json/text-parts.ts';
import { asksFor, guardOf, refused, SAME } from './guard.test-support.ts';
import type { Envelope, GateVerdict, Guard, GuardedCall, Way } from './guard.ts';
import { approvalRule } from './people.test-support.ts';
import {
  call,
  eventsOf,
  inShort,
  play,
  readOnce,
  request,
  result,
} from './playbook.test-support.ts';
import type { ApprovalWanted, Approver, Command } from './types.ts';

const ANSWERS = { inputResponses: { confirm: { action: 'accept', content: { sum: 9 } } } };

/** A call whose params have more than a name and arguments. */
function callWith(id: unknown, more: object, top: object = {}): unknown {
  const params = { name: 'pay', arguments: { sum: 5 }, ...more };
  return { jsonrpc: '2.0', id, method: 'tools/call', params, ...top };
}

/** What clients write into each request to tell it apart. */
const LABELS = {
  progressToken: 7,
  'claudecode/toolUseId': 'toolu_01A',
  callId: 'call_x',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'a', version: '1' },
  'x-codex-turn-metadata': { turn_id: 't' },
};

const forwarded = (commands: readonly Command[]) =>
  commands.flatMap((command) =>
    command.do === 'forward' && command.bytes !== undefined
      ? [Buffer.from(command.bytes).toString()]
      : [],
  );

describe('the envelope of a call', () => {
  it('is shown to the gates, all of it', async () => {
    const seen: unknown[] = [];
    const content = ({ args, envelope }: GuardedCall): GateVerdict => {
      seen.push([args, envelope?.written, envelope?.rest]);
      return { kind: 'pass' };
    };
    const { send } = await play([], { config: { guard: guardOf({ content }) } });
    send('agent', call(1, 'pay', { sum: 5 }));
    send('agent', callWith('b', { _meta: { a: 1 }, task: { ttl: 2 }, ...ANSWERS }));
    send('agent', callWith(3, {}, { later: [true] }));
    send(
      'agent',
      '{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"pay","x":"\\u0041"}}',
    );
    expect(seen).toEqual([
      [{ sum: 5 }, '1 tools/call', undefined],
      [{ sum: 5 }, '"b" tools/call', { params: { _meta: { a: 1 }, task: { ttl: 2 }, ...ANSWERS } }],
      [{ sum: 5 }, '3 tools/call', { message: { later: [true] } }],
      [{}, '4 tools/call', { params: { x: 'A' } }],
    ]);
  });

  it('is shown with its labels as they were written, wherever they stand', async () => {
    const seen: unknown[] = [];
    const content = ({ envelope }: GuardedCall): GateVerdict => {
      seen.push(envelope?.restText, envelope?.rest);
      return { kind: 'pass' };
    };
    const { send } = await play([], { config: { guard: guardOf({ content }) } });
    const meta = '{"progressToken":1.0, "claudecode/toolUseId":"toolu_01"}';
    const about = '"jsonrpc":"2.0"';
    const rest = { params: { _meta: { progressToken: 1, 'claudecode/toolUseId': 'toolu_01' } } };
    const params = (key: string) => [
      `"params":{"name":"pay","arguments":{},${key}${meta}}`,
      `"params":{ ${key}${meta} , "name":"pay"}`,
    ];
    const written = ['"_meta":', '"_meta" : ', '"\\u005fmeta":'].flatMap(params);
    for (const [id, text] of written.entries()) {
      send('agent', `{${text},"method":"tools/call",${about},"id":${id}}`);
    }
    const texts = ['"_meta":', '"_meta" : ', '"\\u005fmeta":'].map(
      (key) => `{"params":{${key}${meta}}}`,
    );
    expect(seen).toEqual(texts.flatMap((text) => [text, rest, text, rest]));
  });

  it('is refused if a key stands twice in it and a gate reads it', async () => {
    const line =
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay","_meta":{"a":{"b":1,"b":2}}}}';
    const guarded = await play([], { config: { guard: guardOf() } });
    expect(guarded.sendInShort('agent', line)).toContain('decision BLOCK INVALID_CALL');
    const bare = await play();
    const label = line.replace('"a":', '"x-codex-turn-metadata":');
    expect(bare.sendInShort('agent', label)).toContain('decision ALLOW DEFAULT_ALLOW');
    const other = line.replace('_meta', 'inputResponses').replace('"id":1', '"id":2');
    expect(bare.sendInShort('agent', other)).toContain('decision BLOCK INVALID_CALL');
  });
});

/** People who grant exactly what they saw, by its hash, and one who knows patterns. */
function exacting(asked: ApprovalWanted[]): Approver {
  const hashes = new Set<string>();
  const fits = (hash: string, args: unknown) =>
    hashes.has(hash) || (hashes.has('like') && args !== undefined);
  return {
    granted: ({ ref, args }, rules) => (fits(ref.args_hash, args()) ? rules : []),
    take: ({ ref, args }, rules) =>
      fits(ref.args_hash, args())
        ? rules.map((rule_id) => ({
            rule_id,
            grant_id: 'g',
            id: 'r',
            by: 'ann',
            channel: 'terminal',
          }))
        : undefined,
    ask: (wanted) => {
      asked.push(wanted);
      hashes.add(wanted.call.args_hash);
      if (wanted.call.call_id === 'call-1') hashes.add('like');
      return { id: 'r', advice: 'Ask Ann.' };
    },
  };
}

describe.each([
  ['a rule', [approvalRule('ask', 'hint', 'pay')], undefined],
  ['a gate', [], guardOf({ content: asksFor('gate:content', 'hint') })],
])('a grant for what %s asks', (_who, rules, guard) => {
  it('covers no other answers beside the same arguments', async () => {
    const asked: ApprovalWanted[] = [];
    const config = { approver: exacting(asked), ...(guard !== undefined && { guard }) };
    const { send, sendInShort } = await play(rules, { mode: 'control', config });
    const isRefused = (id: number, more: object, top: object = {}) =>
      sendInShort('agent', callWith(id, more, top)).some((what) =>
        what.startsWith('decision REJECT_WITH_HINT'),
      );
    const isPassed = (id: number, more: object, top: object = {}) =>
      sendInShort('agent', callWith(id, more, top)).includes('forward to server');
    expect(isRefused(1, {})).toBe(true);
    expect(isPassed(2, {})).toBe(true);
    expect(isPassed(3, { _meta: LABELS })).toBe(true);
    expect(isRefused(4, ANSWERS)).toBe(true);
    expect(isPassed(5, ANSWERS)).toBe(true);
    expect(isRefused(6, { inputResponses: {} })).toBe(true);
    expect(isRefused(7, { ...ANSWERS, requestState: 'x' })).toBe(true);
    expect(isRefused(8, {}, { later: 1 })).toBe(true);
    expect(asked.map(({ args }) => args?.text)).toEqual([
      '{"sum":5}',
      JSON.stringify({ arguments: { sum: 5 }, params: ANSWERS }),
      '{"arguments":{"sum":5},"params":{"inputResponses":{}}}',
      JSON.stringify({ arguments: { sum: 5 }, params: { ...ANSWERS, requestState: 'x' } }),
      '{"arguments":{"sum":5},"message":{"later":1}}',
    ]);
    // On record, the hash is that of the arguments alone.
    const [with9] = eventsOf(send('agent', callWith(9, ANSWERS)), 'tool_call_start');
    const [with10] = eventsOf(send('agent', callWith(10, {})), 'tool_call_start');
    expect(with9?.call.args_hash).toBe(with10?.call.args_hash);
  });
});

describe('an approval of a call', () => {
  const rules = [approvalRule('ask', 'hint', 'pay')];
  const meta = (more: object) => ({ _meta: { ...LABELS, ...more } });

  it.each<[string, object, object]>([
    ['a member of `_meta`', meta({ target: 'a' }), meta({ target: 'b' })],
    ['a member of `_meta` where there was none', {}, meta({ target: 'b' })],
    ['a related task', {}, meta({ 'io.modelcontextprotocol/related-task': { taskId: 't' } })],
    ['`_meta` that is no object', {}, { _meta: ['rm'] }],
    ['a label with words in it', {}, meta({ progressToken: 'delete all of it' })],
    ['a label that is an object', {}, meta({ callId: { all: true } })],
    ['a label that is long', {}, meta({ traceparent: 'a'.repeat(300) })],
    ['a label that is a word of JSON', {}, meta({ threadId: true })],
    [
      'what a client says of itself, at length',
      {},
      meta({ 'x-codex-turn-metadata': { a: 'x'.repeat(5_000) } }),
    ],
    ['a task', {}, { task: { ttl: 1 } }],
    ['another task', { task: { ttl: 1 } }, { task: { ttl: 2 } }],
  ])('does not cover %s, and shows it', async (_what, shown, other) => {
    const asked: ApprovalWanted[] = [];
    const { sendInShort } = await play(rules, {
      mode: 'control',
      config: { approver: exacting(asked) },
    });
    expect(sendInShort('agent', callWith(1, shown))).not.toContain('forward to server');
    expect(sendInShort('agent', callWith(2, { ...shown }))).toContain('forward to server');
    expect(sendInShort('agent', callWith(3, other))).not.toContain('forward to server');
    expect(sendInShort('agent', callWith(4, other))).toContain('forward to server');
    const [, second] = asked;
    expect(JSON.parse(second?.args?.text ?? '')).toEqual({ arguments: { sum: 5 }, params: other });
  });

  it('covers the retry of a client that labels each request anew', async () => {
    const { sendInShort } = await play(rules, {
      mode: 'control',
      config: { approver: exacting([]) },
    });
    const second = { progressToken: 'next', 'claudecode/toolUseId': 'toolu_02', callId: 'call_y' };
    sendInShort('agent', callWith(1, meta({ target: 'a' })));
    expect(sendInShort('agent', callWith(2, meta({ target: 'a', ...second })))).toContain(
      'forward to server',
    );
  });

  it('is not asked for where a key stands twice in `_meta`', async () => {
    const asked: ApprovalWanted[] = [];
    const { sendInShort } = await play(rules, {
      mode: 'control',
      config: { approver: exacting(asked) },
    });
    const line =
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay","_meta":{"a":{"b":1,"b":2}}}}';
    expect(sendInShort('agent', line)).toContain('decision BLOCK INVALID_CALL');
    expect(asked).toEqual([]);
  });
});

describe('the envelope of any other message', () => {
  const around = (look: (envelope: Envelope, way: Way) => boolean): Guard =>
    guardOf({
      around: (way, envelope) => (look(envelope, way) ? refused('AROUND') : SAME),
    });

  it('is shown to the guard, whether or not it wants the message', async () => {
    const seen: unknown[] = [];
    const guard = around(({ written, method, rest }, way) => {
      seen.push([way, written, method, rest]);
      return false;
    });
    const { send } = await play([], { config: { guard } });
    send('agent', request('q', 'x/y'));
    send('server', { ...Object(result('q')), later: { a: 1 } });
    send('server', { jsonrpc: '2.0', method: 'n/z', params: { late: 1 } });
    expect(seen).toEqual([
      ['out', '"q" x/y', 'x/y', undefined],
      ['in', '"q"', 'x/y', { message: { later: { a: 1 } } }],
      ['in', ' n/z', 'n/z', undefined],
    ]);
  });

  it('gets the message refused', async () => {
    const guard = around(({ written, rest }) =>
      `${written}${JSON.stringify(rest)}`.includes('key'),
    );
    const { sendInShort } = await play([], { config: { guard } });
    expect(sendInShort('agent', request('key', 'x/y'))).toContain('answer "key" -32081');
    expect(sendInShort('agent', request(1, 'x/key'))).toContain('answer 1 -32081');
    expect(sendInShort('server', request('key', 'ping'))).toContain('drop refused');
    expect(sendInShort('server', { jsonrpc: '2.0', method: 'n/key' })).toContain('drop refused');
    sendInShort('agent', request(2, 'x/y'));
    expect(sendInShort('server', { ...Object(result(2)), later: 'key' })).toContain(
      'answer 2 -32603',
    );
    expect(sendInShort('agent', request(3, 'x/y', { a: 'key' }))).toEqual(['forward to server']);
  });

  it.each([
    ['is no JSON', '{"x":"key"'],
    ['is no message', '{"x":"key"}'],
    ['is a batch that nobody takes', '[{"jsonrpc":"2.0","method":"key"}]'],
    ['is no UTF-8', Buffer.concat([Buffer.from([0x22, 0xff]), Buffer.from('key"\n')])],
  ])('is all of a line that %s: not even development passes it', async (_what, line) => {
    const guard = around(({ written }) => written.includes('key'));
    for (const side of ['agent', 'server'] as const) {
      const bare = await play([], { profile: 'development', config: { guard: guardOf() } });
      expect(bare.sendInShort(side, line).join()).toMatch(/forward to/);
      const one = await play([], { profile: 'development', config: { guard } });
      expect(one.sendInShort(side, line).join()).not.toMatch(/forward to/);
    }
  });

  it('stops a message that the guard breaks on', async () => {
    const guard = guardOf({
      around: () => {
        throw new Error('broken');
      },
    });
    const { sendInShort } = await play([], { config: { guard } });
    expect(sendInShort('agent', request(1, 'x/y'))).toContain('answer 1 -32081');
  });
});

describe('a key that stands twice', () => {
  const answer =
    '{"jsonrpc":"2.0","id":1,"result":{"n":1.0,"a":{"t":"bad","t":"ok"},"l":[{"u":1,"u":2}]}}';
  const one = '{"jsonrpc":"2.0","id":1,"result":{"n":1.0,"a":{"t":"ok"},"l":[{"u":2}]}}\n';

  it.each([
    ['a gate has looked', true, one],
    ['nobody has', false, undefined],
  ])('arrives where %s', async (_who, looks, line) => {
    const passing: Guard['passing'] = (_way, message) =>
      looks && message.value === undefined ? refused('NOTHING') : SAME;
    const guard = guardOf({ wants: () => true, passing });
    const { send } = await play([], { config: { guard } });
    send('agent', request(1, 'x/y'));
    const commands = send('server', answer);
    expect(inShort(commands)).toEqual([`forward to agent${looks ? ' in part' : ''}`]);
    expect(forwarded(commands)[0]).toBe(line);
  });

  it('arrives once where the hub has looked', async () => {
    const { session, send } = await play([], { config: { hubNeeds: { observes: true } } });
    send('agent', call(1, 'read'));
    const line = Buffer.from(`${answer}\n`);
    expect(session.observations(readOnce(session, 'server', line))).toHaveLength(1);
    expect(
      forwarded(session.handle(readOnce(session, 'server', line), 0, { heard: true }))[0],
    ).toBe(one);
  });

  it('is found, and nothing else is', () => {
    expect(hasDuplicateKeys('{"a":{"b:\\\\":1,"b:\\\\":2}}', { a: { 'b:\\': 2 } })).toBe(true);
    fc.assert(
      fc.property(fc.json(), (text) => !hasDuplicateKeys(text, JSON.parse(text))),
      { numRuns: 300 },
    );
    const key = fc.string();
    fc.assert(
      fc.property(key, fc.json(), fc.json(), (name, first, second) => {
        const text = `[{${JSON.stringify(name)}:${first},${JSON.stringify(name)} : ${second}}]`;
        return hasDuplicateKeys(text, JSON.parse(text));
      }),
      { numRuns: 300 },
    );
  });
});

describe('the id that a model gave to a call', () => {
  it.each([
    [{ 'claudecode/toolUseId': 'toolu_01A' }, 'toolu_01A'],
    [{ callId: 'call_x', threadId: 't' }, 'call_x'],
    [{ callId: 7 }, undefined],
    [{ callId: 'no id but prose' }, undefined],
    [{ 'claudecode/toolUseId': 'x'.repeat(300) }, undefined],
    [{ 'claudecode/toolUseId': '' }, undefined],
    [{}, undefined],
  ])('in %j is on record as %s', async (_meta, id) => {
    const { send } = await play();
    const [started] = eventsOf(send('agent', callWith(1, { _meta })), 'tool_call_start');
    expect(started?.call.tool_use_id).toBe(id);
  });
});
