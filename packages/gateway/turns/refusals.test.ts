// What a client is told when a turn is refused, as it leaves the engine.
import type { WireName } from '@subluminal/core/wires';
import { expect, test } from 'vitest';
import { governedEngine } from './testing/governed-engine.ts';
import type { TurnRefusal } from './types.ts';

const CLIENTS = {
  'Claude Code': { wire: 'anthropic_messages', body: { model: 'm', stream: true } },
  Codex: { wire: 'openai_responses', body: { model: 'm', stream: true, input: 'hi' } },
  'a chat client': { wire: 'openai_chat_completions', body: { model: 'm', stream: true } },
} as const satisfies { [client: string]: { wire: WireName; body: object } };
type Client = keyof typeof CLIENTS;

const refusal = (kind: TurnRefusal['kind']): TurnRefusal => ({
  kind,
  message: 'Not now (rule P-1).',
  ruleIds: ['P-1'],
  retryAfterMs: 60_000,
  headers: { 'x-aicg-decision': 'block' },
});

async function ask(client: Client, kind: TurnRefusal['kind'], headers = {}) {
  const { wire, body } = CLIENTS[client];
  const engine = await governedEngine([], {
    route: { wire, kind: 'answer', path: '/' },
    plan: () => ({ kind: 'refuse', refusal: refusal(kind) }),
  });
  return fetch(engine.url, { method: 'POST', headers, body: JSON.stringify(body) });
}

test.each<[Client, TurnRefusal['kind'], number, string]>([
  ['Claude Code', 'policy', 451, '"type":"invalid_request_error"'],
  ['Codex', 'policy', 400, '"message":"Not now (rule P-1)."'],
  ['Claude Code', 'approval', 451, '"type":"invalid_request_error"'],
  ['Claude Code', 'permission', 451, '"type":"invalid_request_error"'],
  ['Claude Code', 'budget', 429, '"type":"rate_limit_error"'],
  ['Codex', 'budget', 429, '"type":"usage_limit_reached"'],
  ['a chat client', 'budget', 429, '"type":"insufficient_quota"'],
  ['Claude Code', 'authentication', 401, '"type":"authentication_error"'],
  ['Claude Code', 'unavailable', 503, '"type":"overloaded_error"'],
])('%s that is refused by %s gets %i in its own shape', async (client, kind, status, part) => {
  const answer = await ask(client, kind);
  expect(answer.status).toBe(status);
  expect(await answer.text()).toContain(part);
  const mayRetry = kind === 'unavailable';
  expect(answer.headers.get('x-should-retry')).toBe(mayRetry ? null : 'false');
  expect(answer.headers.get('x-aicg-decision')).toBe('block');
  expect(answer.headers.get('x-aicg-trace-id')).toMatch(/^[0-9a-f-]{36}$/);
});

test('a client that asks for it gets the refusal as data', async () => {
  const answer = await ask('Claude Code', 'policy', { accept: 'application/vnd.subluminal+json' });
  expect(answer.status).toBe(451);
  expect(await answer.json()).toMatchObject({ error: { kind: 'policy', rule_ids: ['P-1'] } });
});

test.each<[Client, RegExp]>([
  ['Claude Code', /"stop_reason":"end_turn".*message_stop/s],
  ['Codex', /event: response\.completed/],
  ['a chat client', /"finish_reason":"stop".*\[DONE\]/s],
])('%s whose turn was held and then refused reads it as a whole message', async (client, end) => {
  const { wire, body } = CLIENTS[client];
  const engine = await governedEngine([], {
    route: { wire, kind: 'answer', path: '/' },
    plan: () => ({
      kind: 'hold',
      outcome: Promise.resolve({ kind: 'refuse', refusal: refusal('approval') }),
    }),
  });
  const answer = await fetch(engine.url, { method: 'POST', body: JSON.stringify(body) });
  expect(answer.status).toBe(200);
  const text = await answer.text();
  expect(text).toContain('Not now (rule P-1).');
  expect(text).toMatch(end);
});
