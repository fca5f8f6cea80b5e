// Callers that send more than a server takes, read less than it sends, or stay longer than their token.
import { readFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import {
  startIssuer,
  type TestIssuer,
} from '../../packages/plane/services/serve/auth/testing/issuer.ts';
import {
  ask,
  bearer,
  beginSession,
  call,
  keyEntry,
  modern,
  type Serving,
  sendRaw,
  startServing,
  statuses,
} from './served.ts';
import { ROOT } from './sub.ts';

const ATTACK_SERVER = [process.execPath, `${ROOT}test/e2e/attack-server.mjs`];
const PUBLIC_URL = 'https://mcp.example.com';
let issuer: TestIssuer;
let serving: Serving;

beforeAll(async () => {
  issuer = await startIssuer();
  serving = await startServing({
    auth: { keys: [keyEntry('alice'), keyEntry('bob')], jwt: [{ issuer: issuer.url }] },
    public_url: PUBLIC_URL,
    servers: { small: { command: ATTACK_SERVER }, deaf: { command: [...ATTACK_SERVER, 'deaf'] } },
  });
});
afterAll(async () => {
  await serving.close();
  await issuer.close();
});

/** Sends a request and lets its answer wait unread. */
function send(asking: {
  readonly headers: { readonly [name: string]: string };
  readonly path?: string;
  readonly method?: string;
  readonly body?: string;
}): Promise<IncomingMessage | undefined> {
  const { headers, path = '/mcp/small', method = 'POST', body } = asking;
  return new Promise((resolve) => {
    const { port } = serving;
    const sent = httpRequest(
      { host: '127.0.0.1', port, method, path, headers: { ...headers }, agent: false },
      (response) => {
        response.on('error', () => {});
        resolve(response);
      },
    );
    sent.on('error', () => resolve(undefined));
    sent.end(body);
  });
}

function residentBytes(): number {
  const [, kilobytes] =
    /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${serving.pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1_024;
}

test('messages for a server that reads nothing are refused in the end', async () => {
  const session = await beginSession(serving, bearer('alice'), '/mcp/deaf');
  const params = { level: 'info', data: 'x'.repeat(200_000) };
  const body = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params });
  const got: number[] = [];
  while (got.length < 200 && got.at(-1) !== 503) {
    const { status } = await ask(serving, { path: '/mcp/deaf', headers: session, body });
    got.push(status);
  }
  expect(got.at(-1)).toBe(503);
  const other = await beginSession(serving, bearer('bob'));
  const answer = await ask(serving, { headers: other, body: call(1, 'echo', { message: 'x' }) });
  expect(answer.text).toContain('Echo: x');
});

test('large messages for a server that reads nothing are refused in the end', async () => {
  const session = await beginSession(serving, bearer('alice'), '/mcp/deaf');
  const before = residentBytes();
  const refused: (number | undefined)[] = [];
  const open: IncomingMessage[] = [];
  for (let id = 1; id <= 100; id++) {
    const body = call(id, 'echo', { message: 'x'.repeat(3_000_000) });
    void send({ headers: session, path: '/mcp/deaf', body }).then((answer) => {
      // Those that wait have a stream by and by.
      if (answer?.statusCode === 200) open.push(answer);
      else refused.push(answer?.resume().statusCode);
    });
  }
  await vi.waitFor(() => expect(refused.length).toBeGreaterThan(80), 20_000);
  // A connection may be gone before its answer is read.
  for (const status of refused) expect([503, undefined]).toContain(status);
  expect(residentBytes() - before).toBeLessThan(200 * 1024 * 1024);
  for (const answer of open) answer.destroy();
}, 40_000);

test('a client that does not read its stream holds its server back, and nobody else', async () => {
  const session = await beginSession(serving, bearer('alice'));
  const before = residentBytes();
  const flood = call(1, 'chatter', { count: 400, bytes: 500_000 });
  const stream = await send({ headers: session, body: flood });
  expect(stream?.statusCode).toBe(200);
  const other = await beginSession(serving, bearer('bob'));
  for (let id = 1; id <= 20; id++) {
    const answer = await ask(serving, { headers: other, body: call(id, 'echo', { message: 'x' }) });
    expect(answer.text).toContain('Echo: x');
  }
  expect(residentBytes() - before).toBeLessThan(150 * 1024 * 1024);
  stream?.destroy();
});

