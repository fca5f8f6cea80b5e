import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LiveGateway, type LiveOptions, TENANT, testFolder } from './testing/live-gateway.ts';

const WEEK_MS = 7 * 86_400_000;

/** A page that has logged in: what its browser sends from then on. */
async function loggedIn(gateway: LiveGateway, key: string, more: { [name: string]: string } = {}) {
  const answer = await gateway.ask('/api/v1/login', { body: { api_key: key }, headers: more });
  const [setCookie = ''] = answer.headers['set-cookie'] ?? [];
  const [cookie = ''] = setCookie.split(';');
  const pageToken = answer.field('page_token');
  return { answer, setCookie, cookie, pageToken, headers: { cookie, 'x-sub-page': pageToken } };
}

async function withAnn(options?: LiveOptions) {
  const gateway = await LiveGateway.open(options);
  const key = await gateway.user('ann');
  return { gateway, key, page: await loggedIn(gateway, key) };
}

describe('a page that logs in with a key', () => {
  it('gets the two halves of a session, and the key in neither', async () => {
    const { gateway, key, page } = await withAnn();
    expect(page.answer.status).toBe(200);
    expect(page.setCookie).toMatch(
      /^sub_gateway_\d+=[\w-]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=604800$/,
    );
    const sealed = page.cookie.slice(page.cookie.indexOf('=') + 1);
    const told = page.answer.text + page.setCookie + Buffer.from(sealed, 'base64url').toString();
    expect(told).not.toContain(key.slice(0, 12));
    const { json } = await gateway.ask('/api/v1/session', { headers: page.headers });
    expect(json).toEqual({
      plane: 'gateway',
      user: 'ann',
      role: 'developer',
      version: '1.2.3',
      expires_at_ms: gateway.nowMs + WEEK_MS,
    });
    expect((await gateway.ask('/api/v1/session', { key })).json).toMatchObject({
      user: 'ann',
      expires_at_ms: null,
    });
  });

  it('is known by both halves for questions, changes and the stream, as the key itself', async () => {
    const { gateway, page } = await withAnn();
    const { headers } = page;
    expect((await gateway.ask('/api/v1/whoami', { headers })).json).toMatchObject({
      user_id: 'ann',
    });
    const made = await gateway.ask('/api/v1/me/api-keys', { headers, body: { name: 'new' } });
    expect(made.status).toBe(200);
    expect((await gateway.ask('/api/v1/admin/users', { headers })).status).toBe(403);
    const stream = await fetch(`${gateway.url}/sse/v1/approvals/stream`, { headers });
    expect([stream.status, stream.headers.get('content-type')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ]);
    await stream.body?.cancel();
    const audit = await gateway.store.records.audit({ tenantId: TENANT, limit: 10 });
    expect(audit.map(({ eventType, userId }) => [eventType, userId])).toEqual([
      ['key_created', 'ann'],
      ['page_login', 'ann'],
    ]);
  });

  it('is known by nothing less', async () => {
    const { gateway, key, page } = await withAnn({
      rates: { failures: { perMinute: 600, burst: 600 } },
    });
    const other = await loggedIn(gateway, key);
    const { cookie, pageToken, headers } = page;
    const [name = ''] = cookie.split('=');
    const refused: { [why: string]: { [name: string]: string } } = {
      nothing: {},
      'the cookie alone': { cookie },
      'the page token alone': { 'x-sub-page': pageToken },
      'the page token of another session': { cookie, 'x-sub-page': other.pageToken },
      'the page token twice': { cookie, 'x-sub-page': `${pageToken}, ${pageToken}` },
      'the cookie of another port': { ...headers, cookie: cookie.replace(name, 'sub_gateway_1') },
      'a cookie that was changed': { ...headers, cookie: `${cookie.slice(0, -2)}xx` },
      'a key in the cookie': { ...headers, cookie: `${name}=${key}` },
      'a wrong key beside it': { ...headers, authorization: 'Bearer sk-sub-wrong' },
      'a page of another site': { ...headers, 'sec-fetch-site': 'cross-site' },
      'a page of another port': { ...headers, 'sec-fetch-site': 'same-site' },
    };
    for (const [why, sent] of Object.entries(refused)) {
      const { status, json } = await gateway.ask('/api/v1/session', { headers: sent });
      expect([why, status]).toEqual([why, 401]);
      expect(json).toMatchObject({ error: { code: 'SUB_GATEWAY_KEY' } });
    }
    const foreign = { ...headers, origin: 'https://evil.example' };
    expect((await gateway.ask('/api/v1/session', { headers: foreign })).status).toBe(403);
    expect((await gateway.ask('/metrics', { headers })).status).toBe(401);
    expect((await gateway.ask('/api/v1/session', { headers })).status).toBe(200);
  });

  it('is known no longer than its key, and a week at most', async () => {
    const { gateway, key, page } = await withAnn();
    const status = async (headers: { [name: string]: string }) =>
      (await gateway.ask('/api/v1/session', { headers })).status;
    const later = await loggedIn(gateway, key);
    gateway.nowMs += WEEK_MS - 1;
    expect(await status(page.headers)).toBe(200);
    gateway.nowMs += 1;
    expect(await status(page.headers)).toBe(401);
    const next = await loggedIn(gateway, key);
    expect(await status(next.headers)).toBe(200);
    await gateway.store.keys.revokeAll(TENANT, 'ann', gateway.nowMs);
    gateway.authenticator.forgetUser('ann');
    expect([await status(next.headers), await status(later.headers)]).toEqual([401, 401]);
  });

  it('is known to another gateway under the same name, which has the same secret', async () => {
    const one = await LiveGateway.open();
    const other = await LiveGateway.open({ store: one.store });
    const name = { host: 'gateway.example' };
    const page = await loggedIn(one, await one.user('ann'), name);
    const headers = { ...page.headers, ...name };
    const { json } = await other.ask('/api/v1/session', { headers });
    expect(json).toMatchObject({ user: 'ann' });
  });

  it('leaves a cookie that is worth nothing when it logs out, with a session or without one', async () => {
    const { gateway, page } = await withAnn();
    for (const headers of [page.headers, {}]) {
      const out = await gateway.ask('/api/v1/logout', { body: {}, headers });
      expect([out.status, out.json]).toEqual([200, { logged_out: 'yes' }]);
      expect(out.headers['set-cookie']?.[0]).toMatch(/^sub_gateway_\d+=; Path=\/; .*; Max-Age=0$/);
    }
  });

  it('gets a cookie for TLS alone when a trusted proxy says that the browser has TLS', async () => {
    const https = { 'x-forwarded-proto': 'https', host: 'gateway.example' };
    const behind = await LiveGateway.open({ trustedProxies: ['127.0.0.1'] });
    const key = await behind.user('ann');
    const { setCookie } = await loggedIn(behind, key, https);
    expect(setCookie).toMatch(/^sub_gateway_default=.*; Secure$/);
    const plain = await loggedIn(behind, key, { 'x-forwarded-proto': 'http' });
    expect(plain.setCookie).not.toContain('Secure');
    const alone = await LiveGateway.open();
    const lied = await loggedIn(alone, await alone.user('ann'), https);
    expect(lied.setCookie).not.toContain('Secure');
  });
});

