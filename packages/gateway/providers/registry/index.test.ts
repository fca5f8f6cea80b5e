import type { IncomingHttpHeaders } from 'node:http';
import type { Capability, Endpoint, ProviderName } from '@subluminal/core/routing';
import type { WireName } from '@subluminal/core/wires';
import { expect, test } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import type { UpstreamTarget } from '../types.ts';
import { providerFor, withoutCredentials } from './index.ts';

function endpoint(provider: ProviderName, url: string, ...supports: Capability[]): Endpoint {
  return {
    id: 'e1',
    provider,
    url,
    teamKeyRefs: {},
    dataResidency: 'us',
    trustTier: 'vendor',
    supports: new Set(supports),
    deployments: [],
    concurrencyMax: 10,
  };
}

function target(wire: WireName, place: Endpoint, parts: Partial<UpstreamTarget> = {}) {
  return { endpoint: place, model: 'm 1', kind: 'answer', wire, query: '', ...parts } as const;
}

const CHAT = 'openai_chat_completions';
const RESPONSES = 'openai_responses';
const MESSAGES = 'anthropic_messages';

test.each<[ProviderName, string, WireName, string]>([
  ['anthropic', 'https://a.test', MESSAGES, 'https://a.test/v1/messages'],
  ['anthropic', 'https://a.test/v1/', MESSAGES, 'https://a.test/v1/messages'],
  ['anthropic', 'https://a.test/anthropic', MESSAGES, 'https://a.test/anthropic/v1/messages'],
  ['openai', 'https://o.test', CHAT, 'https://o.test/v1/chat/completions'],
  ['openai', 'https://o.test/v1', RESPONSES, 'https://o.test/v1/responses'],
  [
    'openai',
    'https://c.test/backend-api/codex',
    RESPONSES,
    'https://c.test/backend-api/codex/responses',
  ],
  ['openai_compat', 'http://127.0.0.1:11434', CHAT, 'http://127.0.0.1:11434/v1/chat/completions'],
  ['openai_compat', 'https://g.test/openai/v1/', CHAT, 'https://g.test/openai/v1/chat/completions'],
  ['openrouter', 'https://r.test/api/v1', CHAT, 'https://r.test/api/v1/chat/completions'],
  ['litellm', 'http://l.test:4000', CHAT, 'http://l.test:4000/v1/chat/completions'],
  ['litellm', 'http://l.test:4000/v1', MESSAGES, 'http://l.test:4000/v1/messages'],
  [
    'azure_openai',
    'https://z.test/',
    CHAT,
    'https://z.test/openai/deployments/m%201/chat/completions?api-version=2024-10-21',
  ],
  ['azure_openai', 'https://z.test/openai/v1', RESPONSES, 'https://z.test/openai/v1/responses'],
])('%s at %s is asked on %s at %s', (name, base, wire, url) => {
  verifies('R-14');
  expect(providerFor(name).url(target(wire, endpoint(name, base)))).toBe(url);
});

test('the query of the client goes to the wire that gave it a meaning', () => {
  const anthropic = endpoint('anthropic', 'https://a.test');
  const url = providerFor('anthropic').url(target(MESSAGES, anthropic, { query: 'beta=true' }));
  expect(url).toBe('https://a.test/v1/messages?beta=true');
});

test('Azure is asked by the name of the deployment and the version of the endpoint', () => {
  const azure = { ...endpoint('azure_openai', 'https://z.test'), apiVersion: '2025-01-01' };
  const url = providerFor('azure_openai').url(target(CHAT, azure, { deployment: 'prod' }));
  expect(url).toBe(
    'https://z.test/openai/deployments/prod/chat/completions?api-version=2025-01-01',
  );
});

test.each<[ProviderName, Capability[], WireName[]]>([
  ['anthropic', [], [MESSAGES]],
  ['openai', [], [RESPONSES, CHAT]],
  ['openai_compat', [], [CHAT]],
  ['openai_compat', ['responses'], [CHAT, RESPONSES]],
  ['litellm', ['cache_control'], [MESSAGES, CHAT]],
  ['azure_openai', ['responses'], [CHAT, RESPONSES]],
])('%s with %j speaks %j', (name, supports, wires) => {
  expect(providerFor(name).wires(endpoint(name, 'https://x.test', ...supports))).toEqual(wires);
});

const CLIENT: IncomingHttpHeaders = {
  host: 'localhost:7777',
  connection: 'keep-alive, x-hop',
  'x-hop': '1',
  cookie: 'session=1',
  'content-length': '12',
  'accept-encoding': 'gzip',
  'x-forwarded-for': '127.0.0.1',
  'x-aicg-session-id': 's1',
  authorization: 'Bearer client',
  'x-api-key': 'client',
  'anthropic-version': '2023-06-01',
  'anthropic-beta': 'oauth-2025-04-20, context-management-2025-06-27,bad beta',
  'openai-organization': 'org-client',
  'openai-beta': 'responses=v1',
  'user-agent': 'claude-cli/2.1',
  'x-app': 'cli',
};

test.each<[ProviderName, object]>([
  [
    'anthropic',
    {
      'x-api-key': 'ours',
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'context-management-2025-06-27',
    },
  ],
  ['openai', { authorization: 'Bearer ours', 'openai-beta': 'responses=v1' }],
  ['openai_compat', { authorization: 'Bearer ours' }],
  ['openrouter', { authorization: 'Bearer ours', 'x-title': 'Subluminal' }],
  [
    'litellm',
    {
      authorization: 'Bearer ours',
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'context-management-2025-06-27',
    },
  ],
  ['azure_openai', { 'api-key': 'ours' }],
])('%s with a key of ours gets only what it knows', (name, headers) => {
  expect(providerFor(name).headers(CLIENT, 'ours')).toEqual(headers);
});

test.each<ProviderName>([
  'anthropic',
  'openai',
  'openai_compat',
  'openrouter',
  'litellm',
  'azure_openai',
])('%s with the credentials of the client gets all that is not of the connection', (name) => {
  expect(providerFor(name).headers(CLIENT, undefined)).toEqual({
    authorization: 'Bearer client',
    'x-api-key': 'client',
    'anthropic-version': '2023-06-01',
    'anthropic-beta': 'oauth-2025-04-20, context-management-2025-06-27,bad beta',
    'openai-organization': 'org-client',
    'openai-beta': 'responses=v1',
    'user-agent': 'claude-cli/2.1',
    'x-app': 'cli',
  });
});

test('an endpoint without credentials gets none of the client', () => {
  const headers = providerFor('openai_compat').headers(withoutCredentials(CLIENT), undefined);
  expect(headers).not.toHaveProperty('authorization');
  expect(headers).not.toHaveProperty('x-api-key');
});
