// A login against a real authorization server, and what becomes of its tokens.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { takeLock } from '../../os/index.ts';
import type { OAuthSettings } from '../../stores/config/index.ts';
import { openVault, type VaultOptions } from '../../stores/vault/index.ts';
import { authorizationFor } from './authorization-for.ts';
import { readGrant } from './grant-store.ts';
import { type LoginParts, startLogin } from './login.ts';
import { logout } from './logout.ts';
import { openOAuthHttp } from './oauth-http.ts';
import {
  browse,
  type IssuerOptions,
  type ResourceOptions,
  type RunningServer,
  startIssuer,
  startResource,
} from './testing/authorization-server.ts';
import type { Grant } from './types.ts';
import { guardFor } from './url-guard.ts';

const NONE = { fetch: async () => 'secret-of-the-client', close: async () => {} };

function newVault(): VaultOptions & { shiftMs: number } {
  const home = mkdtempSync(join(tmpdir(), 'sub-oauth-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const vault = { home, keychain: null, shiftMs: 0, nowMs: () => Date.now() + vault.shiftMs };
  return vault;
}

function ending<T extends RunningServer>(server: T): T {
  onTestFinished(() => server.close());
  return server;
}

async function startServers(issuing: IssuerOptions = {}, serving: Partial<ResourceOptions> = {}) {
  const issuer = ending(await startIssuer(issuing));
  const resource = ending(await startResource({ issuer, ...serving }));
  return { issuer, resource, url: resource.url };
}

function partsFor(url: string, vault: VaultOptions, settings: OAuthSettings = {}): LoginParts {
  const http = openOAuthHttp({ guard: guardFor(url, settings) });
  onTestFinished(() => http.close());
  return { http, vault, secrets: NONE };
}

interface Wish {
  readonly scopes?: readonly string[];
  readonly settings?: OAuthSettings;
  readonly principal?: string;
  readonly secrets?: LoginParts['secrets'];
}

/** Logs in with the scripted browser; throws the failure. */
async function login(url: string, vault: VaultOptions, wish: Wish = {}): Promise<Grant> {
  const { scopes = [], settings = {}, principal = '' } = wish;
  const parts = { ...partsFor(url, vault, settings), secrets: wish.secrets ?? NONE };
  const started = await startLogin({ server: 'whoami', url, principal, scopes, settings }, parts);
  if (isFailure(started)) throw new Error(`${started.code}: ${started.message}`);
  try {
    const back = started.redirected(AbortSignal.timeout(20_000));
    const page = await fetch(await browse(started.url));
    expect(page.status).toBe(200);
    const params = await back;
    const grant = isFailure(params) ? params : await started.finish(params);
    if (isFailure(grant)) throw new Error(`${grant.code}: ${grant.message}`);
    return grant;
  } finally {
    started.close();
  }
}

function authorization(url: string, vault: VaultOptions) {
  return authorizationFor({ server: 'whoami', url, vault, secrets: NONE });
}

/** The answer of the server to a call of its tool, with the header or without. */
async function call(url: string, header: unknown): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(typeof header === 'string' && { authorization: header }),
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'whoami' },
    }),
  });
}

