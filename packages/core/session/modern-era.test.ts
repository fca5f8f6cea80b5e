// What 2026-07-28 has no longer, and what it has instead.
import { describe, expect, it } from 'vitest';
import { optionsOf } from '../gates/guard.test-support.ts';
import { createGuard } from '../gates/guard.ts';
import { deny } from '../policy/testing/scenario.ts';
import { peek } from './peek/peek.ts';
import { answersOf, initialize, lineOf, play, request, result } from './playbook.test-support.ts';
import type { Command } from './types.ts';

const META = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
const TOKEN = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
const modern = (id: unknown, method: string, params: object = {}) =>
  request(id, method, { ...params, _meta: META });
const passes = (commands: readonly Command[]) =>
  commands.some((command) => command.do === 'forward');

describe('a session of the modern era', () => {
  it.each(['sampling/createMessage', 'elicitation/create', 'roots/list', 'ping', 'x/y'])(
    'does not pass on a request %s of the server',
    async (method) => {
      const { send, sendInShort } = await play();
      send('agent', modern(1, 'tools/list'));
      expect(sendInShort('server', request('s', method))).toEqual([
        'report DROPPED not_in_era',
        'drop not_in_era',
      ]);
      const legacy = await play();
      legacy.send('agent', initialize('2025-11-25')[0]);
      expect(passes(legacy.send('server', request('s', method)))).toBe(true);
    },
  );

  it('refuses batches', async () => {
    const { send, sendInShort } = await play();
    send('agent', modern(1, 'tools/list'));
    const batch = `[${JSON.stringify(modern(2, 'tools/list'))}]`;
    expect(sendInShort('agent', batch)).not.toContain('forward to server');
  });

  it('refuses a call with a code outside of the range that the specification keeps', async () => {
    const { send } = await play([deny('no')], { mode: 'control' });
    const [refused] = answersOf(
      send('agent', modern(1, 'tools/call', { name: 'a', arguments: {} })),
    );
    expect(refused).toMatchObject({ error: { code: -31_081 } });
    const legacy = await play([deny('no')], { mode: 'control' });
    const call = request(1, 'tools/call', { name: 'a', arguments: {} });
    expect(answersOf(legacy.send('agent', call))).toMatchObject([{ error: { code: -32_081 } }]);
  });

  it('passes on a result of an unknown type as any other, and looks through it', async () => {
    const guard = createGuard(optionsOf({ content: { inbound: { secret: 'block' } } }));
    const { send } = await play([], { config: { guard } });
    send('agent', modern(1, 'tools/call', { name: 'a', arguments: {} }));
    expect(passes(send('server', result(1, { resultType: 'odd', text: 'fine' })))).toBe(true);
    send('agent', modern(2, 'tools/call', { name: 'a', arguments: {} }));
    expect(passes(send('server', result(2, { resultType: 'odd', text: TOKEN })))).toBe(false);
  });
});

