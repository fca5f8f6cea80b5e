// One upstream after the other, and clients that go.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { governedEngine, TAIL } from './testing/governed-engine.ts';
import { loopback } from './testing/loopback.ts';
import type { TurnPlan } from './types.ts';

const CONTENT =
  'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}\n\n';
const STOP = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';
const START = 'event: message_start\ndata: {"type":"message_start","message":{"id":"m"}}\n\n';
const FAILED = '{"type":"error","error":{"type":"api_error","message":"no"}}';

function stream(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { 'content-type': 'text/event-stream' });
}

function upstream(answer: (response: ServerResponse) => void) {
  return loopback((_request, response) => answer(response));
}

const good = () => upstream((response) => void stream(response).end(START + CONTENT + STOP));

function ask(url: string, init: RequestInit = {}): Promise<Response> {
  return fetch(url, { method: 'POST', body: '{"model":"m","stream":true}', ...init });
}

const fail = (status: number) => (response: ServerResponse) =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(FAILED);

test.each<[string, (response: ServerResponse) => void, string]>([
  ['500', fail(500), 'upstream_5xx'],
  ['529', fail(529), 'upstream_5xx'],
  ['429', fail(429), 'upstream_429'],
  ['a closed connection', (response) => void response.destroy(), 'upstream_disconnect'],
  [
    'a page',
    (response) => void response.setHeader('content-type', 'text/html').end('<html>'),
    'upstream_malformed',
  ],
  [
    'an error in the stream before any content',
    (response) => void stream(response).end(`${START}event: error\ndata: ${FAILED}\n\n`),
    'upstream_5xx',
  ],
  [
    'a stream that is cut before any content',
    (response) => void stream(response).write(START, () => response.destroy()),
    'upstream_disconnect',
  ],
])(
  'after %s the next upstream is asked, and the client sees only its answer',
  async (_what, answer, kind) => {
    verifies('R-20');
    const engine = await governedEngine([(await upstream(answer)).url, (await good()).url]);
    expect(await (await ask(engine.url)).text()).toBe(START + CONTENT + TAIL + STOP);
    expect(engine.told.attempts).toMatchObject([{ error: { class: kind } }, {}]);
    expect(engine.told.attempts[1]?.error).toBeUndefined();
    expect(engine.told.ends).toMatchObject([{ attempt: { attemptNo: 2 }, isPartial: false }]);
    expect(engine.told.released).toBe(2);
  },
);

test.each([400, 404, 413])('after %i no other upstream is asked', async (status) => {
  const engine = await governedEngine([(await upstream(fail(status))).url, (await good()).url]);
  expect((await ask(engine.url)).status).toBe(status);
  expect(engine.told.attempts).toMatchObject([{ error: { class: 'upstream_4xx' } }]);
  expect(engine.told.released).toBe(2);
});

test('after the first token no other upstream is asked', async () => {
  verifies('R-20');
  const cut = await upstream(
    (response) => void stream(response).write(CONTENT, () => response.destroy()),
  );
  const engine = await governedEngine([cut.url, (await good()).url]);
  expect(await (await ask(engine.url)).text()).toContain('event: error');
  expect(engine.told.attempts).toHaveLength(1);
});

test('when all fail the client gets the last error', async () => {
  const urls = [(await upstream(fail(500))).url, (await upstream(fail(503))).url];
  const engine = await governedEngine(urls);
  const answer = await ask(engine.url);
  expect([answer.status, await answer.text()]).toEqual([503, FAILED]);
  expect(engine.told.ends).toMatchObject([{ status: 503, isPartial: false }]);
});

test('a turn that no endpoint can take is refused', async () => {
  const engine = await governedEngine([]);
  expect((await ask(engine.url)).status).toBe(503);
  expect(engine.told.ends).toMatchObject([{ status: 503 }]);
});

test('a client that goes ends the call of the upstream, and what was used is on record', async () => {
  const { url, server } = await upstream(() => {});
  const asked = once(server, 'request') as Promise<[unknown, ServerResponse]>;
  const engine = await governedEngine([url]);
  const gone = new AbortController();
  const answering = ask(engine.url, { signal: gone.signal });
  const [, response] = await asked;
  stream(response).write(START + CONTENT);
  const reader = (await answering).body?.getReader();
  await reader?.read();
  const closed = once(response, 'close');
  gone.abort();
  await closed;
  await engine.ended(1);
  expect(engine.told.ends).toMatchObject([
    {
      attempt: { attemptNo: 1 },
      isPartial: true,
      last: { error: { class: 'client_gone' }, observed: { hasContent: true } },
    },
  ]);
  expect(engine.told.released).toBe(1);
});