describe('a login', () => {
  it('registers a client, gets a token for this server alone, and seals it', async () => {
    const { issuer, url } = await startServers();
    const vault = newVault();
    const grant = await login(url, vault);
    expect(grant).toMatchObject({
      url,
      resource: url,
      issuer: issuer.origin,
      client: { auth: 'none', origin: 'registered' },
      scopes: ['mcp:read'],
      refreshToken: expect.any(String) as unknown,
    });
    const header = await authorization(url, vault).header();
    expect(header).toBe(`Bearer ${grant.accessToken}`);
    const answer = await call(url, header);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('mcp:read');
    for (const file of readdirSync(vault.home, { recursive: true, withFileTypes: true })) {
      if (!file.isFile()) continue;
      const text = readFileSync(join(file.parentPath, file.name), 'latin1');
      expect(text).not.toContain(grant.accessToken);
      expect(text).not.toContain(grant.refreshToken);
    }
  });

  it('keeps its client for the next one, and asks for what was granted before as well', async () => {
    const { issuer, url } = await startServers();
    const vault = newVault();
    const first = await login(url, vault);
    expect((await login(url, vault)).client).toEqual(first.client);
    expect(issuer.requests.filter((one) => one === 'POST /reg')).toHaveLength(1);
    // It was registered for less.
    const second = await login(url, vault, { scopes: ['mcp:write'] });
    expect(second.client).not.toEqual(first.client);
    expect(second.scopes.toSorted()).toEqual(['mcp:read', 'mcp:write']);
  });

  it('asks for the scopes of the challenge rather than for those of the metadata', async () => {
    const { url } = await startServers({}, { requiredScopes: ['mcp:write'] });
    expect((await login(url, newVault())).scopes).toEqual(['mcp:write']);
  });

  it('finds the metadata of a server that does not name it', async () => {
    const { url } = await startServers({}, { namesMetadata: false });
    expect((await login(url, newVault())).resource).toBe(url);
  });

  it.each([
    ['client_secret_basic', 'a secret / with : signs+%'],
    ['client_secret_post', 'a-secret-of-the-client-0123456789'],
  ] as const)('shows its secret by %s as a client of the configuration', async (auth, secret) => {
    const clients = [
      {
        client_id: 'sub & co',
        client_secret: secret,
        token_endpoint_auth_method: auth,
        redirect_uris: ['http://127.0.0.1/callback'],
        application_type: 'native' as const,
      },
    ];
    const { issuer, url } = await startServers({ clients, clientAuthMethods: [auth] });
    const settings: OAuthSettings = {
      clientId: 'sub & co',
      clientSecret: { source: 'env', secretRef: 'CLIENT_SECRET' },
      authorizationServer: issuer.origin,
    };
    const vault = newVault();
    const secrets = { ...NONE, fetch: async () => secret };
    const grant = await login(url, vault, { settings, secrets });
    expect(grant.client).toEqual({ id: 'sub & co', auth, origin: 'configured' });
    vault.shiftMs = 3_600_000;
    const renewing = authorizationFor({ server: 'whoami', url, vault, secrets, settings });
    expect(await renewing.header()).toMatch(/^Bearer /);
    expect(await renewing.header()).not.toBe(`Bearer ${grant.accessToken}`);
  });

  it('is that of a client-id metadata document where the authorization server takes one', async () => {
    const id = 'https://client.example.com/sub.json';
    const document = {
      client_id: id,
      client_name: 'Subluminal',
      redirect_uris: ['http://127.0.0.1/callback'],
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
    };
    const { url } = await startServers({
      features: { clientIdMetadataDocument: { enabled: true, ack: 'draft-02' } },
      fetch: async () => Response.json(document),
    });
    const grant = await login(url, newVault(), { settings: { clientMetadataUrl: id } });
    expect(grant.client).toEqual({ id, auth: 'none', origin: 'document' });
  });

  it('of another principal is another one', async () => {
    const { url } = await startServers();
    const vault = newVault();
    const own = await login(url, vault);
    const other = await login(url, vault, { principal: 'key:ci' });
    expect(await readGrant(vault, { url, principal: '' })).toEqual(own);
    expect(await readGrant(vault, { url, principal: 'key:ci' })).toEqual(other);
    expect(await readGrant(vault, { url, principal: 'key:other' })).toBeUndefined();
  });

  it('registers a client with a secret where the authorization server wants one', async () => {
    const { url } = await startServers({
      clientAuthMethods: ['client_secret_basic'],
      accessTtlS: 100,
    });
    const vault = newVault();
    const grant = await login(url, vault);
    expect(grant.client).toMatchObject({
      auth: 'client_secret_basic',
      secret: expect.any(String) as unknown,
    });
    vault.shiftMs = 85_000;
    expect(await authorization(url, vault).header()).not.toBe(`Bearer ${grant.accessToken}`);
  });

  it('at a server that has moved to another authorization server registers there', async () => {
    const first = ending(await startIssuer());
    const second = ending(await startIssuer());
    let issuer = first;
    const provider = () => issuer.provider;
    const moving = {
      ...first,
      get origin() {
        return issuer.origin;
      },
      get provider() {
        return provider();
      },
    };
    const { url } = ending(await startResource({ issuer: moving }));
    const vault = newVault();
    const before = await login(url, vault);
    issuer = second;
    const after = await login(url, vault);
    expect([before.issuer, after.issuer]).toEqual([first.origin, second.origin]);
    expect(after.client.id).not.toBe(before.client.id);
    const refreshed = second.requests.join(' ');
    expect(refreshed).not.toContain(before.client.id);
    expect((await call(url, await authorization(url, vault).header())).status).toBe(200);
  });

  it('at one server is none at another one of the same origin', async () => {
    const { issuer, url } = await startServers();
    const vault = newVault();
    await login(url, vault);
    expect(await authorization(`${url}2`, vault).header()).toBeUndefined();
    expect(await authorization(`${issuer.origin}/mcp`, vault).header()).toBeUndefined();
    expect(
      await authorization(url.toUpperCase().replace('/MCP', '/mcp'), vault).header(),
    ).toBeDefined();
  });

  it('that the user declines says so', async () => {
    const { url } = await startServers();
    const parts = partsFor(url, newVault());
    const request = { server: 'whoami', url, principal: '', scopes: [], settings: {} };
    const started = await startLogin(request, parts);
    if (isFailure(started)) throw new Error(started.message);
    const back = started.redirected(AbortSignal.timeout(20_000));
    await fetch(await browse(started.url, { agrees: false }));
    const params = await back;
    started.close();
    if (isFailure(params)) throw new Error(params.message);
    expect(await started.finish(params)).toMatchObject({
      code: 'SUB_AUTH_REFUSED',
      message: expect.stringContaining('access_denied') as unknown,
    });
  });
});

