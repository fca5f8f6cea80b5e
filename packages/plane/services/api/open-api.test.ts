import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { API_ERROR, check, isFailure } from '@subluminal/contracts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Shim, T0_MS } from '../../stores/ledger/testing/events.ts';
import { openApi } from './open-api.ts';
import { type ApiClient, AUTH, heavyCalls, liveLedger, TOKEN } from './testing/live-ledger.ts';
import type { ApiOptions } from './types.ts';

const HAS_IPV6 = Object.values(networkInterfaces()).some((list) =>
  list?.some(({ address }) => address === '::1'),
);

async function opened(options: Partial<ApiOptions> = {}) {
  const live = await liveLedger();
  await live.ingest(...new Shim('a').call('c'));
  return { live, client: await live.open(options) };
}

/** What comes back for these very bytes. */
function raw({ api }: ApiClient, bytes: string): Promise<string> {
  const { hostname, port } = new URL(api.url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    onTestFinished(() => {
      socket.destroy();
    });
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
  });
}

/** So many connections that nobody hears more of; each resolves when it is there. */
function silentSockets(
  { api }: ApiClient,
  count: number,
  bytes: string,
): readonly Promise<unknown>[] {
  const { hostname, port } = new URL(api.url);
  return Array.from({ length: count }, () => {
    const socket = connect(
      Number(port),
      hostname,
      () => void (bytes !== '' && socket.write(bytes)),
    );
    socket.on('error', () => undefined);
    onTestFinished(() => {
      socket.destroy();
    });
    return once(socket, 'connect');
  });
}

function errorOf(text: string): { readonly code: string; readonly message: string } {
  const body = JSON.parse(text) as { error: { code: string; message: string } };
  expect(check(API_ERROR, body)).toEqual([]);
  return body.error;
}

describe('the token', () => {
  it.each([
    ['nothing', { authorization: undefined }],
    ['another token', { authorization: `Bearer ${TOKEN}x` }],
    ['one of the same length', { authorization: `Bearer ${TOKEN.slice(1)}x` }],
    ['a part of it', { authorization: `Bearer ${TOKEN.slice(1)}` }],
    ['an empty one', { authorization: 'Bearer ' }],
    ['the bare token', { authorization: TOKEN }],
    ['another scheme', { authorization: `Basic ${TOKEN}` }],
    ['two headers', { authorization: [AUTH.authorization, AUTH.authorization] }],
    [
      'a protocol without an upgrade',
      { authorization: undefined, 'sec-websocket-protocol': `subluminal.v1, bearer.${TOKEN}` },
    ],
    ['a very long one', { authorization: `Bearer ${'x'.repeat(100_000)}` }],
  ])('is needed: %s is refused', async (_, headers) => {
    const { client } = await opened();
    for (const path of [
      '/api/v1/health',
      '/api/v1/runs',
      '/nothing',
      `/api/v1/health?token=${TOKEN}`,
    ]) {
      const answer = await client.ask(path, { headers });
      expect(answer.status).toBe(401);
      expect(answer.headers['www-authenticate']).toBe('Bearer realm="subluminal"');
      expect(errorOf(answer.text).code).toBe('SUB_API_TOKEN');
      expect(JSON.stringify(answer)).not.toContain(TOKEN);
    }
  });

  it('may be named in any case, as HTTP has it', async () => {
    const { client } = await opened();
    const answer = await client.ask('/api/v1/health', {
      headers: { authorization: `bearer ${TOKEN}` },
    });
    expect(answer.status).toBe(200);
  });
});

