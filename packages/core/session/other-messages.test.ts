import { describe, expect, it } from 'vitest';
import { guardOf, refused, SAME } from './guard.test-support.ts';
import type { Guard, MessageVerdict, OtherMessage, Way } from './guard.ts';
import { parsed, under } from './json.test-support.ts';
import {
  answersOf,
  bytesOf,
  call,
  eventsOf,
  initialize,
  inShort,
  play,
  request,
  result,
} from './playbook.test-support.ts';
import type { Command, Side } from './types.ts';

type Look = (message: OtherMessage, way: Way) => MessageVerdict;

/** A session whose guard wants to see everything. */
function watched(look: Look, parts: Partial<Guard> = {}) {
  const passing: Guard['passing'] = (way, message) => look(message, way);
  return play([], { config: { guard: guardOf({ wants: () => true, passing, ...parts }) } });
}

const linesOf = (commands: readonly Command[]) =>
  commands.flatMap((command) =>
    command.do === 'forward' && command.bytes !== undefined
      ? [Buffer.from(command.bytes).toString()]
      : [],
  );

const notification = (method: string, params: unknown) => ({ jsonrpc: '2.0', method, params });
const errorAnswer = (id: unknown, message: string) => ({
  jsonrpc: '2.0',
  id,
  error: { code: -1, message },
});

describe('the messages that a guard sees', () => {
  it('are all messages but calls, each with its value', async () => {
    const seen: unknown[] = [];
    const { send } = await watched(({ kind, method, value, isError, call: made }, way) => {
      seen.push([way, kind, method, value, isError, made]);
      return SAME;
    });
    send('agent', request(1, 'tools/list', { cursor: 'a' }));
    send('server', result(1, { tools: [] }));
    send('agent', { jsonrpc: '2.0', method: 'notifications/initialized' });
    send('agent', call('c', 'pay', { sum: 5 }));
    send('server', result('c', { content: [] }));
    send('server', request('s', 'sampling/createMessage', { messages: [] }));
    send('agent', errorAnswer('s', 'no'));
    send('server', notification('notifications/message', { data: 'x' }));
    send('server', { jsonrpc: '2.0', error: { code: 1, message: 'lost' } });
    const made = { callId: 'call-1', tool: 'pay' };
    expect(seen).toEqual([
      ['out', 'request', 'tools/list', { cursor: 'a' }, false, undefined],
      ['in', 'answer', 'tools/list', { tools: [] }, false, undefined],
      ['out', 'notification', 'notifications/initialized', undefined, false, undefined],
      ['in', 'answer', 'tools/call', { content: [] }, false, made],
      ['in', 'request', 'sampling/createMessage', { messages: [] }, false, undefined],
      ['out', 'answer', 'sampling/createMessage', { code: -1, message: 'no' }, true, undefined],
      ['in', 'notification', 'notifications/message', { data: 'x' }, false, undefined],
      ['in', 'answer', '', { code: 1, message: 'lost' }, true, undefined],
    ]);
  });

  it('is nothing that it does not want', async () => {
    const passing = () => refused('NEVER');
    const wants: Guard['wants'] = (way, kind, method) =>
      way === 'in' && kind === 'answer' && method === 'tools/list';
    const config = { guard: guardOf({ wants, passing }) };
    const { sendInShort } = await play([], { config });
    expect(sendInShort('agent', request(1, 'prompts/list'))).toEqual(['forward to server']);
    expect(sendInShort('server', result(1))).toEqual(['forward to agent']);
    expect(sendInShort('agent', request(2, 'tools/list'))).toEqual(['forward to server']);
    expect(sendInShort('server', result(2))).toContain('drop refused');
  });

  it('is the late answer of a call that was cancelled', async () => {
    const look: Look = ({ kind }) => (kind === 'answer' ? { kind: 'changed', value: {} } : SAME);
    const { send } = await watched(look);
    send('agent', call(1, 'read'));
    send('agent', notification('notifications/cancelled', { requestId: 1 }));
    expect(linesOf(send('server', result(1, { content: [1] })))).toEqual([
      '{"jsonrpc":"2.0","id":1,"result":{}}\n',
    ]);
  });

  it('do not include an answer to a held call, nor an unsolicited answer', async () => {
    const seen: string[] = [];
    const { sendInShort } = await watched(({ kind }) => {
      seen.push(kind);
      return SAME;
    });
    expect(sendInShort('server', result(7))).toContain('drop unsolicited_answer');
    expect(seen).toEqual([]);
  });
});

