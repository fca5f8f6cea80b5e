// Attacks of one caller of `sub serve` on another, and of a caller on the service itself.
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  type Asking,
  ask,
  bearer,
  beginSession,
  call,
  initialize,
  keyEntry,
  MCP_HEADERS,
  modern,
  type Serving,
  SMALL_SERVER,
  startServing,
} from './served.ts';

let serving: Serving;
const SESSIONS_MAX = 8;
const auth = {
  keys: [keyEntry('alice'), keyEntry('bob'), keyEntry('carol', 'carol', ['other'])],
};
const servers = { small: { command: SMALL_SERVER }, other: { command: SMALL_SERVER } };

beforeAll(async () => {
  serving = await startServing({ auth, servers, limits: { sessions_per_principal: SESSIONS_MAX } });
});
afterAll(() => serving.close());

/** A stream that stays open; `text` is what has come of it. */
function openStream(asking: Asking): Promise<{
  readonly status: number;
  readonly text: () => string;
  readonly ended: Promise<void>;
  close(): void;
}> {
  const { method = 'GET', path = '/mcp/small', headers = {}, body } = asking;
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      {
        host: '127.0.0.1',
        port: serving.port,
        method,
        path,
        headers: { ...headers },
        agent: false,
      },
      (response: IncomingMessage) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        const ended = new Promise<void>((over) => {
          response.once('close', () => over());
          response.once('error', () => over());
        });
        resolve({
          status: response.statusCode ?? 0,
          text: () => text,
          ended,
          close: () => void sent.destroy(),
        });
      },
    );
    sent.once('error', reject);
    sent.end(body);
  });
}

