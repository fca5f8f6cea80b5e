import type { ServerResponse } from 'node:http';
import { describe, expect, test, vi } from 'vitest';
import { verifies } from '../../../../../test/requirements.ts';
import {
  answer,
  data,
  driven,
  INITIALIZE,
  INITIALIZED,
  json,
  legacy,
  MODERN,
  scriptedServer,
  sse,
} from './testing/driven-server.ts';

const PATIENT = { timeout: 8_000, interval: 5 };

async function opened(act: Parameters<typeof legacy>[0], options = {}) {
  const server = await scriptedServer(legacy(act, options));
  const peer = driven(server.url);
  peer.write(INITIALIZE);
  await peer.answerTo(0);
  peer.write(INITIALIZED);
  return { ...server, ...peer };
}

describe('a legacy session', () => {
  test('carries its id and version from the handshake on, and is ended by a DELETE', async () => {
    const peer = await opened(({ message }, response) => json(response, answer(message.id)));
    peer.write({ id: 1, method: 'tools/list' });
    await peer.answerTo(1);
    await peer.end.close();
    const [first, ...others] = peer.calls;
    expect(first?.headers['mcp-session-id']).toBe(undefined);
    expect(first?.headers.accept).toBe('application/json, text/event-stream');
    expect(others.map(({ method }) => method)).toEqual(
      expect.arrayContaining(['DELETE', 'GET', 'POST']),
    );
    expect(others).toHaveLength(4);
    for (const { headers } of others) {
      expect(headers['mcp-session-id']).toBe('session-1');
      expect(headers['mcp-protocol-version']).toBe('2025-11-25');
    }
  });

  test('begins also after a request of the modern era, which the server has refused', async () => {
    const server = await scriptedServer(
      legacy(({ message }, response) => json(response, answer(message.id))),
    );
    const peer = driven(server.url);
    peer.write({ id: 7, method: 'server/discover', params: { _meta: MODERN } });
    await peer.answerTo(7);
    peer.write(INITIALIZE);
    await peer.answerTo(0);
    peer.write(INITIALIZED);
    peer.write({ id: 1, method: 'tools/list' });
    await peer.answerTo(1);
    const list = server.calls.find(({ message }) => message.method === 'tools/list');
    expect(list?.headers['mcp-session-id']).toBe('session-1');
    expect(list?.headers['mcp-protocol-version']).toBe('2025-11-25');
    expect(list?.headers['mcp-method']).toBeUndefined();
  });

  test('has its notification of readiness taken before the first request is sent', async () => {
    const order: string[] = [];
    const act = legacy(({ message }, response) => json(response, answer(message.id)));
    const server = await scriptedServer((call, response, request) => {
      if (call.message.method !== 'notifications/initialized') {
        order.push(call.message.method ?? call.method ?? '');
        return act(call, response, request);
      }
      return setImmediate(() => {
        order.push('notifications/initialized');
        act(call, response, request);
      });
    });
    const peer = driven(server.url);
    peer.write(INITIALIZE);
    await peer.answerTo(0);
    peer.write(INITIALIZED);
    peer.write({ id: 1, method: 'tools/list' });
    await peer.answerTo(1);
    expect(order.filter((one) => one !== 'GET')).toEqual([
      'initialize',
      'notifications/initialized',
      'tools/list',
    ]);
  });

  test('gets messages of a stream with the request that they belong to', async () => {
    const peer = await opened(({ message }, response) => {
      const progress = { jsonrpc: '2.0', method: 'notifications/progress', params: {} };
      sse(response, ': hello', data(progress), data(answer(message.id, { ok: true }))).end();
    });
    peer.write({ id: 'a', method: 'tools/call' });
    expect(await peer.answerTo('a')).toMatchObject({ result: { ok: true } });
    expect(peer.messages.map(({ method }) => method)).toEqual([
      undefined,
      'notifications/progress',
      undefined,
    ]);
    expect(peer.abouts).toEqual(['0', '"a"', '"a"']);
  });

  test('listens to the messages that belong to no request', async () => {
    const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
    const peer = await opened(
      ({ method }, response) => method === 'GET' && sse(response, `id: 1\n${data(changed)}`),
      { hasStream: true },
    );
    await vi.waitFor(() => expect(peer.messages).toContainEqual(changed), PATIENT);
  });

  test('resumes a stream that was cut, at its last event, after the time that the server gave', async () => {
    const peer = await opened(({ message, headers }, response) => {
      if (headers['last-event-id'] === undefined) {
        return sse(response, 'id: e1\nretry: 1\ndata:', 'id: e2\ndata:').end();
      }
      expect(headers['last-event-id']).toBe('e2');
      expect(headers['mcp-session-id']).toBe('session-1');
      return sse(response, `id: e3\n${data(answer(message.id ?? 1))}`).end();
    });
    peer.write({ id: 1, method: 'tools/call' });
    expect(await peer.answerTo(1)).toMatchObject({ result: {} });
    const posts = peer.calls.filter(({ message }) => message.method === 'tools/call');
    expect(posts).toHaveLength(1);
  });

  test('answers a request whose stream is cut for good, and sends it never twice', async () => {
    const peer = await opened((_, response) =>
      sse(response).write(': begun\n\n', () => response.destroy()),
    );
    peer.write({ id: 1, method: 'tools/call' });
    const { error } = await peer.answerTo(1);
    expect(error?.message).toContain('broke off before it answered');
    expect(peer.calls.filter(({ message }) => message.method === 'tools/call')).toHaveLength(1);
  });

  test('is begun again to its end before anything else is sent in it', async () => {
    let refuseSecond: () => void = () => {};
    let handshakes = 0;
    let isBegun = false;
    const sentEarly: unknown[] = [];
    const base = legacy(({ message, headers }, response) => {
      const isOld = headers['mcp-session-id'] === 'session-1';
      if (!isOld && !isBegun) sentEarly.push(message.id);
      if (!isOld) return json(response, answer(message.id));
      if (message.id === 1) return response.writeHead(404).end();
      refuseSecond = () => response.writeHead(404).end();
      return undefined;
    });
    const server = await scriptedServer(async (seen, response, request) => {
      const isHandshake = seen.message.method === INITIALIZED.method && ++handshakes === 2;
      if (!isHandshake) return base(seen, response, request);
      refuseSecond();
      // What would be sent too early has come by then.
      for (let turn = 0; turn < 5; turn++) await fetch(server.url).then((one) => one.text());
      isBegun = true;
      return response.writeHead(202).end();
    });
    const peer = driven(server.url);
    peer.write(INITIALIZE);
    await peer.answerTo(0);
    peer.write(INITIALIZED);
    peer.write({ id: 2, method: 'tools/list' });
    await vi.waitFor(() => expect(server.calls.map(({ message }) => message.id)).toContain(2));
    peer.write({ id: 1, method: 'tools/list' });
    for (const id of [1, 2]) expect(await peer.answerTo(id)).toMatchObject({ result: {} });
    expect(sentEarly).toEqual([]);
  });

  test('begins again when the server has lost it, and sends what was refused once more', async () => {
    verifies('ST-8.8');
    const peer = await opened(({ message, headers }, response) => {
      const isKnown = headers['mcp-session-id'] === 'session-2';
      if (isKnown) return json(response, answer(message.id, { ok: true }));
      return json(
        response,
        { jsonrpc: '2.0', id: null, error: { code: -32001, message: 'x' } },
        404,
      );
    });
    peer.write({ id: 1, method: 'tools/call' });
    peer.write({ id: 2, method: 'tools/call' });
    expect(await peer.answerTo(1)).toMatchObject({ result: { ok: true } });
    expect(await peer.answerTo(2)).toMatchObject({ result: { ok: true } });
    const methods = peer.calls.flatMap(({ message }) => message.method ?? []);
    expect(methods.filter((one) => one === 'initialize')).toHaveLength(2);
    expect(methods.filter((one) => one === 'notifications/initialized')).toHaveLength(2);
    // The agent has asked for one handshake, and sees one.
    expect(peer.messages.filter(({ id }) => id === 0)).toHaveLength(1);
    expect(peer.warnings.join()).toContain('has lost the session');
  });

  test('begins again once where the server loses each session before its stream is open', async () => {
    const act = legacy((_, response) => response.writeHead(404).end(), { hasStream: true });
    const server = await scriptedServer(act);
    const peer = driven(server.url);
    peer.write(INITIALIZE);
    await peer.answerTo(0);
    peer.write(INITIALIZED);
    const streams = () => server.calls.filter(({ method }) => method === 'GET').length;
    await vi.waitFor(() => expect(streams()).toBe(2), PATIENT);
    // Nothing else comes of the last refusal: what is written behind it is the next that the server hears.
    const { length } = server.calls;
    peer.write({ method: 'notifications/roots/list_changed' });
    await vi.waitFor(() => expect(server.calls.length).toBeGreaterThan(length), PATIENT);
    const behind = server.calls.slice(length).map(({ message }) => message.method);
    expect(behind).toEqual(['notifications/roots/list_changed']);
  });

  test('has its subscriptions and its log level again in the session that takes its place', async () => {
    let current = 'session-1';
    const peer = await opened(({ message, headers }, response) => {
      const isKnown = headers['mcp-session-id'] === current;
      return isKnown
        ? json(response, answer(message.id, {}))
        : json(response, { jsonrpc: '2.0', id: null, error: { code: -32001, message: 'x' } }, 404);
    });
    const ask = async (id: number, method: string, params: object) => {
      peer.write({ id, method, params });
      await peer.answerTo(id);
    };
    for (const [at, uri] of ['a://1', 'a://2', 'a://3'].entries()) {
      await ask(at + 1, 'resources/subscribe', { uri, _meta: { progressToken: at } });
    }
    await ask(4, 'resources/unsubscribe', { uri: 'a://2' });
    await ask(5, 'logging/setLevel', { level: 'debug' });
    const before = peer.calls.length;
    current = 'session-2';
    await ask(6, 'tools/list', {});
    const set = () =>
      peer.calls.slice(before).flatMap(({ headers, message: { method = '', params } }) => {
        const isSet = /subscribe|setLevel/.test(method);
        return isSet && headers['mcp-session-id'] === current ? [[method, params]] : [];
      });
    await vi.waitFor(() => expect(set()).toHaveLength(3), PATIENT);
    expect(set()).toEqual([
      ['logging/setLevel', { level: 'debug' }],
      ['resources/subscribe', { uri: 'a://1' }],
      ['resources/subscribe', { uri: 'a://3' }],
    ]);
    await ask(7, 'tools/list', {});
    // The agent has not asked for these, and hears nothing of them.
    expect(peer.messages.map(({ id }) => id)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  test('cancels by a message, and leaves the stream open', async () => {
    let cancelled: (value: unknown) => void = () => {};
    const told = new Promise((resolve) => {
      cancelled = resolve;
    });
    const act = legacy((_, response) => sse(response, ': begun'));
    const server = await scriptedServer((call, response, request) => {
      if (call.message.method === 'notifications/cancelled') cancelled(call.message.params);
      return act(call, response, request);
    });
    const peer = driven(server.url);
    peer.write(INITIALIZE);
    await peer.answerTo(0);
    peer.write({ id: 1, method: 'tools/call' });
    await vi.waitFor(() => expect(server.calls).toHaveLength(2), PATIENT);
    peer.write({ method: 'notifications/cancelled', params: { requestId: 1 } });
    expect(await told).toEqual({ requestId: 1 });
  });
});

describe('a server that fails', () => {
  test.each([
    [401, 'sub auth login remote'],
    [403, 'forbids'],
    [404, 'correct the URL'],
    [429, 'too many requests'],
    [500, 'try again later'],
    [302, 'redirects to other origins are not followed'],
  ])('with %i answers each request with an error that says what to do', async (status, words) => {
    const server = await scriptedServer((_, response) => response.writeHead(status).end('<html>'));
    const peer = driven(server.url, { transport: 'http' });
    peer.write({ id: 1, method: 'initialize' });
    const { error } = await peer.answerTo(1);
    expect(error).toMatchObject({ code: -32603, data: { http_status: status } });
    expect(error?.message).toContain(words);
  });

  test('has its own JSON-RPC error passed on, with the id of the request', async () => {
    const error = { code: -32022, message: 'Unsupported', data: { supported: ['2026-07-28'] } };
    const server = await scriptedServer((_, response) =>
      json(response, { jsonrpc: '2.0', id: null, error }, 400),
    );
    const peer = driven(server.url);
    peer.write({ id: 7, method: 'server/discover', params: { _meta: MODERN } });
    expect(await peer.answerTo(7)).toEqual({ jsonrpc: '2.0', id: 7, error });
  });

  test('is asked again by the next request', async () => {
    const server = await scriptedServer((_, response) => response.destroy());
    const peer = driven(server.url);
    peer.write({ id: 1, method: 'initialize' });
    expect((await peer.answerTo(1)).error?.message).toContain('does not answer');
    server.script.act = ({ message }, response) => json(response, answer(message.id));
    peer.write({ id: 2, method: 'initialize' });
    expect(await peer.answerTo(2)).toMatchObject({ result: {} });
  });

  test.each([
    ['something that is no answer', { jsonrpc: '2.0', method: 'x' }],
    ['the answer to another request', answer(99)],
  ])('by %s leaves no request without an answer', async (_, body) => {
    const server = await scriptedServer((_call, response) => json(response, body));
    const peer = driven(server.url);
    peer.write({ id: 1, method: 'initialize' });
    expect((await peer.answerTo(1)).error?.message).toContain('no answer to the request');
  });
});

describe('a redirect', () => {
  test('within the origin is followed with method, body and headers', async () => {
    const server = await scriptedServer(({ message }, response, { url }) => {
      if (url === '/mcp') return response.writeHead(307, { location: '/moved' }).end();
      return json(response, answer(message.id, { at: url }));
    });
    const peer = driven(server.url, { headers: [['X-Key', 'k']] });
    peer.write({ id: 1, method: 'initialize' });
    expect(await peer.answerTo(1)).toMatchObject({ result: { at: '/moved' } });
    expect(server.calls.map(({ headers }) => headers['x-key'])).toEqual(['k', 'k']);
  });

  test('to another origin gets nothing, not even the request', async () => {
    const other = await scriptedServer((_, response) => response.end());
    const server = await scriptedServer((_, response) =>
      response.writeHead(307, { location: other.url }).end(),
    );
    const peer = driven(server.url, { headers: [['Authorization', 'Bearer secret']] });
    peer.write({ id: 1, method: 'initialize' });
    expect((await peer.answerTo(1)).error?.message).toContain('has moved');
    expect(other.calls).toEqual([]);
  });
});

describe('a modern request', () => {
  const call = (id: number, args: object = {}) => ({
    id,
    method: 'tools/call',
    params: { name: 'wörk', arguments: args, _meta: MODERN },
  });

  test('has the headers that mirror it, and no session', async () => {
    const server = await scriptedServer(({ message }, response) =>
      json(response, answer(message.id), 200, { 'mcp-session-id': 'ignored' }),
    );
    const peer = driven(server.url);
    peer.write(call(1));
    await peer.answerTo(1);
    peer.write({ id: 2, method: 'tools/list', params: { _meta: MODERN } });
    await peer.answerTo(2);
    await peer.end.close();
    expect(server.calls.map(({ method }) => method)).toEqual(['POST', 'POST']);
    expect(server.calls[0]?.headers).toMatchObject({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': '=?base64?d8O2cms=?=',
    });
    expect(server.calls[1]?.headers['mcp-session-id']).toBe(undefined);
  });

  test('mirrors parameters that the list of tools marks, and leaves out tools that break the rules', async () => {
    const schema = (mark: unknown) => ({
      type: 'object',
      properties: { region: { type: 'string', 'x-mcp-header': mark } },
    });
    const tools = [
      { name: 'wörk', inputSchema: schema('Region') },
      { name: 'bad', inputSchema: schema('no header') },
    ];
    const server = await scriptedServer(({ message }, response) =>
      json(response, answer(message.id, message.method === 'tools/list' ? { tools } : {})),
    );
    const peer = driven(server.url);
    peer.write({ id: 1, method: 'tools/list', params: { _meta: MODERN } });
    const { result } = await peer.answerTo(1);
    expect(result?.['tools']).toEqual([tools[0]]);
    expect(peer.warnings).toHaveLength(1);
    expect(peer.warnings[0]).toMatch(/^a tool of the server is left out: .*"tool":"bad"/);
    peer.write(call(2, { region: 'eu' }));
    await peer.answerTo(2);
    expect(server.calls[1]?.headers['mcp-param-region']).toBe('eu');
  });

  test.each([
    ['a body', json],
    [
      'a stream that stays open',
      (response: ServerResponse, value: object) => sse(response, data(value)),
    ],
  ])(
    'lists the tools by itself when the server misses a header, by %s, and is sent once more',
    async (_, list) => {
      const inputSchema = {
        type: 'object',
        properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
      };
      const mismatch = { code: -32020, message: 'Header mismatch' };
      const server = await scriptedServer(({ message, headers }, response) => {
        if (message.method === 'tools/list') {
          return list(response, answer(message.id, { tools: [{ name: 'wörk', inputSchema }] }));
        }
        const isRight = headers['mcp-param-region'] === 'eu';
        const refused = { jsonrpc: '2.0', id: message.id, error: mismatch };
        return isRight ? json(response, answer(message.id)) : json(response, refused, 400);
      });
      const peer = driven(server.url);
      peer.write(call(1, { region: 'eu' }));
      expect(await peer.answerTo(1)).toMatchObject({ result: {} });
      expect(server.calls.map(({ message }) => message.method)).toEqual([
        'tools/call',
        'tools/list',
        'tools/call',
      ]);
      expect(peer.messages).toHaveLength(1);
    },
  );

  test('is cancelled by the end of its stream, and no message is sent', async () => {
    let closed: () => void = () => {};
    const over = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const server = await scriptedServer((_, response, request) => {
      request.socket.once('close', closed);
      sse(response, ': begun');
    });
    const peer = driven(server.url);
    peer.write(call(1));
    await vi.waitFor(() => expect(server.calls).toHaveLength(1), PATIENT);
    peer.write({ method: 'notifications/cancelled', params: { requestId: 1 } });
    await over;
    peer.write({ id: 2, method: 'ping', params: { _meta: MODERN } });
    await vi.waitFor(() => expect(server.calls).toHaveLength(2), PATIENT);
    expect(peer.messages).toEqual([]);
  });

  test('is answered when its stream is cut, and is never resumed', async () => {
    const server = await scriptedServer((_, response) => sse(response, 'id: 1\ndata:').end());
    const peer = driven(server.url);
    peer.write(call(1));
    expect((await peer.answerTo(1)).error?.message).toContain('broke off');
    expect(server.calls).toHaveLength(1);
  });
});

test('a server that refuses a modern request is spoken to in the legacy era by what is legacy', async () => {
  const server = await scriptedServer((call, response, request) => {
    if (call.message.method === 'server/discover') return response.writeHead(400).end();
    return legacy(({ message }, answering) => json(answering, answer(message.id)))(
      call,
      response,
      request,
    );
  });
  const peer = driven(server.url);
  peer.write({ id: 'probe', method: 'server/discover', params: { _meta: MODERN } });
  expect(await peer.answerTo('probe')).toMatchObject({ error: { data: { http_status: 400 } } });
  peer.write(INITIALIZE);
  await peer.answerTo(0);
  peer.write(INITIALIZED);
  peer.write({ id: 1, method: 'tools/list' });
  await peer.answerTo(1);
  const legacyCalls = server.calls.filter(({ message }) => message.method !== 'server/discover');
  for (const { headers } of legacyCalls) expect(headers['mcp-method']).toBe(undefined);
  expect(legacyCalls.at(-1)?.headers['mcp-session-id']).toBe('session-1');
});