describe('the address', () => {
  it('must be our own, or a foreign name could lead here', async () => {
    const { client } = await opened();
    const { port } = new URL(client.api.url);
    const wrong = [
      undefined,
      'evil.example',
      `evil.example:${port}`,
      '127.0.0.1',
      `127.0.0.1:${Number(port) - 1}`,
      `127.0.0.1.evil.example:${port}`,
      `localhost.:${port}`,
      `127.0.0.1:${port}, evil.example`,
      `user@127.0.0.1:${port}`,
      `127.0.0.2:${port}`,
    ];
    for (const host of wrong) {
      const { status, text } = await client.ask('/api/v1/health', { headers: { host } });
      expect([host, status]).toEqual([host, 403]);
      expect(errorOf(text)).toMatchObject({ code: 'SUB_API_HOST' });
    }
    const twice = `Host: 127.0.0.1:${port}\r\n`.repeat(2);
    const head = `GET /api/v1/health HTTP/1.1\r\n${twice}Authorization: ${AUTH.authorization}`;
    expect(await raw(client, `${head}\r\n\r\n`)).toMatch(/^HTTP\/1.1 403 /);
    for (const host of [
      `127.0.0.1:${port}`,
      `localhost:${port}`,
      `[::1]:${port}`,
      `LocalHost:${port}`,
    ]) {
      expect((await client.ask('/api/v1/health', { headers: { host } })).status).toBe(200);
    }
  });

  it('of a page that asks must be the own one, or one that was allowed', async () => {
    const { client } = await opened({ origins: ['http://localhost:5173'] });
    const { port } = new URL(client.api.url);
    const own = `http://${client.host}`;
    const wrong = [
      'null',
      'http://evil.example',
      `https://${client.host}`,
      `http://localhost:${port}`,
      'http://127.0.0.1',
      `${own}/`,
      `${own}, ${own}`,
    ];
    for (const origin of wrong) {
      const { status, text } = await client.ask('/api/v1/health', { headers: { origin } });
      expect([origin, status]).toEqual([origin, 403]);
      expect(errorOf(text)).toMatchObject({ code: 'SUB_API_HOST' });
      const stream = client.stream('', { headers: { ...AUTH, origin } });
      expect((await stream.ended).code).toBe(403);
    }
    for (const origin of [own, 'http://localhost:5173']) {
      expect((await client.ask('/api/v1/health', { headers: { origin } })).status).toBe(200);
      await client.stream('', { headers: { ...AUTH, origin } }).opened;
    }
  });
});

describe('every answer', () => {
  it('forbids what a browser could do with it, and never asks other sites in', async () => {
    const { client } = await opened();
    const asked = [
      client.ask('/api/v1/health'),
      client.ask('/api/v1/runs/run-1/events'),
      client.ask('/api/v1/runs?x=1'),
      client.ask('/nothing'),
      client.ask('/api/v1/health', { headers: { authorization: undefined } }),
      client.ask('/api/v1/health', { headers: { origin: 'http://evil.example' } }),
      client.ask('/api/v1/health', {
        method: 'OPTIONS',
        headers: { origin: `http://${client.host}` },
      }),
    ];
    for (const { headers } of await Promise.all(asked)) {
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'cross-origin-resource-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
      });
      const names = Object.keys(headers);
      expect(names.filter((name) => /^access-control-|^set-cookie$|powered/.test(name))).toEqual(
        [],
      );
    }
  });

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE'])(
    'to %s is no',
    async (method) => {
      const { client } = await opened();
      const { status, headers } = await client.ask('/api/v1/runs', { method });
      expect([status, headers.allow]).toEqual([405, 'GET']);
    },
  );

  it('to a request with a body is no', async () => {
    const { client } = await opened();
    const headers = [{ 'content-length': '2' }, { 'transfer-encoding': 'chunked' }];
    for (const one of headers) {
      const { status } = await client.ask('/api/v1/runs', { headers: one, body: '{}' });
      expect(status).toBe(400);
    }
  });

  it('to bytes that are no request is an error of ours', async () => {
    const { client } = await opened({ limits: { headerBytesMax: 4_096 } });
    const { client: hasty } = await opened({ limits: { requestMs: 200 } });
    const long = `GET /${'a'.repeat(5_000)} HTTP/1.1\r\nHost: x\r\n\r\n`;
    const cases = [
      [client, 'nonsense\r\n\r\n', 400, 'SUB_API_REQUEST'],
      [client, long, 431, 'SUB_API_LIMIT'],
      [client, `GET / HTTP/1.1\r\nX: ${'a'.repeat(5_000)}\r\n\r\n`, 431, 'SUB_API_LIMIT'],
      // Never finished.
      [hasty, 'GET / HTTP/1.1\r\nHost: x\r\n', 408, 'SUB_API_LIMIT'],
    ] as const;
    for (const [to, bytes, status, code] of cases) {
      const [head = '', body = ''] = (await raw(to, bytes)).split('\r\n\r\n');
      expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(head).toContain('x-content-type-options: nosniff');
      expect(errorOf(body).code).toBe(code);
    }
  });

  it('tells nothing of the inside when the ledger fails', async () => {
    const { live, client } = await opened();
    await live.ledger.close();
    for (const path of ['/api/v1/runs', '/api/v1/health', '/api/v1/runs/run-1/events']) {
      const { status, text } = await client.ask(path);
      expect(status).toBe(500);
      expect(errorOf(text).code).toMatch(/^SUB_(LEDGER_IO|INTERNAL)$/);
      expect(text).not.toMatch(/ledger\.db|\.ts|at /);
    }
    expect(live.warnings).toHaveLength(3);
    expect(live.warnings.join('')).not.toContain(TOKEN);
  });
});

