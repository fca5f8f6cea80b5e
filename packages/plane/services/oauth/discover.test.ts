// Discovery as the MCP specification orders it, and servers that lie.
import { isFailure } from '@subluminal/contracts';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { OAuthSettings } from '../../stores/config/index.ts';
import { discover, isResourceOf, metadataUrls } from './discover.ts';
import { openOAuthHttp } from './oauth-http.ts';
import { listen } from './testing/authorization-server.ts';
import { guardFor } from './url-guard.ts';

interface Route {
  readonly status?: number;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: unknown;
}
/** By path; `ORIGIN` stands for the address of the server itself. */
type Routes = { readonly [path: string]: Route };

async function startRoutes(routes: Routes) {
  const running = await listen((origin) => (request, response) => {
    const filled = (value: unknown) => JSON.stringify(value).replaceAll('ORIGIN', origin);
    const { status = 200, headers = {}, body } = routes[request.url ?? ''] ?? { status: 404 };
    const own = JSON.parse(filled(headers)) as Record<string, string>;
    response.writeHead(status, { 'content-type': 'application/json', ...own });
    response.end(typeof body === 'string' ? body : filled(body ?? {}));
  });
  onTestFinished(() => running.close());
  return running;
}

async function discovered(routes: Routes, settings: OAuthSettings = {}, path = '/mcp') {
  const running = await startRoutes(routes);
  const url = `${running.origin}${path}`;
  const http = openOAuthHttp({ guard: guardFor(url, settings) });
  onTestFinished(() => http.close());
  const found = await discover(http, { url, issuer: settings.authorizationServer });
  const text = JSON.stringify(found).replaceAll(running.origin, 'ORIGIN');
  return { found: JSON.parse(text) as unknown, requests: running.requests, origin: running.origin };
}

const REFUSED: Route = { status: 401 };
const PRM = '/.well-known/oauth-protected-resource';
const RESOURCE: Route = { body: { resource: 'ORIGIN/mcp', authorization_servers: ['ORIGIN'] } };
const METADATA = {
  issuer: 'ORIGIN',
  authorization_endpoint: 'ORIGIN/authorize',
  token_endpoint: 'ORIGIN/token',
  code_challenge_methods_supported: ['S256'],
};
const SERVER = '/.well-known/oauth-authorization-server';
const OPEN_ID = '/.well-known/openid-configuration';
const GOOD: Routes = { '/mcp': REFUSED, [`${PRM}/mcp`]: RESOURCE, [SERVER]: { body: METADATA } };

