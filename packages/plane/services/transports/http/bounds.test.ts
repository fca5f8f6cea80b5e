// What is large, slow, hostile or in between: messages in parts, back pressure, encodings, authorization, the old
// transport, proxies and certificates.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecure } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { failure } from '@subluminal/contracts';
import { Outline } from '@subluminal/core/session';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { openUpstream } from '../../../os/upstream/index.ts';
import type { ReadMessage } from '../types.ts';
import {
  answer,
  data,
  driven,
  INITIALIZE,
  INITIALIZED,
  json,
  MODERN,
  scriptedServer,
  sse,
} from './testing/driven-server.ts';

const PATIENT = { timeout: 8_000, interval: 5 };
const LIMITS = { requestMs: 10_000, inspectBytesMax: 64 };
const LONG = 'x'.repeat(300_000);

describe('a message that is too large to inspect', () => {
  test.each([
    [
      'a body',
      (id: unknown, response: Parameters<typeof json>[0]) => json(response, answer(id, { LONG })),
    ],
    [
      'an event',
      (id: unknown, response: Parameters<typeof json>[0]) =>
        sse(response, data(answer(id, { LONG }))).end(),
    ],
  ])('comes in parts by %s, and counts as the answer', async (_, act) => {
    const server = await scriptedServer(({ message }, response) => act(message.id, response));
    const peer = driven(server.url, { limits: LIMITS });
    peer.write({ id: 1, method: 'initialize' });
    expect((await peer.answerTo(1)).result).toEqual({ LONG });
    expect(peer.kinds[0]).toBe('head');
    expect(peer.kinds.at(-1)).toBe('end');
    expect(peer.kinds.filter((kind) => kind === 'message')).toEqual([]);
  });

  test('waits for another one, and small messages pass meanwhile', async () => {
    let finish: () => void = () => {};
    const server = await scriptedServer(({ message }, response) => {
      if (message.id === 3) return json(response, answer(3));
      const text = JSON.stringify(answer(message.id, { LONG }));
      response.writeHead(200, { 'content-type': 'application/json' });
      if (message.id === 2) return response.end(text);
      response.write(text.slice(0, 1_000));
      finish = () => response.end(text.slice(1_000));
      return undefined;
    });
    const peer = driven(server.url, { limits: LIMITS });
    const meta = { _meta: MODERN };
    peer.write({ id: 1, method: 'tools/list', params: meta });
    await vi.waitFor(() => expect(peer.kinds).toContain('head'), PATIENT);
    peer.write({ id: 2, method: 'tools/list', params: meta });
    peer.write({ id: 3, method: 'tools/list', params: meta });
    await peer.answerTo(3);
    expect(peer.kinds.filter((kind) => kind === 'head')).toHaveLength(1);
    finish();
    expect((await peer.answerTo(1)).result).toEqual({ LONG });
    expect((await peer.answerTo(2)).result).toEqual({ LONG });
  });

  test('that the connection cuts is no message, and its request is answered', async () => {
    const server = await scriptedServer(({ message }, response) => {
      const text = JSON.stringify(answer(message.id, { LONG }));
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(text.slice(0, 100_000), () => response.destroy());
    });
    const peer = driven(server.url, { limits: LIMITS });
    peer.write({ id: 1, method: 'initialize' });
    await vi.waitFor(() => expect(peer.kinds.at(-1)).toBe('message'), PATIENT);
    expect((await peer.answerTo(1)).error?.message).toContain('broke off');
  });

  test('that is broken off never reaches the server as a message', async () => {
    const server = await scriptedServer(({ message }, response) =>
      json(response, answer(message.id)),
    );
    const peer = driven(server.url);
    const bytes = Buffer.from('{"jsonrpc":"2.0","method":"initialize","params":{"a":"');
    const soFar = { answers: false, batch: false, method: 'initialize' };
    const head = { kind: 'head', from: 'agent', bytes, soFar, outline: { soFar: () => soFar } };
    peer.transport.writePart(bytes, head as unknown as ReadMessage);
    peer.transport.abortParts();
    peer.write({ id: 1, method: 'initialize' });
    await peer.answerTo(1);
    expect(server.calls.map(({ message }) => message.id)).toEqual([1]);
    expect(peer.messages).toHaveLength(1);
  });
});

