// What can go wrong on the upstream's side: each has a clear answer, and the turn is settled once.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { providerFor } from '../providers/registry/index.ts';
import { coreWires } from './index.ts';
import { endpointAt, governedEngine, TAIL } from './testing/governed-engine.ts';
import { bodyOf, loopback } from './testing/loopback.ts';

const START = 'event: message_start\ndata: {"type":"message_start","message":{"id":"m"}}\n\n';
const DELTA =
  'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}\n\n';
const STOP = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';
const OVERLOADED =
  'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"busy"}}\n\n';
const JSON_TYPE = { 'content-type': 'application/json' };

function stream(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { 'content-type': 'text/event-stream' });
}

const good = () =>
  loopback((_request, response) => void stream(response).end(START + DELTA + STOP));

function ask(url: string, parts: object = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', stream: true, ...parts }),
  });
}

async function errorOf(answer: Response) {
  const { error } = (await answer.json()) as { error: { type: string; message: string } };
  return { status: answer.status, ...error };
}

test.each([401, 500])(
  'an error of status %i that repeats our key is passed on without it',
  async (status) => {
    const { url } = await loopback(({ headers }, response) => {
      const error = { type: 'api_error', message: `bad key ${String(headers['x-api-key'])}` };
      response.writeHead(status, JSON_TYPE).end(JSON.stringify({ type: 'error', error }));
    });
    const key = 'sk-the-key-of-the-gateway';
    const engine = await governedEngine([url], { attempt: { credentials: { kind: 'key', key } } });
    const answer = await ask(engine.url, { stream: false });
    expect(await answer.text()).not.toContain(key);
    expect(engine.told.attempts[0]?.error?.upstream?.message).toBe('bad key [key]');
  },
);

test('events reach the client as they come', async () => {
  const { url, server } = await loopback(() => {});
  const asked = once(server, 'request') as Promise<[unknown, ServerResponse]>;
  const engine = await governedEngine([url]);
  const answering = ask(engine.url);
  const [, response] = await asked;
  stream(response).write(START + DELTA.slice(0, 10));
  const answer = await answering;
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader?.read())?.value).toBe(START);
  response.write(DELTA.slice(10));
  expect((await reader?.read())?.value).toBe(DELTA);
  expect(engine.told.ends).toEqual([]);
  response.end(STOP);
  expect((await reader?.read())?.value).toContain(TAIL);
});

test.each([
  ['in the middle of an event', START + DELTA + DELTA.slice(0, 30)],
  ['between two events', START + DELTA],
])('a stream that is cut %s ends with an error behind whole events', async (_where, text) => {
  const { url } = await loopback((_request, response) => {
    stream(response).write(text, () => response.destroy());
  });
  const engine = await governedEngine([url]);
  const received = await (await ask(engine.url)).text();
  expect(received.startsWith(`${START}${DELTA}${TAIL}event: error\n`)).toBe(true);
  expect(engine.told.ends).toMatchObject([
    {
      attempt: { attemptNo: 1 },
      isPartial: true,
      status: 200,
      last: { error: { class: 'upstream_disconnect' }, observed: { hasContent: true } },
    },
  ]);
  expect(engine.told.attempts).toHaveLength(1);
  expect(engine.told.released).toBe(1);
});

test('a stream that ends without its last event is cut too', async () => {
  const { url } = await loopback((_request, response) => void stream(response).end(START + DELTA));
  const engine = await governedEngine([url]);
  expect(await (await ask(engine.url)).text()).toContain('event: error');
  expect(engine.told.ends).toMatchObject([
    { isPartial: true, last: { error: { class: 'upstream_disconnect' } } },
  ]);
});

test('a stream that stops is given up', async () => {
  const { url } = await loopback(
    (_request, response) => void stream(response).write(START + DELTA),
  );
  const engine = await governedEngine([url], { attempt: { timeoutMs: 50 } });
  expect(await (await ask(engine.url)).text()).toContain('timeout_error');
  expect(engine.told.ends).toMatchObject([
    { isPartial: true, last: { error: { class: 'upstream_timeout' } } },
  ]);
});

