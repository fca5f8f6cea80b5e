import { hash } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  begin,
  call,
  eventsIn,
  messagesOf,
  modern,
  modernRequest,
  post,
  type Received,
  request,
  served,
  textOf,
} from './testing/served.ts';

const POLICY = (rules: string) => `
policy_id: serve-test
version: "1"
mode: control
rules:
${rules}`;

test('a session calls tools, and its answers are JSON bodies', async () => {
  const { url } = await served();
  const session = await begin(url());
  const response = await post(url(), call(1, 'echo', { message: 'hi' }), session);
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(await response.json()).toEqual({
    jsonrpc: '2.0',
    id: 1,
    result: { content: [{ type: 'text', text: 'hi' }] },
  });
});

test('each session has a process of its own, which ends with it', async () => {
  const { url } = await served();
  const [one, other] = [await begin(url()), await begin(url())];
  const pid = async (session: { [name: string]: string }) => {
    return Number(await textOf(await post(url(), call(1, 'pid'), session)));
  };
  const [first, second] = [await pid(one), await pid(other)];
  expect(first).not.toBe(second);
  expect((await fetch(url(), { method: 'DELETE', headers: one })).status).toBe(200);
  expect((await post(url(), call(2, 'pid'), one)).status).toBe(404);
  await expect.poll(() => isAlive(first)).toBe(false);
  expect(await pid(other)).toBe(second);
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('a server that dies takes only its session with it, and the next session starts it again', async () => {
  const { url } = await served();
  const [one, other] = [await begin(url()), await begin(url())];
  const [died] = await messagesOf(await post(url(), call(1, 'die'), one));
  expect(died).toMatchObject({ id: 1, error: {} });
  expect(JSON.stringify(died)).toContain('server');
  await expect.poll(async () => (await post(url(), call(2, 'pid'), one)).status).toBe(404);
  expect((await post(url(), call(2, 'pid'), other)).status).toBe(200);
  expect(await begin(url())).toBeDefined();
});

test('a server that cannot start is an answer, and no session', async () => {
  const config =
    'listen: 127.0.0.1:0\nauth: {none: true}\nservers: {files: {command: [/no/such]}}\n';
  const { url } = await served({ config });
  const response = await post(url(), request(1, 'initialize', { protocolVersion: '2025-11-25' }));
  const [answer] = await messagesOf(response);
  expect(answer).toMatchObject({ id: 1, error: {} });
  expect(JSON.stringify(answer)).toMatch(/files.*can't start/);
  const id = response.headers.get('mcp-session-id') ?? '';
  expect((await post(url(), call(1, 'echo'), { 'mcp-session-id': id })).status).toBe(404);
});

test('messages before the answer make the response a stream, with the answer last', async () => {
  const { url } = await served();
  const session = await begin(url());
  const response = await post(url(), call(7, 'progress', {}, { progressToken: 'mine' }), session);
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  expect(response.headers.get('x-accel-buffering')).toBe('no');
  const messages = await messagesOf(response);
  expect(messages.map(({ id, method, params }) => id ?? [method, params?.progressToken])).toEqual([
    ['notifications/progress', 'mine'],
    ['notifications/progress', 'mine'],
    7,
  ]);
});

test('messages that belong to no request go to the stream of a GET, and a request of the server gets its answer', async () => {
  const { url } = await served();
  const session = await begin(url());
  const stream = await fetch(url(), { headers: { ...session, accept: 'text/event-stream' } });
  expect(stream.headers.get('content-type')).toBe('text/event-stream');
  const second = await fetch(url(), { headers: { ...session, accept: 'text/event-stream' } });
  expect(second.status).toBe(409);
  const events = eventsIn(stream);
  // The first event has no message.
  expect((await events.next()).value).toMatch(/^id: get_1\nretry: \d+\ndata: $/);
  const asking = post(url(), call(1, 'ask'), session);
  const event = String((await events.next()).value);
  expect(event).toContain('"method":"roots/list"');
  const { id } = JSON.parse(event.split('data: ')[1] ?? '') as Received;
  const roots = { roots: [{ uri: 'file:///work', name: 'work' }] };
  const answered = await post(
    url(),
    JSON.stringify({ jsonrpc: '2.0', id, result: roots }),
    session,
  );
  expect(answered.status).toBe(202);
  expect(JSON.parse(await textOf(await asking))).toEqual(roots);
});

test('a stream whose connection broke goes on behind its last event, and no other stream does', async () => {
  const { url } = await served();
  const session = await begin(url());
  const broken = new AbortController();
  const { signal } = broken;
  const get = { headers: { ...session, accept: 'text/event-stream' } };
  const stream = await fetch(url(), { ...get, signal });
  const events = eventsIn(stream);
  await events.next();
  const first = await post(url(), call(1, 'log'), session);
  const logged = String((await events.next()).value);
  expect(logged).toContain('notifications/message');
  await first.arrayBuffer();
  broken.abort();
  await expect(events.next()).rejects.toThrow('abort');
  // It is written while nobody listens; a client without a stream gets it with the answer to its request.
  const resumed = await fetch(url(), {
    headers: { ...get.headers, 'last-event-id': 'get_1' },
  });
  expect(resumed.status).toBe(200);
  expect((await eventsIn(resumed).next()).value).toBe(logged);
  const foreign = await begin(url());
  const headers = { ...foreign, accept: 'text/event-stream', 'last-event-id': 'get_2' };
  expect((await fetch(url(), { headers })).status).toBe(400);
});

test('a broken connection cancels nothing, and the answer waits in its stream', async () => {
  const { url } = await served();
  const session = await begin(url());
  const broken = new AbortController();
  const held = await fetch(url(), {
    method: 'POST',
    headers: {
      ...session,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: call(1, 'hold', {}, { progressToken: 1 }),
    signal: broken.signal,
  });
  expect(held.headers.get('content-type')).toBe('text/event-stream');
  const [id] = /id: (p\d+_\d+)/.exec(String((await eventsIn(held).next()).value)) ?? [];
  broken.abort();
  expect(await textOf(await post(url(), call(2, 'release'), session))).toBe('[1]');
  const headers = {
    ...session,
    accept: 'text/event-stream',
    'last-event-id': String(id).slice('id: '.length),
  };
  const messages = await messagesOf(await fetch(url(), { headers }));
  expect(messages).toMatchObject([{ id: 1, result: { content: [{ text: 'held' }] } }]);
}, 15_000);

test('only the principal of a session may use it', async () => {
  const keys = [...'ab'].map((name) => ({ name, key: `serve-sub-${name.repeat(43)}` }));
  const entries = keys.map(({ name, key }) => `{name: ${name}, sha256: ${hash('sha256', key)}}`);
  const config = `listen: 127.0.0.1:0\nauth: {keys: [${entries.join(', ')}]}\nservers: {files: {command: COMMAND}, other: {command: COMMAND}}\n`;
  const { url, eventsOf, close } = await served({ config });
  const [mine, theirs] = keys.map(({ key }) => ({ authorization: `Bearer ${key}` }));
  if (mine === undefined || theirs === undefined) throw new Error('two keys');
  expect((await post(url(), request(1, 'initialize', {}))).status).toBe(401);
  const session = await begin(url(), '2025-11-25', mine);
  const stolen = { ...session, ...theirs };
  expect((await post(url(), call(1, 'echo'), stolen)).status).toBe(404);
  expect((await fetch(url(), { method: 'DELETE', headers: stolen })).status).toBe(404);
  // The id of one server opens no other.
  expect((await post(url('other'), call(1, 'echo'), session)).status).toBe(404);
  expect((await post(url(), call(1, 'echo'), session)).status).toBe(200);
  await begin(url(), '2025-11-25', theirs);
  await close();
  const runs = eventsOf('run_start');
  expect(runs.map(({ principal }) => principal)).toEqual([
    expect.stringContaining('a'),
    expect.stringContaining('b'),
  ]);
  expect(new Set(runs.map(({ run_id }) => run_id)).size).toBe(2);
  expect(eventsOf('run_end').map(({ run }) => run?.status)).toEqual(['SUCCEEDED', 'SUCCEEDED']);
});

test.each<[string, RequestInit & { body?: string }, number]>([
  ['another content type', { headers: { 'content-type': 'text/plain' } }, 415],
  ['a compressed body', { headers: { 'content-encoding': 'gzip' } }, 415],
  ['an Accept without streams', { headers: { accept: 'application/json' } }, 406],
  ['no JSON', { body: '{"jsonrpc":' }, 400],
  ['no message', { body: '7' }, 400],
  ['an unknown session', { headers: { 'mcp-session-id': 'x' } }, 404],
  ['no session', {}, 400],
  ['an unknown version', { headers: { 'mcp-protocol-version': '1999-01-01' } }, 400],
  ['another method', { method: 'PUT' }, 405],
  ['GET without a session', { method: 'GET' }, 400],
  ['GET of 2026-07-28', { method: 'GET', headers: { 'mcp-protocol-version': '2026-07-28' } }, 405],
  [
    'DELETE of 2026-07-28',
    { method: 'DELETE', headers: { 'mcp-protocol-version': '2026-07-28' } },
    405,
  ],
  ['a page of another origin', { headers: { origin: 'https://evil.example' } }, 403],
  ['an opaque origin', { headers: { origin: 'null' } }, 403],
])('a request with %s gets its status', async (_, init, status) => {
  const { url } = await served();
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const { method = 'POST' } = init;
  const response = await fetch(url(), {
    method,
    ...(method === 'POST' && { body: init.body ?? call(1, 'echo') }),
    headers: { ...headers, ...init.headers },
  });
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: {} });
});

test('a Host of another name is refused', async () => {
  const { url } = await served();
  const { port } = new URL(url());
  const socket = connect(Number(port), '127.0.0.1');
  socket.write('GET /healthz HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n');
  const data: readonly unknown[] = await once(socket, 'data');
  expect(String(data[0])).toMatch(/^HTTP\/1\.1 403 /);
});

test('a batch of 2025-03-26 is answered whole', async () => {
  const { url } = await served();
  const session = await begin(url(), '2025-03-26');
  const batch = `[${call(1, 'echo', { message: 'a' })},${call(2, 'echo', { message: 'b' })}]`;
  const messages = await messagesOf(await post(url(), batch, session));
  expect(new Set(messages.map(({ id }) => id))).toEqual(new Set([1, 2]));
  const later = await begin(url(), '2025-06-18');
  expect((await post(url(), batch, later)).status).toBe(400);
});

test('a client answers its server while it has as many requests open as it may', async () => {
  const { url } = await served({
    config:
      'listen: 127.0.0.1:0\nauth: {none: true}\nservers: {files: {command: COMMAND}}\nlimits: {requests_per_session: 1}\n',
  });
  const session = await begin(url());
  const asking = await post(url(), call(1, 'ask'), session);
  const events = eventsIn(asking);
  await events.next();
  const { id } = JSON.parse(
    String((await events.next()).value).split('data: ')[1] ?? '',
  ) as Received;
  expect((await post(url(), call(2, 'echo'), session)).status).toBe(503);
  const answer = JSON.stringify({ jsonrpc: '2.0', id, result: { roots: [] } });
  expect((await post(url(), answer, session)).status).toBe(202);
  expect(String((await events.next()).value)).toContain('"id":1');
});

test('an id that waits for its answer is not taken twice', async () => {
  const { url } = await served();
  const session = await begin(url());
  const held = post(url(), call(1, 'hold'), session);
  await expect.poll(async () => (await post(url(), call(1, 'echo'), session)).status).toBe(400);
  await post(url(), call(2, 'release'), session);
  expect(await messagesOf(await held)).toMatchObject([{ id: 1 }]);
});

test('a message that is too large to inspect is streamed both ways', async () => {
  const { url } = await served({ flags: { profile: 'development' } });
  const session = await begin(url());
  const message = 'y'.repeat(3_000_000);
  expect(await textOf(await post(url(), call(1, 'count', { message }), session))).toBe('3000000');
  const [large] = await messagesOf(
    await post(url(), call(2, 'large', { bytes: 3_000_000 }), session),
  );
  expect(large?.id).toBe(2);
  expect(large?.result?.content[0]?.text).toHaveLength(3_000_000);
});

test('a large message that is no request is accepted, and others of its kind after it', async () => {
  const { url } = await served({ flags: { profile: 'development' } });
  const session = await begin(url());
  const stream = eventsIn(
    await fetch(url(), { headers: { ...session, accept: 'text/event-stream' } }),
  );
  const data = 'y'.repeat(3_000_000);
  for (const params of [{ reason: data }, { reason: `${data}y` }]) {
    const told = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/told', params });
    expect((await post(url(), told, session)).status).toBe(202);
  }
  const asking = post(url(), call(1, 'ask'), session);
  for await (const event of stream) {
    if (!event.includes('roots/list')) continue;
    const { id } = JSON.parse(event.split('data: ')[1] ?? '') as Received;
    const answer = JSON.stringify({ jsonrpc: '2.0', id, result: { roots: [], data } });
    expect((await post(url(), answer, session)).status).toBe(202);
    break;
  }
  expect(await textOf(await asking)).toContain('yyy');
});

test('requests of 2026-07-28 stand alone, and those of one caller share a session', async () => {
  const { url } = await served();
  const texts = await Promise.all(
    ['a', 'b', 'c'].map(async (message) => {
      const response = await modern(url(), 1, 'echo', { args: { message } });
      expect(response.headers.get('mcp-session-id')).toBeNull();
      const [answer] = await messagesOf(response);
      expect(answer?.id).toBe(1);
      return answer?.result?.content[0]?.text;
    }),
  );
  expect(texts).toEqual(['a', 'b', 'c']);
  const pids = await Promise.all([1, 2].map(async (id) => textOf(await modern(url(), id, 'pid'))));
  expect(pids[0]).toEqual(pids[1]);
});

test('two clients of 2026-07-28 may use the same id and the same progress token', async () => {
  const { url } = await served();
  const meta = { progressToken: 5 };
  const all = await Promise.all([1, 2].map(() => modern(url(), 'same', 'progress', { meta })));
  for (const response of all) {
    const messages = await messagesOf(response);
    expect(messages.map(({ id, params }) => id ?? params?.progressToken)).toEqual([5, 5, 'same']);
  }
});

test('closing a stream of 2026-07-28 cancels its request', async () => {
  const { url } = await served();
  const closing = new AbortController();
  const held = modern(url(), 1, 'hold', { signal: closing.signal });
  const kept = modern(url(), 2, 'hold');
  const holding = async () => textOf(await modern(url(), 3, 'holding'));
  await expect.poll(holding).toBe('2');
  closing.abort();
  await expect(held).rejects.toThrow('abort');
  await expect.poll(holding).toBe('1');
  await modern(url(), 4, 'release');
  expect(await messagesOf(await kept)).toMatchObject([{ id: 2 }]);
});

test('a subscription stays open, and ends with a result when it is over', async () => {
  const { url, close } = await served();
  const response = await modernRequest(url(), 9, 'subscriptions/listen', {
    notifications: { toolsListChanged: true },
  });
  const events = eventsIn(response);
  const meta = { 'io.modelcontextprotocol/subscriptionId': 9 };
  expect(dataOf((await events.next()).value)).toMatchObject({
    method: 'notifications/subscriptions/acknowledged',
    params: { _meta: meta },
  });
  const closed = close();
  expect(dataOf((await events.next()).value)).toEqual({
    jsonrpc: '2.0',
    id: 9,
    result: { resultType: 'complete', _meta: meta },
  });
  expect((await events.next()).done).toBe(true);
  await closed;
});

test('a log message goes to the request that asked for it, while a subscription is open and after a large answer', async () => {
  const { url } = await served();
  const large = await modern(url(), 1, 'large', { args: { bytes: 2_000_000 } });
  expect((await textOf(large)).length).toBe(2_000_000);
  const listening = await modernRequest(url(), 2, 'subscriptions/listen', {
    notifications: { toolsListChanged: true },
  });
  await eventsIn(listening).next();
  const meta = { 'io.modelcontextprotocol/logLevel': 'info' };
  const messages = await messagesOf(await modern(url(), 3, 'log', { meta }));
  expect(messages.map(({ id, method }) => id ?? method)).toEqual(['notifications/message', 3]);
});

function dataOf(event: string | undefined): unknown {
  return JSON.parse(event?.split('data: ')[1] ?? 'null') as unknown;
}

test.each<[string, object, { [name: string]: string }, number, number]>([
  ['the name differs', {}, { 'mcp-name': 'other' }, 400, -32_020],
  ['the method differs', {}, { 'mcp-method': 'tools/list' }, 400, -32_020],
  ['the version differs', {}, { 'mcp-protocol-version': '2025-11-25' }, 400, -32_020],
  [
    'the capabilities are missing',
    { 'io.modelcontextprotocol/clientCapabilities': undefined },
    {},
    400,
    -32_602,
  ],
  [
    'the version is unknown',
    { 'io.modelcontextprotocol/protocolVersion': '2099-01-01' },
    { 'mcp-protocol-version': '2099-01-01' },
    400,
    -32_022,
  ],
])('a request of 2026-07-28 is refused when %s', async (_, meta, headers, status, code) => {
  const { url } = await served();
  const response = await modern(url(), 'x', 'echo', { meta, headers });
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ id: 'x', error: { code } });
});