describe('a message that a guard changes', () => {
  const changed: MessageVerdict = { kind: 'changed', value: { é: ['🙂', null] } };
  const json = '{"é":["🙂",null]}';

  it.each<[string, Side, string, string]>([
    [
      'a request',
      'agent',
      '{"method" : "x/y", "params": {"a":1},"jsonrpc":"2.0","id":"q"}',
      '{"a":1}',
    ],
    [
      'an escaped key',
      'agent',
      '{"p\\u0061rams":[1 ],"method":"x/y","jsonrpc":"2.0","id":"q"}',
      '[1 ]',
    ],
    [
      'a notification',
      'server',
      '{"jsonrpc":"2.0","method":"n/m","params":{"t":"x"}} ',
      '{"t":"x"}',
    ],
    ['a result', 'server', '{"result" : {"x": [1, 2]} ,"jsonrpc":"2.0","id":1}', '{"x": [1, 2]}'],
    [
      'an error',
      'server',
      '{"jsonrpc":"2.0","id":1, "error":{"code":1,"message":"m"}}\r',
      '{"code":1,"message":"m"}',
    ],
  ])('stands in the original bytes: %s', async (_what, side, written, part) => {
    const { send } = await watched(() => changed);
    if (side === 'server') send('agent', call(1, 'read'));
    const line = `${written}\n`;
    expect(linesOf(send(side, bytesOf(line)))).toEqual([line.replace(part, json)]);
  });

  it('keeps its unchanged parts as they were written', async () => {
    const look: Look = ({ value, kind }) =>
      kind === 'answer'
        ? { kind: 'changed', value: { ...Object(value), content: [{ text: '*' }] } }
        : SAME;
    const { send } = await watched(look);
    send('agent', call(1, 'read'));
    const line =
      '{"id":1,"result":{"structuredContent":{"id":12345678901234567890, "x":1.0},"content":[{"text":"é"}]},"jsonrpc":"2.0"}\n';
    expect(linesOf(send('server', bytesOf(line)))).toEqual([line.replace('é', '*')]);
  });

  it('is changed in one element of a batch', async () => {
    const { send, sendInShort } = await watched(({ method }) => (method === 'b' ? changed : SAME));
    const [first, second] = initialize('2025-03-26');
    send('agent', first);
    send('server', second);
    const a = JSON.stringify(request(1, 'a'));
    const b = JSON.stringify(request(2, 'b'));
    const said = send('agent', `[${a}, ${b}]`);
    expect(linesOf(said)).toEqual([`[${a},${b.replace('"params":{}', `"params":${json}`)}]\n`]);
    expect(sendInShort('server', `[${JSON.stringify(result(1))}]`)).toEqual(['forward to agent']);
  });

  it.each([
    ['no params to change', () => changed],
    ['nothing that JSON can say', (): MessageVerdict => ({ kind: 'changed', value: undefined })],
    ['a value without end', (): MessageVerdict => ({ kind: 'changed', value: 1n })],
  ])('does not pass where it cannot be written: %s', async (_what, look) => {
    const { sendInShort } = await watched(look);
    const { jsonrpc, id, method } = { jsonrpc: '2.0', id: 1, method: 'x/y' };
    expect(sendInShort('agent', { jsonrpc, id, method })).toEqual([
      'start x/y',
      'decision BLOCK CONTENT_BLOCKED',
      'end ERROR',
      'answer 1 -32081',
      'drop refused',
    ]);
  });

  it('is recorded as the guard changed it', async () => {
    const look: Look = ({ isError }) => ({
      kind: 'changed',
      value: isError ? { code: 1, message: '*' } : { content: '*' },
      note: { action: 'redact', findings: ['secret:x'] },
    });
    const { send } = await watched(look);
    send('agent', call(1, 'read'));
    send('agent', call(2, 'read'));
    const fine = eventsOf(send('server', result(1, { content: 's3cret' })), 'tool_call_end')[0];
    expect(fine).toMatchObject({
      status: 'OK',
      call: { content: { action: 'redact', findings: ['secret:x'] } },
      preview: { result_preview: '{"content":"*"}' },
    });
    const failed = send('server', errorAnswer(2, 's3cret'));
    expect(JSON.stringify(eventsOf(failed, 'tool_call_end'))).not.toContain('s3cret');
    expect(eventsOf(failed, 'tool_call_end')[0]?.status).toBe('ERROR');
  });
});