test('a call that is too large to mirror its parameters is refused, and never sent', async () => {
  const inputSchema = {
    type: 'object',
    properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
  };
  const server = await scriptedServer(({ message }, response) =>
    json(response, answer(message.id, { tools: [{ name: 'work', inputSchema }] })),
  );
  const peer = driven(server.url);
  peer.write({ id: 1, method: 'tools/list', params: { _meta: MODERN } });
  await peer.answerTo(1);
  const params = { name: 'work', _meta: MODERN, arguments: { region: 'eu' } };
  const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params };
  const bytes = Buffer.from(JSON.stringify(call));
  const outline = new Outline();
  outline.feed(bytes);
  const soFar = outline.soFar();
  peer.transport.writePart(bytes, {
    kind: 'head',
    from: 'agent',
    bytes,
    outline,
    soFar,
    call: undefined,
  });
  peer.transport.endParts();
  expect(await peer.answerTo(2)).toMatchObject({ error: { code: -32_020 } });
  expect(server.calls).toHaveLength(1);
});

describe('back pressure', () => {
  test('stops all streams, and lets them go on', async () => {
    const server = await scriptedServer(({ message }, response) =>
      sse(response, data({ jsonrpc: '2.0', method: 'note' }), data(answer(message.id))).end(),
    );
    const peer = driven(server.url);
    peer.transport.hold();
    peer.write({ id: 1, method: 'initialize' });
    await vi.waitFor(() => expect(server.calls).toHaveLength(1), PATIENT);
    peer.transport.release();
    await peer.answerTo(1);
  });
});

describe('an encoded answer', () => {
  test('is decoded, and one that grows beyond the cap is refused', async () => {
    const server = await scriptedServer(({ message }, response) => {
      const text = JSON.stringify(answer(message.id, { LONG }));
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(gzipSync(text));
    });
    const small = driven(server.url);
    small.write({ id: 1, method: 'initialize' });
    expect((await small.answerTo(1)).result).toEqual({ LONG });
    const capped = driven(server.url, { limits: { ...LIMITS, messageBytesMax: 10_000 } });
    capped.write({ id: 1, method: 'initialize' });
    expect((await capped.answerTo(1)).error?.message).toContain('larger than the limit');
    expect(capped.kinds).toContain('too_large');
  });
});

describe('authorization', () => {
  const challenged = { status: 401, wwwAuthenticate: 'Bearer x', refused: 'Bearer old' };

  test('is asked once more after a challenge, and the request sent again with the new token', async () => {
    const server = await scriptedServer(({ message, headers }, response) => {
      if (headers.authorization === 'Bearer new') return json(response, answer(message.id));
      return response.writeHead(401, { 'www-authenticate': 'Bearer x' }).end();
    });
    let token = 'Bearer old';
    const heard: unknown[] = [];
    const authorization = {
      header: () => Promise.resolve(token),
      challenged: (challenge: unknown) => {
        heard.push(challenge);
        token = 'Bearer new';
        return Promise.resolve('retry' as const);
      },
    };
    const peer = driven(server.url, { authorization });
    peer.write({ id: 1, method: 'initialize' });
    expect(await peer.answerTo(1)).toMatchObject({ result: {} });
    expect(heard).toEqual([challenged]);
  });

  test('hears of a scope that is missing, also behind a token that was renewed', async () => {
    const server = await scriptedServer(({ headers }, response) => {
      const isNew = headers.authorization === 'Bearer new';
      return response.writeHead(isNew ? 403 : 401, { 'www-authenticate': 'Bearer x' }).end();
    });
    const heard: number[] = [];
    const scope = failure('SUB_REMOTE_HEADER', 'a scope is missing.', 'Run `sub auth login far`.');
    const authorization = {
      header: () => Promise.resolve(heard.length === 0 ? 'Bearer old' : 'Bearer new'),
      challenged: ({ status }: { readonly status: number }) => {
        heard.push(status);
        return Promise.resolve(status === 401 ? ('retry' as const) : scope);
      },
    };
    const peer = driven(server.url, { authorization });
    peer.write({ id: 1, method: 'initialize' });
    expect((await peer.answerTo(1)).error?.message).toContain('A scope is missing.');
    expect(heard).toEqual([401, 403]);
  });

  test('of a large request is renewed for the next one, and its refusal may be encoded', async () => {
    const server = await scriptedServer((_, response) => {
      const headers = { 'www-authenticate': 'Bearer x', 'content-encoding': 'gzip' };
      response.writeHead(401, headers).end(gzipSync('no'));
    });
    const peer = driven(server.url, {
      authorization: {
        header: () => Promise.resolve('Bearer old'),
        challenged: () => Promise.resolve('retry' as const),
      },
    });
    const head = Buffer.from(
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}',
    );
    const outline = new Outline();
    outline.feed(head);
    const soFar = outline.soFar();
    const read = {
      kind: 'head',
      from: 'agent',
      bytes: head,
      outline,
      soFar,
      call: undefined,
    } as const;
    peer.transport.writePart(head, read);
    peer.transport.endParts();
    expect((await peer.answerTo(1)).error?.message).toContain('HTTP 401');
  });

  test('that fails by a defect is the error of its request, and of no other', async () => {
    const server = await scriptedServer(({ message }, response) =>
      json(response, answer(message.id)),
    );
    let isBroken = true;
    const authorization = {
      header: () =>
        isBroken ? Promise.reject(new Error('a defect')) : Promise.resolve('Bearer old'),
      challenged: () => Promise.resolve('retry' as const),
    };
    const peer = driven(server.url, { authorization });
    peer.write({ id: 1, method: 'tools/list', params: { _meta: MODERN } });
    expect((await peer.answerTo(1)).error?.message).toContain('a defect of `sub`');
    isBroken = false;
    peer.write({ id: 2, method: 'tools/list', params: { _meta: MODERN } });
    expect(await peer.answerTo(2)).toMatchObject({ result: {} });
  });

  test('that only a person can give is told to the agent', async () => {
    const server = await scriptedServer((_, response) => response.writeHead(401).end());
    const login = failure(
      'SUB_REMOTE_HEADER',
      'you are not logged in.',
      'Run `sub auth login far`.',
    );
    const peer = driven(server.url, {
      authorization: {
        header: () => Promise.resolve(undefined),
        challenged: () => Promise.resolve(login),
      },
    });
    peer.write({ id: 1, method: 'initialize' });
    expect((await peer.answerTo(1)).error?.message).toContain('sub auth login far');
    expect(server.calls).toHaveLength(1);
  });
});