test.each<[string, { [name: string]: string }, number, object]>([
  ['mirrors it', { 'mcp-param-region': 'eu' }, 200, { result: {} }],
  ['says something else', { 'mcp-param-region': 'us' }, 400, { error: { code: -32_020 } }],
  ['is missing', {}, 400, { error: { code: -32_020 } }],
])(
  'an argument whose header %s is answered as the era says',
  async (...[, headers, status, body]) => {
    const { url } = await served();
    const listed = await modernRequest(url(), 1, 'tools/list');
    expect(await listed.text()).toContain('x-mcp-header');
    const response = await modern(url(), 2, 'echo', { args: { region: 'eu' }, headers });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject(body);
  },
);

const MISMATCH = { id: 2, error: { code: -32_020 } };

test.each<[string, string, { [name: string]: string }, object]>([
  ['of a tool without mirrored parameters passes', 'count', {}, { id: 2, result: {} }],
  ['of a tool with one is refused', 'echo', { 'mcp-param-region': 'eu' }, MISMATCH],
  ['with headers that nobody can compare is refused', 'count', { 'mcp-param-at': 'us' }, MISMATCH],
])('a call that is too large to inspect %s', async (...[, tool, headers, body]) => {
  const { url } = await served({ flags: { profile: 'development' } });
  await (await modernRequest(url(), 1, 'tools/list')).text();
  const args = { region: 'eu', message: 'y'.repeat(3_000_000) };
  const response = await modern(url(), 2, tool, { args, headers });
  expect(response.status).toBe(body === MISMATCH ? 400 : 200);
  expect(await messagesOf(response)).toMatchObject([body]);
});

