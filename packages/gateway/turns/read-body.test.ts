// What clients may send: sizes, encodings, lies.
import { once } from 'node:events';
import { connect } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readRequestBody } from './read-body.ts';
import { governedEngine } from './testing/governed-engine.ts';
import { bodyOf, loopback } from './testing/loopback.ts';

/** Answers with the length of what it was sent. */
const counting = () =>
  loopback(async (request, response) => {
    const { length } = await bodyOf(request);
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ length }));
  });

const padded = (length: number) => {
  const text = '{"model":"upstream-model","pad":""}';
  return text.replace('""', `"${'x'.repeat(length - text.length)}"`);
};

async function post(url: string, body: RequestInit['body'], headers: Record<string, string> = {}) {
  const answer = await fetch(url, { method: 'POST', body: body ?? null, headers, duplex: 'half' });
  const value: unknown = await answer.json();
  return { status: answer.status, body: value };
}

const REFUSED = { type: 'error', error: { type: 'request_too_large' } };

test('a body of 10 MB passes, and one byte more is refused in the words of the wire', async () => {
  const engine = await governedEngine([(await counting()).url]);
  const length = 10 * 1024 * 1024;
  expect(await post(engine.url, padded(length))).toEqual({ status: 200, body: { length } });
  expect(await post(engine.url, padded(length + 1))).toMatchObject({ status: 413, body: REFUSED });
});

test('a body in chunks has the same limit', async () => {
  const engine = await governedEngine([(await counting()).url], { limits: { bodyBytesMax: 100 } });
  const chunks = (length: number) => new Blob([padded(length)]).stream();
  expect(await post(engine.url, chunks(100))).toMatchObject({ status: 200 });
  expect(await post(engine.url, chunks(101))).toMatchObject({ status: 413, body: REFUSED });
  expect(engine.told.turns).toHaveLength(1);
});

test.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
])('a body in %s is decoded, within the limit', async (encoding, encode) => {
  const engine = await governedEngine([(await counting()).url], {
    limits: { bodyBytesMax: 1_000 },
  });
  const headers = { 'content-encoding': encoding };
  const good = await post(engine.url, encode(padded(1_000)), headers);
  expect(good).toEqual({ status: 200, body: { length: 1_000 } });
  const bomb = await post(engine.url, encode(padded(100_000)), headers);
  expect(bomb).toMatchObject({ status: 413, body: REFUSED });
  const broken = await post(engine.url, 'not encoded', headers);
  expect(broken).toMatchObject({ status: 400 });
});

test('a body in an encoding that is not read is refused with what to do', async () => {
  const engine = await governedEngine([(await counting()).url]);
  const answer = await post(engine.url, 'x', { 'content-encoding': 'zstd' });
  expect(answer.status).toBe(400);
  expect(JSON.stringify(answer.body)).toMatch(/zstd.*Switch the compression/);
});

test('a body that is no JSON is refused', async () => {
  const engine = await governedEngine([(await counting()).url]);
  expect(await post(engine.url, '{"model":')).toMatchObject({
    status: 400,
    body: { type: 'error' },
  });
  expect(engine.told.turns).toEqual([]);
});

test.each([
  ['says more than it sends', 'content-length: 100\r\n\r\n{"model":"m"}'],
  ['says nothing', 'transfer-encoding: chunked\r\n\r\n5\r\n{"mod'],
])('a client that %s and goes begins no turn', async (_what, text) => {
  const engine = await governedEngine([(await counting()).url]);
  const socket = connect(Number(new URL(engine.url).port), '127.0.0.1');
  socket.end(`POST / HTTP/1.1\r\nhost: x\r\n${text}`);
  socket.resume();
  await once(socket, 'close');
  expect(engine.told.turns).toEqual([]);
  expect(await post(engine.url, padded(100))).toMatchObject({ status: 200 });
});

test('more turns than an engine holds are refused, to be tried again', async () => {
  const { url, server } = await loopback(() => {});
  const asked = once(server, 'request');
  const engine = await governedEngine([url], { limits: { turnsMax: 1 } });
  const gone = new AbortController();
  const first = fetch(engine.url, { method: 'POST', body: padded(100), signal: gone.signal });
  await asked;
  const second = await fetch(engine.url, { method: 'POST', body: padded(100) });
  expect([second.status, second.headers.get('retry-after')]).toEqual([503, '1']);
  gone.abort();
  await expect(first).rejects.toThrow('aborted');
});

test('bodies that take too much together are refused, to be tried again when others have ended', async () => {
  let asked = 0;
  const { url, server } = await loopback(async (request, response) => {
    if (asked++ === 0) return;
    await bodyOf(request);
    response.setHeader('content-type', 'application/json').end('{}');
  });
  const isAsked = once(server, 'request');
  const engine = await governedEngine([url], { limits: { bodiesBytesMax: 1_000 } });
  const gone = new AbortController();
  const first = fetch(engine.url, { method: 'POST', body: padded(600), signal: gone.signal });
  await isAsked;
  const second = await fetch(engine.url, { method: 'POST', body: padded(600) });
  expect([second.status, second.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await post(engine.url, new Blob([padded(600)]).stream())).toMatchObject({ status: 503 });
  const gzip = { 'content-encoding': 'gzip' };
  expect(await post(engine.url, gzipSync(padded(600)), gzip)).toMatchObject({ status: 503 });
  expect(await post(engine.url, padded(300))).toMatchObject({ status: 200 });
  gone.abort();
  await expect(first).rejects.toThrow('aborted');
  await engine.ended(2);
  expect(await post(engine.url, padded(600))).toMatchObject({ status: 200 });
});

test.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
])(
  'a body in %s takes its room piece by piece, and is left where the room ends',
  async (encoding, encode) => {
    const taken: number[] = [];
    const place = { take: (bytes: number) => taken.push(bytes) < 4, leave: () => {} };
    const server = await loopback(async (request, response) => {
      const { kind } = await readRequestBody(request, { bytesMax: 10_000_000, place });
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ kind }));
    });
    const headers = { 'content-encoding': encoding };
    const answer = await post(server.url, encode('x'.repeat(9_000_000)), headers);
    expect(answer.body).toEqual({ kind: 'no_room' });
    expect(Math.max(...taken)).toBeLessThanOrEqual(64 * 1024);
  },
);
