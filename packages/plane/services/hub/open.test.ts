import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import {
  type ClientRequest,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import {
  HUB_ENDPOINTS,
  parseEvaluateResponse,
  parseHealthResponse,
  parseHeartbeatResponse,
  parsePolicyResponse,
} from '@subluminal/contracts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sha256 } from '../../os/crypto/index.ts';
import { type HubListen, openHub } from './open.ts';
import { Crew, TOKEN } from './testing/crew.ts';
import { budget, policyOf, RUN, requestOf, summaryOf } from './testing/scenario.ts';

let crew: Crew;

beforeEach(() => {
  crew = new Crew();
});

afterEach(() => crew.end());

interface Got {
  readonly status: number;
  readonly headers: { readonly [name: string]: unknown };
  readonly text: string;
  readonly json: unknown;
}

/** One request on a connection of its own. */
async function fetchFrom(options: RequestOptions, body?: string | Buffer): Promise<Got> {
  const request = httpRequest({ agent: false, socketPath: crew.socketPath, ...options });
  request.end(body);
  const response = await responseOf(request);
  let text = '';
  response.setEncoding('utf8');
  for await (const chunk of response) text += String(chunk);
  const isJson = response.headers['content-type'] === 'application/json';
  const json: unknown = isJson ? JSON.parse(text) : undefined;
  return { status: response.statusCode ?? 0, headers: response.headers, text, json };
}

/** Once there is an answer, a connection that the hub has closed is no error. */
function responseOf(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on('error', reject);
    request.once('response', resolve);
  });
}

function post(path: string, value: unknown): Promise<Got> {
  const body = typeof value === 'string' || Buffer.isBuffer(value) ? value : JSON.stringify(value);
  return fetchFrom({ method: 'POST', path }, body);
}

/** Says this, and gives all that comes back until the connection ends. */
async function say(text: string): Promise<string> {
  const socket = connect({ path: crew.socketPath });
  socket.write(text);
  return allOf(socket);
}

async function allOf(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk) => {
    text += String(chunk);
  });
  await closeOf(socket);
  return text;
}

/** However it ends: who is cut off while writing gets an error, and that is meant. */
function closeOf(socket: Socket): Promise<void> {
  socket.on('error', () => {});
  return new Promise((resolve) => {
    socket.once('close', () => resolve());
  });
}

const containing = (text: string): unknown => expect.stringContaining(text);
const error = (status: number) => ({ error: { status, message: containing('') } });

describe('a hub on a Unix socket', () => {
  it('is for its user alone, and leaves nothing behind', async () => {
    const hub = await crew.hub();
    expect(hub.endpoint).toBe(`unix:${crew.socketPath}`);
    expect(statSync(crew.socketPath).mode & 0o777).toBe(0o600);
    await hub.close();
    expect(existsSync(crew.socketPath)).toBe(false);
    await hub.close();
  });

  it('does not open in a folder that others can reach', async () => {
    const folder = join(crew.folder, 'open');
    mkdirSync(folder);
    chmodSync(folder, 0o750);
    const opened = await open({ kind: 'unix', path: join(folder, 'hub.sock') });
    expect(opened).toMatchObject({ kind: 'failure', message: containing('0700') });
  });

  it.each([
    ['a path that is not absolute', 'hub.sock'],
    ['a path that is too long', `/tmp/${'x'.repeat(100)}`],
    ['a folder that does not exist', '/nowhere/at/all/hub.sock'],
  ])('does not open with %s', async (_what, path) => {
    expect(await open({ kind: 'unix', path })).toMatchObject({ kind: 'failure' });
  });

  it('takes the place of a hub that was killed, and of nothing else', async () => {
    const child = await crew.process();
    const taken = await open({ kind: 'unix', path: crew.socketPath });
    expect(taken).toMatchObject({ kind: 'failure', message: containing('in use') });
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    expect(existsSync(crew.socketPath)).toBe(true);
    await crew.hub();
    expect(await fetchFrom({ path: '/healthz' })).toMatchObject({ status: 200 });
    const file = join(crew.folder, 'file');
    writeFileSync(file, 'mine');
    expect(await open({ kind: 'unix', path: file })).toMatchObject({ kind: 'failure' });
    expect(existsSync(file)).toBe(true);
  });
});