describe('a refusal of a guard', () => {
  it('of the agent is answered with the reason and a hint', async () => {
    const { send, session } = await watched(() => refused('PROMPT_NOT_LISTED', 'Use another.'));
    const said = send('agent', request('p', 'prompts/get', { name: 'x' }));
    expect(inShort(said)).toEqual([
      'start prompts/get',
      'decision BLOCK PROMPT_NOT_LISTED',
      'end ERROR',
      'answer "p" -32081',
      'drop refused',
    ]);
    expect(answersOf(said)).toMatchObject([
      {
        id: 'p',
        error: {
          data: { subluminal: { reason_code: 'PROMPT_NOT_LISTED', call_id: 'call-1' } },
        },
      },
    ]);
    expect(JSON.stringify(answersOf(said))).toContain('It may not pass. Use another.');
    expect(session.openRequests('agent')).toBe(0);
  });

  it('of a request of the server is answered to the server, and the agent cannot answer it', async () => {
    const { send, sendInShort, session } = await watched(({ kind }) =>
      kind === 'request' ? refused('CONTENT_BLOCKED') : SAME,
    );
    const said = send('server', request(9, 'sampling/createMessage'));
    expect(inShort(said)).toEqual([
      'report REJECTED refused',
      'answer 9 -32602 to server',
      'drop refused',
    ]);
    expect(session.openRequests('server')).toBe(0);
    expect(sendInShort('agent', result(9))).toContain('drop unsolicited_answer');
  });

  it('of an answer of the agent becomes an error for the server', async () => {
    const { send, sendInShort } = await watched(({ kind }) =>
      kind === 'answer' ? refused('CONTENT_BLOCKED') : SAME,
    );
    send('server', request(9, 'elicitation/create'));
    expect(sendInShort('agent', result(9, { content: 's3cret' }))).toEqual([
      'report REJECTED refused',
      'answer 9 -32603 to server',
      'drop refused',
    ]);
  });

  it('of the answer to a call becomes a result that the model can read', async () => {
    const ends: boolean[] = [];
    const look: Look = () => ({
      kind: 'refused',
      reason_code: 'RESULT_TOO_LARGE',
      summary: 'Too long.',
      hint: 'Ask for less.',
      note: { action: 'block', findings: ['injection:x'] },
    });
    const ended: Guard['ended'] = ({ isError }) => ends.push(isError);
    const { send, session } = await watched(look, { ended });
    send('agent', call(1, 'read'));
    const said = send('server', result(1, { content: 's3cret' }));
    expect(inShort(said)).toEqual([
      'end ERROR',
      'report REJECTED refused',
      'answer 1 isError',
      'drop refused',
    ]);
    expect(under(answersOf(said)[0], 'result')).toEqual({
      content: [{ type: 'text', text: 'Too long. Ask for less.' }],
      isError: true,
      _meta: { subluminal: { reason_code: 'RESULT_TOO_LARGE' } },
    });
    expect(eventsOf(said, 'tool_call_end')[0]).toMatchObject({
      call: { content: { action: 'block', findings: ['injection:x'] } },
      preview: { truncated: true },
      error: { class: 'policy_block', message: 'Too long.' },
    });
    expect(JSON.stringify(said)).not.toContain('s3cret');
    // The server itself has done nothing wrong.
    expect(ends).toEqual([false]);
    expect(session.summary()).toMatchObject({ calls_allowed: 1, errors_total: 0 });
  });

  it('of another answer becomes an error', async () => {
    const { sendInShort } = await watched(({ kind }) => (kind === 'answer' ? refused('NO') : SAME));
    sendInShort('agent', request(1, 'tools/list'));
    expect(sendInShort('server', result(1))).toEqual([
      'report REJECTED refused',
      'answer 1 -32603',
      'drop refused',
    ]);
  });

  it('of a notification drops it and reports it', async () => {
    const { sendInShort } = await watched(() => refused('NO'));
    const message = notification('notifications/message', {});
    for (const side of ['agent', 'server'] as const) {
      expect(sendInShort(side, message)).toEqual(['report DROPPED refused', 'drop refused']);
    }
  });

  it('of a batch leaves the others', async () => {
    const { send } = await watched(({ method }) => (method === 'b' ? refused('NO') : SAME));
    const [first, second] = initialize('2025-03-26');
    send('agent', first);
    send('server', second);
    const said = send('agent', [request(1, 'a'), request(2, 'b'), request(3, 'c')]);
    expect(inShort(said)).toEqual([
      'start b',
      'decision BLOCK NO',
      'end ERROR',
      'answer 2 -32081',
      'forward to server in part',
    ]);
    expect(parsed(linesOf(said)[0] ?? '')).toEqual([request(1, 'a'), request(3, 'c')]);
  });

  it('applies to a message that breaks the guard', async () => {
    const { sendInShort } = await watched(({ value }) => {
      throw new Error(String(value));
    });
    expect(sendInShort('agent', request(1, 'x/y'))).toContain('answer 1 -32081');
  });

  describe('is a text that only a lenient reader takes', () => {
    const text = `${'x'.repeat(100)}\u0001${'x'.repeat(100)}`;
    const passing: Guard['passing'] = (_way, { value }) => (value === 0 ? refused('ZERO') : SAME);
    const config = { guard: guardOf({ wants: () => true, passing }), isUtf8: () => true };

    it('in an answer', async () => {
      const { send, sendInShort } = await play([], { config });
      send('agent', call(1, 'read'));
      const line = `{"jsonrpc":"2.0","id":1,"result":{"content":"${text}"}}\n`;
      expect(sendInShort('server', bytesOf(line))).toContain('answer 1 -32603');
    });

    it('in a request', async () => {
      const { sendInShort } = await play([], { config });
      const line = `{"jsonrpc":"2.0","id":1,"method":"x/y","params":{"a":"${text}"}}\n`;
      expect(sendInShort('agent', bytesOf(line))).toContain('answer 1 -32700');
    });
  });
});

