// A remote server behind OAuth, through the built `sub serve`: by the login of its home for all, or of each caller.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect, onTestFinished, test } from 'vitest';
import { logIn } from '../../packages/plane/services/oauth/testing/log-in.ts';
import { startServers } from './oauth-servers.ts';
import { keyEntry, startServing } from './served.ts';

const ADA = 'a-key-of-ada-0123456789abcdefghijklmnopqrstuv';
const BOB = 'a-key-of-bob-0123456789abcdefghijklmnopqrstuv';

async function start(login: 'shared' | 'caller') {
  const { url } = await startServers();
  const keys = [keyEntry('ada', ADA), keyEntry('bob', BOB)];
  const serving = await startServing({ auth: { keys }, servers: { tickets: { url, login } } });
  onTestFinished(() => serving.close());
  const home = join(serving.home, '.subluminal');
  mkdirSync(home, { recursive: true, mode: 0o700 });
  return { serving, url, home };
}

/** The scopes that the server sees when the caller with this key calls it. */
const whoami = (serving: { readonly url: string }, key: string) => told(serving, key, 'whoami');

async function told(serving: { readonly url: string }, key: string, name: string): Promise<string> {
  const client = new Client({ name: 'test', version: '1' });
  onTestFinished(() => client.close());
  const headers = { authorization: `Bearer ${key}` };
  const address = new URL(`${serving.url}/mcp/tickets`);
  await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers } }));
  const { content } = await client.callTool({ name });
  return JSON.stringify(content);
}

test('every caller uses the login of the home', async () => {
  const { serving, url, home } = await start('shared');
  await expect(whoami(serving, ADA)).rejects.toThrow('sub auth login tickets');
  await logIn(url, home);
  expect(await whoami(serving, ADA)).toContain('mcp:read');
  expect(await whoami(serving, BOB)).toContain('mcp:read');
  // The token is known by another session already.
  expect(await told(serving, BOB, 'leak')).toContain('the token is [REDACTED:injected-secret]');
});

test('each caller uses a login of its own, and no caller that of another one', async () => {
  const { serving, url, home } = await start('caller');
  await logIn(url, home);
  await logIn(url, home, { principal: 'key:ada', scopes: ['mcp:write'] });
  expect(await whoami(serving, ADA)).toContain('mcp:write');
  expect(await told(serving, ADA, 'leak')).toContain('the token is [REDACTED:injected-secret]');
  await expect(whoami(serving, BOB)).rejects.toThrow(
    '`sub auth login tickets --config FILE --principal "key:bob"` on the machine of `sub serve`',
  );
});
