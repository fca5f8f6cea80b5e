import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import {
  isStrongToken,
  type LoopbackGuardOptions,
  listenOnLoopback,
  loopbackGuard,
  refuseUpgrades,
} from './http-listener.ts';

const TOKEN = 't'.repeat(32);
let server: Server | undefined;
afterEach(() => void server?.close());

async function start(options: Partial<LoopbackGuardOptions> = {}): Promise<number> {
  server = createServer();
  const listener = server;
  const listening = await listenOnLoopback(server, {});
  if (listening.kind === 'failed') throw new Error(listening.why);
  expect(listening.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const guard = loopbackGuard({ token: TOKEN, server, ...options });
  listener.on('request', (asked, response) => response.end(guard(asked) ?? 'admitted'));
  return Number(new URL(listening.url).port);
}

function ask(port: number, headers: { readonly [name: string]: string | string[] }) {
  return new Promise<string>((resolve, reject) => {
    const all = { authorization: `Bearer ${TOKEN}`, ...headers };
    const asked = request({ host: '127.0.0.1', port, headers: all }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += String(chunk)));
      response.on('end', () => resolve(text));
    });
    asked.on('error', reject);
    asked.end();
  });
}

test('a request with the token and the right Host is admitted', async () => {
  const port = await start();
  expect(await ask(port, {})).toBe('admitted');
  expect(await ask(port, { host: `LOCALHOST:${port}` })).toBe('admitted');
});

test('a request for another name is refused', async () => {
  const port = await start();
  for (const host of [
    'evil.example',
    `evil.example:${port}`,
    '127.0.0.1',
    `127.0.0.1:${port + 1}`,
  ]) {
    expect(await ask(port, { host })).toBe('host');
  }
});

test('a page of a browser is refused unless its origin is named', async () => {
  const port = await start();
  expect(await ask(port, { origin: `http://127.0.0.1:${port}` })).toBe('origin');
  expect(await ask(port, { 'sec-fetch-site': 'none' })).toBe('origin');
});

test('pages of this server and of named origins are admitted, others refused', async () => {
  const port = await start({ origins: ['http://ui.example'] });
  expect(await ask(port, { origin: `http://127.0.0.1:${port}` })).toBe('admitted');
  expect(await ask(port, { origin: 'http://ui.example' })).toBe('admitted');
  expect(await ask(port, { origin: 'http://evil.example' })).toBe('origin');
  expect(await ask(port, { origin: 'null' })).toBe('origin');
});

test('a request without the token, or with another one, is refused', async () => {
  const port = await start();
  for (const authorization of ['', 'Bearer', `Bearer ${TOKEN}x`, `Basic ${TOKEN}`, TOKEN]) {
    expect(await ask(port, { authorization })).toBe('token');
  }
  expect(await ask(port, { authorization: `Bearer ${'x'.repeat(2_000)}` })).toBe('token');
});

test('only loopback addresses are bound', async () => {
  for (const host of ['0.0.0.0', '::', 'example.com', 'toString']) {
    expect(await listenOnLoopback(createServer(), { host })).toMatchObject({ kind: 'failed' });
  }
  expect(await listenOnLoopback(createServer(), { port: 70_000 })).toMatchObject({
    kind: 'failed',
  });
  const port = await start();
  expect(await listenOnLoopback(createServer(), { port })).toEqual({
    kind: 'failed',
    why: 'EADDRINUSE',
  });
});

test('a token is long and visible', () => {
  expect(isStrongToken(TOKEN)).toBe(true);
  for (const token of ['short', 't'.repeat(513), `${TOKEN} x`, `${TOKEN}\n`, `${TOKEN}é`]) {
    expect(isStrongToken(token)).toBe(false);
  }
});

test('a client that resets its connection while it is refused an upgrade ends nothing', async () => {
  const port = await start();
  if (server === undefined) throw new Error('no server');
  const upgraded = once(server, 'upgrade');
  refuseUpgrades(server);
  const client = connect(port, '127.0.0.1').on('error', () => {});
  client.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  const [, socket] = (await upgraded) as [unknown, Socket];
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.destroy(new Error('ECONNRESET'));
  await closed;
  client.destroy();
  expect(await ask(port, {})).toBe('admitted');
});
