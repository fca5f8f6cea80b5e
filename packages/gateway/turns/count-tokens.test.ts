import { openUpstream } from '@subluminal/plane/upstream';
import { expect, test } from 'vitest';
import { providerFor } from '../providers/registry/index.ts';
import { coreWires, forwardModels, modelList, poolModels } from './index.ts';
import {
  attemptAt,
  endpointAt,
  governedEngine,
  type UngovernedRoute,
} from './testing/governed-engine.ts';
import { loopback } from './testing/loopback.ts';

const route: UngovernedRoute = {
  wire: 'anthropic_messages',
  kind: 'count_tokens',
  path: '/v1/messages/count_tokens?beta=true',
};
const BODY = JSON.stringify({
  model: 'm',
  system: 'You are terse.',
  messages: [{ role: 'user', content: 'word '.repeat(400) }],
});

const ask = (url: string) => fetch(url, { method: 'POST', body: BODY });

test('an upstream that counts tokens is asked', async () => {
  const paths: unknown[] = [];
  const { url } = await loopback((request, response) => {
    paths.push(request.url);
    response.setHeader('content-type', 'application/json').end('{"input_tokens":407}');
  });
  const engine = await governedEngine([url], { route });
  const answer = await ask(engine.url);
  expect(await answer.json()).toEqual({ input_tokens: 407 });
  expect(answer.headers.get('x-aicg-estimated')).toBeNull();
  expect(paths).toEqual(['/v1/messages/count_tokens?beta=true']);
});

test.each([
  ['of another wire', { provider: providerFor('openai_compat') }],
  ['that has no such path', {}],
])('for an upstream %s the tokens are estimated, and marked as such', async (_what, attempt) => {
  const { url } = await loopback((_request, response) => void response.writeHead(404).end());
  const engine = await governedEngine([url], { route, attempt });
  const answer = await ask(engine.url);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('x-aicg-estimated')).toBe('true');
  const { input_tokens: tokens, estimated } = (await answer.json()) as Record<string, unknown>;
  expect(estimated).toBe(true);
  expect(Number(tokens)).toBeGreaterThan(300);
  expect(Number(tokens)).toBeLessThan(800);
  expect(engine.told.ends).toMatchObject([{ status: 200 }]);
});

const endpoints = new Map([
  ['a', endpointAt('https://a.test')],
  ['o', endpointAt('https://o.test', { provider: 'openai' })],
]);
const pool = (name: string, ...members: [endpointId: string, model: string][]) => ({
  name,
  members: members.map(([endpointId, model]) => ({ endpointId, model, weight: 1 })),
  attemptsMax: 1,
  timeoutMs: 1,
  outputTokensMax: 1,
});

test('the models of all pools are listed once, in the shape of each wire', () => {
  const pools = [
    pool('cheap', ['o', 'gpt-5-mini']),
    pool('strong', ['a', 'claude-x'], ['o', 'gpt-5-mini']),
  ];
  const models = poolModels(pools, (id) => endpoints.get(id));
  const created_at = '1970-01-01T00:00:00Z';
  expect(modelList('anthropic_messages', models)).toEqual({
    data: [
      { type: 'model', id: 'claude-x', display_name: 'claude-x', created_at },
      { type: 'model', id: 'gpt-5-mini', display_name: 'gpt-5-mini', created_at },
    ],
    has_more: false,
    first_id: 'claude-x',
    last_id: 'gpt-5-mini',
  });
  expect(modelList('openai_responses', models)).toEqual({
    object: 'list',
    data: [
      { id: 'claude-x', object: 'model', created: 0, owned_by: 'anthropic' },
      { id: 'gpt-5-mini', object: 'model', created: 0, owned_by: 'openai' },
    ],
  });
});

test('the models of a provider are asked for with the credentials of the client', async () => {
  const asked: unknown[] = [];
  const { url } = await loopback((request, response) => {
    asked.push(request.method, request.url, request.headers['x-api-key']);
    response.setHeader('content-type', 'application/json').end('{"data":[]}');
  });
  const upstream = openUpstream();
  const attempt = attemptAt(url, { credentials: { kind: 'own' } });
  const wire = 'anthropic_messages';
  const front = await loopback((request, response) =>
    forwardModels(request, response, {
      upstream,
      attempt,
      wires: coreWires,
      wire,
      path: request.url ?? '',
    }),
  );
  const answer = await fetch(`${front.url}/v1/models?limit=1000`, {
    headers: { 'x-api-key': 'k' },
  });
  expect(await answer.text()).toBe('{"data":[]}');
  expect(asked).toEqual(['GET', '/v1/models?limit=1000', 'k']);
  await upstream.close();
  expect((await fetch(`${front.url}/v1/models`)).status).toBe(502);
});
