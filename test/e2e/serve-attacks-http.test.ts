// Attacks on the listener of `sub serve`, by bytes that no HTTP library would send.
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ask,
  bearer,
  beginSession,
  call,
  initialize,
  keyEntry,
  MCP_HEADERS,
  type Serving,
  SMALL_SERVER,
  sendRaw,
  startServing,
  statuses,
} from './served.ts';

let serving: Serving;
const OWN = { ...MCP_HEADERS, ...bearer('alice') };

beforeAll(async () => {
  serving = await startServing({
    auth: { keys: [keyEntry('alice'), keyEntry('bob')] },
    public_url: 'https://mcp.example.com',
    allowed_origins: ['https://app.example.com'],
    servers: { small: { command: SMALL_SERVER } },
  });
});
afterAll(() => serving.close());

describe('DNS rebinding', () => {
  test.each([
    'evil.example',
    'evil.example:PORT',
    'localhost.evil.example:PORT',
    '127.0.0.1.evil.example:PORT',
    'localhost.:PORT',
    'LOCALHOST.:PORT',
    '127.1:PORT',
    '0.0.0.0:PORT',
    '2130706433:PORT',
    '[::ffff:127.0.0.1]:PORT',
    'localhost:1',
    'localhost',
    'user@localhost:PORT',
    'mcp.example.com.',
    'mcp.example.com:8443',
    'mcp.example.com@evil.example',
    ' ',
  ])('a request for the host %j is refused', async (host) => {
    const headers = { ...OWN, host: host.replace('PORT', String(serving.port)) };
    const { status, text } = await ask(serving, { headers, body: initialize() });
    expect([400, 403]).toContain(status);
    expect(text).not.toContain('small');
  });

  test.each([
    '127.0.0.1:PORT',
    'localhost:PORT',
    'LocalHost:PORT',
    'mcp.example.com',
    'MCP.example.com:443',
  ])('a request for the host %j is taken', async (host) => {
    const headers = { ...OWN, host: host.replace('PORT', String(serving.port)) };
    expect((await ask(serving, { headers, body: initialize() })).status).toBe(200);
  });

  test.each([
    'null',
    'https://evil.example',
    'http://evil.example:PORT',
    'http://localhost',
    'http://localhost:1',
    'https://localhost:PORT',
    'http://localhost.:PORT',
    'http://mcp.example.com',
    'https://mcp.example.com.evil.example',
    'https://mcp.example.com:8443',
    'file://',
    'chrome-extension://abc',
    '',
  ])('a page of the origin %j is refused', async (origin) => {
    const headers = { ...OWN, origin: origin.replace('PORT', String(serving.port)) };
    expect((await ask(serving, { headers, body: initialize() })).status).toBe(403);
  });

  test('a page of an allowed origin is asked for first, and may read the answer', async () => {
    const origin = 'https://app.example.com';
    const asked = 'authorization,content-type,mcp-protocol-version,mcp-param-region';
    const preflight = await ask(serving, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': asked,
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET, POST, DELETE',
      'access-control-allow-headers': asked,
      vary: 'Origin',
    });
    expect(preflight.headers['access-control-allow-credentials']).toBe(undefined);
    const begun = await ask(serving, { headers: { ...OWN, origin }, body: initialize() });
    expect(begun.status).toBe(200);
    expect(begun.headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-expose-headers': 'Mcp-Session-Id, WWW-Authenticate',
    });
    const { authorization: _, ...unknown } = OWN;
    const refused = await ask(serving, { headers: { ...unknown, origin }, body: initialize() });
    expect(refused.status).toBe(401);
    expect(refused.headers['access-control-allow-origin']).toBe(origin);
  });

  test('a page of two origins is refused', async () => {
    const origin = ['https://mcp.example.com', 'https://evil.example'];
    const { status } = await ask(serving, { headers: { ...OWN, origin }, body: initialize() });
    expect(status).toBe(403);
  });

  test('the health of the service is not told to foreign hosts', async () => {
    const headers = { host: 'evil.example' };
    expect((await ask(serving, { method: 'GET', path: '/healthz', headers })).status).toBe(403);
  });

  test.each([
    ['without a host', 'POST /mcp/small HTTP/1.1\r\n'],
    ['of HTTP/1.0 without a host', 'POST /mcp/small HTTP/1.0\r\n'],
    ['with two hosts', 'POST /mcp/small HTTP/1.1\r\nHost: HOST\r\nHost: evil.example\r\n'],
    ['with the same host twice', 'POST /mcp/small HTTP/1.1\r\nHost: HOST\r\nHost: HOST\r\n'],
    ['with a foreign address', 'POST http://evil.example/mcp/small HTTP/1.1\r\nHost: HOST\r\n'],
    ['with a whole address', 'POST http://HOST/mcp/small HTTP/1.1\r\nHost: HOST\r\n'],
  ])('a request %s is refused', async (_name, start) => {
    const body = initialize();
    const head = start.replaceAll('HOST', `127.0.0.1:${serving.port}`);
    const answer = await sendRaw(
      serving,
      `${head}${rawHeaders(body)}Connection: close\r\n\r\n${body}`,
    );
    expect(statuses(answer)).toHaveLength(1);
    expect([400, 403]).toContain(statuses(answer)[0]);
  });
});