describe('discovery', () => {
  it('looks at the path of the server first, then at the root', async () => {
    const { found, requests } = await discovered({
      ...GOOD,
      [`${PRM}/mcp`]: { status: 404 },
      [PRM]: RESOURCE,
    });
    expect(found).toMatchObject({ kind: 'discovered', resource: 'ORIGIN/mcp' });
    expect(requests).toEqual(['POST /mcp', `GET ${PRM}/mcp`, `GET ${PRM}`, `GET ${SERVER}`]);
  });

  it('uses the metadata that the refusal names, and its scopes', async () => {
    const challenge = 'Bearer resource_metadata="ORIGIN/about", scope="a b"';
    const refused = { status: 401, headers: { 'www-authenticate': challenge } };
    const { found, requests } = await discovered({ ...GOOD, '/mcp': refused, '/about': RESOURCE });
    expect(found).toMatchObject({ kind: 'discovered', scopes: ['a', 'b'] });
    expect(requests).toEqual(['POST /mcp', 'GET /about', `GET ${SERVER}`]);
  });

  it('hears the scopes of a server that lets everybody begin', async () => {
    const running = await listen((origin) => (request, response) => {
      const path = request.url ?? '';
      let body = '';
      request.on('data', (part: Buffer) => {
        body += part.toString();
      });
      request.on('end', () => {
        if (body.includes('"tools/list"')) {
          response.writeHead(401, { 'www-authenticate': 'Bearer scope="later"' }).end();
        } else if (path === `${PRM}/mcp`) {
          const about = { resource: `${origin}/mcp`, authorization_servers: [origin] };
          response.end(JSON.stringify({ ...about, scopes_supported: ['all'] }));
        } else if (path === SERVER) {
          response.end(JSON.stringify(METADATA).replaceAll('ORIGIN', origin));
        } else response.writeHead(path === '/mcp' ? 200 : 404).end('{}');
      });
    });
    onTestFinished(() => running.close());
    const url = `${running.origin}/mcp`;
    const http = openOAuthHttp({ guard: guardFor(url, {}) });
    onTestFinished(() => http.close());
    expect(await discover(http, { url })).toMatchObject({ scopes: ['later'] });
  });

  it('asks for the metadata of an issuer in the order of the specification', () => {
    expect(metadataUrls('https://auth.example.com')).toEqual([
      'https://auth.example.com/.well-known/oauth-authorization-server',
      'https://auth.example.com/.well-known/openid-configuration',
    ]);
    expect(metadataUrls('https://auth.example.com/tenant1')).toEqual([
      'https://auth.example.com/.well-known/oauth-authorization-server/tenant1',
      'https://auth.example.com/.well-known/openid-configuration/tenant1',
      'https://auth.example.com/tenant1/.well-known/openid-configuration',
    ]);
  });

  it.each([`${SERVER}/t1`, `${OPEN_ID}/t1`, `/t1${OPEN_ID}`])(
    'finds the metadata of an issuer with a path at %s',
    async (path) => {
      const issuer = 'ORIGIN/t1';
      const { found } = await discovered({
        '/mcp': REFUSED,
        [`${PRM}/mcp`]: { body: { resource: 'ORIGIN/mcp', authorization_servers: [issuer] } },
        // A page for everything is no metadata.
        [`${SERVER}/t1`]: { body: '<html>hello</html>' },
        [path]: { body: { ...METADATA, issuer } },
      });
      expect(found).toMatchObject({ authorizationServer: { issuer } });
    },
  );

  it('takes a server of 2025-03-26 for its own authorization server', async () => {
    const { found } = await discovered({ '/mcp': REFUSED, [SERVER]: { body: METADATA } });
    expect(found).toMatchObject({
      resource: 'ORIGIN/mcp',
      authorizationServer: { issuer: 'ORIGIN' },
    });
  });

  it('takes the fixed paths of 2025-03-26 where there is no metadata at all', async () => {
    const { found } = await discovered({ '/mcp': REFUSED });
    expect(found).toMatchObject({
      authorizationServer: {
        authorizationEndpoint: 'ORIGIN/authorize',
        tokenEndpoint: 'ORIGIN/token',
        registrationEndpoint: 'ORIGIN/register',
      },
    });
  });

  it('leaves no session behind at a server that needs no authorization', async () => {
    const { found, requests } = await discovered({
      '/mcp': { headers: { 'mcp-session-id': 's1' } },
    });
    expect(found).toMatchObject({
      message: 'ORIGIN/mcp does not ask for authorization, and names no authorization server.',
    });
    expect(requests.slice(0, 3)).toEqual(['POST /mcp', 'POST /mcp', 'DELETE /mcp']);
  });
});

const failing = (routes: Routes, message: string, settings: OAuthSettings = {}) =>
  [routes, message, settings] as const;
const about = (body: object) => ({ ...GOOD, [`${PRM}/mcp`]: { body } });
const metadata = (body: object) => ({ ...GOOD, [SERVER]: { body: { ...METADATA, ...body } } });

