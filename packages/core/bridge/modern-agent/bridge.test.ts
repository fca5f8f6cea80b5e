import { describe, expect, test } from 'vitest';
import {
  ask,
  bad,
  bridgeConfig,
  LEGACY_RESULT,
  modernAgent,
  modernMeta,
  ok,
  plain,
  playWith,
  SERVER_INFO,
  say,
  whole,
} from '../testing/bridge-play.ts';
import { ModernAgentBridge } from './bridge.ts';

const META = { 'io.modelcontextprotocol/serverInfo': SERVER_INFO };

describe('the handshake for a modern agent', () => {
  test('the first request makes one, with what its metadata says of the agent', () => {
    const play = playWith(new ModernAgentBridge(bridgeConfig()));
    expect(play.agent(ask(7, 'tools/list'))).toEqual([
      {
        to: 'server',
        message: {
          jsonrpc: '2.0',
          id: 't1-1',
          method: 'initialize',
          params: {
            protocolVersion: '2025-11-25',
            capabilities: { sampling: {}, elicitation: { form: {}, url: {} }, roots: {} },
            clientInfo: { name: 'cli', version: '1' },
          },
        },
      },
    ]);
    expect(play.agent(ask(8, 'prompts/list'))).toEqual([]);
    expect(play.server(ok('t1-1', LEGACY_RESULT))).toEqual([
      { to: 'server', message: say('notifications/initialized') },
      { to: 'server', message: { jsonrpc: '2.0', id: 't1-2', method: 'tools/list', params: {} } },
      { to: 'server', message: { jsonrpc: '2.0', id: 't1-3', method: 'prompts/list', params: {} } },
    ]);
  });

  test('a failed one fails the requests that wait for it, and the next request tries again', () => {
    const play = playWith(new ModernAgentBridge(bridgeConfig()));
    play.agent(ask(7, 'tools/list'));
    expect(play.server(bad('t1-1', -32603))).toEqual([
      { to: 'agent', about: '7', message: bad(7, -32603) },
    ]);
    expect(play.agent(ask(8, 'tools/list'))).toMatchObject([{ message: { method: 'initialize' } }]);
  });

  test('a server of an unknown revision is refused', () => {
    const play = playWith(new ModernAgentBridge(bridgeConfig()));
    play.agent(ask(7, 'tools/list'));
    const written = play.server(ok('t1-1', { ...LEGACY_RESULT, protocolVersion: '2099-01-01' }));
    expect(written).toMatchObject([{ to: 'agent', message: { id: 7, error: { code: -32603 } } }]);
  });

  test('a request that is cancelled before its end never reaches the server', () => {
    const play = playWith(new ModernAgentBridge(bridgeConfig()));
    play.agent(ask(7, 'tools/list'));
    play.agent(say('notifications/cancelled', { requestId: 7 }));
    expect(play.server(ok('t1-1', LEGACY_RESULT))).toEqual([
      { to: 'server', message: say('notifications/initialized') },
    ]);
  });

  test('`server/discover` is answered with what the server said of itself, without tasks', () => {
    const play = playWith(new ModernAgentBridge(bridgeConfig()));
    play.agent(ask('d', 'server/discover'));
    const capabilities = { ...LEGACY_RESULT.capabilities, tasks: { list: {} } };
    expect(play.server(ok('t1-1', { ...LEGACY_RESULT, capabilities })).at(-1)).toEqual({
      to: 'agent',
      about: '"d"',
      message: ok('d', {
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities: LEGACY_RESULT.capabilities,
        instructions: 'Be kind.',
        ttlMs: 0,
        cacheScope: 'private',
        _meta: META,
      }),
    });
  });
});