describe('HTTP+SSE of 2024-11-05', () => {
  /** `endpoint` is where its messages are to be posted. */
  async function oldServer(endpoint = '/messages?session=1') {
    const streams: Parameters<typeof sse>[0][] = [];
    const server = await scriptedServer(({ method, message }, response, { url }) => {
      if (method === 'GET') {
        streams.push(response);
        return sse(response, `event: endpoint\ndata: ${endpoint}`);
      }
      if (url === '/mcp') return response.writeHead(404).end('Cannot POST /mcp');
      response.writeHead(202).end('Accepted');
      if (message.id === undefined) return undefined;
      const result = { protocolVersion: '2024-11-05' };
      return sse(streams.at(-1) ?? response, `event: message\n${data(answer(message.id, result))}`);
    });
    return { ...server, streams };
  }

  test('is found when the server does not speak Streamable HTTP', async () => {
    const server = await oldServer();
    const peer = driven(server.url);
    peer.write(INITIALIZE);
    await peer.answerTo(0);
    peer.write(INITIALIZED);
    peer.write({ id: 1, method: 'tools/list' });
    await peer.answerTo(1);
    expect(server.calls.map(({ method }) => method)).toEqual([
      'POST',
      'GET',
      'POST',
      'POST',
      'POST',
    ]);
  });

  test('is refused when it names another origin for our messages', async () => {
    const other = await scriptedServer((_, response) => response.end());
    const server = await oldServer(other.url);
    const peer = driven(server.url, { transport: 'sse' });
    peer.write(INITIALIZE);
    expect((await peer.answerTo(0)).error?.message).toContain('names another origin');
    expect(other.calls).toEqual([]);
  });

  test.each([
    ['first', (id: unknown) => ({ jsonrpc: '2.0', id, result: { LONG } })],
    ['last', (id: unknown) => ({ result: { LONG }, jsonrpc: '2.0', id })],
  ])('gives one answer to a request whose large answer names it %s', async (_, write) => {
    const server = await oldServer();
    const peer = driven(server.url, { transport: 'sse', limits: LIMITS });
    peer.write(INITIALIZE);
    await peer.answerTo(0);
    const { act } = server.script;
    server.script.act = (call, response, request) => {
      if (call.message.id === undefined) return act(call, response, request);
      response.writeHead(202).end();
      const stream = server.streams.at(-1) ?? response;
      return sse(stream, `event: message\n${data(write(call.message.id))}`);
    };
    peer.write({ id: 1, method: 'tools/call' });
    expect((await peer.answerTo(1)).result).toEqual({ LONG });
    server.script.act = act;
    server.streams.at(-1)?.destroy();
    await vi.waitFor(() => {
      peer.write({ id: 2, method: 'tools/list' });
      expect(server.streams).toHaveLength(2);
    }, PATIENT);
    await peer.answerTo(2);
    expect(peer.messages.filter(({ id }) => id === 1)).toHaveLength(1);
  });

  test('answers open requests when it is cut, and connects again for the next one', async () => {
    const server = await oldServer();
    const peer = driven(server.url, { transport: 'sse' });
    peer.write(INITIALIZE);
    await peer.answerTo(0);
    peer.write(INITIALIZED);
    peer.write({ id: 'heard', method: 'resources/subscribe', params: { uri: 'a://1' } });
    await peer.answerTo('heard');
    const { act } = server.script;
    server.script.act = (call, response, request) => {
      if (call.message.id !== 1) return act(call, response, request);
      response.writeHead(202).end();
      return server.streams.at(-1)?.destroy();
    };
    peer.write({ id: 1, method: 'tools/call' });
    expect((await peer.answerTo(1)).error?.message).toContain('broke off');
    peer.write({ id: 2, method: 'tools/call' });
    peer.write({ id: 3, method: 'tools/call' });
    for (const id of [2, 3]) expect(await peer.answerTo(id)).toMatchObject({ result: {} });
    const methods = server.calls.flatMap(({ message }) => message.method ?? []);
    expect(methods.filter((one) => one === 'initialize')).toHaveLength(2);
    expect(methods.filter((one) => one === 'resources/subscribe')).toHaveLength(2);
    expect(peer.messages.map(({ id }) => id)).toEqual([0, 'heard', 1, 2, 3]);
  });
});