describe('sessions of others', () => {
  const kinds = [
    ['a call', { body: call(7, 'echo', { message: 'stolen' }) }],
    ['a notification', { body: '{"jsonrpc":"2.0","method":"notifications/initialized"}' }],
    ['an answer', { body: '{"jsonrpc":"2.0","id":1,"result":{}}' }],
    ['a stream', { method: 'GET' }],
    ['a resumed stream', { method: 'GET', extra: { 'last-event-id': 'get_0' } }],
    ['a resumed stream of a call', { method: 'GET', extra: { 'last-event-id': 'p1_0' } }],
    ['an end', { method: 'DELETE' }],
  ] as const;

  test.each(kinds)(
    '%s for the session of another caller finds no session',
    async (_name, asking) => {
      const alice = await beginSession(serving, bearer('alice'));
      const { extra, ...rest } = { extra: {}, ...asking };
      const stolen = { ...alice, ...bearer('bob'), ...extra };
      expect((await ask(serving, { ...rest, headers: stolen })).status).toBe(404);
      const own = await ask(serving, {
        headers: alice,
        body: call(1, 'echo', { message: 'mine' }),
      });
      expect(own.text).toContain('Echo: mine');
      await ask(serving, { method: 'DELETE', headers: alice });
    },
  );

  test('a session of one server is none of another server', async () => {
    const alice = await beginSession(serving, bearer('alice'));
    const body = call(1, 'echo', { message: 'x' });
    expect((await ask(serving, { path: '/mcp/other', headers: alice, body })).status).toBe(404);
    await ask(serving, { method: 'DELETE', headers: alice });
  });

  test('a session is not found by an id in the address', async () => {
    const alice = await beginSession(serving, bearer('alice'));
    const { 'mcp-session-id': id = '', ...others } = alice;
    const body = call(1, 'echo', { message: 'x' });
    for (const name of ['sessionId', 'session_id', 'mcp-session-id', 'Mcp-Session-Id']) {
      const path = `/mcp/small?${name}=${id}`;
      expect((await ask(serving, { path, headers: others, body })).status).toBe(400);
    }
    await ask(serving, { method: 'DELETE', headers: alice });
  });

  test('a token in the address is no token', async () => {
    for (const name of ['access_token', 'token', 'key', 'api_key']) {
      const path = `/mcp/small?${name}=alice`;
      const { status } = await ask(serving, { path, headers: MCP_HEADERS, body: initialize() });
      expect(status).toBe(401);
    }
  });

  test.each(['chosen-by-me', '', ' ', 'a,b', 'a b', '__proto__', 'x'.repeat(5_000)])(
    'the session id %j of a client begins no session',
    async (id) => {
      const headers = { ...MCP_HEADERS, ...bearer('alice'), 'mcp-session-id': id };
      const begun = await ask(serving, { headers, body: initialize() });
      expect(begun.headers['mcp-session-id']).not.toBe(id);
      if (begun.status === 200) {
        const own = String(begun.headers['mcp-session-id']);
        await ask(serving, { method: 'DELETE', headers: { ...headers, 'mcp-session-id': own } });
      }
      const used = await ask(serving, { headers, body: call(1, 'echo', { message: 'x' }) });
      expect([400, 404]).toContain(used.status);
    },
  );

  test('two session ids are none', async () => {
    const alice = await beginSession(serving, bearer('alice'));
    const id = alice['mcp-session-id'] ?? '';
    const headers = { ...alice, 'mcp-session-id': [id, id] };
    const used = await ask(serving, { headers, body: call(1, 'echo', { message: 'x' }) });
    expect([400, 404]).toContain(used.status);
    await ask(serving, { method: 'DELETE', headers: alice });
  });

  test('the ids of sessions cannot be guessed', async () => {
    const ids = new Set<string>();
    for (let times = 0; times < 3; times++) {
      const session = await beginSession(serving, bearer('alice'));
      ids.add(session['mcp-session-id'] ?? '');
      await ask(serving, { method: 'DELETE', headers: session });
    }
    expect(ids.size).toBe(3);
    for (const id of ids) expect(Buffer.from(id, 'base64url').length).toBeGreaterThanOrEqual(16);
  });

  test('a session that was ended is gone', async () => {
    const alice = await beginSession(serving, bearer('alice'));
    expect((await ask(serving, { method: 'DELETE', headers: alice })).status).toBe(200);
    await vi.waitFor(async () => {
      const body = call(1, 'echo', { message: 'x' });
      expect((await ask(serving, { headers: alice, body })).status).toBe(404);
    });
  });

  test('a stream is not resumed by the events of another session', async () => {
    const alice = await beginSession(serving, bearer('alice'));
    const bob = await beginSession(serving, bearer('bob'));
    const hanging = await openStream({
      method: 'POST',
      headers: { ...alice, 'mcp-protocol-version': '2025-06-18' },
      body: call(1, 'hang'),
    });
    for (const last of [
      'p1_0',
      'p1_1',
      'p2_0',
      'get_1',
      'p1_-1',
      '../p1_0',
      'p1_9999999999999999',
    ]) {
      const headers = { ...bob, 'last-event-id': last };
      const { status } = await ask(serving, { method: 'GET', headers });
      expect(status, last).toBe(400);
    }
    expect(hanging.text()).not.toContain('data: {');
    hanging.close();
    for (const headers of [alice, bob]) await ask(serving, { method: 'DELETE', headers });
  });

  test('a key opens only the servers of its entry', async () => {
    const headers = { ...MCP_HEADERS, ...bearer('carol') };
    const refused = await ask(serving, { headers, body: initialize() });
    expect(refused.status).toBe(403);
    expect(refused.headers['www-authenticate']).toContain('insufficient_scope');
    const open = await ask(serving, { path: '/mcp/other', headers, body: initialize() });
    expect(open.status).toBe(200);
  });
});

