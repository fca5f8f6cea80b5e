// Clients of the official SDKs find the authorization server of `sub serve` by themselves, get a token, and call.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  Client as ModernClient,
  ClientCredentialsProvider as ModernCredentials,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client';
import { ClientCredentialsProvider } from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import Provider from 'oidc-provider';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../free-port.ts';
import { type Serving, SMALL_SERVER, startServing } from './served.ts';

const ROBOT = { clientId: 'robot', clientSecret: 'robot-secret' };
const INFO = { name: 'robot', version: '1' };
let identity: Server;
let issuer: string;
let serving: Serving;
const resources: string[] = [];

async function listening(server: Server, port = 0): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

beforeAll(async () => {
  identity = createServer();
  issuer = `http://127.0.0.1:${await listening(identity)}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: ROBOT.clientId,
        client_secret: ROBOT.clientSecret,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      },
    ],
    scopes: ['mcp:use'],
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context, resource) => {
          resources.push(resource);
          return { scope: 'mcp:use', audience: resource, accessTokenFormat: 'jwt' };
        },
      },
    },
  });
  const answer = provider.callback();
  identity.on('request', (request, response) => void answer(request, response));
  const port = await freePort();
  serving = await startServing({
    listen: `127.0.0.1:${port}`,
    public_url: `http://127.0.0.1:${port}`,
    auth: { jwt: [{ issuer, access: [{ scopes: ['mcp:use'] }] }] },
    servers: { small: { command: SMALL_SERVER }, other: { command: SMALL_SERVER } },
  });
});
afterAll(async () => {
  await serving.close();
  identity.closeAllConnections();
  identity.close();
});

test('a client of SDK v1 gets in by what the challenge says', async () => {
  const url = `${serving.url}/mcp/small`;
  // For this grant it does not ask for the scope of the challenge by itself.
  const scope = 'mcp:use';
  const authProvider = new ClientCredentialsProvider({ ...ROBOT, scope, expectedIssuer: issuer });
  const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider });
  const client = new Client(INFO);
  await client.connect(transport);
  const said = await client.callTool({ name: 'echo', arguments: { message: 'hello' } });
  expect(said.content).toEqual([{ type: 'text', text: 'Echo: hello' }]);
  expect(resources.at(-1)).toBe(url);
  await client.close();
});

test('a client of SDK v2 gets in by what the challenge says', async () => {
  const url = `${serving.url}/mcp/other`;
  const authProvider = new ModernCredentials({ ...ROBOT, expectedIssuer: issuer });
  const transport = new ModernTransport(new URL(url), { authProvider });
  const client = new ModernClient(INFO);
  await client.connect(transport);
  const said = await client.callTool({ name: 'echo', arguments: { message: 'hello' } });
  expect(said.content).toEqual([{ type: 'text', text: 'Echo: hello' }]);
  expect(resources.at(-1)).toBe(url);
  await client.close();
});
