// A real authorization server (oidc-provider) and a real MCP server behind it (SDK v1, its own bearer middleware), on
// loopback, and a browser that is a script.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { type Configuration, Provider } from 'oidc-provider';

export interface RunningServer {
  readonly origin: string;
  /** Every request that came: method, path and body. */
  readonly requests: string[];
  close(): Promise<void>;
}

/** Listens on a free port of loopback. The handler is made when the port is known. */
export async function listen(
  handlerFor: (origin: string) => RequestListener,
): Promise<RunningServer> {
  const requests: string[] = [];
  let handler: RequestListener = () => {};
  const server: Server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    handler(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  handler = handlerFor(origin);
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => {
      server.close(resolve);
    });
  };
  return { origin, requests, close };
}

export interface IssuerOptions {
  readonly accessTtlS?: number;
  readonly clients?: Configuration['clients'];
  readonly features?: Configuration['features'];
  readonly fetch?: Configuration['fetch'];
  readonly clientAuthMethods?: Configuration['clientAuthMethods'];
}

export interface Issuer extends RunningServer {
  readonly provider: Provider;
}

export async function startIssuer(options: IssuerOptions = {}): Promise<Issuer> {
  const { accessTtlS = 3_600, clients = [], features = {}, fetch, clientAuthMethods } = options;
  let provider: Provider | undefined;
  const running = await listen((origin) => {
    provider = new Provider(origin, {
      clients,
      scopes: ['openid', 'offline_access', 'mcp:read', 'mcp:write'],
      // A library that warns about its own defaults on standard error would hide what a test says.
      cookies: { keys: ['a key of a test'] },
      pkce: { required: () => true },
      rotateRefreshToken: true,
      ...(fetch && { fetch }),
      ...(clientAuthMethods && { clientAuthMethods }),
      features: {
        devInteractions: { enabled: true },
        registration: { enabled: true },
        revocation: { enabled: true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: async (_context, resource) => ({
            scope: 'mcp:read mcp:write',
            audience: resource,
            accessTokenTTL: accessTtlS,
            accessTokenFormat: 'opaque',
          }),
          useGrantedResource: async () => true,
        },
        ...features,
      },
      clientDefaults: { grant_types: ['authorization_code', 'refresh_token'] },
    });
    provider.on('server_error', (_context, error) => process.stderr.write(`${error.stack}\n`));
    const callback = provider.callback();
    return (request, response) => void callback(request, response);
  });
  if (provider === undefined) throw new Error('there is no provider');
  return Object.assign(running, { provider });
}

export interface ResourceOptions {
  readonly issuer: Issuer;
  readonly path?: string;
  readonly requiredScopes?: readonly string[];
  /** A tool whose calls need `mcp:write`. */
  readonly writeTool?: string;
  /** In place of what the server says of itself. */
  readonly metadata?: { readonly [key: string]: unknown } | undefined;
  readonly namesMetadata?: boolean;
}

/** An MCP server that takes tokens for it alone; `whoami` tells the scopes, `leak` the token. */
export async function startResource(
  options: ResourceOptions,
): Promise<RunningServer & { readonly url: string }> {
  const { issuer, path = '/mcp', metadata, namesMetadata = true } = options;
  const running = await listen((origin) => {
    const app = createMcpExpressApp();
    const resource = `${origin}${path}`;
    const wellKnown = `/.well-known/oauth-protected-resource${path}`;
    app.get(wellKnown, (_request, response) => {
      response.json(
        metadata ?? {
          resource,
          authorization_servers: [issuer.origin],
          scopes_supported: ['mcp:read'],
        },
      );
    });
    const bearer = {
      verifier: { verifyAccessToken: (token: string) => verified(issuer.provider, token) },
      expectedResource: new URL(resource),
      ...(namesMetadata && { resourceMetadataUrl: `${origin}${wellKnown}` }),
    };
    const requiredScopes = [...(options.requiredScopes ?? [])];
    const auth = requireBearerAuth({ ...bearer, requiredScopes });
    const writing = requireBearerAuth({ ...bearer, requiredScopes: ['mcp:write'] });
    app.post(path, (request, response, next) => {
      const { params } = Object(request.body) as { readonly params?: { readonly name?: unknown } };
      const isWriting = options.writeTool !== undefined && params?.name === options.writeTool;
      if (isWriting) writing(request, response, next);
      else next();
    });
    app.all(path, auth, (request, response, next) => {
      const server = new McpServer({ name: 'whoami', version: '1' });
      const scopes = request.auth?.scopes ?? [];
      server.registerTool('whoami', { description: 'Who calls' }, () => ({
        content: [{ type: 'text', text: scopes.join(' ') }],
      }));
      server.registerTool('leak', { description: 'Tells what nobody should know' }, () => ({
        content: [{ type: 'text', text: `the token is ${request.auth?.token}` }],
      }));
      const transport = new StreamableHTTPServerTransport({});
      server
        .connect(transport)
        .then(() => transport.handleRequest(request, response, request.body))
        .catch(next);
    });
    return app;
  });
  return Object.assign(running, { url: `${running.origin}${path}` });
}

async function verified(provider: Provider, token: string) {
  const found = await provider.AccessToken.find(token);
  if (found === undefined || found.isExpired) throw new InvalidTokenError('The token has expired');
  const audience = typeof found.aud === 'string' ? found.aud : '';
  return {
    token,
    clientId: found.clientId ?? '',
    scopes: [...found.scopes],
    expiresAt: found.exp ?? 0,
    ...(audience !== '' && { resource: new URL(audience) }),
  };
}

const HOPS_MAX = 20;

/** Goes where a browser would, logs in, agrees, and comes back: the last address, which it has not asked. */
export async function browse(url: string, { agrees = true } = {}): Promise<string> {
  const cookies = new Map<string, string>();
  let next: { url: string; form?: string } = { url };
  const { origin } = new URL(url);
  for (let hop = 0; hop < HOPS_MAX; hop++) {
    const response = await fetch(next.url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(next.form !== undefined && { method: 'POST', body: new URLSearchParams(next.form) }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';');
      const at = pair.indexOf('=');
      cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
    const page = await response.text();
    const location = response.headers.get('location');
    if (location !== null) {
      const target = new URL(location, next.url);
      if (target.origin !== origin) return target.href;
      next = { url: target.href };
      continue;
    }
    const action = /action="([^"]+)"/.exec(page)?.[1];
    if (action === undefined)
      throw new Error(`the browser is stuck (${response.status}): ${page.slice(0, 800)}`);
    const abort = /href="([^"]*\/abort)"/.exec(page)?.[1];
    if (!agrees && abort !== undefined) next = { url: new URL(abort, next.url).href };
    else if (page.includes('value="login"')) {
      const who = `ada-${randomUUID().slice(0, 4)}`;
      next = { url: new URL(action, next.url).href, form: `prompt=login&login=${who}&password=x` };
    } else next = { url: new URL(action, next.url).href, form: 'prompt=consent' };
  }
  throw new Error('the browser goes around in a circle');
}