describe('a token', () => {
  it('is renewed before it ends, and the refresh token that came with it is kept', async () => {
    const { url } = await startServers({ accessTtlS: 100 });
    const vault = newVault();
    const first = await login(url, vault);
    const using = authorization(url, vault);
    expect(await using.header()).toBe(`Bearer ${first.accessToken}`);
    vault.shiftMs = 85_000;
    const headers = await Promise.all([using.header(), using.header(), using.header()]);
    expect(new Set(headers).size).toBe(1);
    const kept = await readGrant(vault, { url, principal: '' });
    expect(headers[0]).toBe(`Bearer ${(kept as Grant).accessToken}`);
    expect((kept as Grant).refreshToken).not.toBe(first.refreshToken);
    expect((await call(url, headers[0])).status).toBe(200);
    vault.shiftMs = 2 * 85_000;
    expect(await using.header()).not.toBe(headers[0]);
  });

  it('is renewed once by two that come at the same time', async () => {
    const { issuer, url } = await startServers({ accessTtlS: 100 });
    const vault = newVault();
    await login(url, vault);
    const before = issuer.requests.filter((one) => one === 'POST /token').length;
    vault.shiftMs = 95_000;
    const all = Array.from({ length: 5 }, () => authorization(url, vault));
    const headers = await Promise.all(all.map((one) => one.header()));
    expect(new Set(headers).size).toBe(1);
    expect((await call(url, headers[0])).status).toBe(200);
    expect(issuer.requests.filter((one) => one === 'POST /token')).toHaveLength(before + 1);
  });

  it('that the server does not take any more is renewed', async () => {
    const { issuer, url } = await startServers();
    const vault = newVault();
    const grant = await login(url, vault);
    const using = authorization(url, vault);
    const refused = await using.header();
    const token = await issuer.provider.AccessToken.find(grant.accessToken);
    await token?.destroy();
    const answer = await call(url, refused);
    expect(answer.status).toBe(401);
    expect(await using.challenged(challengeOf(answer, refused))).toBe('retry');
    expect((await call(url, await using.header())).status).toBe(200);
  });

  it('that several requests are refused with at once is renewed once', async () => {
    const { issuer, url } = await startServers();
    const vault = newVault();
    await login(url, vault);
    const using = authorization(url, vault);
    const challenge = challengeOf(new Response(null, { status: 401 }), await using.header());
    const before = issuer.requests.length;
    const all = [1, 2, 3].map(() => using.challenged(challenge));
    expect(await Promise.all(all)).toEqual(['retry', 'retry', 'retry']);
    expect(issuer.requests.slice(before)).toEqual(['POST /token']);
  });

  it('that is refused right after it was renewed is not renewed again and again', async () => {
    const { url } = await startServers();
    const vault = newVault();
    await login(url, vault);
    const using = authorization(url, vault);
    const refuse = async () =>
      using.challenged(challengeOf(new Response(null, { status: 401 }), await using.header()));
    expect(await refuse()).toBe('retry');
    expect(await refuse()).toMatchObject({
      code: 'SUB_AUTH_REQUIRED',
      fix: 'Run `sub auth login whoami` in a terminal.',
    });
    vault.shiftMs = 11_000;
    expect(await refuse()).toBe('retry');
  });

  it('of a login that has ended needs a new login', async () => {
    const { issuer, url } = await startServers({ accessTtlS: 100 });
    const vault = newVault();
    const grant = await login(url, vault);
    const refresh = await issuer.provider.RefreshToken.find(grant.refreshToken ?? '');
    await refresh?.destroy();
    vault.shiftMs = 85_000;
    expect(await authorization(url, vault).header()).toMatchObject({ code: 'SUB_AUTH_REQUIRED' });
  });

  it('stays in use while the authorization server is away, until its end', async () => {
    const { issuer, url } = await startServers({ accessTtlS: 100 });
    const vault = newVault();
    const grant = await login(url, vault);
    await issuer.close();
    const using = authorization(url, vault);
    vault.shiftMs = 85_000;
    expect(await using.header()).toBe(`Bearer ${grant.accessToken}`);
    vault.shiftMs = 101_000;
    expect(await using.header()).toMatchObject({ code: 'SUB_AUTH_UNREACHABLE' });
  });

  it('is there at the next refusal after a login', async () => {
    const { url } = await startServers();
    const vault = newVault();
    const using = authorization(url, vault);
    expect(await using.header()).toBeUndefined();
    const answer = await call(url, undefined);
    const challenge = challengeOf(answer, undefined);
    expect(await using.challenged(challenge)).toMatchObject({ code: 'SUB_AUTH_REQUIRED' });
    const grant = await login(url, vault);
    expect(await using.challenged(challenge)).toBe('retry');
    expect(await using.header()).toBe(`Bearer ${grant.accessToken}`);
  });

  it('is told to the redactor, and so is each that follows', async () => {
    const { url } = await startServers({ accessTtlS: 100 });
    const vault = newVault();
    const heard: string[] = [];
    const onToken = ({ value }: { readonly value: string }) => void heard.push(value);
    const first = await login(url, vault);
    const using = authorizationFor({ server: 'whoami', url, vault, secrets: NONE, onToken });
    await using.header();
    expect(heard).toEqual([first.accessToken, first.refreshToken]);
    vault.shiftMs = 85_000;
    expect(`Bearer ${heard.at(-2)}`).not.toBe(await using.header());
    expect(heard).toHaveLength(4);
  });

  it('for which the store has no room yet is not lost', async () => {
    const { url } = await startServers({ accessTtlS: 100 });
    const vault = newVault();
    await login(url, vault);
    const warnings: string[] = [];
    const warn = (text: string) => void warnings.push(text);
    const busy = { ...vault, waitMs: 0, nowMs: vault.nowMs };
    const using = authorizationFor({ server: 'whoami', url, vault: busy, secrets: NONE, warn });
    await using.header();
    vault.shiftMs = 85_000;
    const lock = await takeLock({ folder: join(vault.home, 'run'), name: 'vault' });
    const renewed = await using.header();
    expect(warnings).toHaveLength(1);
    if (lock.kind === 'locked') lock.release();
    expect(await using.header()).toBe(renewed);
    expect(await authorization(url, vault).header()).toBe(renewed);
  });
});