describe('a server does not make us trust', () => {
  it.each([
    [
      'metadata of another server',
      ...failing(
        about({ resource: 'https://bank.example/mcp', authorization_servers: ['ORIGIN'] }),
        'which is not this server',
      ),
    ],
    [
      'metadata of a neighbour',
      ...failing(
        about({ resource: 'ORIGIN/mcp2', authorization_servers: ['ORIGIN'] }),
        'which is not this server',
      ),
    ],
    [
      'metadata of nobody',
      ...failing(about({ authorization_servers: ['ORIGIN'] }), 'names no resource'),
    ],
    [
      'metadata without an authorization server',
      ...failing(about({ resource: 'ORIGIN' }), 'names no authorization server'),
    ],
    [
      'an authorization server without TLS',
      ...failing(
        about({ resource: 'ORIGIN', authorization_servers: ['http://auth.example.com'] }),
        'does not begin with https',
      ),
    ],
    [
      'the metadata service of a cloud',
      ...failing(
        about({ resource: 'ORIGIN', authorization_servers: ['https://169.254.169.254'] }),
        'is in a private network',
      ),
    ],
    [
      'a file',
      ...failing(
        about({ resource: 'ORIGIN', authorization_servers: ['file:///etc/passwd'] }),
        'does not begin with https',
      ),
    ],
    [
      'an authorization server that is not configured',
      ...failing(GOOD, 'which is configured', { authorizationServer: 'http://127.0.0.1:1' }),
    ],
    [
      'metadata of another issuer',
      ...failing(
        metadata({ issuer: 'https://honest.example' }),
        'another issuer, https://honest.example',
      ),
    ],
    ['an issuer with a slash more', ...failing(metadata({ issuer: 'ORIGIN/' }), 'another issuer')],
    [
      'a login without PKCE',
      ...failing(metadata({ code_challenge_methods_supported: undefined }), 'PKCE'),
    ],
    [
      'a login with plain PKCE',
      ...failing(metadata({ code_challenge_methods_supported: ['plain'] }), 'PKCE'),
    ],
    [
      'a login without codes',
      ...failing(metadata({ response_types_supported: ['token'] }), 'no authorization codes'),
    ],
    [
      'a script in place of a page',
      ...failing(
        metadata({ authorization_endpoint: 'javascript:alert(1)' }),
        'does not begin with https',
      ),
    ],
    [
      'a token endpoint in a private network',
      ...failing(
        metadata({ token_endpoint: 'https://169.254.169.254/' }),
        'is in a private network',
      ),
    ],
    [
      'a token endpoint without TLS',
      ...failing(
        metadata({ token_endpoint: 'http://auth.example.com/' }),
        'does not begin with https',
      ),
    ],
    [
      'a registration in a private network',
      ...failing(
        metadata({ registration_endpoint: 'https://[fe80::1]/' }),
        'is in a private network',
      ),
    ],
    [
      'a redirect',
      ...failing(
        {
          ...GOOD,
          [SERVER]: { status: 302, headers: { location: '/elsewhere' } },
          '/elsewhere': { body: METADATA },
        },
        'publishes no metadata',
      ),
    ],
    [
      'a failure for the absence of metadata',
      ...failing({ '/mcp': REFUSED, [`${PRM}/mcp`]: { status: 503 } }, 'HTTP 503'),
    ],
    [
      'metadata that never ends',
      ...failing({ ...GOOD, [SERVER]: { body: ' '.repeat(300_000) } }, 'larger than'),
    ],
    [
      'metadata that the refusal names elsewhere',
      ...failing(
        {
          ...GOOD,
          '/mcp': {
            status: 401,
            headers: { 'www-authenticate': 'Bearer resource_metadata="https://169.254.169.254/"' },
          },
        },
        'is in a private network',
      ),
    ],
  ])('%s', async (_what, routes, message, settings) => {
    const { found } = await discovered(routes, settings);
    expect(isFailure(found)).toBe(true);
    expect(found).toMatchObject({ message: expect.stringContaining(message) as unknown });
  });

  it('hostile text, which is shown harmless', async () => {
    const { found } = await discovered(
      about({ resource: 'x\u001b[2J\u202e', authorization_servers: [] }),
    );
    expect(JSON.stringify(found)).toContain('x\\\\u{1b}[2J\\\\u{202e}');
  });
});

it.each([
  ['https://a.example/mcp', 'https://a.example/mcp', true],
  ['https://a.example/mcp', 'https://a.example', true],
  ['https://a.example/mcp', 'https://a.example/', true],
  ['https://a.example/v1/mcp', 'https://a.example/v1', true],
  ['https://a.example/v10/mcp', 'https://a.example/v1', false],
  ['https://a.example/mcp', 'https://a.example/mcp/x', false],
  ['https://a.example/mcp', 'https://b.example/mcp', false],
  ['https://a.example/mcp', 'http://a.example/mcp', false],
  ['https://a.example/mcp', 'https://a.example:8443/mcp', false],
  ['https://a.example/mcp', 'https://a.example/mcp?tenant=b', false],
  ['https://a.example/mcp?tenant=b', 'https://a.example/mcp?tenant=b', true],
  ['https://a.example/mcp', 'https://x@a.example/mcp', false],
  ['https://a.example/mcp', 'nonsense', false],
])('of %s, %s is the resource: %s', (url, resource, expected) => {
  expect(isResourceOf(url, resource)).toBe(expected);
});