describe('the limits', () => {
  it('let only so many connections in', async () => {
    const { client } = await opened({ limits: { connectionsMax: 2 } });
    const streams = [client.stream(), client.stream()];
    await Promise.all(streams.map(({ opened: open }) => open));
    await expect(client.ask('/api/v1/health')).rejects.toThrow(/ECONNRESET|socket hang up/);
    streams[0]?.socket.close();
    await streams[0]?.ended;
    expect((await client.ask('/api/v1/health')).status).toBe(200);
  });

  it.each([
    ['say nothing', ''],
    ['never end their headers', 'GET /api/v1/health HTTP/1.1\r\nHost: 127.0.0.1'],
    ['have no token', 'GET /api/v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'],
  ])('let a client in beside 400 sockets that %s', async (_, bytes) => {
    const { client } = await opened();
    await Promise.all(silentSockets(client, 400, bytes));
    expect((await client.ask('/api/v1/health')).status).toBe(200);
    const stream = client.stream();
    await stream.opened;
    // Not one of those that have come since has taken its place.
    await Promise.all(silentSockets(client, 200, bytes));
    expect(await client.json('/api/v1/health')).toMatchObject({ streams: 1 });
  });

  it('let a client in that comes in the middle of a burst', async () => {
    const { client } = await opened();
    const before = silentSockets(client, 200, '');
    const asked = client.ask('/api/v1/health');
    await Promise.all([...before, ...silentSockets(client, 200, '')]);
    expect((await asked).status).toBe(200);
  });

  it('end a connection that says nothing', async () => {
    const { client } = await opened({ limits: { requestMs: 200 } });
    expect(await raw(client, '')).toContain('408');
  });

  it('let only so many streams in', async () => {
    const { client } = await opened({ limits: { streamsMax: 1 } });
    const first = client.stream();
    await first.opened;
    expect(await client.json('/api/v1/health')).toMatchObject({ streams: 1 });
    expect((await client.stream().ended).code).toBe(503);
  });

  it('cut off a client that takes nothing of an answer, and send no faster than it is taken', async () => {
    const { live, client } = await opened({ limits: { stallMs: 300 } });
    const shim = new Shim('big', { run: 'big' });
    for (let n = 0; n < 20; n++) await live.ingest(...heavyCalls(shim, 100));
    let reads = 0;
    const store = live.ledger.store;
    const reader = {
      ...store,
      events: (request: Parameters<typeof store.events>[0]) => {
        reads += 1;
        return store.events(request);
      },
    };
    const slow = await live.open({ reader, limits: { stallMs: 300, connectionsMax: 1 } });
    const socket = connect(Number(new URL(slow.api.url).port), '127.0.0.1');
    onTestFinished(() => {
      socket.destroy();
    });
    const head = `GET /api/v1/runs/big/events HTTP/1.1\r\nHost: ${slow.host}`;
    socket.write(`${head}\r\nAuthorization: ${AUTH.authorization}\r\n\r\n`);
    await once(socket, 'readable');
    // There is room for one connection: another one gets in when this one is cut off.
    const isIn = () =>
      slow.ask('/api/v1/health').then(
        () => true,
        () => false,
      );
    expect(await isIn()).toBe(false);
    while (!(await isIn()));
    expect(reads).toBeGreaterThan(1);
    expect(reads).toBeLessThan(25);
    expect((await client.ask('/api/v1/runs/big/events')).text.split('\n')).toHaveLength(2_001);
  });
});

