// Sessions of the page, by a real server: who gets in, with which half, and what they may do.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { API_ENDPOINTS, API_SESSION, type ApiEndpoint, check } from '@subluminal/contracts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type System, thisSystem } from '../../os/index.ts';
import { T0_MS } from '../../stores/ledger/testing/events.ts';
import { type ApiClient, liveLedger, TOKEN } from './testing/live-ledger.ts';
import type { ApiOptions } from './types.ts';

const SECRET = 'page-secret-0123456789-0123456789-0123456789';
const JSON_BODY = { 'content-type': 'application/json' };
const NOBODY = { authorization: undefined };

function pages(secret = SECRET) {
  const folder = mkdtempSync(join(tmpdir(), 'sub-page-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'index.html'), '<!doctype html>the page');
  return { folder, secret };
}

async function opened(options: Partial<ApiOptions> = {}) {
  const live = await liveLedger();
  return { live, client: await live.open({ pages: pages(), ...options }) };
}

async function codeFor(client: ApiClient, role?: 'owner' | 'viewer'): Promise<string> {
  const body = JSON.stringify({ role });
  const asked = { method: 'POST', headers: JSON_BODY, body };
  const { path } = (await client.json('/api/v1/login/link', 200, asked)) as { path: string };
  expect(path).toMatch(/^\/login#[\w-]{43}$/);
  return path.slice('/login#'.length);
}

function login(client: ApiClient, code: string, headers: object = {}) {
  const body = JSON.stringify({ code });
  const all = { ...NOBODY, ...JSON_BODY, ...headers };
  return client.ask('/api/v1/login', { method: 'POST', headers: all, body });
}

interface Halves {
  readonly cookie: string;
  readonly token: string;
}

/** Both halves of a new session, as a browser has them. */
async function session(client: ApiClient, role?: 'owner' | 'viewer'): Promise<Halves> {
  const { status, headers, text } = await login(client, await codeFor(client, role));
  expect(status).toBe(200);
  const { page_token: token } = JSON.parse(text) as { page_token: string };
  const [setCookie = ''] = headers['set-cookie'] ?? [];
  expect(setCookie).toMatch(/; Path=\/; HttpOnly; SameSite=Strict; Max-Age=604800$/);
  return { cookie: setCookie.split(';', 1)[0] ?? '', token };
}

function headersOf({ cookie, token }: Partial<Halves>) {
  return { ...NOBODY, cookie, 'x-sub-page': token };
}

function codeOf(text: string): string {
  return (JSON.parse(text) as { error: { code: string } }).error.code;
}

describe('a login link', () => {
  it('begins a session of its role, which the session tells', async () => {
    const { client } = await opened();
    for (const role of ['owner', 'viewer'] as const) {
      const halves = await session(client, role);
      const told = await client.json('/api/v1/session', 200, { headers: headersOf(halves) });
      expect(check(API_SESSION, told)).toEqual([]);
      const expires_at_ms = T0_MS + 604_800_000;
      const user = { user: 'ada', version: '1.2.3' };
      const plane = { plane: 'ledger', has_steward: false };
      expect(told).toEqual({ ...plane, role, ...user, expires_at_ms });
    }
    // The token itself is the owner, for good.
    expect(await client.json('/api/v1/session')).toMatchObject({
      role: 'owner',
      expires_at_ms: null,
    });
  });

  it('works once, within two minutes, and for nobody who guesses', async () => {
    let nowMs = T0_MS;
    const { client } = await opened({ nowMs: () => nowMs });
    const [used, late] = [await codeFor(client), await codeFor(client)];
    expect((await login(client, used)).status).toBe(200);
    nowMs += 120_000;
    for (const code of [used, late, 'x', 'x'.repeat(43)]) {
      const { status, headers, text } = await login(client, code);
      expect([status, codeOf(text)]).toEqual([401, 'SUB_API_LOGIN']);
      expect(headers['set-cookie']).toBeUndefined();
      expect(text).not.toContain(code.padEnd(5, 'x'));
    }
    expect((await login(client, 'x'.repeat(2_000))).status).toBe(400);
  });

  it('is given for the token alone, not to a page', async () => {
    const { client } = await opened();
    const page = headersOf(await session(client));
    for (const [headers, status, code] of [
      [page, 403, 'SUB_API_ROLE'],
      [NOBODY, 401, 'SUB_API_TOKEN'],
    ] as const) {
      const asked = { method: 'POST', headers: { ...headers, ...JSON_BODY }, body: '{}' };
      const answer = await client.ask('/api/v1/login/link', asked);
      expect([answer.status, codeOf(answer.text)]).toEqual([status, code]);
    }
  });

  it('is refused from pages of other sites, and by forms', async () => {
    const { client } = await opened();
    const code = await codeFor(client);
    for (const [headers, status] of [
      [{ origin: 'http://127.0.0.1:3000' }, 403],
      [{ origin: 'null' }, 403],
      [{ host: `evil.example:${client.host.split(':')[1]}` }, 403],
      [{ 'content-type': 'text/plain' }, 415],
      [{ 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ] as const) {
      expect((await login(client, code, headers)).status).toBe(status);
    }
    expect((await login(client, code, { origin: `http://${client.host}` })).status).toBe(200);
  });

  it('says that there is no page where there is none', async () => {
    const live = await liveLedger();
    const client = await live.open();
    const asked = { method: 'POST', headers: JSON_BODY, body: '{}' };
    const { status, text } = await client.ask('/api/v1/login/link', asked);
    expect([status, codeOf(text)]).toEqual([404, 'SUB_UI_PAGES']);
    expect((await client.ask('/login', { headers: NOBODY })).status).toBe(401);
  });
});

describe('a session', () => {
  it('needs both halves, of one login and of this server', async () => {
    const { live, client } = await opened();
    const own = await session(client);
    const second = await session(client);
    const other = await live.open({ pages: pages('another-secret-0123456789-0123456789') });
    const foreign = await session(other);
    const sameSecret = await session(await live.open({ pages: pages() }));
    const renamed = (halves: Halves) => ({
      ...halves,
      cookie: halves.cookie.replace(/^\w+=/, `${own.cookie.split('=', 1)[0]}=`),
    });
    const wrong: readonly [string, Partial<Halves>][] = [
      ['nothing', {}],
      ['the cookie alone', { cookie: own.cookie }],
      ['the page token alone', { token: own.token }],
      ['halves of two sessions', { cookie: own.cookie, token: second.token }],
      ['a session of another server', foreign],
      ['the same, under our name', renamed(foreign)],
      ['a session of another port', sameSecret],
      ['the same, under our name', renamed(sameSecret)],
      ['the token of the API as page token', { cookie: own.cookie, token: TOKEN }],
    ];
    for (const [what, halves] of wrong) {
      const { status, text } = await client.ask('/api/v1/session', { headers: headersOf(halves) });
      expect([what, status, codeOf(text)]).toEqual([what, 401, 'SUB_API_TOKEN']);
      const stream = client.stream('', streamOptions(halves));
      expect([what, (await stream.ended).code]).toEqual([what, 401]);
    }
    expect((await client.ask('/api/v1/calls', { headers: headersOf(own) })).status).toBe(200);
  });

  it('does not help a request with a wrong Host, Origin, site or token', async () => {
    const { client } = await opened();
    const page = headersOf(await session(client));
    const port = client.host.split(':')[1];
    for (const [headers, status] of [
      [{ host: `evil.example:${port}` }, 403],
      [{ origin: 'http://127.0.0.1:3000' }, 403],
      [{ origin: `http://localhost:${port}` }, 403],
      [{ 'sec-fetch-site': 'same-site' }, 401],
      [{ 'sec-fetch-site': 'cross-site' }, 401],
      [{ authorization: `Bearer ${TOKEN}x` }, 401],
    ] as const) {
      const answer = await client.ask('/api/v1/calls', { headers: { ...page, ...headers } });
      expect([headers, answer.status]).toEqual([headers, status]);
    }
    const own = { origin: `http://${client.host}`, 'sec-fetch-site': 'same-origin' };
    expect((await client.ask('/api/v1/calls', { headers: { ...page, ...own } })).status).toBe(200);
  });

  it('ends after a week, its stream too', async () => {
    let nowMs = T0_MS;
    const { client } = await opened({ nowMs: () => nowMs, limits: { pingMs: 20 } });
    const halves = await session(client);
    const stream = client.stream('', streamOptions(halves));
    await stream.opened;
    nowMs += 604_800_000;
    expect(await stream.ended).toMatchObject({ code: 1008, reason: 'The session has ended.' });
    const { status } = await client.ask('/api/v1/calls', { headers: headersOf(halves) });
    expect(status).toBe(401);
  });

  it('goes on at the same port with the same secret, as after a restart', async () => {
    const { live, client } = await opened();
    const halves = await session(client);
    await client.api.close();
    const port = Number(new URL(client.api.url).port);
    const again = await live.open({ pages: pages(), port });
    expect((await again.ask('/api/v1/session', { headers: headersOf(halves) })).status).toBe(200);
  });

  it('opens the stream by a protocol that is not sent back', async () => {
    const { client } = await opened();
    const halves = await session(client, 'viewer');
    const stream = client.stream('', streamOptions(halves));
    await stream.opened;
    expect(stream.socket.protocol).toBe('subluminal.v1');
    const { protocols, ...rest } = streamOptions(halves);
    const bare = client.stream('', { ...rest, protocols: protocols.slice(1) });
    expect((await bare.ended).code).toBe(401);
  });

  it('ends in a browser by logging out', async () => {
    const { client } = await opened();
    const headers = { ...headersOf(await session(client, 'viewer')), ...JSON_BODY };
    const answer = await client.ask('/api/v1/logout', { method: 'POST', headers, body: '{}' });
    expect(JSON.parse(answer.text)).toEqual({ logged_out: 'yes' });
    expect(answer.headers['set-cookie']?.[0]).toMatch(/^sub_session_\d+=; .*Max-Age=0$/);
  });
});

function streamOptions({ cookie = '', token = 'none' }: Partial<Halves>) {
  return { protocols: ['subluminal.v1', `page.${token}`], headers: { cookie } };
}

describe('a viewer', () => {
  it('may look, and change nothing: every POST but the logout is refused', async () => {
    const { client } = await opened();
    const [viewer, owner] = [await session(client, 'viewer'), await session(client, 'owner')];
    const endpoints: readonly [string, ApiEndpoint][] = Object.entries(API_ENDPOINTS);
    const posts = endpoints.filter(([, { input, body }]) => (input ?? body) !== undefined);
    expect(posts.length).toBeGreaterThan(5);
    for (const [name, { path, body }] of posts) {
      if (name === 'login' || name === 'logout') continue;
      const type = body === undefined ? 'application/json' : 'application/x-ndjson';
      const post = async (halves: Halves) => {
        const headers = { ...headersOf(halves), 'content-type': type };
        const at = `${path.replaceAll(/\{\w+\}/g, 'x')}?nothing=1`;
        return client.ask(at, { method: 'POST', headers, body: '{"nothing":1}' });
      };
      const refused = await post(viewer);
      expect([name, refused.status, codeOf(refused.text)]).toEqual([name, 403, 'SUB_API_ROLE']);
      // The owner gets past the guard: what is wrong is the request, or that there is no desk.
      const allowed = name === 'loginLink' ? [403] : [400, 404];
      expect(allowed, name).toContain((await post(owner)).status);
    }
    for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const { status } = await client.ask('/api/v1/runs', { method, headers: headersOf(viewer) });
      expect(status).toBe(403);
    }
    expect((await client.ask('/api/v1/runs', { headers: headersOf(viewer) })).status).toBe(200);
  });
});

/** A system whose every connection belongs to this user. */
function systemOf(uid: number): System {
  const system = thisSystem();
  const own = String(process.getuid?.());
  const others = (text: string) =>
    text.replaceAll(
      new RegExp(`^((?:\\s*\\S+){7}\\s+)${own}(?= )`, 'gm'),
      (_, before: string) => `${before}${uid}`,
    );
  return {
    ...system,
    readFile: (path) => {
      const text = system.readFile(path);
      return path.startsWith('/proc/net/tcp') && text !== undefined ? others(text) : text;
    },
  };
}

describe.runIf(process.platform === 'linux')('another user of this machine', () => {
  it('cannot log in, and the link is used up', async () => {
    let system = systemOf(54_321);
    const moving: System = { ...system, readFile: (path) => system.readFile(path) };
    const { client } = await opened({ system: moving });
    const code = await codeFor(client);
    expect((await login(client, code)).status).toBe(401);
    system = thisSystem();
    expect((await login(client, code)).status).toBe(401);
    expect((await login(client, await codeFor(client))).status).toBe(200);
  });

  it('cannot use both halves of a session that they have got hold of', async () => {
    let system: System = thisSystem();
    const moving: System = { ...system, readFile: (path) => system.readFile(path) };
    const { client } = await opened({ system: moving });
    const headers = headersOf(await session(client));
    expect((await client.ask('/api/v1/runs', { headers })).status).toBe(200);
    system = systemOf(54_321);
    expect((await client.ask('/api/v1/runs', { headers })).status).toBe(401);
    // The token is a secret of its own.
    expect((await client.ask('/api/v1/runs')).status).toBe(200);
  });
});

describe('the files of the page', () => {
  it('need no session, but the right Host, and no other origin', async () => {
    const { client } = await opened();
    for (const path of ['/', '/login', '/runs/x']) {
      const { status, headers, text } = await client.ask(path, { headers: NOBODY });
      expect([status, text]).toEqual([200, '<!doctype html>the page']);
      expect(headers['content-security-policy']).toContain("script-src 'self'");
      expect(headers['set-cookie']).toBeUndefined();
    }
    for (const headers of [{ host: 'evil.example' }, { origin: 'http://evil.example' }]) {
      expect((await client.ask('/', { headers: { ...NOBODY, ...headers } })).status).toBe(403);
    }
  });

  it('hide nothing of the API', async () => {
    const { client } = await opened();
    for (const path of ['/api/v1/runs', '/api', '/api/', '/api/v1/nothing', '/api?x']) {
      expect((await client.ask(path, { headers: NOBODY })).status).toBe(401);
    }
    expect((await client.ask('/api/v1/nothing')).status).toBe(404);
  });
});