test('an error of the upstream in its stream reaches the client as it is', async () => {
  const { url } = await loopback((_request, response) => {
    stream(response).end(START + DELTA + OVERLOADED);
  });
  const engine = await governedEngine([url, (await good()).url]);
  expect(await (await ask(engine.url)).text()).toBe(START + DELTA + TAIL + OVERLOADED);
  expect(engine.told.attempts).toHaveLength(1);
  expect(engine.told.ends).toMatchObject([{ isPartial: true, attempt: { attemptNo: 1 } }]);
});

test('an error in a stream before any content has a status', async () => {
  const { url } = await loopback((_request, response) => void stream(response).end(OVERLOADED));
  const engine = await governedEngine([url]);
  expect(await errorOf(await ask(engine.url))).toEqual({
    status: 529,
    type: 'overloaded_error',
    message: 'busy',
  });
  expect(engine.told.ends).toMatchObject([{ isPartial: false, status: 529 }]);
  expect(engine.told.ends[0]?.attempt).toBeUndefined();
});

test('what comes behind the last event is dropped', async () => {
  const { url } = await loopback((_request, response) => {
    stream(response).end(`${START}${DELTA}${STOP}garbage\n\n${DELTA}`);
  });
  const engine = await governedEngine([url]);
  expect(await (await ask(engine.url)).text()).toBe(START + DELTA + TAIL + STOP);
});

test('an answer is over with its last event, whether or not the upstream closes it', async () => {
  const { url } = await loopback((_request, response) => {
    stream(response).write(START + DELTA + STOP);
  });
  const engine = await governedEngine([url]);
  expect(await (await ask(engine.url)).text()).toBe(START + DELTA + TAIL + STOP);
});

test('every cut of the bytes into pieces gives the same stream', async () => {
  const text = Buffer.from(`: hello\n\n${START}${DELTA.replaceAll('\n', '\r\n')}${STOP}`);
  const { url } = await loopback(async (request, response) => {
    const { size } = JSON.parse((await bodyOf(request)).toString()) as { size: number };
    stream(response);
    for (let at = 0; at < text.length; at += size) {
      await new Promise((sent) => response.write(text.subarray(at, at + size), sent));
    }
    response.end();
  });
  const engine = await governedEngine([url]);
  const expected = `: hello\n\n${START}${DELTA.replaceAll('\n', '\r\n')}${TAIL}${STOP}`;
  for (const size of [1, 2, 3, 7, 64, 1_000]) {
    expect(await (await ask(engine.url, { size })).text()).toBe(expected);
  }
});

test('an event that is too large is malformed', async () => {
  const { url } = await loopback((_request, response) => {
    stream(response).end(`${START}${DELTA}data: ${'x'.repeat(5_000)}`);
  });
  const engine = await governedEngine([url], { limits: { eventBytesMax: 1_000 } });
  expect(await (await ask(engine.url)).text()).toContain('too large');
  expect(engine.told.ends).toMatchObject([{ last: { error: { class: 'upstream_malformed' } } }]);
});

test('a stream in gzip is read', async () => {
  const { url } = await loopback((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' });
    response.end(gzipSync(START + DELTA + STOP));
  });
  const engine = await governedEngine([url]);
  const answer = await ask(engine.url);
  expect(answer.headers.get('content-encoding')).toBeNull();
  expect(await answer.text()).toBe(START + DELTA + TAIL + STOP);
});

test('200 streams at the same time all come through', async () => {
  const { url, server } = await loopback(() => {});
  const waiting: ServerResponse[] = [];
  server.on('request', (_request, response) => {
    stream(response).write(START + DELTA);
    waiting.push(response);
    // No stream ends before all have begun.
    if (waiting.length === 200) for (const each of waiting) each.end(STOP);
  });
  const engine = await governedEngine([url]);
  const answers = Array.from({ length: 200 }, async () => (await ask(engine.url)).text());
  for (const answer of await Promise.all(answers)) expect(answer).toBe(START + DELTA + TAIL + STOP);
  expect(engine.told.ends.filter((end) => !end.isPartial && end.status === 200)).toHaveLength(200);
  expect(engine.told.released).toBe(200);
});