describe('the notices of a guard', () => {
  it('is on record and reported after the message, once', async () => {
    const waiting = [
      {
        what: 'tool_changed',
        enforced: true,
        name: 'pay',
        reason_code: 'PIN_CHANGED',
        detail: 'It has changed.',
      } as const,
    ];
    const notices = () => waiting.splice(0);
    const { send } = await play([], { config: { guard: guardOf({ notices }) } });
    const said = send('agent', request(1, 'tools/list'));
    expect(inShort(said)).toEqual(['forward to server', 'surface', 'report NOTICED surface']);
    expect(eventsOf(said, 'surface')).toEqual([
      {
        surface: {
          what: 'tool_changed',
          enforced: true,
          server_name: 'files',
          name: 'pay',
          reason_code: 'PIN_CHANGED',
          detail: 'It has changed.',
        },
      },
    ]);
    expect(inShort(send('server', result(1)))).toEqual(['forward to agent']);
  });

  it('says in a word whether calls to the server are paused', async () => {
    const notice = { what: 'server_state', enforced: true, reason_code: 'X', detail: 'y' } as const;
    const notices = () => [{ ...notice, state: 'paused' } as const];
    const { session } = await play([], { config: { guard: guardOf({ notices }) } });
    expect(eventsOf(session.tick(1), 'surface')).toMatchObject([{ surface: { state: 'paused' } }]);
  });

  it('is bounded', async () => {
    const long = 'x'.repeat(100_000);
    const notice = { what: 'look_alike', enforced: false, name: long, reason_code: long } as const;
    const notices = () => [{ ...notice, detail: long }];
    const { session } = await play([], { config: { guard: guardOf({ notices }) } });
    const [told] = eventsOf(session.tick(1), 'surface');
    expect(JSON.stringify(told).length).toBeLessThan(6_000);
  });
});
