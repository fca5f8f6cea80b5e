import { describe, expect, test } from 'vitest';
import {
  ALL,
  type BridgePlay,
  bad,
  INITIALIZE,
  legacyAgent,
  modernMeta,
  ok,
  plain,
  SERVER_INFO,
  say,
  whole,
} from '../testing/bridge-play.ts';

const CALL = { name: 'x', arguments: { a: 1 } };
const FORM = {
  mode: 'form',
  message: 'Name?',
  requestedSchema: { type: 'object', properties: {} },
};

describe('the handshake of a legacy agent', () => {
  test('is answered with what the server said of itself, in the revision of the agent', () => {
    const asked = plain(0, 'initialize', { protocolVersion: '2024-11-05', capabilities: {} });
    expect(legacyAgent({}, asked).agent(asked)).toEqual([
      {
        to: 'agent',
        about: '0',
        message: ok(0, {
          protocolVersion: '2024-11-05',
          capabilities: {
            tools: { listChanged: true },
            resources: { subscribe: true, listChanged: true },
            logging: {},
            extensions: { 'io.modelcontextprotocol/ui': {} },
          },
          serverInfo: SERVER_INFO,
          instructions: 'Be kind.',
        }),
      },
    ]);
  });

  test('names the newest legacy revision to an agent of an unknown one', () => {
    const asked = plain(0, 'initialize', { protocolVersion: '2030-01-01', capabilities: {} });
    expect(legacyAgent({}, asked).agent(asked)).toMatchObject([
      { message: { result: { protocolVersion: '2025-11-25' } } },
    ]);
  });
});

describe('requests of a legacy agent', () => {
  test('get the metadata of the era and keep their own', () => {
    const play = legacyAgent();
    const own = { progressToken: 3, 'io.modelcontextprotocol/protocolVersion': 'forged' };
    expect(play.agent(plain(5, 'tools/call', { ...CALL, task: {}, _meta: own }))).toEqual([
      {
        to: 'server',
        message: plain('t1-1', 'tools/call', {
          ...CALL,
          _meta: modernMeta({ progressToken: 3 }, ALL),
        }),
      },
    ]);
    expect(play.agent(plain(6, 'tools/list'))).toEqual([
      { to: 'server', message: plain('t1-2', 'tools/list', { _meta: modernMeta({}, ALL) }) },
    ]);
  });

  test('keep their arguments byte by byte, and so do results', () => {
    const play = legacyAgent();
    const args = '{"n":12345678901234567890.0, "ü":"\\u00fc"}';
    play.agent(
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":${args}}}`,
    );
    expect(play.lines.at(-1)).toContain(`"arguments":${args}`);
    const content = '[{"type":"text","text":"\\u0041", "n":1.10}]';
    play.server(
      `{"jsonrpc":"2.0","result":{"resultType":"complete","content":${content}},"id":"t1-1"}`,
    );
    expect(play.lines.at(-1)).toBe(`{"jsonrpc":"2.0","id":1,"result":{"content":${content}}}\n`);
  });

  test('`ping` is answered by the bridge', () => {
    expect(legacyAgent().agent(plain(5, 'ping'))).toEqual([
      { to: 'agent', about: '5', message: ok(5) },
    ]);
  });

  test('`logging/setLevel` sets the level of all later requests', () => {
    const play = legacyAgent();
    expect(play.agent(plain(5, 'logging/setLevel', { level: 'info' }))).toMatchObject([
      { to: 'agent', message: ok(5) },
    ]);
    expect(play.agent(plain(6, 'tools/list'))).toMatchObject([
      { message: { params: { _meta: { 'io.modelcontextprotocol/logLevel': 'info' } } } },
    ]);
    expect(play.agent(plain(7, 'logging/setLevel', { level: 'loud' }))).toMatchObject([
      { to: 'agent', message: { error: { code: -32602 } } },
    ]);
  });

  test('more than the limits allow are refused, until others have ended', () => {
    const play = legacyAgent({ heldCharsMax: 200 });
    const large = { name: 'x', arguments: { a: 'a'.repeat(50) } };
    expect(play.agent(plain(5, 'tools/call', large))).toMatchObject([{ to: 'server' }]);
    expect(play.agent(plain(6, 'tools/call', large))).toMatchObject([
      { to: 'agent', message: { id: 6, error: { code: -32603 } } },
    ]);
    play.server(whole('t1-1'));
    expect(play.agent(plain(7, 'tools/call', large))).toMatchObject([{ to: 'server' }]);
  });

  test('tasks are not offered', () => {
    expect(legacyAgent().agent(plain(5, 'tasks/list'))).toMatchObject([
      { to: 'agent', message: { id: 5, error: { code: -32601 } } },
    ]);
  });

  test('results lose what only the modern era knows', () => {
    const play = legacyAgent();
    play.agent(plain(5, 'tools/list'));
    const inputSchema = {
      type: 'object',
      properties: { a: true, b: false, c: { type: 'string' } },
    };
    const tools = [{ name: 'x', inputSchema, outputSchema: { type: 'array' } }];
    expect(play.server(whole('t1-1', { tools, ttlMs: 9, cacheScope: 'public' }))).toEqual([
      {
        to: 'agent',
        about: '5',
        message: ok(5, {
          tools: [
            {
              name: 'x',
              inputSchema: {
                type: 'object',
                properties: { a: {}, b: { not: {} }, c: { type: 'string' } },
              },
            },
          ],
        }),
      },
    ]);
    play.agent(plain(6, 'tools/call', CALL));
    expect(play.server(whole('t1-2', { content: [], structuredContent: [1] }))).toEqual([
      { to: 'agent', about: '6', message: ok(6, { content: [] }) },
    ]);
  });

  test('a missing resource has the code of its era', () => {
    const play = legacyAgent();
    play.agent(plain(5, 'resources/read', { uri: 'a:b' }));
    expect(play.server(bad('t1-1', -32602, { data: { uri: 'a:b' } }))).toEqual([
      { to: 'agent', about: '5', message: bad(5, -32002, { data: { uri: 'a:b' } }) },
    ]);
    play.agent(plain(6, 'resources/read', {}));
    expect(play.server(bad('t1-2', -32602))).toEqual([
      { to: 'agent', about: '6', message: bad(6, -32602) },
    ]);
  });

  test('a result of another kind is an error', () => {
    const play = legacyAgent();
    play.agent(plain(5, 'tools/call', CALL));
    expect(play.server(ok('t1-1', { resultType: 'task', taskId: 'T' }))).toMatchObject([
      { to: 'agent', message: { id: 5, error: { code: -32603 } } },
    ]);
  });

  test('a cancel reaches the server', () => {
    const play = legacyAgent();
    play.agent(plain(5, 'tools/call', CALL));
    expect(play.agent(say('notifications/cancelled', { requestId: 5, reason: 'r' }))).toMatchObject(
      [{ to: 'server', message: { params: { requestId: 't1-1', reason: 'r' } } }],
    );
    expect(play.server(whole('t1-1'))).toEqual([]);
  });

  test('notifications that the era does not know are swallowed', () => {
    const play = legacyAgent();
    expect(play.agent(say('notifications/roots/list_changed'))).toEqual([]);
    expect(play.agent(say('notifications/progress', { progressToken: 1, progress: 1 }))).toEqual(
      [],
    );
  });
});