function open(listen: HubListen) {
  return openHub({ runId: RUN, nowMs: () => 0, sha256, listen });
}

it('a hub reports the terms of its run', async () => {
  const terms = {
    profile: 'production',
    policy_hash: 'a'.repeat(64),
    policy_reload: 'off',
  } as const;
  await crew.hub({ terms });
  expect(await fetchFrom({ path: '/healthz' })).toMatchObject({ status: 200, json: terms });
});

describe('a hub on a port', () => {
  const at = async (endpoint: string, headers: RequestOptions['headers'] = {}) => {
    const { port } = new URL(endpoint);
    const authorization = `Bearer ${TOKEN}`;
    const target = { socketPath: undefined, host: '127.0.0.1', port };
    return fetchFrom({ ...target, path: '/healthz', headers: { authorization, ...headers } });
  };

  it('takes a free port of this machine', async () => {
    const hub = await crew.hub({ listen: { kind: 'tcp', token: TOKEN } });
    expect(hub.endpoint).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(await at(hub.endpoint)).toMatchObject({ status: 200 });
  });

  it('names the port that is taken', async () => {
    const other = createServer();
    crew.atEnd(() => other.close());
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    expect(await open({ kind: 'tcp', token: TOKEN, port })).toEqual({
      kind: 'failure',
      code: 'SUB_HUB_LISTEN',
      message: `Port ${port} on 127.0.0.1 is in use.`,
      fix: 'Choose another port, or none.',
    });
  });

  it.each([['short'], ['with a space in it, which no header takes'], ['']])(
    'does not open with the token `%s`',
    async (token) => {
      expect(await open({ kind: 'tcp', token })).toMatchObject({ kind: 'failure' });
    },
  );

  it.each([
    ['no token', { authorization: '' }, 401],
    ['another token', { authorization: `Bearer ${TOKEN}x` }, 401],
    ['a part of the token', { authorization: `Bearer ${TOKEN.slice(0, -1)}` }, 401],
    ['another scheme', { authorization: `Basic ${TOKEN}` }, 401],
    ['the name of another machine', { host: 'example.com' }, 403],
    ['the name of another port', { host: '127.0.0.1:1' }, 403],
    ['a page of a browser', { origin: 'http://127.0.0.1' }, 403],
    ['a page without an origin', { 'sec-fetch-site': 'same-origin' }, 403],
  ])('refuses %s', async (_what, headers, status) => {
    const hub = await crew.hub({ listen: { kind: 'tcp', token: TOKEN } });
    expect(await at(hub.endpoint, headers)).toMatchObject({ status, json: error(status) });
  });
});

