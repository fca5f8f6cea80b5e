import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Endpoint } from '@subluminal/core/routing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually, LiveGateway, TENANT } from './testing/live-gateway.ts';

const ENDPOINT: Endpoint = {
  id: 'hosted',
  provider: 'anthropic',
  url: 'https://upstream.example/secret-path',
  keyRef: 'env://UPSTREAM_KEY',
  teamKeyRefs: { core: 'env://CORE_KEY' },
  dataResidency: 'eu',
  trustTier: 'vendor',
  supports: new Set(['tools']),
  deployments: [],
  concurrencyMax: 8,
};
const POOL = {
  name: 'standard',
  members: [{ endpointId: 'hosted', model: 'claude-sonnet', weight: 2 }],
  attemptsMax: 2,
  timeoutMs: 1_000,
  outputTokensMax: 1_000,
};

describe('the policy', () => {
  it('is shown and read again for platform admins', async () => {
    let version = 'v1';
    const problem = { file: 'pools.yaml', line: 3, message: 'No such endpoint.', fix: 'Name one.' };
    const gateway = await LiveGateway.open({
      policy: {
        version: () => version,
        current: () => ({ rules: [{ id: 'P-1' }] }),
        reload: async () => {
          if (version === 'v2') return { changed: false, problems: [problem] };
          version = 'v2';
          return { changed: true, problems: [] };
        },
      },
    });
    const key = await gateway.user('root', 'platform_admin');
    const current = await gateway.ask('/api/v1/policy/current', { key });
    expect(current.json).toEqual({ version: 'v1', policy: { rules: [{ id: 'P-1' }] } });
    const reload = () => gateway.ask('/api/v1/policy/reload', { key, body: {} });
    expect((await reload()).json).toEqual({ changed: true, version: 'v2', problems: [] });
    expect((await reload()).json).toEqual({ changed: false, version: 'v2', problems: [problem] });
  });

  it('is explained for a user of the own team, by GET and by POST', async () => {
    const asked: unknown[] = [];
    const gateway = await LiveGateway.open({
      policy: {
        explain: async ({ envelope }, { userId, teamId }) => {
          asked.push({ envelope, userId, teamId });
          return { decision: { primary_action: 'block' }, rules: [{ id: 'P-1', matched: true }] };
        },
      },
    });
    const key = await gateway.user('lead', 'team_admin');
    const path = '/api/v1/policy/decision/explain';
    const body = { envelope: { schema_version: '1.0' }, user_id: 'ann' };
    const explained = {
      version: 'v1',
      decision: { primary_action: 'block' },
      rules: [{ id: 'P-1', matched: true }],
    };
    expect((await gateway.ask(path, { key, body })).json).toEqual(explained);
    const input = encodeURIComponent(JSON.stringify(body));
    expect((await gateway.ask(`${path}?input=${input}`, { key })).json).toEqual(explained);
    const expected = { envelope: body.envelope, userId: 'ann', teamId: 'core' };
    expect(asked).toEqual([expected, expected]);
    const other = { ...body, user_id: 'bob' };
    expect((await gateway.ask(path, { key, body: other })).status).toBe(403);
    expect((await gateway.ask(`${path}?input=nonsense`, { key })).status).toBe(400);
  });

  it('comes to a proxy as the rules for its user, and not again while nothing has changed', async () => {
    const gateway = await LiveGateway.open();
    const key = await gateway.user('ann');
    const first = await gateway.ask('/api/v1/lp/policy-snippet', { key });
    expect(first.json).toEqual({ version: 'v1', rules: [{ id: 'rule-of-core' }] });
    expect(first.headers['cache-control']).toBe('private, no-cache');
    const etag = first.headers.etag ?? '';
    const headers = { 'if-none-match': etag };
    const again = await gateway.ask('/api/v1/lp/policy-snippet', { key, headers });
    expect([again.status, again.text, again.headers.etag]).toEqual([304, '', etag]);
    const bob = await gateway.user('bob');
    expect((await gateway.ask('/api/v1/lp/policy-snippet', { key: bob, headers })).status).toBe(
      200,
    );
  });
});

it('pools are shown without addresses and keys', async () => {
  const gateway = await LiveGateway.open({ config: { pools: [POOL], endpoints: [ENDPOINT] } });
  const { json, text } = await gateway.ask('/api/v1/pools/current', {
    key: await gateway.user('ann'),
  });
  expect(json).toEqual({
    pools: [
      {
        name: 'standard',
        members: [{ endpoint_id: 'hosted', model: 'claude-sonnet', weight: 2 }],
        fallback_pool: null,
      },
    ],
    endpoints: [
      {
        id: 'hosted',
        provider: 'anthropic',
        data_residency: 'eu',
        trust_tier: 'vendor',
        supports: ['tools'],
      },
    ],
  });
  expect(text).not.toMatch(/secret-path|KEY/);
});

it.each([
  [null, '', true],
  [null, '?version=0.0.1', true],
  ['1.0.0', '?version=1.0.0', true],
  ['1.0.0', '?version=0.9.9', false],
  ['1.0.0', '?version=nonsense', false],
  ['1.0.0', '', false],
])(
  'a gateway that needs %s finds a proxy with %j supported: %s',
  async (minimumVersion, query, expected) => {
    const gateway = await LiveGateway.open({ config: { minimumVersion } });
    const { json } = await gateway.ask(`/api/v1/lp/version-check${query}`);
    expect(json).toMatchObject({ gateway_version: '1.2.3', is_supported: expected });
  },
);