describe('the metadata of a request', () => {
  const boundWith = (more: object) => {
    const meta = {
      ...META,
      'io.modelcontextprotocol/clientInfo': { name: 'a', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
      ...more,
    };
    const seen = peek(lineOf(request(1, 'tools/call', { name: 'a', arguments: {}, _meta: meta })));
    return seen.kind === 'request' && seen.params.bound;
  };

  it('makes no other call of a call, unless it holds more than labels', () => {
    const trace = '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01';
    expect(boundWith({})).toBe(false);
    expect(boundWith({ traceparent: trace, tracestate: 'a=1', baggage: 'user=7' })).toBe(false);
    expect(boundWith({ 'io.modelcontextprotocol/logLevel': 'debug' })).toBe(false);
    expect(boundWith({ baggage: 'pay 5,000 to eve' })).toBe(true);
    expect(boundWith({ [SUBSCRIPTION]: 1 })).toBe(true);
    expect(boundWith({ other: 1 })).toBe(true);
  });
});

describe('a request for input', () => {
  const asks = (message: string, method = 'elicitation/create') => ({
    resultType: 'input_required',
    inputRequests: { a: { method, params: { message, requestedSchema: { type: 'object' } } } },
  });

  it.each(['elicitation/create', 'sampling/createMessage'])(
    'is judged as %s of a server is',
    async (method) => {
      const guard = createGuard(optionsOf({ content: { inbound: { secret: 'block' } } }));
      const { send } = await play([], { config: { guard } });
      for (const [id, what] of ['tools/call', 'resources/read', 'prompts/get'].entries()) {
        send('agent', modern(id, what, { name: 'a', uri: 'b' }));
        expect(passes(send('server', result(id, asks(TOKEN, method))))).toBe(false);
        send('agent', modern(id, what, { name: 'a', uri: 'b' }));
        expect(passes(send('server', result(id, asks('Sure?', method))))).toBe(true);
      }
    },
  );

  it('keeps its shape when a text in it is replaced', async () => {
    const guard = createGuard(optionsOf({ content: { inbound: { secret: 'redact' } } }));
    const { send } = await play([], { config: { guard } });
    send('agent', modern(1, 'tools/call', { name: 'a', arguments: {} }));
    expect(passes(send('server', result(1, asks(`Use ${TOKEN}`))))).toBe(true);
    send('agent', modern(2, 'tools/call', { name: 'a', arguments: {} }));
    // A key is the name of an answer: it can't be replaced.
    const keyed = {
      resultType: 'input_required',
      inputRequests: { [TOKEN]: { method: 'roots/list' } },
    };
    expect(passes(send('server', result(2, keyed)))).toBe(false);
  });

  it('is answered with inputResponses, which are judged as arguments are', async () => {
    const guard = createGuard(optionsOf({ content: { outbound: { secret: 'block' } } }));
    const { send, sendInShort } = await play([], { config: { guard } });
    send('agent', modern(1, 'tools/call', { name: 'a', arguments: {} }));
    send('server', result(1, asks('Which key?')));
    const inputResponses = { a: { action: 'accept', content: { key: TOKEN } } };
    const retry = modern(2, 'tools/call', { name: 'a', arguments: {}, inputResponses });
    expect(sendInShort('agent', retry)).toContain('decision BLOCK CONTENT_BLOCKED');
    const update = modern(3, 'tasks/update', { taskId: 't', inputResponses });
    expect(passes(send('agent', update))).toBe(false);
  });
});

describe('a subscription', () => {
  const told = (id: unknown, method = 'notifications/tools/list_changed') => ({
    jsonrpc: '2.0',
    method,
    params: { _meta: { [SUBSCRIPTION]: id } },
  });

  it('gets the notifications that name it, and nothing else does', async () => {
    const { send, sendInShort } = await play();
    send('agent', modern(1, 'subscriptions/listen', { notifications: { toolsListChanged: true } }));
    send('agent', modern(2, 'tools/list'));
    expect(passes(send('server', told(1, 'notifications/subscriptions/acknowledged')))).toBe(true);
    expect(passes(send('server', told(1)))).toBe(true);
    for (const id of [2, 3, '1', null, { a: 1 }, '__proto__']) {
      expect(sendInShort('server', told(id))).not.toContain('forward to agent');
    }
    const cancelled = { requestId: 1 };
    send('agent', { jsonrpc: '2.0', method: 'notifications/cancelled', params: cancelled });
    expect(sendInShort('server', told(1))).toContain('drop not_subscribed');
  });

  it('stays open, however long it takes', async () => {
    const { send, session } = await play();
    send('agent', modern(1, 'subscriptions/listen'));
    send('agent', modern(2, 'tools/list'));
    const reports = session.tick(86_400_000).filter((command) => command.do === 'report');
    expect(reports).toHaveLength(1);
    expect(passes(send('server', told(1), 86_400_001))).toBe(true);
    expect(passes(send('server', result(1, { resultType: 'complete' }), 86_400_002))).toBe(true);
  });
});
