import type { ApprovalEnd } from '@subluminal/contracts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Bench, ME } from '../../../stores/approvals/testing/bench.ts';
import {
  type Answer,
  HttpService,
  type Received,
} from '../../../stores/approvals/testing/http-service.ts';
import type { RunningChannel } from '../shared/announce-requests.ts';
import type { CallbackRequest } from '../shared/signed-callback.ts';
import { signedHeaders, webhookCallback } from './callback.ts';
import { startWebhook, type WebhookConfig } from './channel.ts';

const SECRET = 'a-secret-of-the-tests';

let bench: Bench;
let service: HttpService;
let answer: (received: Received) => Answer | Promise<Answer>;
const running: RunningChannel[] = [];
beforeEach(async () => {
  bench = new Bench();
  answer = () => ({ status: 204 });
  service = await HttpService.start((received) => answer(received));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((channel) => channel.stop()));
  await service.stop();
  bench.end();
});

function start(more: Partial<WebhookConfig> = {}): RunningChannel {
  const config = {
    url: service.url,
    secret: SECRET,
    timeoutMs: 5_000,
    attemptsMax: 4,
    backoffMs: 1,
  };
  const channel = startWebhook(bench.desk, { ...config, ...more });
  running.push(channel);
  return channel;
}

async function warned(): Promise<void> {
  while (bench.warnings.length === 0) await new Promise(setImmediate);
}

interface Sent {
  readonly event: string;
  readonly id: string;
  readonly request_sha256: string;
  readonly outcome?: ApprovalEnd;
}

function bodyOf(received: Received | undefined): Sent {
  return JSON.parse(String(received?.body)) as Sent;
}

/** An answer of the service, signed. */
function callback(body: object, more: { secret?: string; nowMs?: number; nonce?: string } = {}) {
  const { secret = SECRET, nowMs = bench.nowMs, nonce = 'n'.repeat(20) } = more;
  const text = JSON.stringify(body);
  const timestamp = String(Math.floor(nowMs / 1_000));
  const headers = signedHeaders({ timestamp, nonce, body: text }, secret);
  return { headers, rawBody: Buffer.from(text) };
}

function verdict(id: string, more: object = {}) {
  const entry = bench.desk.queue.get(id);
  const request_sha256 = entry.kind === 'request' ? entry.sha256 : 'f'.repeat(64);
  return { v: 1, id, state: 'approved', by: 'bob@example.com', request_sha256, ...more };
}

describe('the webhook', () => {
  test('is sent each request and its end, signed so that the service can tell', async () => {
    start();
    const id = bench.ask();
    const [asked] = await service.until('/', 1);
    expect(bodyOf(asked)).toMatchObject({ v: 1, event: 'approval.requested', id, request: { id } });
    const { headers, body = Buffer.alloc(0) } = asked ?? {};
    const timestamp = String(headers?.['x-subluminal-timestamp']);
    const nonce = String(headers?.['x-subluminal-nonce']);
    const right = signedHeaders({ timestamp, nonce, body: String(body) }, SECRET);
    expect(headers).toMatchObject(right);
    bench.desk.decide(id, { state: 'rejected', ...ME });
    const [, ended] = await service.until('/', 2);
    expect(bodyOf(ended)).toMatchObject({
      event: 'approval.ended',
      outcome: { state: 'rejected' },
    });
  });

  test('is tried again with another signature when it fails, and gives up on a refusal', async () => {
    let tries = 0;
    answer = () => ({ status: ++tries < 3 ? 503 : 200 });
    start();
    bench.ask();
    const all = await service.until('/', 3);
    const nonces = all.map(({ headers }) => headers['x-subluminal-nonce']);
    expect(new Set(nonces).size).toBe(3);
    expect(new Set(all.map(({ body }) => String(body))).size).toBe(1);
    expect(bench.warnings).toEqual([]);
    answer = () => ({ status: 400 });
    const id = bench.ask();
    await service.until('/', 4);
    await warned();
    expect(service.received).toHaveLength(4);
    expect(bench.warnings).toEqual([`The webhook was not told of ${id}: it answered 400.`]);
  });

  test('is off without a secret that cannot be guessed', async () => {
    start({ secret: 'short' });
    bench.ask();
    expect(bench.warnings).toEqual(['The webhook is off: its secret has less than 16 characters.']);
    const { headers, rawBody } = callback(verdict(bench.ask()), { secret: 'short' });
    expect(await answerTo({ headers, rawBody }, 'short')).toEqual(REFUSED.unsigned);
    await running[0]?.stop();
    expect(service.received).toEqual([]);
  });

  test('does not follow a redirect with the call in its hands', async () => {
    answer = () => ({ status: 307, headers: { location: `${service.url}elsewhere` } });
    start();
    bench.ask();
    await service.until('/', 1);
    await running[0]?.stop();
    expect(service.received.map(({ path }) => path)).toEqual(['/']);
  });

  test('gives up in the end, tells no address, and stops at once', async () => {
    const gone = service.url;
    await service.stop();
    start({ url: `${gone}?token=hush`, attemptsMax: 2 });
    bench.ask();
    await warned();
    expect(bench.warnings[0]).toMatch(/it cannot be reached\.$/);
    expect(bench.warnings.join()).not.toContain('hush');
    bench.ask();
    start({ url: gone, backoffMs: 60_000 });
    await running[1]?.stop();
    service = await HttpService.start(() => ({ status: 200 }));
  });

  test('hears of an end, too, when a process died before it knew that the request was taken', async () => {
    const id = bench.ask();
    bench.desk.queue.mark(id, 'webhook-1', { at_ms: bench.nowMs });
    bench.desk.decide(id, { state: 'rejected', ...ME });
    start();
    const [ended] = await service.until('/', 1);
    expect(bodyOf(ended)).toMatchObject({ event: 'approval.ended', id });
  });

  test('is waited for when its answer is on its way while the channel stops', async () => {
    const first = start();
    let stopped: Promise<void> | undefined;
    const asked = new Promise<void>((resolve) => {
      answer = async () => {
        stopped = first.stop();
        resolve();
        await new Promise(setImmediate);
        return { status: 204 };
      };
    });
    bench.ask();
    await asked;
    await stopped;
    answer = () => ({ status: 204 });
    start();
    const second = bench.ask();
    const all = await service.until('/', 2);
    expect(bodyOf(all[1]).id).toBe(second);
  });

  test('is sent a request once, however many processes run it, and not again after a restart', async () => {
    start();
    start();
    bench.ask();
    await service.until('/', 1);
    await Promise.all(running.splice(0).map((channel) => channel.stop()));
    start();
    const later = bench.ask();
    const all = await service.until('/', 2);
    expect(all.map((one) => bodyOf(one).id).filter((id) => id === later)).toHaveLength(1);
    expect(all).toHaveLength(2);
  });
});

