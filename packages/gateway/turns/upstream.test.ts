import { once } from 'node:events';
import { createServer } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import {
  isFault,
  openUpstream,
  proxyOf,
  readAnswerBody,
  type UpstreamAnswer,
  type UpstreamCall,
  type UpstreamOptions,
} from '@subluminal/plane/upstream';
import { expect, onTestFinished, test } from 'vitest';
import { bodyOf, loopback } from './testing/loopback.ts';

function upstreamFor(options: UpstreamOptions = {}) {
  const upstream = openUpstream(options);
  onTestFinished(() => upstream.close());
  return (url: string, parts: Partial<UpstreamCall> = {}) =>
    upstream.call({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json' },
      body: [Buffer.from('{}')],
      timeoutMs: 5_000,
      signal: new AbortController().signal,
      ...parts,
    });
}

async function textOf({ body }: UpstreamAnswer): Promise<string> {
  const bytes = await readAnswerBody(body, 1_000);
  if (isFault(bytes)) throw new Error(bytes.message);
  return bytes.toString();
}

test('a call goes out as it is, asks for no encoding, and connections are used again', async () => {
  const sockets = new Set();
  const { url } = await loopback(async (request, response) => {
    sockets.add(request.socket);
    const { method, url: path, headers } = request;
    const body = (await bodyOf(request)).toString();
    response.end(JSON.stringify({ method, path, body, encoding: headers['accept-encoding'] }));
  });
  const call = upstreamFor();
  for (let round = 0; round < 8; round++) {
    const answer = await call(`${url}/v1/x?beta=true`, {
      body: [Buffer.from('{"a"'), Buffer.from(':1}')],
    });
    if (isFault(answer)) throw new Error(answer.message);
    expect(JSON.parse(await textOf(answer))).toEqual({
      method: 'POST',
      path: '/v1/x?beta=true',
      body: '{"a":1}',
      encoding: 'identity',
    });
  }
  expect(sockets.size).toBeLessThan(4);
});

test.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
])('an answer in %s is decoded', async (encoding, encode) => {
  const { url } = await loopback((_request, response) => {
    response.setHeader('content-encoding', encoding).end(encode('{"ok":true}'));
  });
  const answer = await upstreamFor()(url);
  if (isFault(answer)) throw new Error(answer.message);
  expect(await textOf(answer)).toBe('{"ok":true}');
});

test('an answer in an unknown encoding, or broken in its own, is malformed', async () => {
  const { url } = await loopback((request, response) => {
    response
      .setHeader('content-encoding', request.url === '/zstd' ? 'zstd' : 'gzip')
      .end('no gzip');
  });
  const call = upstreamFor();
  expect(await call(`${url}/zstd`)).toMatchObject({ kind: 'fault', class: 'malformed' });
  const answer = await call(`${url}/gzip`);
  if (isFault(answer)) throw new Error(answer.message);
  expect(await readAnswerBody(answer.body, 1_000)).toMatchObject({ class: 'malformed' });
});

test('an answer that is too large is not read to its end', async () => {
  const { url } = await loopback((_request, response) => {
    response.end(Buffer.alloc(1_000));
  });
  const answer = await upstreamFor()(url);
  if (isFault(answer)) throw new Error(answer.message);
  expect(await readAnswerBody(answer.body, 999)).toMatchObject({ class: 'malformed' });
});

test('an upstream that never answers is given up', async () => {
  const { url } = await loopback(() => {});
  expect(await upstreamFor()(url, { timeoutMs: 50 })).toMatchObject({ class: 'timeout' });
});

test('an upstream that nobody listens at, or that is not known, is a disconnect', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  server.close();
  const call = upstreamFor();
  expect(await call(`http://127.0.0.1:${port}`)).toMatchObject({
    class: 'disconnect',
    message: 'The upstream refuses connections.',
    unsent: 'unreachable',
  });
});

test('an upstream that speaks no TLS is told as such', async () => {
  const { url } = await loopback((_request, response) => void response.end());
  expect(await upstreamFor()(url.replace('http:', 'https:'))).toMatchObject({
    message: expect.stringContaining('does not speak TLS') as unknown,
    unsent: 'unreachable',
  });
});

test('nothing goes past a proxy that is no URL', async () => {
  const proxy = proxyOf({ HTTP_PROXY: 'ftp://ada:hunter2@proxy' });
  const { url } = await loopback((_request, response) => void response.end());
  expect(await upstreamFor({ proxy })(url)).toEqual({
    kind: 'fault',
    class: 'disconnect',
    message: 'HTTPS_PROXY or HTTP_PROXY is no URL like http://HOST:PORT.',
    unsent: 'unreachable',
  });
  expect(proxyOf({ HTTPS_PROXY: 'proxy:3128' })).toEqual({ httpsProxy: 'http://proxy:3128' });
});

test.each([
  ['not HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', 'malformed'],
  ['a closed connection', '', 'disconnect'],
  [
    'two lengths',
    'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
    'malformed',
  ],
])('an upstream that answers with %s is told apart', async (_what, text, kind) => {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(text));
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  expect(await upstreamFor()(`http://127.0.0.1:${port}`)).toMatchObject({ class: kind });
});

test('informational answers are passed over', async () => {
  const { url } = await loopback((_request, response) => {
    response.writeProcessing();
    response.writeEarlyHints({ link: '</x>; rel=preload' });
    response.end('{}');
  });
  expect(await upstreamFor()(url)).toMatchObject({ status: 200 });
});

test('a call that is aborted ends the connection', async () => {
  const gone = new AbortController();
  let closed = Promise.resolve<unknown>(undefined);
  const { url } = await loopback((request) => {
    closed = once(request.socket, 'close');
    gone.abort();
  });
  expect(await upstreamFor()(url, { signal: gone.signal })).toMatchObject({ class: 'aborted' });
  await closed;
});