describe('a store that needs a passphrase', () => {
  it('is opened by a file, and else says what to do; a server without a login needs neither', async () => {
    const { url } = await startServers();
    const home = newVault();
    const passphraseFile = join(home.home, 'passphrase');
    writeFileSync(passphraseFile, 'correct horse battery', { mode: 0o600 });
    const opened = { ...home, nowMs: home.nowMs, passphraseFile, scryptN: 16_384 };
    const grant = await login(url, opened);
    const closed = { ...opened, passphraseFile: null };
    expect(await authorization(url, opened).header()).toBe(`Bearer ${grant.accessToken}`);
    const refused = await authorization(url, closed).header();
    expect(refused).toMatchObject({ code: 'SUB_VAULT_KEY' });
    expect(refused).toHaveProperty('fix', expect.stringContaining('secrets.passphrase_file'));
    expect(await authorization(`${url}/other`, closed).header()).toBeUndefined();
  });
});

describe('a server that needs more', () => {
  it('names the scopes, and the login with them works', async () => {
    const strict = (await startServers({}, { requiredScopes: ['mcp:write'] })).resource;
    const vault = newVault();
    await login(strict.url, vault, { scopes: ['mcp:read'] });
    const using = authorization(strict.url, vault);
    const refused = await using.header();
    const answer = await call(strict.url, refused);
    expect(answer.status).toBe(403);
    const challenge = challengeOf(answer, refused);
    expect(await using.challenged(challenge)).toMatchObject({
      code: 'SUB_AUTH_SCOPE',
      message: expect.stringContaining('`mcp:write`') as unknown,
      fix: 'Run `sub auth login whoami --scope "mcp:write"` in a terminal.',
    });
    const more = await login(strict.url, vault, { scopes: ['mcp:write'] });
    expect(more.scopes.toSorted()).toEqual(['mcp:read', 'mcp:write']);
    expect(await using.challenged(challenge)).toBe('retry');
    expect((await call(strict.url, await using.header())).status).toBe(200);
    const again = challengeOf(answer, await using.header());
    expect(await using.challenged(again)).toMatchObject({
      code: 'SUB_AUTH_SCOPE',
      message: expect.stringContaining('which its token has') as unknown,
    });
  });
});