describe('requests of 2026-07-28', () => {
  const asked = (key: string, id: number | string, message: string): Asking => {
    const { headers, body } = modern(id, 'tools/call', { name: 'echo', arguments: { message } });
    return { headers: { ...headers, ...bearer(key) }, body };
  };

  test('requests with the same id get their own answers, whoever sends them', async () => {
    const keys = ['alice', 'bob'];
    const ids = [1, '1', 'sub-1', 0];
    const sent = ids.flatMap((id) =>
      keys.flatMap((key) => [1, 2, 3].map((nth) => ({ id, key, message: `${key}-${id}-${nth}` }))),
    );
    const answers = await Promise.all(
      sent.map(({ id, key, message }) => ask(serving, asked(key, id, message))),
    );
    for (const [index, { text }] of answers.entries()) {
      const { id, message } = sent[index] ?? { id: 0, message: '' };
      expect(JSON.parse(text)).toMatchObject({
        id,
        result: { content: [{ text: `Echo: ${message}` }] },
      });
    }
  });

  const mismatches: readonly (readonly [string, { readonly [name: string]: string }])[] = [
    ['another method', { 'mcp-method': 'tools/list' }],
    ['another tool', { 'mcp-name': 'get-sum' }],
    ['another case of the method', { 'mcp-method': 'TOOLS/CALL' }],
    ['another version', { 'mcp-protocol-version': '2025-11-25' }],
    ['an empty name', { 'mcp-name': '' }],
    ['two names', { 'mcp-name': 'echo, get-sum' }],
  ];

  test.each(mismatches)('a header that says %s is refused', async (_name, headers) => {
    const { headers: right, body } = asked('alice', 1, 'x');
    const answer = await ask(serving, { headers: { ...right, ...headers }, ...(body && { body }) });
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text)).toMatchObject({ error: { code: -32_020 } });
    expect(answer.text).not.toContain('Echo');
  });

  test.each(['mcp-method', 'mcp-name', 'mcp-protocol-version'])(
    'a request without the header %s is refused',
    async (name) => {
      const { headers = {}, body } = asked('alice', 1, 'x');
      const others = Object.fromEntries(Object.entries(headers).filter(([one]) => one !== name));
      const answer = await ask(serving, { headers: others, ...(body && { body }) });
      expect(answer.status).toBe(400);
      expect(answer.text).not.toContain('Echo');
    },
  );

  test.each([
    ['another method', { 'mcp-method': 'tools/list' }],
    ['another tool', { 'mcp-name': 'get-sum' }],
    ['no tool', { 'mcp-name': '' }],
  ])('a header that says %s is refused before a large body', async (_name, headers) => {
    const { headers: right, body } = asked('alice', 1, 'x'.repeat(1_500_000));
    const wrong = await ask(serving, { headers: { ...right, ...headers }, ...(body && { body }) });
    expect(wrong.status).toBe(400);
    expect(JSON.parse(wrong.text)).toMatchObject({ error: { code: -32_020 } });
    const fine = await ask(serving, { headers: right ?? {}, ...(body && { body }) });
    expect(fine.text).toContain('Echo: xxx');
  });

  test('a large request whose name comes last is refused', async () => {
    const { headers = {} } = asked('alice', 1, 'x');
    const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`;
    const params = `{"arguments":{"message":"${'x'.repeat(1_500_000)}"},${meta},"name":"echo"}`;
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
    expect((await ask(serving, { headers, body })).status).toBe(400);
  });

  test.each(['name', 'method', 'params'])(
    'a body with the key %s twice means nothing, whatever the headers say',
    async (key) => {
      const { headers = {} } = asked('alice', 1, 'x');
      const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`;
      const params = (name: string): string =>
        `{"name":"${name}","arguments":{"message":"x","a":1,"b":2},${meta}}`;
      const bodies: { readonly [key: string]: string } = {
        name: `"method":"tools/call","params":{"name":"get-sum",${params('echo').slice(1)}`,
        method: `"method":"tools/list","method":"tools/call","params":${params('echo')}`,
        params: `"method":"tools/call","params":${params('get-sum')},"params":${params('echo')}`,
      };
      const body = `{"jsonrpc":"2.0","id":1,${bodies[key]}}`;
      const answer = await ask(serving, { headers, body });
      expect(answer.text).not.toContain('result');
    },
  );

  test('a session id is not looked at', async () => {
    const { headers, body } = asked('alice', 1, 'x');
    const answer = await ask(serving, {
      headers: { ...headers, 'mcp-session-id': 'made-up' },
      ...(body && { body }),
    });
    expect(answer.status).toBe(200);
    expect(answer.headers['mcp-session-id']).toBe(undefined);
  });
});