function rawHeaders(body: string, { length = true } = {}): string {
  const lines = [
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    'Authorization: Bearer alice',
    ...(length ? [`Content-Length: ${body.length}`] : []),
  ];
  return lines.map((line) => `${line}\r\n`).join('');
}

describe('paths', () => {
  test.each([
    '/mcp/../mcp/small',
    '/mcp/./small',
    '/mcp//small',
    '//mcp/small',
    '/mcp/small/',
    '/mcp/small/..',
    '/mcp/sm%61ll',
    '/mcp%2fsmall',
    '/mcp/%2e%2e/mcp/small',
    '/mcp/small%00',
    '/mcp/small%0d%0aSet-Cookie:%20a=b',
    '/mcp/small;a=b',
    '/mcp/SMALL',
    '/MCP/small',
    '/mcp/__proto__',
    '/mcp/constructor',
    '/mcp/',
    '/mcp',
    '/',
    '/healthz/',
    '/readyz/../mcp/small',
    '/.well-known/oauth-protected-resource/mcp/small',
    '/.well-known/../mcp/small',
    '*',
  ])('the path %s leads nowhere', async (path) => {
    const answer = await ask(serving, { path, headers: OWN, body: initialize() });
    expect([400, 403, 404]).toContain(answer.status);
    expect(answer.headers['set-cookie']).toBe(undefined);
    expect(answer.headers['mcp-session-id']).toBe(undefined);
  });

  test('a foreign path is refused before its body is read', async () => {
    const head = `POST /nowhere HTTP/1.1\r\nHost: 127.0.0.1:${serving.port}\r\nContent-Length: 1000000000\r\n\r\n`;
    const answer = await sendRaw(serving, head);
    expect(statuses(answer)).toEqual([404]);
  });

  test.each(['PUT', 'PATCH', 'OPTIONS', 'HEAD', 'TRACE', 'PROPFIND'])(
    'the method %s is not allowed',
    async (method) => {
      const { status, headers } = await ask(serving, { method, headers: OWN });
      expect([405, 501]).toContain(status);
      expect(headers['access-control-allow-origin']).toBe(undefined);
    },
  );

  test.each(['x-http-method-override', 'x-method-override', 'x-http-method', 'x-original-method'])(
    'the header %s changes no method',
    async (name) => {
      const session = await beginSession(serving, bearer('alice'));
      const overridden = { ...session, [name]: 'DELETE' };
      const first = await ask(serving, {
        headers: overridden,
        body: call(1, 'echo', { message: 'x' }),
      });
      const second = await ask(serving, {
        headers: session,
        body: call(2, 'echo', { message: 'y' }),
      });
      expect([first.status, second.status]).toEqual([200, 200]);
    },
  );

  test.each(['x-original-url', 'x-rewrite-url', 'x-forwarded-prefix', 'x-forwarded-host'])(
    'the header %s changes no path',
    async (name) => {
      const headers = { ...OWN, [name]: '/mcp/small' };
      const { status } = await ask(serving, { path: '/mcp/other', headers, body: initialize() });
      expect(status).toBe(404);
    },
  );
});