describe('opening', () => {
  const options = async (): Promise<ApiOptions> => {
    const live = await liveLedger();
    const fixed = { token: TOKEN, user: 'ada', version: '1', nowMs: () => T0_MS };
    return {
      reader: live.ledger.store,
      feed: live,
      take: (lines) => live.ledger.ingest(lines),
      ...fixed,
    };
  };

  it.each(['0.0.0.0', '::', '', 'example.com', '127.0.0.2', '192.0.2.1', 'LOCALHOST', 'toString'])(
    'is refused where others could reach it: %s',
    async (host) => {
      const result = await openApi({ ...(await options()), host });
      expect(result).toMatchObject({ kind: 'failure', code: 'SUB_API_START' });
    },
  );

  it.each([
    '',
    'short',
    'a'.repeat(31),
    'a'.repeat(513),
    `${'a'.repeat(40)}\n`,
    `${'a'.repeat(40)} b`,
  ])('is refused with a weak or odd token: %j', async (token) => {
    const result = await openApi({ ...(await options()), token });
    expect(result).toMatchObject({ kind: 'failure', code: 'SUB_API_START' });
    expect(JSON.stringify(result)).not.toContain(token === '' ? TOKEN : token);
  });

  it('is refused on a port that is none, or taken', async () => {
    for (const port of [-1, 65_536, 1.5, Number.NaN]) {
      expect(await openApi({ ...(await options()), port })).toMatchObject({ kind: 'failure' });
    }
    const other = createServer();
    await new Promise<void>((resolve) => {
      other.listen(0, '127.0.0.1', resolve);
    });
    onTestFinished(() => {
      other.close();
    });
    const { port } = other.address() as { port: number };
    const result = await openApi({ ...(await options()), port });
    expect(result).toMatchObject({ kind: 'failure', code: 'SUB_API_START' });
    expect(isFailure(result) ? result.message : '').toContain('EADDRINUSE');
  });

  it('listens on the loopback address only', async () => {
    const { client } = await opened({ host: 'localhost' });
    expect(client.api.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it.skipIf(!HAS_IPV6)('listens on the other loopback address when asked', async () => {
    const { client } = await opened({ host: '::1' });
    expect(client.api.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    expect((await client.ask('/api/v1/health')).status).toBe(200);
  });
});

describe('closing', () => {
  it('ends streams with a goodbye, gives up listening, and can be done twice', async () => {
    const { live, client } = await opened();
    const streams = [client.stream(), client.stream('?after=0')];
    await Promise.all(streams.map(({ opened: open }) => open));
    await streams[1]?.until(3);
    await Promise.all([client.api.close(), client.api.close()]);
    for (const { ended } of streams) expect(await ended).toMatchObject({ code: 1001 });
    expect(live.listeners).toBe(0);
    await expect(client.ask('/api/v1/health')).rejects.toThrow('ECONNREFUSED');
    await client.api.close();
    // The ledger is not its own.
    expect(await live.ledger.store.run('run-1')).toBeDefined();
  });

  it('does not wait for silent connections', async () => {
    const { live, client } = await opened({ limits: { closeMs: 50 } });
    const deaf = client.stream();
    await deaf.opened;
    deaf.socket.pause();
    const silent = raw(client, 'GET /api/v1/health HTTP/1.1\r\n');
    await client.ask('/api/v1/health');
    await client.api.close();
    await silent;
    expect(live.listeners).toBe(0);
  });
});