describe('requests of a modern agent', () => {
  test('lose the metadata of the era and keep everything else', () => {
    const play = modernAgent();
    const meta = modernMeta({ progressToken: 'p', traceparent: '00-1-2-03' });
    expect(play.agent(ask(1, 'tools/call', { name: 'x', arguments: { a: 1 } }, meta))).toEqual([
      {
        to: 'server',
        message: {
          jsonrpc: '2.0',
          id: 't1-2',
          method: 'tools/call',
          params: {
            name: 'x',
            arguments: { a: 1 },
            _meta: { progressToken: 'p', traceparent: '00-1-2-03' },
          },
        },
      },
    ]);
  });

  test('keep their arguments byte by byte, and so do results', () => {
    const play = modernAgent();
    const meta = JSON.stringify(modernMeta());
    const args = '{"n":12345678901234567890.0, "ü":"\\u00fc", "a":1e400}';
    play.agent(
      `{"method":"tools/call","params":{"_meta":${meta},"name":"x","arguments":${args}},"id":1,"jsonrpc":"2.0"}`,
    );
    expect(play.lines.at(-1)).toContain(`"arguments":${args}`);
    const content = '[{"type":"text","text":"\\u0041", "n":1.10}]';
    play.server(`{"jsonrpc":"2.0","result":{"content":${content},"x":1E5},"id":"t1-2"}`);
    expect(play.lines.at(-1)).toContain(`"content":${content},"x":1E5`);
  });

  test.each([
    ['initialize'],
    ['ping'],
    ['logging/setLevel'],
    ['resources/subscribe'],
    ['tasks/get'],
  ])('%s is not part of the era', (method) => {
    expect(modernAgent().agent(ask(1, method))).toMatchObject([
      { to: 'agent', message: { id: 1, error: { code: -32601 } } },
    ]);
  });

  test('another modern revision is refused with the one that is supported', () => {
    const meta = { ...modernMeta(), 'io.modelcontextprotocol/protocolVersion': '2027-01-01' };
    expect(modernAgent().agent(ask(1, 'tools/list', {}, meta))).toMatchObject([
      {
        message: {
          error: { code: -32022, data: { supported: ['2026-07-28'], requested: '2027-01-01' } },
        },
      },
    ]);
  });

  test.each([
    [{}],
    [{ 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }],
    [modernMeta({ 'io.modelcontextprotocol/logLevel': 'loud' })],
  ])('bad metadata is refused: %j', (meta) => {
    expect(modernAgent().agent(ask(1, 'tools/list', {}, meta))).toMatchObject([
      { to: 'agent', message: { id: 1, error: { code: -32602 } } },
    ]);
  });

  test('results get what the era demands, whatever the server wrote there', () => {
    const play = modernAgent();
    play.agent(ask(1, 'tools/list'));
    play.agent(ask(2, 'tools/call', { name: 'x' }));
    const tools = { tools: [], nextCursor: 'c', resultType: 'input_required', ttlMs: 99 };
    expect(play.server(ok('t1-2', tools))).toEqual([
      {
        to: 'agent',
        about: '1',
        message: whole(1, { tools: [], nextCursor: 'c', ttlMs: 0, cacheScope: 'private' }),
      },
    ]);
    expect(play.server(ok('t1-3', { content: [], _meta: { k: 1 } }))).toEqual([
      {
        to: 'agent',
        about: '2',
        message: ok(2, { content: [], _meta: { k: 1, ...META }, resultType: 'complete' }),
      },
    ]);
  });

  test.each([
    [-32002, -32602],
    [-32042, -32603],
    [-32022, -32603],
    [-32050, -32603],
    [-32601, -32601],
    [-32000, -32000],
    [-1, -1],
  ])('the error %i of the server becomes %i', (code, expected) => {
    const play = modernAgent();
    play.agent(ask(1, 'resources/read', { uri: 'a:b' }));
    expect(play.server(bad('t1-2', code, { data: { uri: 'a:b' } }))).toEqual([
      { to: 'agent', about: '1', message: bad(1, expected, { data: { uri: 'a:b' } }) },
    ]);
  });

  test('a cancelled one is cancelled at the server, and its late answer is dropped', () => {
    const play = modernAgent();
    play.agent(ask(1, 'tools/call', { name: 'x' }));
    expect(play.agent(say('notifications/cancelled', { requestId: 1, reason: 'r' }))).toEqual([
      { to: 'server', message: say('notifications/cancelled', { requestId: 't1-2', reason: 'r' }) },
    ]);
    expect(play.server(ok('t1-2'))).toEqual([]);
    expect(play.notes).toHaveLength(1);
  });

  test('an answer with an id that only the agent knows reaches nobody', () => {
    const play = modernAgent();
    play.agent(ask(1, 'tools/call', { name: 'x' }));
    expect(play.server(ok(1, { content: [] }))).toEqual([]);
  });
});