it.each([
  ['1.2.0', null],
  ['1.1.0', 'Subluminal 1.2.0 is there. Update when you can.'],
])('a proxy of version %s is told of the latest one by %j', async (version, message) => {
  const gateway = await LiveGateway.open({ config: { latestVersion: '1.2.0' } });
  const { json } = await gateway.ask(`/api/v1/lp/version-check?version=${version}`);
  expect(json).toMatchObject({ latest_version: '1.2.0', is_supported: true, message });
});

async function receiver() {
  const bodies: { event: string; data: object }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      bodies.push(JSON.parse(Buffer.concat(chunks).toString('utf8')) as never);
      response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { bodies, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` };
}

describe('webhooks', () => {
  it('are added, listed without their secret, tested and removed', async () => {
    const { bodies, url } = await receiver();
    const gateway = await LiveGateway.open();
    const key = await gateway.user('root', 'platform_admin');
    const body = { url, events: ['approval_resolved'], secret_ref: 'env://HOOK' };
    const added = await gateway.ask('/api/v1/webhooks', { key, body });
    const id = added.field('id');
    expect(added.json).toEqual({ id, url, events: ['approval_resolved'], source: 'api' });
    const listed = await gateway.ask('/api/v1/webhooks', { key });
    expect(listed.json).toMatchObject({ webhooks: [{ id, source: 'api' }] });
    expect(listed.text).not.toContain('HOOK');
    const tested = await gateway.ask(`/api/v1/webhooks/${id}/test`, { key, body: {} });
    expect(tested.json).toEqual({ delivered: true, status: 200, error: null });
    expect(bodies).toMatchObject([{ event: 'test' }]);
    const remove = () => gateway.ask(`/api/v1/webhooks/${id}`, { key, method: 'DELETE' });
    expect((await remove()).json).toEqual({ changed: true });
    expect((await remove()).status).toBe(404);
    expect((await gateway.ask(`/api/v1/webhooks/${id}/test`, { key, body: {} })).status).toBe(404);
  });

  it.each([
    ['an address that is not allowed', { url: 'https://evil.example/' }],
    ['no https', { url: 'http://hooks.example.com/' }],
    ['an unknown event', { events: ['everything'] }],
    ['no event', { events: [] }],
    ['a secret that is not there', { secret_ref: 'env://NONE' }],
    ['a field that is not known', { secret: 'plain' }],
  ])('are refused with %s', async (_, change) => {
    const gateway = await LiveGateway.open({
      webhookRules: { allowedHosts: ['hooks.example.com'], allowPrivateAddresses: false },
    });
    const key = await gateway.user('root', 'platform_admin');
    const right = {
      url: 'https://hooks.example.com/',
      events: ['budget_soft'],
      secret_ref: 'env://HOOK',
    };
    expect(
      (await gateway.ask('/api/v1/webhooks', { key, body: { ...right, ...change } })).status,
    ).toBe(400);
    expect((await gateway.ask('/api/v1/webhooks', { key, body: right })).status).toBe(200);
  });

  it('of the configuration are listed, and not removed by the API', async () => {
    const { url } = await receiver();
    const hook = {
      id: 'alerts',
      tenantId: TENANT,
      url,
      events: ['budget_soft'],
      secretRef: 'env://HOOK',
    };
    const gateway = await LiveGateway.open({ configuredWebhooks: [{ ...hook, createdMs: 0 }] });
    const key = await gateway.user('root', 'platform_admin');
    const { json } = await gateway.ask('/api/v1/webhooks', { key });
    expect(json).toMatchObject({ webhooks: [{ id: 'alerts', source: 'config' }] });
    expect((await gateway.ask('/api/v1/webhooks/alerts', { key, method: 'DELETE' })).status).toBe(
      400,
    );
  });

  it('are told what people decide by the API', async () => {
    const { bodies, url } = await receiver();
    const hook = {
      id: 'h',
      tenantId: TENANT,
      url,
      events: ['approval_resolved'],
      secretRef: 'env://HOOK',
    };
    const gateway = await LiveGateway.open({ configuredWebhooks: [{ ...hook, createdMs: 0 }] });
    gateway.webhooks.start();
    const key = await gateway.user('lead', 'team_admin');
    const id = gateway.newId();
    await gateway.store.approvals.add({
      id,
      traceId: 'trace',
      tenantId: TENANT,
      requestor: 'ann',
      teamId: 'core',
      repoId: null,
      snapshot: { model: 'claude' },
      state: 'pending',
      createdMs: gateway.nowMs,
      expiresMs: gateway.nowMs + 60_000,
      resolvedMs: null,
      resolver: null,
      note: null,
      keyId: null,
      requestHash: null,
      usedMs: null,
    });
    await gateway.ask(`/api/v1/approvals/${id}/approve`, { key, body: { note: 'private words' } });
    await eventually(() =>
      expect(bodies).toMatchObject([
        {
          event: 'approval_resolved',
          data: { approval_id: id, state: 'approved', resolver: 'lead' },
        },
      ]),
    );
    expect(JSON.stringify(bodies)).not.toContain('private words');
  });
});