describe('wrong keys at the login', () => {
  it('are limited and told like wrong keys anywhere, and begin nothing', async () => {
    const gateway = await LiveGateway.open({ rates: { failures: { perMinute: 1, burst: 2 } } });
    const login = (api_key: string) => gateway.ask('/api/v1/login', { body: { api_key } });
    const wrong = `sk-sub-${'x'.repeat(43)}`;
    const answers = [await login(wrong), await login('nonsense'), await login(wrong)];
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 429]);
    for (const { headers } of answers) expect(headers['set-cookie']).toBeUndefined();
    expect(answers[0]?.json).toMatchObject({ error: { code: 'SUB_GATEWAY_KEY' } });
    expect((await gateway.ask('/api/v1/whoami', { key: wrong })).status).toBe(429);
  });

  it('are not what a page has tried that is only opened', async () => {
    const gateway = await LiveGateway.open({ rates: { failures: { perMinute: 1, burst: 1 } } });
    for (let opened = 0; opened < 4; opened++) {
      expect((await gateway.ask('/api/v1/session')).status).toBe(401);
    }
    const stale = { headers: { 'x-sub-page': 'x', cookie: 'sub_gateway_1=x' } };
    const statuses = [];
    for (let tried = 0; tried < 2; tried++) {
      statuses.push((await gateway.ask('/api/v1/session', stale)).status);
    }
    expect(statuses).toEqual([401, 429]);
  });
});

describe('the files of the page', () => {
  function pageFolder(): string {
    const folder = testFolder();
    mkdirSync(join(folder, 'assets'));
    writeFileSync(join(folder, 'index.html'), '<!doctype html><title>Subluminal</title>');
    writeFileSync(join(folder, 'assets', 'index-abcdefgh.js'), 'export {};\n');
    return folder;
  }

  it('are served to anyone whom the allowlist lets in, under a policy without inline script', async () => {
    const gateway = await LiveGateway.open({ pages: pageFolder() });
    for (const path of ['/', '/cost?q=x', '/settings', '/login']) {
      const { status, text, headers } = await gateway.ask(path);
      expect([path, status]).toEqual([path, 200]);
      expect(text).toContain('<title>Subluminal</title>');
      expect(headers['content-security-policy']).toContain("script-src 'self';");
    }
    const asset = await gateway.ask('/assets/index-abcdefgh.js');
    expect(asset.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': expect.stringContaining('immutable') as string,
    });
    const closed = await LiveGateway.open({
      pages: pageFolder(),
      ipAllowlist: ['198.51.100.0/24'],
    });
    expect(await closed.ask('/')).toMatchObject({
      status: 403,
      json: { error: { code: 'SUB_GATEWAY_ADDRESS' } },
    });
  });

  it('are no answer to a question for the API or a model', async () => {
    const gateway = await LiveGateway.open({ pages: pageFolder() });
    for (const path of ['/v1/nothing', '/v1beta/models', '/openai/v1/x', '/api/v2/x', '/sse/x']) {
      const { status, text } = await gateway.ask(path);
      expect([path, status]).toEqual([path, 404]);
      expect(text).not.toContain('<title>');
    }
    expect((await gateway.ask('/cost', { method: 'POST' })).status).toBe(404);
  });
});
