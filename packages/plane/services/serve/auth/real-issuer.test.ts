// Tokens of an authorization server that we did not write.
import { createServer, IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import Provider from 'oidc-provider';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAuthenticator } from './authenticator.ts';
import type { Authenticator } from './types.ts';

const PUBLIC_URL = 'https://mcp.example.com';
const CLIENT = { id: 'robot', secret: 'robot-secret' };
let server: Server;
let issuer: string;
let authenticator: Authenticator;

beforeAll(async () => {
  server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      },
    ],
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context, resource) => ({
          scope: 'mcp:use files:read',
          audience: resource,
          accessTokenFormat: 'jwt',
          accessTokenTTL: 60,
        }),
      },
    },
  });
  const answer = provider.callback();
  server.on('request', (request, response) => void answer(request, response));
  const access = [{ scopes: ['mcp:use'], groups: [] }];
  authenticator = createAuthenticator(
    {
      isOpen: false,
      keys: [],
      issuers: [{ issuer, groups_claim: 'groups', access }],
      publicUrl: PUBLIC_URL,
      servers: ['github', 'files'],
    },
    { nowMs: Date.now, warn: () => {} },
  );
});
afterAll(async () => {
  await authenticator.close();
  server.closeAllConnections();
  server.close();
});

async function tokenFor(name: string, scope: string): Promise<string> {
  const response = await fetch(`${issuer}/token`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${CLIENT.id}:${CLIENT.secret}`).toString('base64')}`,
    },
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      resource: `${PUBLIC_URL}/mcp/${name}`,
      scope,
    }),
  });
  const { access_token: token } = (await response.json()) as { access_token: string };
  return token;
}

function requestWith(token: string): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  request.headers.authorization = `Bearer ${token}`;
  Object.defineProperty(request, 'headersDistinct', {
    value: { authorization: [`Bearer ${token}`] },
  });
  return request;
}

test('a token of a real authorization server opens the server that it was made for', async () => {
  const token = await tokenFor('github', 'mcp:use');
  const result = await authenticator.authenticate(requestWith(token), 'github');
  expect(result).toMatchObject({
    kind: 'principal',
    principal: { id: `${issuer}#robot`, kind: 'jwt', name: 'robot', token },
  });
});

test('the same token opens no other server', async () => {
  const token = await tokenFor('github', 'mcp:use');
  expect(await authenticator.authenticate(requestWith(token), 'files')).toMatchObject({
    kind: 'refused',
    status: 401,
    message: 'The token is for another audience.',
  });
});

test('a token without the scope is told which one it needs', async () => {
  const token = await tokenFor('files', 'files:read');
  const refused = await authenticator.authenticate(requestWith(token), 'files');
  expect(refused).toMatchObject({ kind: 'refused', status: 403 });
  const header = refused.kind === 'refused' ? String(refused.headers['www-authenticate']) : '';
  expect(header).toContain('error="insufficient_scope"');
  expect(header).toContain('scope="mcp:use"');
});