test.each([
  ['a page', { 'content-type': 'text/html' }, '<html>log in</html>', true],
  ['JSON that is cut', JSON_TYPE, '{"type":"mess', false],
  ['JSON that is no object', JSON_TYPE, '[]', false],
  ['an answer to a stream that is not streamed', JSON_TYPE, '{"type":"message"}', true],
])('%s is no answer', async (_what, headers, body, isStream) => {
  const { url } = await loopback(
    (_request, response) => void response.writeHead(200, headers).end(body),
  );
  const engine = await governedEngine([url]);
  const answer = await ask(engine.url, { stream: isStream });
  expect(await errorOf(answer)).toMatchObject({ status: 502, type: 'api_error' });
  expect(engine.told.ends).toMatchObject([
    { status: 502, last: { error: { class: 'upstream_malformed' } } },
  ]);
});

test.each([true, false])('an error that says 200 is an error (streamed: %s)', async (isStream) => {
  const body = '{"type":"error","error":{"type":"overloaded_error","message":"busy"}}';
  const { url } = await loopback(
    (_request, response) => void response.writeHead(200, JSON_TYPE).end(body),
  );
  const engine = await governedEngine([url]);
  expect(await errorOf(await ask(engine.url, { stream: isStream }))).toMatchObject({
    status: 529,
    message: 'busy',
  });
  expect(engine.told.ends).toMatchObject([{ last: { error: { class: 'upstream_5xx' } } }]);
});

test('a redirect is not followed', async () => {
  const other: string[] = [];
  const elsewhere = await loopback((request, response) => {
    other.push(request.url ?? '');
    response.end();
  });
  const { url } = await loopback((_request, response) => {
    response.writeHead(307, { location: elsewhere.url }).end();
  });
  const engine = await governedEngine([url]);
  const error = await errorOf(await ask(engine.url));
  expect(error.status).toBe(502);
  expect(error.message).toContain('Redirects are not followed');
  expect(other).toEqual([]);
});

test('an upstream that never answers is given up with 504', async () => {
  const { url } = await loopback(() => {});
  const engine = await governedEngine([url], { attempt: { timeoutMs: 50 } });
  expect(await errorOf(await ask(engine.url))).toMatchObject({
    status: 504,
    type: 'timeout_error',
  });
  expect(engine.told.ends).toMatchObject([
    { status: 504, isPartial: false, last: { error: { class: 'upstream_timeout' } } },
  ]);
});

test('an error of the upstream passes with its body and the headers that say when to come again', async () => {
  const body = '{"type":"error","error":{"type":"rate_limit_error","message":"slow down"},"x":1}';
  const { url } = await loopback((_request, response) => {
    const headers = {
      ...JSON_TYPE,
      'retry-after': '7',
      'set-cookie': 'a=b',
      'x-aicg-decision': 'forged',
    };
    response.writeHead(429, headers).end(body);
  });
  const engine = await governedEngine([url]);
  const answer = await ask(engine.url);
  expect(answer.status).toBe(429);
  expect(await answer.text()).toBe(body);
  expect(answer.headers.get('retry-after')).toBe('7');
  expect(answer.headers.get('set-cookie')).toBeNull();
  expect(answer.headers.get('x-aicg-decision')).toBe('allow');
});

test.each([
  ['of ours', { kind: 'key', key: 'ours' }, null],
  ['of their own', { kind: 'own' }, 'org-1'],
] as const)(
  'a client with credentials %s is told this of the account',
  async (_, credentials, told) => {
    const { url } = await loopback((_request, response) => {
      const account = { 'anthropic-organization-id': 'org-1', 'openai-organization': 'org-1' };
      response.writeHead(400, {
        ...JSON_TYPE,
        ...account,
        'openai-project': 'org-1',
        'request-id': 'r',
      });
      response.end('{"type":"error","error":{"type":"invalid_request_error","message":"no"}}');
    });
    const engine = await governedEngine([url], { attempt: { credentials } });
    const { headers } = await ask(engine.url);
    expect(headers.get('request-id')).toBe('r');
    for (const name of ['anthropic-organization-id', 'openai-organization', 'openai-project']) {
      expect(headers.get(name)).toBe(told);
    }
  },
);