describe('floods', () => {
  test('a caller has so many sessions, and others can still begin theirs', async () => {
    const crowd = await startServing({ auth, servers, limits: { sessions_per_principal: 3 } });
    try {
      const headers = { ...MCP_HEADERS, ...bearer('alice') };
      const begun = await Promise.all(
        Array.from({ length: 10 }, () => ask(crowd, { headers, body: initialize() })),
      );
      const counted = begun.map(({ status }) => status).toSorted((one, other) => one - other);
      expect(counted).toEqual([200, 200, 200, 429, 429, 429, 429, 429, 429, 429]);
      const refused = begun.filter(({ status }) => status === 429);
      for (const { headers: told } of refused) expect(told['retry-after']).toBeDefined();
      expect(
        (await ask(crowd, { headers: { ...headers, ...bearer('bob') }, body: initialize() }))
          .status,
      ).toBe(200);
    } finally {
      await crowd.close();
    }
  });

  test('connections that send nothing do not keep callers out', async () => {
    const crowd = await startServing({ auth, servers, limits: { connections: 16 } });
    const sockets: Socket[] = [];
    try {
      for (let count = 0; count < 800; count++) {
        const socket = connect(crowd.port, '127.0.0.1');
        socket.on('error', () => {});
        sockets.push(socket);
      }
      const headers = { ...MCP_HEADERS, ...bearer('alice') };
      await vi.waitFor(
        async () => {
          const begun = await ask(crowd, { headers, body: initialize() });
          expect(begun.status).toBe(200);
        },
        { timeout: 20_000 },
      );
    } finally {
      for (const socket of sockets) socket.destroy();
      await crowd.close();
    }
  }, 40_000);

  test('connections with wrong keys do not keep callers out', async () => {
    const crowd = await startServing({ auth, servers, limits: { connections: 16 } });
    const sockets: Socket[] = [];
    try {
      const wrong = `POST /mcp/small HTTP/1.1\r\nHost: 127.0.0.1:${crowd.port}\r\nAuthorization: Bearer wrong\r\nContent-Length: 0\r\n\r\n`;
      const refused = Array.from({ length: 64 }, () => {
        const socket = connect(crowd.port, '127.0.0.1');
        sockets.push(socket);
        socket.on('error', () => {}).write(wrong);
        return new Promise<string>((resolve) => {
          socket.once('data', (bytes) => resolve(String(bytes)));
          socket.once('close', () => resolve(''));
        });
      });
      for (const answer of await Promise.all(refused))
        expect(answer).toMatch(/^$|^HTTP\/1\.1 401 /);
      const headers = { ...MCP_HEADERS, ...bearer('alice') };
      expect((await ask(crowd, { headers, body: initialize() })).status).toBe(200);
    } finally {
      for (const socket of sockets) socket.destroy();
      await crowd.close();
    }
  });

  test('a caller has half of the connections at most', async () => {
    const crowd = await startServing({ auth, servers, limits: { connections: 16 } });
    try {
      const session = await beginSession(crowd, bearer('alice'));
      const waiting = Array.from({ length: 12 }, (_, id) => {
        const { port } = crowd;
        const headers = { ...session };
        const options = { host: '127.0.0.1', port, method: 'POST', path: '/mcp/small', headers };
        const sent = httpRequest({ ...options, agent: false });
        sent.on('error', () => {});
        sent.end(call(id + 1, 'hang'));
        return sent;
      });
      await vi.waitFor(async () => {
        const more = await ask(crowd, { headers: session, body: call(99, 'echo') });
        expect(more.status).toBe(429);
      });
      const other = await beginSession(crowd, bearer('bob'));
      const own = await ask(crowd, { headers: other, body: call(1, 'echo', { message: 'x' }) });
      expect(own.text).toContain('Echo: x');
      for (const sent of waiting) sent.destroy();
      await vi.waitFor(async () => {
        const again = await ask(crowd, {
          headers: session,
          body: call(98, 'echo', { message: 'y' }),
        });
        expect(again.text).toContain('Echo: y');
      });
    } finally {
      await crowd.close();
    }
  });

  test('bodies that never end do not keep others out', async () => {
    const session = await beginSession(serving, bearer('alice'));
    const lines = Object.entries(session).map(([name, value]) => `${name}: ${value}\r\n`);
    const head = `POST /mcp/small HTTP/1.1\r\nHost: 127.0.0.1:${serving.port}\r\n${lines.join('')}`;
    const part = 'x'.repeat(1_000_000);
    const sockets: Socket[] = [];
    for (let count = 0; count < 80; count++) {
      const socket = connect(serving.port, '127.0.0.1').on('error', () => {});
      socket.write(`${head}Content-Length: 1040000\r\n\r\n${part}`);
      sockets.push(socket);
    }
    await vi.waitFor(async () => {
      const own = await ask(serving, { headers: session, body: call(1, 'echo', { message: 'x' }) });
      expect(own.status).toBe(503);
    }, 10_000);
    const bob = await beginSession(serving, bearer('bob'));
    const other = await ask(serving, { headers: bob, body: call(1, 'echo', { message: 'x' }) });
    expect(other.text).toContain('Echo: x');
    for (const socket of sockets) socket.destroy();
    await vi.waitFor(async () => {
      const own = await ask(serving, { headers: session, body: call(2, 'echo', { message: 'y' }) });
      expect(own.text).toContain('Echo: y');
    }, 10_000);
    for (const headers of [session, bob]) await ask(serving, { method: 'DELETE', headers });
  }, 40_000);

  test('one session waits for so many answers', async () => {
    const crowd = await startServing({ auth, servers, limits: { requests_per_session: 4 } });
    try {
      const session = await beginSession(crowd, bearer('alice'));
      const waiting = Array.from({ length: 4 }, (_, id) => {
        const sent = httpRequest({
          host: '127.0.0.1',
          port: crowd.port,
          method: 'POST',
          path: '/mcp/small',
          headers: { ...session },
          agent: false,
        });
        sent.on('error', () => {});
        sent.end(call(id + 1, 'hang'));
        return sent;
      });
      await vi.waitFor(async () => {
        const more = await ask(crowd, {
          headers: session,
          body: call(99, 'echo', { message: 'x' }),
        });
        expect(more.status).toBe(503);
      });
      for (const sent of waiting) sent.destroy();
      const fresh = await beginSession(crowd, bearer('bob'));
      const own = await ask(crowd, { headers: fresh, body: call(1, 'echo', { message: 'x' }) });
      expect(own.text).toContain('Echo: x');
    } finally {
      await crowd.close();
    }
  });
});

describe('a changed configuration', () => {
  test('a key that was taken out opens nothing any more, and its streams end', async () => {
    const changing = await startServing({ auth, servers });
    try {
      const alice = await beginSession(changing, bearer('alice'));
      const stream = await new Promise<IncomingMessage>((resolve, reject) => {
        const { port } = changing;
        const sent = httpRequest(
          { host: '127.0.0.1', port, path: '/mcp/small', headers: { ...alice }, agent: false },
          resolve,
        );
        sent.once('error', reject);
        sent.end();
      });
      expect(stream.statusCode).toBe(200);
      const ended = new Promise((resolve) => stream.once('close', resolve).resume());
      stream.on('error', () => {});
      changing.configure({ auth: { keys: auth.keys.slice(1) }, servers });
      await ended;
      const body = call(1, 'echo', { message: 'x' });
      expect((await ask(changing, { headers: alice, body })).status).toBe(401);
    } finally {
      await changing.close();
    }
  }, 30_000);
});