describe('notifications of a legacy server', () => {
  test('progress goes to the request of its token, and only while that is open', () => {
    const play = modernAgent();
    play.agent(ask(1, 'tools/call', { name: 'x' }, modernMeta({ progressToken: 5 })));
    const progress = say('notifications/progress', { progressToken: 5, progress: 1 });
    expect(play.server(progress)).toEqual([{ to: 'agent', about: '1', message: progress }]);
    expect(play.server(say('notifications/progress', { progressToken: '5', progress: 1 }))).toEqual(
      [],
    );
    play.server(ok('t1-2'));
    expect(play.server(progress)).toEqual([]);
  });

  test('messages go to requests that want them, and set the level of the server', () => {
    const play = modernAgent();
    const level = { 'io.modelcontextprotocol/logLevel': 'warning' };
    play.agent(ask(1, 'tools/call', { name: 'x' }));
    const said = say('notifications/message', { level: 'error', data: 'd' });
    expect(play.server(said)).toEqual([]);
    expect(play.agent(ask(2, 'tools/call', { name: 'y' }, modernMeta(level)))).toMatchObject([
      { to: 'server', message: { method: 'logging/setLevel', params: { level: 'warning' } } },
      { to: 'server', message: { method: 'tools/call' } },
    ]);
    expect(play.server(said)).toEqual([{ to: 'agent', about: '2', message: said }]);
    expect(play.server(say('notifications/message', { level: 'info', data: 'd' }))).toEqual([]);
    // On the stream of a request that wants none.
    expect(play.server(said, '"t1-2"')).toEqual([]);
  });

  test('pings are answered, and unknown requests refused', () => {
    const play = modernAgent();
    expect(play.server({ jsonrpc: '2.0', id: 9, method: 'ping' })).toEqual([
      { to: 'server', message: ok(9) },
    ]);
    expect(play.server({ jsonrpc: '2.0', id: 9, method: 'x/y' })).toMatchObject([
      { to: 'server', message: { id: 9, error: { code: -32601 } } },
    ]);
  });
});

describe('subscriptions of a modern agent', () => {
  const tag = (id: unknown) => ({ _meta: { 'io.modelcontextprotocol/subscriptionId': id } });
  const ACK = 'notifications/subscriptions/acknowledged';
  const changed = say('notifications/tools/list_changed');

  test('lists: acknowledged with what the server can do, tagged, ended by a cancel', () => {
    const play = modernAgent();
    const notifications = { toolsListChanged: true, promptsListChanged: true };
    expect(play.agent(ask(1, 'subscriptions/listen', { notifications }))).toEqual([
      {
        to: 'agent',
        about: '1',
        message: say(ACK, { ...tag(1), notifications: { toolsListChanged: true } }),
      },
    ]);
    expect(play.server(changed)).toEqual([
      { to: 'agent', about: '1', message: { ...changed, params: tag(1) } },
    ]);
    expect(play.server(say('notifications/resources/list_changed'))).toEqual([]);
    expect(play.agent(say('notifications/cancelled', { requestId: 1 }))).toEqual([]);
    expect(play.server(changed)).toEqual([]);
  });

  test('resources: subscribed once for all, acknowledged when the server has agreed', () => {
    const play = modernAgent();
    const notifications = { resourceSubscriptions: ['a:1', 'a:2', 'a:1'], toolsListChanged: true };
    expect(play.agent(ask('L', 'subscriptions/listen', { notifications }))).toMatchObject([
      {
        to: 'server',
        message: { id: 't1-2', method: 'resources/subscribe', params: { uri: 'a:1' } },
      },
      {
        to: 'server',
        message: { id: 't1-3', method: 'resources/subscribe', params: { uri: 'a:2' } },
      },
    ]);
    // Nothing may come before the acknowledgment.
    expect(play.server(changed)).toEqual([]);
    expect(play.server(ok('t1-2'))).toEqual([]);
    expect(play.server(bad('t1-3', -32602))).toEqual([
      {
        to: 'agent',
        about: '"L"',
        message: say(ACK, {
          ...tag('L'),
          notifications: { toolsListChanged: true, resourceSubscriptions: ['a:1'] },
        }),
      },
      { to: 'agent', about: '"L"', message: { ...changed, params: tag('L') } },
    ]);
    const updated = say('notifications/resources/updated', { uri: 'a:1' });
    expect(play.server(updated)).toEqual([
      {
        to: 'agent',
        about: '"L"',
        message: say('notifications/resources/updated', { uri: 'a:1', ...tag('L') }),
      },
    ]);
    expect(play.server(say('notifications/resources/updated', { uri: 'a:2' }))).toEqual([]);
    const second = ask('M', 'subscriptions/listen', {
      notifications: { resourceSubscriptions: ['a:1'] },
    });
    expect(play.agent(second)).toMatchObject([{ to: 'agent', message: { method: ACK } }]);
    expect(play.agent(say('notifications/cancelled', { requestId: 'L' }))).toEqual([]);
    expect(play.agent(say('notifications/cancelled', { requestId: 'M' }))).toMatchObject([
      { to: 'server', message: { method: 'resources/unsubscribe', params: { uri: 'a:1' } } },
    ]);
  });

  test('too many are refused, and so is one without a filter', () => {
    const play = modernAgent({ subscriptionsMax: 1 });
    play.agent(ask(1, 'subscriptions/listen', { notifications: {} }));
    expect(play.agent(ask(2, 'subscriptions/listen', { notifications: {} }))).toMatchObject([
      { to: 'agent', message: { id: 2, error: { code: -32603 } } },
    ]);
    expect(play.agent(ask(3, 'subscriptions/listen'))).toMatchObject([
      { to: 'agent', message: { id: 3, error: { code: -32602 } } },
    ]);
  });
});