describe('a modern server that needs input', () => {
  const inputRequests = {
    name: { method: 'elicitation/create', params: FORM },
    'a "b"': { method: 'sampling/createMessage', params: { messages: [], maxTokens: 5 } },
  };
  const required = (id: string, more: object = {}) =>
    ok(id, { resultType: 'input_required', inputRequests, requestState: 'S"1', ...more });

  function asked(limits = {}): BridgePlay {
    const play = legacyAgent(limits);
    play.agent(plain(5, 'tools/call', CALL));
    play.server(required('t1-1'));
    return play;
  }

  test('asks the agent, and the call is repeated with its answers and the exact state', () => {
    const play = legacyAgent();
    play.agent(plain(5, 'tools/call', { ...CALL, _meta: { progressToken: 3 } }));
    expect(play.server(required('t1-1'))).toEqual([
      { to: 'agent', about: '5', message: plain('sub-t2', 'elicitation/create', FORM) },
      {
        to: 'agent',
        about: '5',
        message: plain('sub-t3', 'sampling/createMessage', { messages: [], maxTokens: 5 }),
      },
    ]);
    expect(play.agent(ok('sub-t3', { role: 'assistant', n: 1 }))).toEqual([]);
    expect(play.agent(ok('sub-t2', { action: 'decline' }))).toEqual([
      {
        to: 'server',
        message: plain('t1-2', 'tools/call', {
          ...CALL,
          inputResponses: { name: { action: 'decline' }, 'a "b"': { role: 'assistant', n: 1 } },
          requestState: 'S"1',
          _meta: modernMeta({ progressToken: 3 }, ALL),
        }),
      },
    ]);
    expect(play.server(whole('t1-2', { content: [] }))).toEqual([
      { to: 'agent', about: '5', message: ok(5, { content: [] }) },
    ]);
  });

  test('what a server wants back, and what the agent answers, is kept within bounds', () => {
    const play = asked({ heldCharsMax: 1_000 });
    const long = 'x'.repeat(950);
    const ended = { to: 'agent', message: { id: 5, error: { code: -32603 } } };
    expect(play.agent(ok('sub-t2', { action: 'accept', content: { long } })).at(-1)).toMatchObject(
      ended,
    );
    play.agent(plain(5, 'tools/call', CALL));
    expect(play.server(required('t1-2', { requestState: long }))).toMatchObject([ended]);
    // Calls that are over take no room.
    for (const round of [3, 4, 5]) {
      play.agent(plain(5, 'tools/call', CALL));
      expect(play.server(required(`t1-${round}`))).toHaveLength(2);
      play.agent({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5 } });
    }
  });

  test('without a state, the next round has none', () => {
    const play = legacyAgent();
    play.agent(plain(5, 'tools/call', CALL));
    const one = { name: inputRequests.name };
    play.server(ok('t1-1', { resultType: 'input_required', inputRequests: one }));
    expect(play.agent(ok('sub-t2', { action: 'cancel' }))).toEqual([
      {
        to: 'server',
        message: plain('t1-2', 'tools/call', {
          ...CALL,
          inputResponses: { name: { action: 'cancel' } },
          _meta: modernMeta({}, ALL),
        }),
      },
    ]);
  });

  test('with nothing but a state, the next round comes after a pause', () => {
    const play = legacyAgent();
    play.agent(plain(5, 'tools/call', CALL));
    expect(play.server(ok('t1-1', { resultType: 'input_required', requestState: 'S' }))).toEqual(
      [],
    );
    expect(play.tick(999)).toEqual([]);
    expect(play.tick(1_000)).toMatchObject([
      { to: 'server', message: { id: 't1-2', params: { ...CALL, requestState: 'S' } } },
    ]);
    expect(play.tick(9_000)).toEqual([]);
  });

  test('an error of the agent ends the call, and the other questions are withdrawn', () => {
    const play = asked();
    expect(play.agent(bad('sub-t2', -32601))).toMatchObject([
      {
        to: 'agent',
        message: { method: 'notifications/cancelled', params: { requestId: 'sub-t3' } },
      },
      { to: 'agent', message: { id: 5, error: { code: -32603 } } },
    ]);
    expect(play.agent(ok('sub-t3', {}))).toEqual([]);
  });

  test('a cancel between two rounds withdraws the questions', () => {
    const play = asked();
    expect(play.agent(say('notifications/cancelled', { requestId: 5 }))).toMatchObject([
      { to: 'agent', message: { params: { requestId: 'sub-t2' } } },
      { to: 'agent', message: { params: { requestId: 'sub-t3' } } },
    ]);
  });

  test.each([
    ['an unknown kind', { x: { method: 'tools/call', params: {} } }],
    ['no object', { x: 5 }],
    ['a list', []],
  ])('a question of %s ends the call', (_, requests) => {
    const play = legacyAgent();
    play.agent(plain(5, 'tools/call', CALL));
    expect(play.server(required('t1-1', { inputRequests: requests }))).toMatchObject([
      { to: 'agent', message: { id: 5, error: {} } },
    ]);
  });

  test('what the agent can not do ends the call with a clear error', () => {
    const initialize = plain(0, 'initialize', {
      protocolVersion: '2025-06-18',
      capabilities: { elicitation: {} },
    });
    const play = legacyAgent({}, initialize);
    play.agent(plain(5, 'tools/call', CALL));
    expect(play.server(required('t1-1'))).toEqual([
      {
        to: 'agent',
        about: '5',
        message: {
          jsonrpc: '2.0',
          id: 5,
          error: { code: -32601, message: 'The client does not support sampling in this call.' },
        },
      },
    ]);
    play.agent(plain(6, 'tools/call', CALL));
    const { mode: _, ...form } = FORM;
    const one = { resultType: 'input_required', inputRequests: { name: inputRequests.name } };
    // The revision of the agent knows no modes.
    expect(play.server(ok('t1-2', one))).toEqual([
      { to: 'agent', about: '6', message: plain('sub-t2', 'elicitation/create', form) },
    ]);
  });

  test('a page to visit gets the id that the era demands', () => {
    const play = legacyAgent();
    play.agent(plain(5, 'tools/call', CALL));
    const params = { mode: 'url', url: 'https://a.example/', message: 'Log in' };
    const one = { a: { method: 'elicitation/create', params } };
    expect(play.server(required('t1-1', { inputRequests: one }))).toMatchObject([
      { message: { id: 'sub-t2', params: { ...params, elicitationId: 't3' } } },
    ]);
  });

  test('rounds are bounded', () => {
    const play = asked({ roundsMax: 2 });
    play.agent(ok('sub-t2', {}));
    play.agent(ok('sub-t3', {}));
    expect(play.server(required('t1-2'))).toMatchObject([{ message: { id: 5, error: {} } }]);
  });

  test('only calls, prompts and resources take input', () => {
    const play = legacyAgent();
    play.agent(plain(5, 'tools/list'));
    expect(play.server(required('t1-1'))).toMatchObject([{ message: { id: 5, error: {} } }]);
  });
});