test('bodies that come byte by byte take no more memory than their bytes', async () => {
  const before = residentBytes();
  const head = [
    'POST /mcp/small HTTP/1.1',
    `Host: 127.0.0.1:${serving.port}`,
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    'Authorization: Bearer alice',
    'Transfer-Encoding: chunked',
    '\r\n',
  ].join('\r\n');
  const body = '1\r\n \r\n'.repeat(400_000);
  const end = '7\r\nno JSON\r\n0\r\n\r\n';
  const isRefused = (text: string): boolean => text.includes('not valid JSON');
  const held = Array.from({ length: 6 }, () => connect(serving.port, '127.0.0.1'));
  for (const socket of held) socket.on('error', () => {}).write(head + body);
  // Its answer comes when the others were read, too: they share one process.
  expect(statuses(await sendRaw(serving, head + body + end, isRefused))).toEqual([400]);
  await vi.waitFor(() => {
    for (const socket of held) expect(socket.writableLength).toBe(0);
  }, 20_000);
  expect(residentBytes() - before).toBeLessThan(300 * 1024 * 1024);
  for (const socket of held) socket.destroy();
}, 60_000);

test('a stream ends with the token that has opened it, and a call does not', async () => {
  // Tokens are taken for half a minute longer than they say.
  const exp = Math.floor(Date.now() / 1_000) - 27;
  const token = await issuer.sign({ aud: `${PUBLIC_URL}/mcp/small`, exp });
  const session = await beginSession(serving, bearer(token));
  const stream = await send({ headers: session, method: 'GET' });
  const ended = new Promise((resolve) => stream?.once('close', resolve).resume());
  const late = modern(1, 'tools/call', { name: 'late', arguments: { ms: 5_000 } });
  const answer = ask(serving, { headers: { ...late.headers, ...bearer(token) }, body: late.body });
  await ended;
  expect((await answer).text).toContain('Late.');
  const again = await ask(serving, { headers: session, body: call(1, 'echo') });
  expect(again.status).toBe(401);
  expect(again.headers['www-authenticate']).toContain('error="invalid_token"');
}, 20_000);

test('a token of one server is worth nothing at another', async () => {
  const token = await issuer.sign({ aud: `${PUBLIC_URL}/mcp/small` });
  const session = await beginSession(serving, bearer(token));
  expect(session['mcp-session-id']).toBeDefined();
  const { headers, body } = modern(1, 'tools/list');
  const other = await ask(serving, {
    path: '/mcp/deaf',
    headers: { ...headers, ...bearer(token) },
    body,
  });
  expect(other.status).toBe(401);
  const metadata = `${PUBLIC_URL}/.well-known/oauth-protected-resource/mcp/deaf`;
  expect(other.headers['www-authenticate']).toContain(`resource_metadata="${metadata}"`);
});

test('the metadata of a server are for everyone, also for pages', async () => {
  const path = '/.well-known/oauth-protected-resource/mcp/small';
  const found = await ask(serving, { method: 'GET', path });
  expect(found.status).toBe(200);
  expect(JSON.parse(found.text)).toEqual({
    resource: `${PUBLIC_URL}/mcp/small`,
    authorization_servers: [issuer.url],
    bearer_methods_supported: ['header'],
  });
  expect(found.headers['access-control-allow-origin']).toBe('*');
  const page = await ask(serving, {
    method: 'GET',
    path,
    headers: { origin: 'https://app.example' },
  });
  expect(page.status).toBe(200);
  const headers = {
    origin: 'https://app.example',
    'access-control-request-method': 'GET',
    'access-control-request-headers': 'mcp-protocol-version',
  };
  const preflight = await ask(serving, { method: 'OPTIONS', path, headers });
  expect(preflight.status).toBe(204);
  expect(preflight.headers['access-control-allow-headers']).toBe('mcp-protocol-version');
  const elsewhere = await ask(serving, { method: 'OPTIONS', headers });
  expect(elsewhere.status).toBe(403);
  expect(elsewhere.headers['access-control-allow-origin']).toBe(undefined);
});