describe('tools that only run as tasks', () => {
  test('their calls wait for the result of the task', () => {
    const play = modernAgent();
    play.agent(ask(1, 'tools/list'));
    play.server(ok('t1-2', { tools: [{ name: 'slow', execution: { taskSupport: 'required' } }] }));
    expect(play.agent(ask(2, 'tools/call', { name: 'slow' }))).toMatchObject([
      { to: 'server', message: { id: 't1-3', params: { name: 'slow', task: {} } } },
    ]);
    expect(play.server(ok('t1-3', { task: { taskId: 'T', status: 'working' } }))).toMatchObject([
      { to: 'server', message: { id: 't1-4', method: 'tasks/result', params: { taskId: 'T' } } },
    ]);
    expect(play.server(ok('t1-4', { content: [] }))).toEqual([
      { to: 'agent', about: '2', message: whole(2, { content: [] }) },
    ]);
  });

  test('a cancelled one cancels its task', () => {
    const play = modernAgent();
    play.agent(ask(1, 'tools/list'));
    play.server(ok('t1-2', { tools: [{ name: 'slow', execution: { taskSupport: 'required' } }] }));
    play.agent(ask(2, 'tools/call', { name: 'slow' }));
    play.server(ok('t1-3', { task: { taskId: 'T', status: 'working' } }));
    expect(play.agent(say('notifications/cancelled', { requestId: 2 }))).toMatchObject([
      { to: 'server', message: { method: 'tasks/cancel', params: { taskId: 'T' } } },
    ]);
  });

  test('one whose agent does not come back with input cancels its task', () => {
    const play = modernAgent({ inputMs: 100 });
    play.agent(ask(1, 'tools/list'));
    play.server(ok('t1-2', { tools: [{ name: 'slow', execution: { taskSupport: 'required' } }] }));
    play.agent(ask(2, 'tools/call', { name: 'slow' }));
    play.server(ok('t1-3', { task: { taskId: 'T', status: 'working' } }));
    const params = { message: 'Name?', requestedSchema: { type: 'object', properties: {} } };
    play.server(plain(40, 'elicitation/create', params));
    expect(play.tick(100)).toMatchObject([
      { to: 'server', message: { id: 40, result: { action: 'cancel' } } },
      { to: 'server', message: { method: 'tasks/cancel', params: { taskId: 'T' } } },
    ]);
  });
});
