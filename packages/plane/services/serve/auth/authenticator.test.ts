import { hash } from 'node:crypto';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { exportJWK, exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { AuthConfig, TrustedIssuer } from './auth-config.ts';
import { createAuthenticator } from './authenticator.ts';
import { startIssuer, type TestIssuer } from './testing/issuer.ts';
import type { Authenticated, Authenticator } from './types.ts';

const PUBLIC_URL = 'https://mcp.example.com';
const GITHUB = `${PUBLIC_URL}/mcp/github`;
const METADATA = `${PUBLIC_URL}/.well-known/oauth-protected-resource/mcp/github`;
const KEY = 'serve-sub-key-of-ci';
const BASE: AuthConfig = {
  isOpen: false,
  keys: [],
  issuers: [],
  publicUrl: PUBLIC_URL,
  servers: ['github', 'files'],
};

/** A request as node:http hands it over. */
function requestWith(...authorization: readonly string[]): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  const [first] = authorization;
  if (first !== undefined) request.headers.authorization = first;
  Object.defineProperty(request, 'headersDistinct', {
    value: first === undefined ? {} : { authorization },
  });
  return request;
}

let nowMs = Date.now();
const open: Authenticator[] = [];
let warnings: string[] = [];
beforeEach(() => {
  warnings = [];
  nowMs = Date.now();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

function start(config: Partial<AuthConfig>): Authenticator {
  const parts = { nowMs: () => nowMs, warn: (text: string) => warnings.push(text) };
  const authenticator = createAuthenticator({ ...BASE, ...config }, parts);
  open.push(authenticator);
  return authenticator;
}

function shown(result: Authenticated): string {
  if (result.kind === 'principal') return result.principal.id;
  return `${result.status} ${String(result.headers['www-authenticate'] ?? '')}`;
}

test('on loopback without authentication, everyone is the same local caller', async () => {
  const authenticator = start({ isOpen: true });
  const result = await authenticator.authenticate(requestWith('Bearer anything'), 'github');
  const principal = { id: 'local', kind: 'local', name: 'local', token: undefined };
  expect(result).toEqual({ kind: 'principal', principal });
});

describe('API keys', () => {
  const keys = [
    { name: 'ci', sha256: hash('sha256', KEY), servers: ['github'] },
    { name: 'ops', sha256: hash('sha256', 'other') },
  ];

  test('a key is known by its digest, and its caller has no token that could travel on', async () => {
    const result = await start({ keys }).authenticate(requestWith(`Bearer ${KEY}`), 'github');
    const grantedBy = hash('sha256', KEY);
    const principal = { id: 'key:ci', kind: 'key', name: 'ci', token: undefined, grantedBy };
    expect(result).toEqual({ kind: 'principal', principal });
  });

  test.each([
    [[], '401 Bearer realm="subluminal"'],
    [['Bearer wrong'], /^401 Bearer realm="subluminal", error="invalid_token"/],
    [[`Bearer ${hash('sha256', KEY)}`], /^401 .*invalid_token/],
    [[`Basic ${KEY}`], /^401 .*invalid_token/],
    [[KEY], /^401 .*invalid_token/],
    [['Bearer '], /^401 .*invalid_token/],
    [[`Bearer ${KEY} x`], /^401 .*invalid_token/],
    [[`Bearer ${KEY}`, `Bearer ${KEY}`], /^401 .*invalid_token/],
    [[`Bearer ${'x'.repeat(20_000)}`], /^401 .*invalid_token/],
    [['Bearer a.b.c'], /^401 .*invalid_token/],
  ])('the header %j is refused', async (authorization, expected) => {
    const result = await start({ keys }).authenticate(requestWith(...authorization), 'github');
    expect(shown(result)).toMatch(expected);
  });

  test('a key opens the servers that its entry names', async () => {
    const authenticator = start({ keys });
    expect(shown(await authenticator.authenticate(requestWith(`Bearer ${KEY}`), 'files'))).toMatch(
      /^403 Bearer realm="subluminal", error="insufficient_scope"/,
    );
    expect(shown(await authenticator.authenticate(requestWith('Bearer other'), 'files'))).toBe(
      'key:ops',
    );
  });

  test('a key that was replaced, or opens less, keeps no sessions', async () => {
    const result = await start({ keys }).authenticate(requestWith(`Bearer ${KEY}`), 'github');
    if (result.kind !== 'principal') throw new Error(shown(result));
    const { principal } = result;
    const entry = { name: 'ci', sha256: hash('sha256', KEY) };
    const retained = (next: Partial<AuthConfig>) => start(next).retains(principal, 'github');
    expect(retained({ keys })).toBe(true);
    expect(retained({ keys: [entry] })).toBe(true);
    expect(retained({ keys: [{ ...entry, servers: ['files'] }] })).toBe(false);
    expect(retained({ keys: [{ ...entry, sha256: hash('sha256', 'new') }] })).toBe(false);
    expect(retained({ keys: [] })).toBe(false);
    expect(retained({ isOpen: true })).toBe(false);
  });

  test('without issuers there are no metadata', () => {
    const authenticator = start({ keys });
    expect(authenticator.metadata('/.well-known/oauth-protected-resource/mcp/github')).toBe(
      undefined,
    );
  });
});

describe('tokens', () => {
  let issuer: TestIssuer;
  beforeEach(async () => {
    issuer = await startIssuer();
  });
  afterEach(() => issuer.close());

  function trusting(settings: Partial<TrustedIssuer> = {}): Authenticator {
    return start({ issuers: [{ issuer: issuer.url, groups_claim: 'groups', ...settings }] });
  }

  async function show(
    authenticator: Authenticator,
    token: string,
    server = 'github',
  ): Promise<string> {
    return shown(await authenticator.authenticate(requestWith(`Bearer ${token}`), server));
  }

  test('a token of a trusted issuer for this server is its subject', async () => {
    const exp = Math.floor(nowMs / 1_000) + 60;
    const token = await issuer.sign({ aud: GITHUB, name: 'Ada \u202eL', exp });
    const result = await trusting().authenticate(requestWith(`Bearer ${token}`), 'github');
    expect(result).toEqual({
      kind: 'principal',
      principal: {
        id: `${issuer.url}#ada`,
        kind: 'jwt',
        name: 'Ada \\u{202e}L',
        token,
        grantedBy: issuer.url,
      },
      untilMs: (exp + 30) * 1_000,
    });
  });

  test.each([
    ['of another audience', { aud: 'https://other.example' }, /another audience/],
    ['of another server here', { aud: `${PUBLIC_URL}/mcp/files` }, /another audience/],
    ['for the origin only', { aud: PUBLIC_URL }, /another audience/],
    ['for a longer address', { aud: `${GITHUB}/x` }, /another audience/],
    ['without an audience', {}, /claim 'aud'|claim `aud`/],
    ['of a strange audience', { aud: { github: GITHUB } }, /audience/],
    ['that has expired', { aud: GITHUB, exp: 1_000 }, /expired/],
    ['that never ends', { aud: GITHUB, exp: undefined }, /claim `exp`/],
    ['that ends as text', { aud: GITHUB, exp: '9999999999' }, /claim `exp`/],
    ['that is not valid yet', { aud: GITHUB, nbf: 9_999_999_999 }, /claim `nbf`/],
    ['of the future', { aud: GITHUB, iat: 9_999_999_990, exp: 9_999_999_999 }, /future/],
    ['without a subject', { aud: GITHUB, sub: undefined }, /claim `sub`/],
    ['with an empty subject', { aud: GITHUB, sub: '' }, /claim `sub`/],
    ['with a line break in its subject', { aud: GITHUB, sub: 'a\nb' }, /claim `sub`/],
    ['with a subject that is long', { aud: GITHUB, sub: 'a'.repeat(256) }, /claim `sub`/],
    ['of another issuer', { aud: GITHUB, iss: 'https://evil.example' }, /not trusted/],
    ['of an issuer that differs by a slash', { aud: GITHUB, iss: 'SLASH' }, /not trusted/],
    ['that is bound to a key', { aud: GITHUB, cnf: { jkt: 'x' } }, /bound to a key/],
  ])('a token %s is refused', async (_name, claims, why) => {
    const iss = 'iss' in claims && claims.iss === 'SLASH' ? `${issuer.url}/` : undefined;
    const token = await issuer.sign({ ...claims, ...(iss && { iss }) });
    const answer = await show(trusting(), token);
    expect(answer).toMatch(why);
    expect(
      answer.startsWith(`401 Bearer resource_metadata="${METADATA}", error="invalid_token"`),
    ).toBe(true);
  });

  test.each(['id_token+jwt', 'dpop+jwt', 'logout+jwt', 'secevent+jwt'])(
    'a token of the type %s is refused',
    async (typ) => {
      const token = await issuer.sign({ aud: GITHUB }, { header: { typ } });
      expect(await show(trusting(), token)).toMatch(/no access token/);
    },
  );

  test.each(['JWT', 'jwt', 'application/at+jwt', undefined])(
    'a token of the type %s is taken',
    async (typ) => {
      const token = await issuer.sign({ aud: [GITHUB, 'x'] }, { header: { typ } });
      expect(await show(trusting(), token)).toBe(`${issuer.url}#ada`);
    },
  );

  test('a token of a moment ago is taken, for clocks differ a little', async () => {
    const now = Math.floor(nowMs / 1_000);
    const token = await issuer.sign({ aud: GITHUB, exp: now - 20, nbf: now - 100 });
    expect(await show(trusting(), token)).toBe(`${issuer.url}#ada`);
  });

  test('a token without a signature is refused', async () => {
    const token = new UnsecuredJWT({ aud: GITHUB, iss: issuer.url, sub: 'ada' })
      .setExpirationTime('5m')
      .encode();
    expect(await show(trusting(), token)).toMatch(/^401 /);
    expect(await show(trusting(), `${token}x`)).toMatch(/^401 /);
  });

  test('the public key of the issuer is no secret to sign with', async () => {
    const pair = await generateKeyPair('RS256', { extractable: true });
    const jwk = await exportJWK(pair.publicKey);
    await issuer.addKey('rsa', { alg: 'RS256', jwk: { ...jwk } });
    const secret = new TextEncoder().encode(await exportSPKI(pair.publicKey));
    const token = await issuer.sign(
      { aud: GITHUB },
      { key: secret, header: { alg: 'HS256', kid: 'rsa' } },
    );
    expect(await show(trusting(), token)).toMatch(/algorithm of the token is refused/);
  });

  test('a secret in the set of keys verifies nothing', async () => {
    const secret = new TextEncoder().encode('s'.repeat(32));
    const k = Buffer.from(secret).toString('base64url');
    issuer.documents.set('/jwks', JSON.stringify({ keys: [{ kty: 'oct', kid: 'first', k }] }));
    const token = await issuer.sign({ aud: GITHUB }, { key: secret, header: { alg: 'HS256' } });
    expect(await show(trusting(), token)).toMatch(/algorithm of the token is refused/);
  });

  test('a key in the header of a token is not believed', async () => {
    const pair = await generateKeyPair('ES256', { extractable: true });
    const jwk = await exportJWK(pair.publicKey);
    const token = await issuer.sign({ aud: GITHUB }, { key: pair.privateKey, header: { jwk } });
    expect(await show(trusting(), token)).toMatch(/signature of the token does not hold/);
  });

  test.each([{ use: 'enc' }, { key_ops: ['encrypt'] }, { alg: 'ES384' }])(
    'a key of the wrong use %j is refused',
    async (jwk) => {
      await issuer.addKey('wrong', { jwk });
      const token = await issuer.sign({ aud: GITHUB }, { header: { kid: 'wrong' } });
      expect(await show(trusting(), token)).toMatch(/No key of the issuer fits/);
    },
  );

  test('a changed token is refused, also after the true one was taken', async () => {
    const authenticator = trusting();
    const token = await issuer.sign({ aud: GITHUB });
    expect(await show(authenticator, token)).toBe(`${issuer.url}#ada`);
    const [head = '', , signature = ''] = token.split('.');
    const claims = { iss: issuer.url, sub: 'root', aud: GITHUB, exp: 9_999_999_999 };
    const forged = Buffer.from(JSON.stringify(claims)).toString('base64url');
    expect(await show(authenticator, `${head}.${forged}.${signature}`)).toMatch(
      /signature of the token does not hold/,
    );
  });

  test('a token is refused once it has expired, although it was taken before', async () => {
    const authenticator = trusting();
    const token = await issuer.sign({ aud: GITHUB, exp: Math.floor(nowMs / 1_000) + 10 });
    expect(await show(authenticator, token)).toBe(`${issuer.url}#ada`);
    nowMs += 41_000;
    expect(await show(authenticator, token)).toMatch(/expired/);
  });

  test('a token that one server takes is refused by another, also from the cache', async () => {
    const authenticator = trusting();
    const token = await issuer.sign({ aud: GITHUB });
    expect(await show(authenticator, token, 'github')).toBe(`${issuer.url}#ada`);
    expect(await show(authenticator, token, 'files')).toMatch(/^401 .*another audience/);
  });

  test('a configured audience replaces the address of the server', async () => {
    const authenticator = trusting({ audiences: ['api://mcp'] });
    const token = await issuer.sign({ aud: 'api://mcp' });
    expect(await show(authenticator, token, 'github')).toBe(`${issuer.url}#ada`);
    expect(await show(authenticator, token, 'files')).toBe(`${issuer.url}#ada`);
    const other = await issuer.sign({ aud: GITHUB });
    expect(await show(authenticator, other)).toMatch(/another audience/);
  });

  test('a new key of the issuer is fetched, but not for each token that claims one', async () => {
    const authenticator = trusting();
    await show(authenticator, await issuer.sign({ aud: GITHUB }));
    const hidden = await issuer.addKey('hidden', { isHidden: true });
    const jwks = () => issuer.asked.filter((path) => path === '/jwks').length;
    expect(jwks()).toBe(1);
    const flood = Array.from({ length: 50 }, async (_, index) => {
      const header = { kid: `k${index}` };
      return show(authenticator, await issuer.sign({ aud: GITHUB }, { key: hidden, header }));
    });
    for (const answer of await Promise.all(flood))
      expect(answer).toMatch(/No key of the issuer fits/);
    expect(jwks()).toBe(1);
    await issuer.addKey('second');
    nowMs += 31_000;
    const rotated = await issuer.sign({ aud: GITHUB }, { header: { kid: 'second' } });
    expect(await show(authenticator, rotated)).toBe(`${issuer.url}#ada`);
    expect(jwks()).toBe(2);
  });

  test('a key that the issuer has taken back is refused after the keys were fetched again', async () => {
    const authenticator = trusting();
    const token = await issuer.sign({ aud: GITHUB, exp: Math.floor(nowMs / 1_000) + 3_600 });
    expect(await show(authenticator, token)).toBe(`${issuer.url}#ada`);
    issuer.removeKey('first');
    await issuer.addKey('second');
    nowMs += 700_000;
    await vi.waitFor(async () => {
      nowMs += 61_000;
      expect(await show(authenticator, token)).toMatch(/No key of the issuer fits/);
    });
  });

  test('while the issuer is away, keys are believed for an hour, and then nobody gets in', async () => {
    const authenticator = trusting();
    const exp = Math.floor(nowMs / 1_000) + 36_000;
    const token = await issuer.sign({ aud: GITHUB, exp });
    expect(await show(authenticator, token)).toBe(`${issuer.url}#ada`);
    issuer.documents.set('/jwks', (response) => response.writeHead(500).end());
    nowMs += 1_800_000;
    expect(await show(authenticator, token)).toBe(`${issuer.url}#ada`);
    nowMs += 1_800_000;
    const result = await authenticator.authenticate(requestWith(`Bearer ${token}`), 'github');
    expect(result).toMatchObject({
      kind: 'refused',
      status: 503,
      headers: { 'retry-after': '30' },
    });
    expect(warnings.at(-1)).toMatch(/\/jwks answered HTTP 500\.$/);
  });

  test('an issuer that does not answer is asked once in a while, not for each token', async () => {
    issuer.documents.set('/jwks', (response) => void response.destroy());
    const authenticator = trusting();
    const token = await issuer.sign({ aud: GITHUB });
    for (let times = 0; times < 5; times++) {
      expect(await show(authenticator, token)).toMatch(/^503/);
    }
    expect(issuer.asked.filter((path) => path === '/jwks')).toHaveLength(1);
    const [told = '', ...more] = warnings;
    expect(told).toContain(
      `The keys of the issuer ${issuer.url} cannot be fetched: ${issuer.url}/jwks`,
    );
    expect(more).toEqual([]);
  });

  test.each([
    ['a set of keys that is too large', `{"keys":[],"x":"${'x'.repeat(300_000)}"}`],
    ['too many keys', JSON.stringify({ keys: Array.from({ length: 101 }, () => ({})) })],
    ['no JSON', '<html>'],
    ['no set of keys', '{"keys":{}}'],
    ['no keys at all', 'null'],
  ])('%s is no set of keys', async (_name, document) => {
    issuer.documents.set('/jwks', document);
    const token = await issuer.sign({ aud: GITHUB });
    expect(await show(trusting(), token)).toMatch(/^503/);
  });

  test('a redirect of the set of keys is not followed', async () => {
    const other = await startIssuer();
    issuer.documents.set('/jwks', (response) => {
      response.writeHead(302, { location: `${other.url}/jwks` }).end();
    });
    const token = await issuer.sign({ aud: GITHUB });
    expect(await show(trusting(), token)).toMatch(/^503/);
    expect(other.asked).toEqual([]);
    await other.close();
  });

  test('metadata of another issuer are not believed', async () => {
    const document = JSON.stringify({
      issuer: 'https://honest.example',
      jwks_uri: `${issuer.url}/jwks`,
    });
    issuer.documents.set('/.well-known/oauth-authorization-server', document);
    const token = await issuer.sign({ aud: GITHUB });
    expect(await show(trusting(), token)).toMatch(/^503/);
    expect(issuer.asked).not.toContain('/jwks');
  });

  test.each([
    'http://169.254.169.254/latest/meta-data',
    'https://169.254.169.254/latest/meta-data',
    'https://[fd00:ec2::254]/latest/meta-data',
    'https://0xa9fea9fe/latest/meta-data',
    'http://10.0.0.1/jwks',
    'http://user:password@127.0.0.1:PORT/jwks',
    'file:///etc/passwd',
    'data:application/json,{"keys":[]}',
  ])("metadata do not make the issuer's keys come from %s", async (template) => {
    const inside = await startIssuer();
    const uri = template.replace('PORT', new URL(inside.url).port);
    const document = JSON.stringify({ issuer: issuer.url, jwks_uri: uri });
    issuer.documents.set('/.well-known/oauth-authorization-server', document);
    const token = await issuer.sign({ aud: GITHUB });
    expect(await show(trusting(), token)).toMatch(/^503/);
    expect(inside.asked).toEqual([]);
    await inside.close();
  });

  test('metadata are found by OpenID as well, and a configured address needs none', async () => {
    issuer.documents.delete('/.well-known/oauth-authorization-server');
    const document = JSON.stringify({ issuer: issuer.url, jwks_uri: `${issuer.url}/jwks` });
    issuer.documents.set('/.well-known/openid-configuration', document);
    const token = await issuer.sign({ aud: GITHUB });
    expect(await show(trusting(), token)).toBe(`${issuer.url}#ada`);
    expect(issuer.asked).toEqual([
      '/.well-known/oauth-authorization-server',
      '/.well-known/openid-configuration',
      '/jwks',
    ]);
    issuer.asked.splice(0);
    expect(await show(trusting({ jwks_uri: `${issuer.url}/jwks` }), token)).toBe(
      `${issuer.url}#ada`,
    );
    expect(issuer.asked).toEqual(['/jwks']);
  });

  test('the same subject of two issuers is two callers', async () => {
    const other = await startIssuer();
    const issuers = [issuer, other].map(({ url }) => ({ issuer: url, groups_claim: 'groups' }));
    const authenticator = start({ issuers });
    const ids = await Promise.all(
      [issuer, other].map(async (one) => show(authenticator, await one.sign({ aud: GITHUB }))),
    );
    expect(ids).toEqual([`${issuer.url}#ada`, `${other.url}#ada`]);
    const crossed = await other.sign({ aud: GITHUB, iss: issuer.url });
    expect(await show(authenticator, crossed)).toMatch(/signature of the token does not hold/);
    await other.close();
  });

  describe('with rules for access', () => {
    const access = [
      { servers: ['github'], scopes: ['mcp:use', 'github:read'], groups: [] },
      { servers: ['github'], scopes: [], groups: ['admins'] },
      { servers: ['files'], scopes: ['files:read'], groups: ['dev', 'ops'] },
    ];

    test.each([
      ['all scopes', 'github', { scope: 'github:read x mcp:use' }, 'ada'],
      ['all scopes as a list', 'github', { scp: ['github:read', 'mcp:use'] }, 'ada'],
      ['a group', 'github', { groups: ['admins'] }, 'ada'],
      ['a group as text', 'github', { groups: 'admins' }, 'ada'],
      ['one scope', 'github', { scope: 'mcp:use' }, 'scope="mcp:use github:read"'],
      ['no scope', 'github', {}, 'scope="mcp:use github:read"'],
      ['a part of a scope', 'github', { scope: 'mcp:use github' }, 'scope="mcp:use github:read"'],
      ['a group, but no scope', 'files', { groups: ['dev'] }, 'scope="files:read"'],
      ['a scope, but no group', 'files', { scope: 'files:read' }, 'insufficient_scope'],
      ['a scope and a group', 'files', { scope: 'files:read', groups: ['ops'] }, 'ada'],
      ['strange claims', 'files', { scope: 7, groups: { dev: true } }, 'insufficient_scope'],
    ])('a token with %s for %s', async (_name, server, claims, expected) => {
      const token = await issuer.sign({ aud: `${PUBLIC_URL}/mcp/${server}`, ...claims });
      const answer = await show(trusting({ access }), token, server);
      expect(answer).toContain(expected);
      if (expected === 'ada') return;
      const metadata = METADATA.replace('github', server);
      expect(
        answer.startsWith(`403 Bearer resource_metadata="${metadata}", error="insufficient_scope"`),
      ).toBe(true);
    });

    test('a caller without a token is told which scopes to ask for', async () => {
      const result = await trusting({ access }).authenticate(requestWith(), 'github');
      expect(shown(result)).toBe(
        `401 Bearer resource_metadata="${METADATA}", scope="mcp:use github:read"`,
      );
    });
  });

  test('the metadata of a server say who makes tokens for it', () => {
    const authenticator = trusting({ access: [{ scopes: ['mcp:use'], groups: [] }] });
    const document = authenticator.metadata('/.well-known/oauth-protected-resource/mcp/github');
    expect(JSON.parse(document ?? '')).toEqual({
      resource: GITHUB,
      authorization_servers: [issuer.url],
      bearer_methods_supported: ['header'],
      scopes_supported: ['mcp:use'],
    });
    for (const path of ['', '/', '/mcp', '/mcp/', '/mcp/other', '/mcp/github/', '/mcp/__proto__']) {
      expect(authenticator.metadata(`/.well-known/oauth-protected-resource${path}`)).toBe(
        undefined,
      );
    }
  });

  test('the root has metadata where there is one server', () => {
    const issuers = [{ issuer: issuer.url, groups_claim: 'groups' }];
    const authenticator = start({ issuers, servers: ['github'] });
    const document = authenticator.metadata('/.well-known/oauth-protected-resource');
    expect(JSON.parse(document ?? '')).toMatchObject({ resource: GITHUB });
  });

  test('the metadata of a server below a path have the path behind the well-known part', async () => {
    const issuers = [{ issuer: issuer.url, groups_claim: 'groups' }];
    const authenticator = start({ issuers, publicUrl: 'https://example.com/tools' });
    const result = await authenticator.authenticate(requestWith(), 'github');
    const path = '/.well-known/oauth-protected-resource/tools/mcp/github';
    expect(shown(result)).toBe(`401 Bearer resource_metadata="https://example.com${path}"`);
    expect(JSON.parse(authenticator.metadata(path) ?? '')).toMatchObject({
      resource: 'https://example.com/tools/mcp/github',
    });
  });

  test('a hostile name of a server gets into no header', async () => {
    const name = 'x", error="evil\r\nSet-Cookie: a=b';
    const token = await issuer.sign({ aud: GITHUB });
    for (const request of [requestWith(), requestWith(`Bearer ${token}`)]) {
      const answer = shown(await trusting().authenticate(request, name));
      expect(answer).toMatch(/^401 Bearer realm="subluminal"/);
      expect(answer).not.toContain('evil');
    }
  });

  test('keys and tokens are taken side by side', async () => {
    const keys = [{ name: 'ci', sha256: hash('sha256', KEY) }];
    const issuers = [{ issuer: issuer.url, groups_claim: 'groups' }];
    const authenticator = start({ keys, issuers });
    expect(await show(authenticator, KEY)).toBe('key:ci');
    const neither = await authenticator.authenticate(requestWith('Bearer neither'), 'github');
    expect(shown(neither)).toContain('The token is not known.');
    expect(await show(authenticator, await issuer.sign({ aud: GITHUB }))).toBe(`${issuer.url}#ada`);
  });

  test('a token in the signature of another algorithm of the issuer is taken', async () => {
    for (const alg of ['RS256', 'PS256', 'ES384', 'EdDSA']) {
      await issuer.addKey(alg, { alg });
      const token = await issuer.sign({ aud: GITHUB }, { header: { alg, kid: alg } });
      expect(await show(trusting(), token), alg).toBe(`${issuer.url}#ada`);
    }
  });

  test('a header with a critical extension that nobody here knows is refused', async () => {
    const { privateKey } = await generateKeyPair('ES256');
    const token = await new SignJWT({ iss: issuer.url, sub: 'ada', aud: GITHUB })
      .setExpirationTime('5m')
      .setProtectedHeader({ alg: 'ES256', kid: 'first', crit: ['exp'], exp: 1 })
      .sign(privateKey, { crit: { exp: false } });
    expect(await show(trusting(), token)).toMatch(/^401 /);
  });
});