test('a method that a modern server does not have is 404', async () => {
  const { url } = await served();
  const response = await modernRequest(url(), 1, 'no/such');
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({ id: 1, error: { code: -32_601 } });
});

test('a policy holds, and its budget counts for all sessions of a run', async () => {
  const policy = POLICY(`  - rule_id: few
    kind: budget
    match: { tool_name: { glob: ["echo"] } }
    effect: { budget: { scope: run, limit_calls: 2, on_exceed: BLOCK } }
`);
  const { url, eventsOf, close } = await served({ policy, flags: { profile: 'production' } });
  const one = await begin(url());
  const other = await begin(url());
  const echo = async (id: number, session: { [name: string]: string }) =>
    (await messagesOf(await post(url(), call(id, 'echo', { message: id }), session)))[0];
  expect(await echo(1, one)).toMatchObject({ result: { content: [{ text: '1' }] } });
  expect(await echo(2, other)).toMatchObject({ result: { content: [{ text: '2' }] } });
  expect(JSON.stringify(await echo(3, one))).toContain('few');
  await close();
  const decisions = eventsOf('tool_call_decision');
  expect(decisions.map(({ decision }) => decision?.action)).toEqual(['ALLOW', 'ALLOW', 'BLOCK']);
  expect(JSON.stringify(eventsOf('tool_call_start'))).toContain('"transport":"mcp_http"');
  expect(eventsOf('run_end')).toMatchObject([{ run: { summary: { calls_total: 3 } } }]);
});