describe('notifications of a modern server', () => {
  const tag = (id: unknown) => ({ _meta: { 'io.modelcontextprotocol/subscriptionId': id } });
  const acknowledged = (id: string, notifications: object) =>
    say('notifications/subscriptions/acknowledged', { ...tag(id), notifications });

  test('lists are listened to after the handshake', () => {
    const play = legacyAgent();
    play.agent(INITIALIZE);
    const notifications = { toolsListChanged: true, resourcesListChanged: true };
    expect(play.agent(say('notifications/initialized'))).toEqual([
      {
        to: 'server',
        message: plain('t1-1', 'subscriptions/listen', {
          _meta: modernMeta({}, ALL),
          notifications,
        }),
      },
    ]);
    expect(play.server(acknowledged('t1-1', notifications))).toEqual([]);
    expect(play.server(say('notifications/tools/list_changed', tag('t1-1')))).toEqual([
      { to: 'agent', message: say('notifications/tools/list_changed') },
    ]);
    expect(play.server(say('notifications/tools/list_changed', tag('other')))).toEqual([]);
  });

  test('a listen request that ends is made again, later and later', () => {
    const play = legacyAgent();
    play.agent(say('notifications/initialized'));
    expect(play.server(bad('t1-1', -32603))).toEqual([]);
    expect(play.tick(999)).toEqual([]);
    expect(play.tick(1_000)).toMatchObject([{ message: { id: 't1-2' } }]);
    play.server(say('notifications/cancelled', { requestId: 't1-2' }), undefined, 1_000);
    expect(play.tick(2_999)).toEqual([]);
    expect(play.tick(3_000)).toMatchObject([{ message: { id: 't1-3' } }]);
    play.server(bad('t1-3', -32601), undefined, 3_000);
    expect(play.tick(100_000)).toEqual([]);
  });

  test('a subscription to a resource is one listen request', () => {
    const play = legacyAgent();
    expect(play.agent(plain(5, 'resources/subscribe', { uri: 'a:1' }))).toMatchObject([
      { to: 'server', message: { params: { notifications: { resourceSubscriptions: ['a:1'] } } } },
    ]);
    expect(play.agent(plain(6, 'resources/subscribe', { uri: 'a:1' }))).toEqual([]);
    expect(play.server(acknowledged('t1-1', { resourceSubscriptions: ['a:1'] }))).toEqual([
      { to: 'agent', about: '5', message: ok(5) },
      { to: 'agent', about: '6', message: ok(6) },
    ]);
    expect(
      play.server(say('notifications/resources/updated', { uri: 'a:1', ...tag('t1-1') })),
    ).toEqual([{ to: 'agent', message: say('notifications/resources/updated', { uri: 'a:1' }) }]);
    expect(play.agent(plain(7, 'resources/unsubscribe', { uri: 'a:1' }))).toMatchObject([
      {
        to: 'server',
        message: { method: 'notifications/cancelled', params: { requestId: 't1-1' } },
      },
      { to: 'agent', message: ok(7) },
    ]);
  });

  test.each([
    ['refuses', bad('t1-1', -32602)],
    ['leaves out', acknowledged('t1-1', {})],
  ])('a subscription that the server %s fails', (_, answer) => {
    const play = legacyAgent();
    play.agent(plain(5, 'resources/subscribe', { uri: 'a:1' }));
    expect(play.server(answer).at(-1)).toMatchObject({
      to: 'agent',
      message: { id: 5, error: {} },
    });
  });

  test('progress and messages go to the request on whose stream they came', () => {
    const play = legacyAgent();
    play.agent(plain(5, 'tools/call', CALL));
    const progress = say('notifications/progress', { progressToken: 3, progress: 1 });
    expect(play.server(progress, '"t1-1"')).toEqual([
      { to: 'agent', about: '5', message: progress },
    ]);
    expect(play.server(progress)).toEqual([{ to: 'agent', message: progress }]);
  });

  test('a request of the server is dropped: its era has none', () => {
    const play = legacyAgent();
    expect(play.server(plain(9, 'sampling/createMessage', {}))).toEqual([]);
    expect(play.notes).toHaveLength(1);
  });
});