const REFUSED = {
  unsigned: { status: 401, body: { error: 'the signature is missing' } },
  forged: { status: 401, body: { error: 'the signature is wrong' } },
  stale: { status: 401, body: { error: 'the timestamp is too old or too new' } },
  malformed: { status: 400, body: { error: 'the body is not an answer' } },
} as const;

/** Each by a callback of its own, which has seen no nonce. */
function answerTo(request: CallbackRequest, secret = SECRET) {
  return webhookCallback(bench.desk, secret)(request);
}

describe('an answer of the service', () => {
  test('decides the request that it saw, once', async () => {
    const answers = webhookCallback(bench.desk, SECRET);
    const id = bench.ask();
    const given = callback(verdict(id, { note: 'go' }));
    expect(await answers(given)).toEqual({ status: 200, body: { state: 'approved' } });
    expect(bench.desk.queue.get(id)).toMatchObject({
      outcome: { by: 'bob@example.com', channel: 'webhook', note: 'go' },
    });
    expect(await answers(given)).toMatchObject({
      status: 409,
      body: { error: 'this answer was given before' },
    });
    const second = callback(verdict(id, { state: 'rejected' }), { nonce: 'm'.repeat(20) });
    expect(await answers(second)).toMatchObject({ status: 409, body: { state: 'approved' } });
  });

  test('about another request, or none, decides nothing', async () => {
    const answers = webhookCallback(bench.desk, SECRET);
    const id = bench.ask();
    const other = verdict(id, { request_sha256: 'f'.repeat(64) });
    expect(await answers(callback(other))).toMatchObject({ status: 409 });
    const nobody = verdict('01890000-0000-7000-8000-000000000000');
    expect(await answers(callback(nobody, { nonce: 'o'.repeat(20) }))).toMatchObject({
      status: 404,
    });
    expect(bench.desk.queue.get(id)).toMatchObject({ state: 'pending' });
  });

  test.each([
    ['by another key', { secret: 'another-secret-here' }, REFUSED.forged],
    ['too old', { nowMs: -301_000 }, REFUSED.stale],
    ['too new', { nowMs: 301_000 }, REFUSED.stale],
    ['with a nonce that is none', { nonce: 'short' }, REFUSED.unsigned],
  ])('that is signed %s is not taken', async (_what, more, refusal) => {
    const nowMs = bench.nowMs + ('nowMs' in more ? more.nowMs : 0);
    const request = callback(verdict(bench.ask()), { ...more, nowMs });
    expect(await answerTo(request)).toEqual(refusal);
  });

  test('that was changed, or is not signed, or comes without a secret, is not taken', async () => {
    const { headers, rawBody } = callback(verdict(bench.ask(), { state: 'rejected' }));
    const changed = Buffer.from(String(rawBody).replace('rejected', 'approved'));
    expect(await answerTo({ headers, rawBody: changed })).toEqual(REFUSED.forged);
    const marked = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), rawBody]);
    expect(await answerTo({ headers, rawBody: marked })).toEqual(REFUSED.forged);
    expect(await answerTo({ headers: {}, rawBody })).toEqual(REFUSED.unsigned);
    const twice = { ...headers, 'x-subluminal-nonce': ['a', 'b'] };
    expect(await answerTo({ headers: twice, rawBody })).toEqual(REFUSED.unsigned);
    const open = callback(verdict(bench.ask()), { secret: '' });
    expect(await answerTo(open, '')).toEqual(REFUSED.unsigned);
    expect(await answerTo({ headers, rawBody })).toMatchObject({ status: 200 });
  });

  test.each([
    ['no object', []],
    ['another field', { extra: 1 }],
    ['another state', { state: 'expired' }],
    ['nobody', { by: '' }],
    ['no hash', { request_sha256: 'x' }],
  ])('with %s in it is malformed', async (_what, more) => {
    const body = Array.isArray(more) ? more : verdict(bench.ask(), more);
    expect(await answerTo(callback(body))).toEqual(REFUSED.malformed);
  });
});
