// Keys that only some readers take for keys of the protocol.
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { deny } from '../policy/testing/scenario.ts';
import { answersOf, call, inShort, play, request, result } from './playbook.test-support.ts';

const noDelete = deny('no-delete', { tool_name: { glob: ['delete_x'] } });

describe('a message of the agent', () => {
  it.each([
    ['tools/call', '{"name":"read_x","Name":"delete_x","arguments":{}}'],
    ['tools/call', '{"name":"read_x","arguments":{},"Arguments":{"path":"/"}}'],
    ['tools/call', '{"name":"read_x","argument\\u017f":{"path":"/"}}'],
    ['tools/call', '{"name":"read_x","N\\u0061me":"delete_x"}'],
    ['tools/call', '{"name":"read_x","_META":{}}'],
    ['tools/call', '{"name":"read_x","_meta":{"ProgressToken":1}}'],
    ['tools/call', '{"name":"read_x","input_responses":{}}'],
    ['resources/read', '{"uri":"file:///a","URI":"file:///b"}'],
    ['prompts/get', '{"name":"a","NAME":"b"}'],
    ['completion/complete', '{"ref":{"type":"ref/prompt","name":"a","Name":"b"}}'],
    ['notifications/cancelled', '{"requestId":1,"requestID":2}'],
  ])(
    'is refused when a key in its params is one for some readers: %s %s',
    async (method, params) => {
      verifies('F-014');
      const { sendInShort } = await play([noDelete]);
      const line = `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`;
      const sent = sendInShort('agent', line);
      expect(sent).toContain('report REJECTED folded_key');
      expect(sent).toContain('answer 1 -32600');
      expect(sent).not.toContain('forward to server');
    },
  );

  it.each([
    '"method":"ping","Method":"tools/call"',
    '"method":"ping","Params":{"name":"delete_x"}',
    '"method":"ping","param\\u017f":{}',
    '"method":"ping","paramſ":{}',
    '"method":"ping","JSONRPC":"2.0"',
    '"method":"ping","ID":2',
    '"method":"ping","Result":{}',
  ])('is refused when a key at its top is one for some readers: %s', async (members) => {
    const { sendInShort } = await play([noDelete]);
    const sent = sendInShort('agent', `{"jsonrpc":"2.0","id":1,${members}}`);
    expect(sent).toContain('drop folded_key');
    expect(sent).not.toContain('forward to server');
  });

  it.each([
    '{"name":"a","arguments":{"x":1,"X":2}}',
    '{"name":"a","arguments":{"deep":[{"k":1,"\\u004b":2}]}}',
    '{"name":"a","arguments":{"x":1,"x":2}}',
  ])('that gets a prompt may not have two keys that differ only in case: %s', async (params) => {
    const { send, sendInShort } = await play();
    const line = (id: number) =>
      `{"jsonrpc":"2.0","id":${id},"method":"prompts/get","params":${params}}`;
    expect(sendInShort('agent', line(1))).toEqual([
      'report REJECTED duplicate_key',
      'answer 1 -32602',
      'drop duplicate_key',
    ]);
    const message: unknown = expect.stringMatching(/Invalid params: .*"[xk]"/i);
    expect(answersOf(send('agent', line(2)))).toMatchObject([{ error: { message } }]);
    const lenient = await play([], { profile: 'development' });
    expect(lenient.sendInShort('agent', line(1))).toEqual([
      'report WOULD_REJECT duplicate_key',
      'forward to server',
    ]);
    expect(lenient.sendInShort('server', result(1))).toEqual(['forward to agent']);
  });

  it('that gets a prompt may not nest so deeply that its keys cannot be compared', async () => {
    const { sendInShort } = await play();
    const deep = `${'['.repeat(300)}${']'.repeat(300)}`;
    const params = `{"name":"a","arguments":{"x":${deep},"y":1,"y":2}}`;
    const line = `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":${params}}`;
    expect(sendInShort('agent', line)).toEqual([
      'report REJECTED params',
      'answer 1 -32602',
      'drop params',
    ]);
  });

  it('that calls a tool may not either, and its refusal names the two keys', async () => {
    const { send } = await play();
    const sent = send('agent', call(1, 'read_x', { Path: '/a', path: '/b' }));
    expect(inShort(sent)).toContain('decision BLOCK INVALID_CALL');
    const message: unknown = expect.stringContaining('"Path" and "path"');
    expect(answersOf(sent)).toMatchObject([{ id: 1, error: { message } }]);
  });

  it.each([
    call(1, 'read_x', { Path: '/a', NAME: 'b', Arguments: { name: 'c' } }),
    request(1, 'x/y', { meta: {}, user_name: 'a', Names: ['b'], vendor: { Name: 'c' } }),
    request(1, 'prompts/get', { name: 'a', arguments: { Name: 'b' } }),
  ])('passes with names of its own: %j', async (message) => {
    const { sendInShort } = await play();
    expect(sendInShort('agent', message)).toContain('forward to server');
  });
});

describe('a message of the server', () => {
  it.each([
    '"result":{"tools\\u0000":[{"name":"evil"}]}',
    '"result":{"task":{"taskId":"a","TaskId":"b"}}',
    '"result":{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"a","text":"b","Text":"c"}}}]}',
    '"result":{"tools":[],"Tools":[{"name":"evil"}]}',
    '"result":{"Tools":[{"name":"evil"}]}',
    '"result":{"tools":[{"name":"a","Description":"evil"}]}',
    '"result":{"tools":[{"name":"a","input_schema":{}}]}',
    '"result":{"tools":[{"name":"a","annotations":{"ReadOnlyHint":true}}]}',
    '"result":{"resources":[{"uri":"a","URI":"b"}]}',
    '"result":{"prompts":[{"name":"a","Name":"b"}]}',
    '"result":{"content":[{"type":"text","Text":"b"}]}',
    '"result":{"content":[],"IsError":true}',
    '"result":{"content":[],"\\u0043ontent":[]}',
    '"result":{},"Result":{"tools":[]}',
    '"error":{"code":1,"message":"a","Message":"b"}',
    '"result":{},"ERROR":{}',
  ])('is replaced by an error when a key in it is one for some readers: %s', async (members) => {
    verifies('F-014');
    const { sendInShort } = await play();
    sendInShort('agent', request(1, 'tools/list'));
    expect(sendInShort('server', `{"jsonrpc":"2.0","id":1,${members}}`)).toEqual([
      'report REJECTED folded_key',
      'answer 1 -32603',
      'drop folded_key',
    ]);
  });

  it('is dropped when no request waits for it', async () => {
    const { sendInShort } = await play();
    const line = '{"jsonrpc":"2.0","method":"notifications/message","params":{"data":1,"Data":2}}';
    expect(sendInShort('server', line)).toEqual(['report DROPPED folded_key', 'drop folded_key']);
  });

  it('passes with keys of any case where the protocol has none', async () => {
    const { sendInShort } = await play();
    sendInShort('agent', call(1, 'query'));
    const structuredContent = { Id: 1, ID: 2, rows: [{ Name: 'a', name: 'b' }] };
    const value = { content: [{ type: 'text', text: '{}', vendor: 1 }], structuredContent };
    expect(sendInShort('server', result(1, value))).toEqual(['end OK', 'forward to agent']);
  });
});