describe('the way to a server', () => {
  test.each([
    ['a stream that answers a notification', 'http', 'POST'],
    ['a stream of the old transport', 'sse', 'GET'],
    ['a stream that comes when nobody waits any more', 'auto', 'GET'],
  ] as const)('lets go of %s when it is closed', async (_, transport, streamed) => {
    const upstream = openUpstream();
    onTestFinished(() => upstream.close());
    const server = await scriptedServer(() => {});
    const opened = new Promise<ServerResponse>((resolve) => {
      server.script.act = ({ method }, response) =>
        method === streamed ? resolve(response) : response.writeHead(405).end();
    });
    const peer = driven(server.url, { transport, upstream, limits: { requestMs: 300_000 } });
    peer.write(transport === 'http' ? INITIALIZED : INITIALIZE);
    const stream = await opened;
    const closed = new Promise((resolve) => stream.once('close', resolve));
    if (transport === 'auto') await peer.end.close();
    sse(stream, 'event: endpoint\ndata: /messages');
    await peer.end.close();
    await closed;
    expect(stream.writableEnded).toBe(false);
  });

  test('leads through the proxy of the machine', async () => {
    const server = await scriptedServer(({ message }, response) =>
      json(response, answer(message.id)),
    );
    const seen: (string | undefined)[] = [];
    const proxy = createServer();
    proxy.on('connect', (request: IncomingMessage, socket: Duplex) => {
      seen.push(request.url);
      const onward = connect(Number(new URL(server.url).port), '127.0.0.1');
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(onward).pipe(socket);
      onTestFinished(() => void onward.destroy());
    });
    proxy.listen(0, '127.0.0.1');
    onTestFinished(() => void proxy.close());
    await vi.waitFor(() => expect(proxy.listening).toBe(true), PATIENT);
    const { port } = proxy.address() as AddressInfo;
    const peer = driven('http://mcp.example.test/mcp', {
      env: { HTTP_PROXY: `http://127.0.0.1:${port}` },
    });
    peer.write({ id: 1, method: 'initialize' });
    expect(await peer.answerTo(1)).toMatchObject({ result: {} });
    expect(seen).toEqual(['mcp.example.test:80']);
  });

  test('is closed by a certificate that nobody has signed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sub-certificate-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const files = ['key', 'cert'].map((name) => join(folder, name));
    const [key = '', cert = ''] = files;
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    const about = ['-days', '2', '-subj', '/CN=127.0.0.1', '-keyout', key, '-out', cert];
    execFileSync('openssl', ['req', '-x509', ...curve, ...about], { stdio: 'pipe' });
    const pair = { key: readFileSync(key), cert: readFileSync(cert) };
    const server = createSecure(pair, (_, response) => void response.end());
    server.listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await vi.waitFor(() => expect(server.listening).toBe(true), PATIENT);
    const { port } = server.address() as AddressInfo;
    const peer = driven(`https://127.0.0.1:${port}/mcp`);
    peer.write({ id: 1, method: 'initialize' });
    expect((await peer.answerTo(1)).error?.message).toContain('NODE_EXTRA_CA_CERTS');
  });
});