describe('a logout', () => {
  it('revokes the tokens, and forgets them and their client', async () => {
    const { issuer, url } = await startServers();
    const vault = newVault();
    const grant = await login(url, vault);
    const done = await logout({ url, principal: '' }, {}, partsFor(url, vault));
    expect(done).toEqual({ kind: 'logged_out', issuer: issuer.origin, notRevoked: undefined });
    expect(await issuer.provider.AccessToken.find(grant.accessToken)).toBeUndefined();
    expect(await issuer.provider.RefreshToken.find(grant.refreshToken ?? '')).toBeUndefined();
    expect(await authorization(url, vault).header()).toBeUndefined();
    const opened = await openVault(vault);
    expect(opened).toMatchObject({ secrets: [] });
    expect(await logout({ url, principal: '' }, {}, partsFor(url, vault))).toBeUndefined();
  });

  it('forgets them also where the authorization server cannot be told, and says so', async () => {
    const { issuer, url } = await startServers();
    const vault = newVault();
    await login(url, vault);
    await issuer.close();
    const done = await logout({ url, principal: '' }, {}, partsFor(url, vault));
    expect(done).toMatchObject({
      // Its last connection may not be known to be closed yet.
      notRevoked: expect.stringMatching(/refuses connections|closed the connection/) as unknown,
    });
    expect(await authorization(url, vault).header()).toBeUndefined();
  });
});

function challengeOf(answer: Response, refused: unknown) {
  return {
    status: answer.status === 403 ? (403 as const) : (401 as const),
    wwwAuthenticate: answer.headers.get('www-authenticate') ?? undefined,
    refused: typeof refused === 'string' ? refused : undefined,
  };
}