describe('request smuggling', () => {
  const smuggled = (): string =>
    `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${serving.port}\r\nConnection: close\r\n\r\n`;

  /** One request whose end is told in two ways, with another one behind it. */
  async function smuggle(lines: readonly string[], body: string): Promise<readonly number[]> {
    const head = [
      'POST /mcp/small HTTP/1.1',
      `Host: 127.0.0.1:${serving.port}`,
      'Content-Type: application/json',
      'Accept: application/json, text/event-stream',
      'Authorization: Bearer alice',
      ...lines,
    ];
    return statuses(await sendRaw(serving, `${head.join('\r\n')}\r\n\r\n${body}`));
  }

  test.each([
    ['a length and chunks', ['Content-Length: 5', 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
    ['chunks and a length', ['Transfer-Encoding: chunked', 'Content-Length: 5'], '0\r\n\r\n'],
    ['two lengths', ['Content-Length: 5', 'Content-Length: 0'], 'abcde'],
    ['the same length twice', ['Content-Length: 5', 'Content-Length: 5'], 'abcde'],
    ['a list of lengths', ['Content-Length: 5, 5'], 'abcde'],
    ['a length with a sign', ['Content-Length: +5'], 'abcde'],
    ['a negative length', ['Content-Length: -1'], ''],
    ['a length in hex', ['Content-Length: 0x5'], 'abcde'],
    ['a length with a blank inside', ['Content-Length: 5 0'], 'abcde'],
    ['an endless length', ['Content-Length: 99999999999999999999999'], 'abcde'],
    ['chunks twice', ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
    ['chunks under another name', ['Transfer-Encoding: xchunked'], '0\r\n\r\n'],
    ['chunks, then something else', ['Transfer-Encoding: chunked, identity'], '0\r\n\r\n'],
    ['chunks behind a tab', ['Transfer-Encoding:\tchunked', 'Content-Length: 5'], '0\r\n\r\n'],
    ['a blank before a colon', ['Content-Length : 5', 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
    ['a folded line', ['Transfer-Encoding:', ' chunked', 'Content-Length: 5'], '0\r\n\r\n'],
    [
      'a header that begins with a blank',
      [' Transfer-Encoding: chunked', 'Content-Length: 5'],
      'abcde',
    ],
    [
      'a line feed alone',
      ['Foo: bar\nTransfer-Encoding: chunked', 'Content-Length: 5'],
      '0\r\n\r\n',
    ],
    [
      'a carriage return alone',
      ['Foo: bar\rTransfer-Encoding: chunked', 'Content-Length: 5'],
      '0\r\n\r\n',
    ],
    ['a zero byte', ['Foo: a\0b', 'Content-Length: 5'], 'abcde'],
    ['a wrong size of a chunk', ['Transfer-Encoding: chunked'], '5x\r\nabcde\r\n0\r\n\r\n'],
    ['a size of a chunk with a sign', ['Transfer-Encoding: chunked'], '+5\r\nabcde\r\n0\r\n\r\n'],
    ['a size of a chunk in 0x', ['Transfer-Encoding: chunked'], '0x5\r\nabcde\r\n0\r\n\r\n'],
    [
      'a chunk that is longer than it says',
      ['Transfer-Encoding: chunked'],
      '1\r\nabcde\r\n0\r\n\r\n',
    ],
    ['chunks that end with line feeds', ['Transfer-Encoding: chunked'], '5\nabcde\n0\n\n'],
  ])('%s make no second request', async (_name, lines, body) => {
    const got = await smuggle(lines, `${body}${smuggled()}`);
    // Refused and closed: what came behind is not answered.
    expect(got).toEqual([400]);
  });

  test('a body that is not read is no request', async () => {
    const inner = smuggled();
    const head = [
      'POST /mcp/nowhere HTTP/1.1',
      `Host: 127.0.0.1:${serving.port}`,
      `Content-Length: ${inner.length}`,
    ];
    const got = statuses(
      await sendRaw(serving, `${head.join('\r\n')}\r\n\r\n${inner}`, (text) =>
        text.includes('"ok"'),
      ),
    );
    expect(got).toEqual([404]);
  });

  test('two requests of one connection get their own answers', async () => {
    const body = initialize();
    const one = `POST /mcp/small HTTP/1.1\r\nHost: 127.0.0.1:${serving.port}\r\n${rawHeaders(body)}\r\n${body}`;
    const got = await sendRaw(serving, `${one}${smuggled()}`);
    expect(statuses(got)).toEqual([200, 200]);
    expect(got.indexOf('mcp-session-id')).toBeLessThan(got.indexOf('"ok"'));
  });
});

describe('bodies and headers', () => {
  test.each(['gzip', 'br', 'deflate', 'identity, gzip', 'x-gzip', 'GZIP'])(
    'a body in %s is refused, whatever it would become',
    async (encoding) => {
      const body = gzipSync(Buffer.alloc(16 * 1024 * 1024, ' '));
      const headers = { ...OWN, 'content-encoding': encoding };
      expect((await ask(serving, { headers, body })).status).toBe(415);
    },
  );

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonx',
    'text/json; application/json',
    '',
  ])('a body of the type %j is refused', async (type) => {
    const headers = { ...OWN, 'content-type': type };
    expect((await ask(serving, { headers, body: initialize() })).status).toBe(415);
  });

  test('a body that claims to be endless is refused before it is sent', async () => {
    const head = [
      'POST /mcp/small HTTP/1.1',
      `Host: 127.0.0.1:${serving.port}`,
      'Content-Type: application/json',
      'Accept: application/json, text/event-stream',
      'Authorization: Bearer alice',
      'Content-Length: 1000000000000',
    ];
    const got = await sendRaw(serving, `${head.join('\r\n')}\r\n\r\n{`);
    expect(statuses(got)).toEqual([413]);
  });

  test.each([
    ['that are too large', `X-Large: ${'x'.repeat(64 * 1024)}`],
    ['that are too many', Array.from({ length: 10_000 }, (_, at) => `X-${at}: x`).join('\r\n')],
  ])('headers %s are refused', async (_name, lines) => {
    const start = `POST /mcp/small HTTP/1.1\r\nHost: 127.0.0.1:${serving.port}\r\n${lines}\r\n`;
    const got = await sendRaw(serving, `${start}${rawHeaders(initialize())}\r\n${initialize()}`);
    // The connection may be gone before the answer is read.
    expect([[431], []]).toContainEqual(statuses(got));
  });

  test('headers that never end are cut off', async () => {
    const slow = `POST /mcp/small HTTP/1.1\r\nHost: 127.0.0.1:${serving.port}\r\nX-Slow: `;
    expect(statuses(await sendRaw(serving, slow))).toEqual([408]);
  }, 60_000);

  test('no body reaches a server before its sender is known', async () => {
    const { authorization: _, ...unknown } = OWN;
    const { status, headers } = await ask(serving, { headers: unknown, body: initialize() });
    expect(status).toBe(401);
    expect(headers['www-authenticate']).toMatch(/^Bearer /);
    expect(headers['mcp-session-id']).toBe(undefined);
  });

  test.each([
    ['no JSON', '{'],
    ['two messages in a row', '{}{}'],
    ['nothing', ''],
    ['a list', '[]'],
    ['a number', '7'],
    [
      'a key twice',
      '{"jsonrpc":"2.0","id":1,"method":"initialize","method":"tools/call","params":{}}',
    ],
    ['no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ])('%s is no message', async (_name, body) => {
    const session = await beginSession(serving, bearer('alice'));
    const answer = await ask(serving, { headers: session, body });
    expect(answer.text).toContain('"error"');
    expect(answer.text).not.toContain('"result"');
  });

  test('a message that nests without end does not bring it down', async () => {
    const session = await beginSession(serving, bearer('alice'));
    const deep = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${'['.repeat(400_000)}${']'.repeat(400_000)}}`;
    await ask(serving, { headers: session, body: deep });
    const after = await ask(serving, { headers: session, body: call(2, 'echo', { message: 'x' }) });
    expect(after.text).toContain('Echo: x');
  });
});