test.each([401, 403])(
  'credentials of ours that are refused (%i) are not the fault of the client',
  async (status) => {
    const body =
      '{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}';
    const { url } = await loopback(
      (_request, response) => void response.writeHead(status, JSON_TYPE).end(body),
    );
    const ours = await governedEngine([url]);
    const error = await errorOf(await ask(ours.url));
    expect(error.status).toBe(400);
    expect(error.message).toContain('upstream-1');
    const own = await governedEngine([url], { attempt: { credentials: { kind: 'own' } } });
    expect(await errorOf(await ask(own.url))).toMatchObject({
      status,
      message: 'invalid x-api-key',
    });
  },
);

test('a chat stream without its last event is whole once the model has stopped', async () => {
  const chunk = (delta: object, finish_reason: string | null) =>
    `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const text = chunk({ content: 'hi' }, null) + chunk({}, 'stop');
  const { url } = await loopback((_request, response) => void stream(response).end(text));
  const endpoint = endpointAt(url, { provider: 'openai_compat' });
  const engine = await governedEngine([url], {
    route: { wire: 'openai_chat_completions', kind: 'answer', path: '/' },
    attempt: { endpoint, provider: providerFor('openai_compat') },
  });
  expect(await (await ask(engine.url)).text()).toBe(text + TAIL);
  expect(engine.told.ends).toMatchObject([
    { isPartial: false, last: { observed: { stop: 'end_turn' } } },
  ]);
});

test('headers that can not be sent on are left out', async () => {
  const { url } = await loopback((_request, response) => {
    const { socket } = response;
    socket?.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nrequest-id: r\u2603\r\n');
    socket?.end(`connection: close\r\n\r\n${START}${DELTA}${STOP}`);
  });
  const engine = await governedEngine([url]);
  const answer = await ask(engine.url);
  expect(await answer.text()).toBe(START + DELTA + TAIL + STOP);
  expect(answer.headers.get('request-id')).toBeNull();
});

test('a defect while events pass ends this stream and no other', async () => {
  const engine = await governedEngine([(await good()).url], {
    wires: {
      ...coreWires,
      wire: (name) => ({
        ...coreWires.wire(name),
        observer: () => ({
          ...coreWires.wire(name).observer(),
          push: () => {
            throw new Error('a defect');
          },
        }),
      }),
    },
  });
  expect((await ask(engine.url)).status).toBe(500);
  expect(engine.told.defects).toHaveLength(1);
  expect(engine.told.ends).toMatchObject([{ status: 500, last: { error: { class: 'internal' } } }]);
});

test('a header of ours that can not be sent breaks off this turn and no other', async () => {
  const engine = await governedEngine([(await good()).url], {
    plan: (plan) =>
      plan.kind === 'send'
        ? { ...plan, turn: { ...plan.turn, headers: { 'x-aicg-decision': '\u2603' } } }
        : plan,
  });
  await expect(ask(engine.url)).rejects.toThrow('fetch failed');
  expect(engine.told.ends).toHaveLength(1);
  expect(engine.told.defects).not.toEqual([]);
});

test('a stream that is kept alive without an end is given up', async () => {
  const { url } = await loopback((_request, response) => {
    stream(response).write(START + DELTA);
    const pings = setInterval(() => response.write('event: ping\ndata: {"type":"ping"}\n\n'), 5);
    response.on('close', () => clearInterval(pings));
  });
  const engine = await governedEngine([url], { limits: { streamMsMax: 100 } });
  expect(await (await ask(engine.url)).text()).toContain('takes too long');
  expect(engine.told.ends).toMatchObject([
    { isPartial: true, last: { error: { class: 'upstream_timeout' } } },
  ]);
});