test('a client that goes before anything came is on record too', async () => {
  const { url, server } = await upstream(() => {});
  const asked = once(server, 'request');
  const engine = await governedEngine([url, url]);
  const gone = new AbortController();
  const answering = ask(engine.url, { signal: gone.signal }).catch(() => {});
  await asked;
  gone.abort();
  await answering;
  await engine.ended(1);
  expect(engine.told.attempts).toHaveLength(1);
  expect(engine.told.ends).toMatchObject([
    { status: 499, isPartial: false, last: { error: { class: 'client_gone' } } },
  ]);
  expect(engine.told.released).toBe(2);
});

test.each([
  ['sends without end, and nothing of an answer,', ''],
  ['ends after too much that is nothing of an answer', STOP],
])('an upstream that %s is left for the next', async (_what, end) => {
  const noisy = await upstream((response) => {
    stream(response).write(START + ': nothing\n\n'.repeat(1_000) + end);
  });
  const engine = await governedEngine([noisy.url, (await good()).url], {
    limits: { eventBytesMax: 4_096, headHoldMs: 60_000 },
  });
  expect(await (await ask(engine.url)).text()).toBe(START + CONTENT + TAIL + STOP);
  expect(engine.told.attempts).toMatchObject([{ error: { class: 'upstream_malformed' } }, {}]);
});

test('a turn is held in its open stream, then goes on', async () => {
  let release: (plan: TurnPlan) => void = () => {};
  let send: TurnPlan | undefined;
  const engine = await governedEngine([(await good()).url], {
    limits: { keepAliveMs: 1 },
    plan: (plan) => {
      send = plan;
      return { kind: 'hold', outcome: new Promise((resolve) => (release = resolve)) };
    },
  });
  const answer = await ask(engine.url);
  expect(answer.headers.get('content-type')).toContain('text/event-stream');
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = (await reader?.read())?.value ?? '';
  expect(text).toContain('event: ping');
  if (send !== undefined) release(send);
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    text += part.value;
  }
  expect(text.endsWith(START + CONTENT + TAIL + STOP)).toBe(true);
  expect(text.indexOf('event: ping', text.indexOf(START))).toBe(-1);
});

test('a held stream whose upstream fails ends with an error event', async () => {
  const engine = await governedEngine([(await upstream(fail(500))).url], {
    plan: (plan) => ({ kind: 'hold', outcome: Promise.resolve(plan) }),
  });
  const text = await (await ask(engine.url)).text();
  expect(text).toContain(TAIL);
  expect(text).toContain('event: error');
  expect(engine.told.ends).toMatchObject([{ status: 200, isPartial: false }]);
});

test('a turn that is not streamed is held without a byte', async () => {
  const engine = await governedEngine(
    [
      (
        await upstream(
          (response) => void response.setHeader('content-type', 'application/json').end('{}'),
        )
      ).url,
    ],
    { plan: (plan) => ({ kind: 'hold', outcome: Promise.resolve(plan) }) },
  );
  const answer = await ask(engine.url, { body: '{"model":"m"}' });
  expect([answer.status, await answer.text()]).toEqual([200, '{}']);
});

test('a client that goes while its turn is held leaves nothing behind', async () => {
  let release: () => void = () => {};
  const engine = await governedEngine([(await good()).url], {
    plan: (plan, { signal }) => ({
      kind: 'hold',
      outcome: new Promise((resolve) => {
        release = () => resolve(plan);
        signal.addEventListener('abort', release);
      }),
    }),
  });
  const gone = new AbortController();
  const answer = await ask(engine.url, { signal: gone.signal });
  gone.abort();
  await expect(answer.text()).rejects.toThrow('aborted');
  await engine.ended(1);
  expect(engine.told.attempts).toEqual([]);
  expect(engine.told.released).toBe(1);
});

test('an answer that could not be put on record is not completed', async () => {
  const engine = await governedEngine([(await good()).url], {
    plan: (plan) =>
      plan.kind === 'send'
        ? { ...plan, turn: { ...plan.turn, end: () => Promise.reject(new Error('disk full')) } }
        : plan,
  });
  const text = await (await ask(engine.url)).text();
  expect(text).not.toContain('message_stop');
  expect(text).toContain('event: error');
  expect(engine.told.defects).toHaveLength(1);
});

test('a defect of ours still settles the turn', async () => {
  const engine = await governedEngine(['not an address']);
  expect((await ask(engine.url)).status).toBe(500);
  expect(engine.told.ends).toMatchObject([{ status: 500, last: { error: { class: 'internal' } } }]);
  expect(engine.told.released).toBe(1);
  expect(engine.told.defects).toHaveLength(1);
});
