import { describe, expect, it } from 'vitest';
import { LiveGateway, SCRAPER } from './testing/live-gateway.ts';

describe('every answer', () => {
  it('has a trace of its own, and forbids what a browser could do with it', async () => {
    const gateway = await LiveGateway.open();
    const key = await gateway.user('ann');
    const answers = await Promise.all([
      gateway.ask('/api/v1/whoami', { key }),
      gateway.ask('/api/v1/whoami'),
      gateway.ask('/api/v1/admin/users', { key }),
      gateway.ask('/api/v1/nothing', { key }),
      gateway.ask('/api/v1/whoami', { key, method: 'PUT' }),
      gateway.ask('/api/v1/me/api-keys', { key, raw: 'no json' }),
      gateway.ask('/api/v1/whoami', { key, headers: { origin: 'https://evil.example' } }),
      gateway.ask('/api/v1/openapi.json'),
      gateway.ask('/metrics'),
      gateway.ask('/api/v1/%ff'),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([
      200, 401, 403, 404, 405, 400, 403, 200, 401, 400,
    ]);
    const traces = answers.map(({ headers }) => headers['x-aicg-trace-id']);
    for (const trace of traces) expect(trace).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}$/);
    expect(new Set(traces).size).toBe(traces.length);
    for (const { headers } of answers) {
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
      });
      const names = Object.keys(headers);
      expect(names.filter((name) => /^access-control-|^set-cookie$/.test(name))).toEqual([]);
    }
    for (const { status, json } of answers.filter((answer) => answer.status >= 400)) {
      expect(json, String(status)).toMatchObject({
        error: { code: expect.stringMatching(/^SUB_/) as string },
      });
    }
  });

  it('is no to a method that the address does not take, and says which it does', async () => {
    const gateway = await LiveGateway.open();
    const { status, headers } = await gateway.ask('/api/v1/me/api-keys', { method: 'PATCH' });
    expect([status, headers.allow]).toEqual([405, 'GET, POST']);
    const key = await gateway.user('ann');
    for (const path of ['/api/v1/whoami', '/sse/v1/approvals/stream']) {
      const head = await gateway.ask(path, { key, method: 'HEAD' });
      expect([path, head.status, head.headers.allow]).toEqual([path, 405, 'GET']);
    }
  });

  it.each([
    [
      'a form',
      { raw: 'name=x', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      415,
    ],
    ['plain text', { raw: '{}', headers: { 'content-type': 'text/plain' } }, 415],
    ['a compressed body', { raw: '{}', headers: { 'content-encoding': 'gzip' } }, 415],
    ['a body that is too long', { raw: `{"name":"${'x'.repeat(70_000)}"}` }, 413],
    ['a field that is not known', { raw: '{"name":"x","role":"platform_admin"}' }, 400],
    ['another type', { raw: '{"name":1}' }, 400],
    ['no object', { raw: '[]' }, 400],
  ])('is no to %s', async (_, options, status) => {
    const gateway = await LiveGateway.open();
    const key = await gateway.user('ann');
    const asked = { key, method: 'POST', ...options };
    expect((await gateway.ask('/api/v1/me/api-keys', asked)).status).toBe(status);
  });

  it('is no to a body where none belongs', async () => {
    const gateway = await LiveGateway.open();
    const key = await gateway.user('ann');
    const headers = { 'content-length': '2' };
    const asked = { key, method: 'GET', raw: '{}', headers };
    const { status, text } = await gateway.ask('/api/v1/whoami', asked);
    expect(status).toBe(400);
    expect(text).toContain('takes no body');
  });

  it('tells nothing of the inside when the store fails', async () => {
    const gateway = await LiveGateway.open();
    const key = await gateway.user('ann');
    await gateway.store.close();
    const { status, text } = await gateway.ask('/api/v1/whoami', { key });
    expect(status).toBeGreaterThanOrEqual(500);
    expect(text).not.toMatch(/gateway\.db|\.ts|at /);
    expect(gateway.warnings.join('')).not.toContain(key);
    expect(gateway.warnings).toHaveLength(1);
  });
});

describe('who may reach the API', () => {
  it('is held by the allowlist', async () => {
    const closed = await LiveGateway.open({ ipAllowlist: ['198.51.100.0/24'] });
    const refused = await closed.ask('/api/v1/lp/version-check');
    expect(refused).toMatchObject({
      status: 403,
      json: { error: { code: 'SUB_GATEWAY_ADDRESS' } },
    });
    const spoofed = { headers: { 'x-forwarded-for': '198.51.100.7' } };
    expect((await closed.ask('/api/v1/lp/version-check', spoofed)).status).toBe(403);
    const behind = await LiveGateway.open({
      ipAllowlist: ['198.51.100.0/24'],
      trustedProxies: ['127.0.0.1'],
    });
    expect((await behind.ask('/api/v1/lp/version-check', spoofed)).status).toBe(200);
    const other = { headers: { 'x-forwarded-for': '198.51.100.7, 203.0.113.9' } };
    expect((await behind.ask('/api/v1/lp/version-check', other)).status).toBe(403);
  });

  it('does not let pages of other sites in', async () => {
    const gateway = await LiveGateway.open();
    const check = async (headers: { [name: string]: string }) =>
      (await gateway.ask('/api/v1/lp/version-check', { headers })).status;
    expect(await check({})).toBe(200);
    expect(await check({ host: 'gateway.example', origin: 'https://gateway.example' })).toBe(200);
    for (const origin of ['https://evil.example', 'null', 'https://gateway.example.evil.example']) {
      expect(await check({ host: 'gateway.example', origin }), origin).toBe(403);
    }
  });
});

describe('/metrics', () => {
  it('is for scrapers with their token, and for platform admins', async () => {
    const gateway = await LiveGateway.open();
    const ann = await gateway.user('ann');
    const root = await gateway.user('root', 'platform_admin');
    const statuses = [];
    for (const key of [undefined, 'wrong', ann, root, SCRAPER]) {
      statuses.push((await gateway.ask('/metrics', { key })).status);
    }
    expect(statuses).toEqual([401, 401, 403, 200, 200]);
    await gateway.ask('/api/v1/audit/some-trace', { key: ann });
    const { text, headers } = await gateway.ask('/metrics', { key: SCRAPER });
    expect(headers['content-type']).toContain('text/plain');
    expect(text).toContain(
      'subluminal_gateway_api_requests_total{endpoint="GET /api/v1/audit/{trace_id}",status="404"} 1',
    );
  });
});

it('serves its OpenAPI document to anyone', async () => {
  const gateway = await LiveGateway.open();
  const { json } = await gateway.ask('/api/v1/openapi.json');
  expect(json).toMatchObject({ openapi: '3.1.0', info: { version: '1.2.3' } });
});
