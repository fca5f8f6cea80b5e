import { expect, test } from 'vitest';
import { governedEngine, TAIL } from './testing/governed-engine.ts';
import { bodyOf, loopback } from './testing/loopback.ts';

const EVENTS = [
  'event: message_start\ndata: {"type":"message_start"}\n\n',
  'event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"text":"é"}}\n\n',
];
const LAST = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';

function ask(url: string, body: unknown): Promise<Response> {
  return fetch(url, { method: 'POST', body: JSON.stringify(body) });
}

test('a stream passes as it is, with the model replaced and the tail before the last event', async () => {
  const asked: string[] = [];
  const { url } = await loopback(async (request, response) => {
    const body = (await bodyOf(request)).toString();
    asked.push([request.url, request.headers['x-api-key'], body].join(' '));
    response.writeHead(200, { 'content-type': 'text/event-stream', 'request-id': 'req_1' });
    response.end(EVENTS.join('') + LAST);
  });
  const engine = await governedEngine([url]);
  const answer = await ask(engine.url, { model: 'm', stream: true });
  expect(await answer.text()).toBe(EVENTS.join('') + TAIL + LAST);
  expect(asked).toEqual(['/v1/messages ours {"model":"upstream-model","stream":true}']);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'request-id': 'req_1',
    'x-aicg-decision': 'allow',
    'x-aicg-trace-id': engine.told.turns[0]?.traceId,
  });
  expect(engine.told.ends).toMatchObject([
    { isPartial: false, status: 200, attempt: { attemptNo: 1 } },
  ]);
  expect(engine.told.released).toBe(1);
});

test('the first byte of a stream is measured from its request on', async () => {
  const { url } = await loopback((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(EVENTS.join('') + LAST);
  });
  let clockMs = 1_000_000;
  const engine = await governedEngine([url], { nowMs: () => (clockMs += 7) });
  await (await ask(engine.url, { model: 'm', stream: true })).text();
  const firstByteMs = engine.told.ends[0]?.firstByteMs ?? 0;
  expect(firstByteMs).toBeGreaterThan(0);
  expect(firstByteMs).toBeLessThan(1_000);
});

test('an answer that is not streamed has its cost in a header', async () => {
  const body = '{"type":"message", "usage":{}}';
  const { url } = await loopback((_request, response) => {
    response.setHeader('content-type', 'application/json').end(body);
  });
  const engine = await governedEngine([url]);
  const answer = await ask(engine.url, { model: 'm' });
  expect(await answer.text()).toBe(body);
  expect(answer.headers.get('x-aicg-cost-cents')).toBe('1');
  expect(engine.told.ends).toMatchObject([
    { isPartial: false, status: 200, bytesOut: body.length },
  ]);
});