test('at the end, open calls get their answers, and new sessions and calls are refused', async () => {
  const { url, close } = await served();
  const session = await begin(url());
  expect((await modern(url(), 1, 'echo')).status).toBe(200);
  const events = eventsIn(await post(url(), call(1, 'ask'), session));
  await events.next();
  const { id } = JSON.parse(
    String((await events.next()).value).split('data: ')[1] ?? '',
  ) as Received;
  const closed = close();
  const opening = request(1, 'initialize', { protocolVersion: '2025-11-25' });
  expect((await post(url(), opening)).status).toBe(503);
  // Whoever goes on calling must not keep it from ending.
  expect((await post(url(), call(2, 'echo'), session)).status).toBe(503);
  expect((await modern(url(), 2, 'echo')).status).toBe(503);
  const ready = await fetch(url().replace('/mcp/files', '/readyz'));
  expect(ready.status).toBe(503);
  // An open call may wait for what its client has to say.
  const answer = JSON.stringify({ jsonrpc: '2.0', id, result: { roots: [] } });
  expect((await post(url(), answer, session)).status).toBe(202);
  expect(dataOf((await events.next()).value)).toMatchObject({ id: 1, result: {} });
  await closed;
});

test('a changed configuration is taken over, and a broken one changes nothing', async () => {
  const { url, write, reload, lines } = await served();
  const session = await begin(url());
  const head = 'listen: 127.0.0.1:0\nauth: {none: true}\n';
  write(`${head}servers: {files: {command: COMMAND}, more: {command: COMMAND}}\n`);
  reload();
  await expect.poll(async () => (await post(url('more'), call(1, 'echo'))).status).toBe(400);
  expect((await post(url(), call(1, 'echo'), session)).status).toBe(200);
  write(`${head}servers: {more: {comand: x}}\n`);
  reload();
  await expect.poll(() => lines.join('\n')).toContain('did you mean `command`?');
  expect((await post(url(), call(2, 'echo'), session)).status).toBe(200);
  write(`${head}servers: {more: {command: COMMAND}}\n`);
  reload();
  await expect.poll(async () => (await post(url(), call(3, 'echo'), session)).status).toBe(404);
  expect(await begin(url('more'))).toBeDefined();
});

test('a file of keys that a changed configuration names is followed from then on', async () => {
  const { url, home, write, reload } = await served();
  const keys = (name: string, ...tokens: readonly string[]) => {
    const all = tokens.map((token) => `{name: ${token}, sha256: "${hash('sha256', token)}"}`);
    writeFileSync(join(home, name), `keys: [${all.join(', ')}]\n`, { mode: 0o600 });
  };
  const statusOf = async (token: string) =>
    (await post(url(), call(1, 'echo'), { authorization: `Bearer ${token}` })).status;
  keys('keys.yaml', 'first');
  write(
    'listen: 127.0.0.1:0\nauth: {keys_file: keys.yaml}\nservers: {files: {command: COMMAND}}\n',
  );
  reload();
  await expect.poll(() => statusOf('second')).toBe(401);
  expect(await statusOf('first')).toBe(400);
  // The first changes may be seen by the looks at the configuration itself.
  const known = ['first'];
  for (const next of ['second', 'third', 'fourth', 'fifth']) {
    known.push(next);
    keys('keys.yaml', ...known);
    await expect.poll(() => statusOf(next), { timeout: 10_000 }).toBe(400);
  }
});