describe('the endpoints', () => {
  it('keep the contract', async () => {
    await crew.hub();
    const policy = await policyOf([budget('one', { limit_calls: 1 })]);
    const { evaluate, policy: sent, heartbeat, result, terminate, health } = HUB_ENDPOINTS;
    const asked = async () => {
      const parsed = parseEvaluateResponse((await post(evaluate.path, requestOf(policy))).json);
      if (!parsed.ok) throw new Error(JSON.stringify(parsed.mismatches));
      return parsed.value;
    };
    expect(await asked()).toMatchObject({ decision: 'deny', needs_policy: true });
    const taken = await post(sent.path, policy.file);
    expect(parsePolicyResponse(taken.json)).toMatchObject({ ok: true, value: { accepted: true } });
    expect([await asked(), await asked()]).toMatchObject([
      { decision: 'forward' },
      { decision: 'deny' },
    ]);
    const beat = { server_id: 'server', shim_id: 'shim', summary: summaryOf(1) };
    const ended = { run_id: RUN, code: 'LOOP', message: '' };
    for (const answer of [
      await post(heartbeat.path, beat),
      await post(result.path, { run_id: RUN, call_id: 'call', result: 'ok' }),
      await post(terminate.path, ended),
    ]) {
      expect(answer.status).toBe(200);
      expect(parseHeartbeatResponse(answer.json).ok).toBe(true);
    }
    // The reason of whoever ended it is empty; what the next call is told is not.
    expect(await asked()).toMatchObject({ call_decision: { action: 'TERMINATE_RUN' } });
    const { json } = await fetchFrom({ path: health.path });
    expect(parseHealthResponse(json)).toMatchObject({ ok: true, value: { status: 'stopping' } });
  });

  it('take a call with very many parts', async () => {
    await crew.hub();
    const policy = await policyOf([budget('one', { limit_calls: 1 })]);
    await post('/governance/policy', policy.file);
    const list = Array.from({ length: 200_000 }, () => 0);
    const request = requestOf(policy, { params: { name: 'tool', arguments: { list } } });
    expect((await post('/governance/evaluate', request)).json).toMatchObject({
      decision: 'forward',
    });
  });

  it('know no task: calls that wait for a person are in the queue of approvals', async () => {
    await crew.hub();
    const got = await fetchFrom({ path: '/governance/task/some-task' });
    expect(got).toMatchObject({ status: 404, json: error(404) });
  });

  it('are counted for Prometheus', async () => {
    const hub = await crew.hub();
    const policy = await policyOf([budget('one', { limit_calls: 1 })]);
    await post('/governance/evaluate', requestOf(policy));
    await post('/governance/policy', policy.file);
    for (let call = 0; call < 3; call++) await post('/governance/evaluate', requestOf(policy));
    await post('/governance/heartbeat', { server_id: 'server', shim_id: 'shim' });
    await post('/governance/heartbeat', 'nonsense');
    const before = await fetchFrom({ path: '/metrics' });
    expect(before.headers['content-type']).toContain('text/plain; version=0.0.4');
    const lines = before.text.split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'subluminal_hub_calls_total{decision="forward"} 1',
        'subluminal_hub_calls_total{decision="deny"} 2',
        'subluminal_hub_calls_total{decision="needs_policy"} 1',
        'subluminal_hub_shims{state="live"} 1',
        'subluminal_hub_terminated 0',
        'subluminal_hub_refused_requests_total{status="400"} 1',
        'subluminal_hub_evaluate_seconds_bucket{le="+Inf"} 4',
        'subluminal_hub_evaluate_seconds_count 4',
      ]),
    );
    expect(before.text).toMatch(/^(?:(?:# (?:HELP|TYPE) |subluminal_|thoughtgate_stdio_).+\n)+$/);
    await post('/governance/terminate', { run_id: RUN, code: 'LOOP', message: 'x' });
    expect(hub.terminated()).toMatchObject({ code: 'LOOP' });
    expect((await fetchFrom({ path: '/metrics' })).text).toContain('subluminal_hub_terminated 1');
  });
});

describe('a hostile request', () => {
  const evaluate = '/governance/evaluate';

  it.each([
    ['no JSON', '{"server_id":'],
    ['nothing', ''],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['a list', '[]'],
    ['null', 'null'],
    ['a wrong type', '{"server_id":1}'],
    ['a field that JSON cannot mean', '{"__proto__":{"server_id":"x"}}'],
    ['deep nesting', `{"params":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
  ])('with %s is refused', async (_what, body) => {
    await crew.hub();
    for (const path of [evaluate, '/governance/heartbeat', '/governance/result']) {
      expect(await post(path, body)).toMatchObject({ status: 400, json: error(400) });
    }
    const { status } = await post('/governance/policy', body);
    expect(status).toBe(400);
    expect(await fetchFrom({ path: '/healthz' })).toMatchObject({ status: 200 });
  });

  it('to an unknown path is answered with 404', async () => {
    await crew.hub();
    for (const path of ['/', '/governance', '/governance/task/', '/healthz/', '//healthz']) {
      expect(await fetchFrom({ path })).toMatchObject({ status: 404, json: error(404) });
    }
  });

  it('with the wrong method is answered with the right one', async () => {
    await crew.hub();
    const got = await fetchFrom({ path: evaluate });
    expect(got).toMatchObject({ status: 405, headers: { allow: 'POST' }, json: error(405) });
    const put = await fetchFrom({ method: 'DELETE', path: '/healthz' });
    expect(put).toMatchObject({ status: 405, headers: { allow: 'GET' } });
  });

  it('that is too large is refused, and nothing of it is kept', async () => {
    const serverLimits = { bodyBytesMax: 1_000, bodiesBytesMax: 1_500 };
    await crew.hub({ serverLimits });
    for (const bytes of [1_001, 3_000, 3_999]) {
      expect(await post(evaluate, 'x'.repeat(bytes))).toMatchObject({
        status: 413,
        json: error(413),
      });
    }
    // Nothing is held for those any more, else this would be refused as too much at a time.
    expect(await post(evaluate, 'x'.repeat(1_000))).toMatchObject({ status: 400 });
  });

  it('without end is cut off', async () => {
    await crew.hub({ serverLimits: { bodyBytesMax: 1_000, requestMs: 600_000 } });
    const socket = connect({ path: crew.socketPath });
    const closed = closeOf(socket);
    socket.write(`POST ${evaluate} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`);
    const chunk = `3e8\r\n${'x'.repeat(1_000)}\r\n`;
    const flood = setInterval(() => socket.write(chunk), 1);
    crew.atEnd(() => clearInterval(flood));
    socket.resume();
    await closed;
    clearInterval(flood);
    expect(await post(evaluate, '[]')).toMatchObject({ status: 400 });
  });

  it('is refused while too much is being read', async () => {
    await crew.hub({ serverLimits: { bodyBytesMax: 1_000, bodiesBytesMax: 1_200 } });
    const slow = connect({ path: crew.socketPath });
    crew.atEnd(() => slow.destroy());
    const head = `POST ${evaluate} HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\n`;
    slow.write(`${head}${'x'.repeat(800)}`);
    let status = 400;
    while (status === 400) ({ status } = await post(evaluate, 'x'.repeat(500)));
    expect(status).toBe(503);
    const answer = allOf(slow);
    slow.end('x'.repeat(100));
    expect(await answer).toContain('400 Bad Request');
    expect(await post(evaluate, 'x'.repeat(500))).toMatchObject({ status: 400 });
  });

  it('never comes from a client that is shut out by 400 sockets that say nothing', async () => {
    await crew.hub();
    const sockets = Array.from({ length: 400 }, () => connect({ path: crew.socketPath }));
    crew.atEnd(() => sockets.map((socket) => socket.destroy()));
    await Promise.all(
      sockets.map((socket) => {
        socket.on('error', () => {});
        return once(socket, 'connect');
      }),
    );
    const { status } = await fetchFrom({ path: HUB_ENDPOINTS.health.path });
    expect(status).toBe(200);
  });

  it('is one too many when there are too many', async () => {
    await crew.hub({ serverLimits: { requestsMax: 1 } });
    const slow = connect({ path: crew.socketPath });
    crew.atEnd(() => slow.destroy());
    slow.write(`POST ${evaluate} HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n`);
    let status = 200;
    while (status === 200) ({ status } = await fetchFrom({ path: '/healthz' }));
    expect(status).toBe(503);
  });

  it.each([
    ['headers that never end', 600_000, 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: '],
    [
      'a body that never comes',
      200,
      `POST ${evaluate} HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n`,
    ],
    ['nothing at all', 600_000, ''],
  ])('with %s loses its connection', async (_what, requestMs, text) => {
    await crew.hub({ serverLimits: { headersMs: 100, requestMs } });
    expect(await say(text)).toMatch(/^HTTP\/1\.1 408 /);
  });

  it.each([
    ['is no HTTP', 'hello\r\n\r\n', 400],
    [
      'has two lengths',
      'GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      400,
    ],
    [
      'has two ways to tell its length',
      `POST ${evaluate} HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    [
      'has headers without end',
      `GET /healthz HTTP/1.1\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
    ],
  ])('that %s is refused and counted', async (_what, text, status) => {
    await crew.hub();
    expect(await say(text)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    const { text: metrics } = await fetchFrom({ path: '/metrics' });
    expect(metrics).toContain(`subluminal_hub_refused_requests_total{status="${status}"} 1`);
  });
});

describe('closing', () => {
  it('ends connections that are idle, half-open or in the middle of a request', async () => {
    const hub = await crew.hub({ serverLimits: { closeMs: 50 } });
    const silent = connect({ path: crew.socketPath });
    const idle = connect({ path: crew.socketPath });
    const halfway = connect({ path: crew.socketPath });
    halfway.write('POST /governance/evaluate HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{');
    idle.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(idle, 'data');
    const ended = [silent, idle, halfway].map((socket) => {
      socket.resume();
      return closeOf(socket);
    });
    await hub.close();
    await Promise.all(ended);
    expect([silent, idle, halfway].every(({ destroyed }) => destroyed)).toBe(true);
  });
});
