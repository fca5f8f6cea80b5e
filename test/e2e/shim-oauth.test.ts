// A remote server behind OAuth, through the built `sub shim --url`: refusal, login, expiry, revocation and step-up, with
// the official client on one side, and a real authorization server on the other.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { logIn } from '../../packages/plane/services/oauth/testing/log-in.ts';
import { startServers } from './oauth-servers.ts';
import { ensureBuilt, SUB } from './sub.ts';

let folder: string;
let env: { readonly [name: string]: string };
beforeAll(ensureBuilt);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sub-shim-oauth-'));
  const home = join(folder, 'sub');
  mkdirSync(home, { mode: 0o700 });
  writeFileSync(join(home, 'config.toml'), `[events]\nsink = "file:${folder}/events.jsonl"\n`);
  env = { PATH: process.env['PATH'] ?? '', HOME: folder, SUB_HOME: home, BROWSER: '/bin/true' };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function login(url: string, ...scopes: readonly string[]) {
  return logIn(url, env['SUB_HOME'] ?? '', { scopes });
}

/** The official client, with the shim as its server. */
async function connect(url: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  onTestFinished(() => client.close());
  const args = [SUB, 'shim', '--server-name', 'tickets', '--url', url];
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args,
      env,
      cwd: folder,
      stderr: 'ignore',
    }),
  );
  return client;
}

async function textOf(client: Client, name: string): Promise<string> {
  const { content } = await client.callTool({ name });
  return JSON.stringify(content);
}

test('an agent that is not logged in is told the command, and is served after the login', async () => {
  const { url } = await startServers();
  await expect(connect(url)).rejects.toThrow('sub auth login tickets');
  await login(url);
  const client = await connect(url);
  expect(await textOf(client, 'whoami')).toContain('mcp:read');
});

test('tokens are renewed in the middle of a session, when they end and when they are taken back', {
  timeout: 60_000,
}, async () => {
  const { issuer, url } = await startServers({ accessTtlS: 3 });
  const tokens: { jti: string; destroy(): Promise<void> }[] = [];
  issuer.provider.on('access_token.saved', (token) => void tokens.push(token));
  await login(url);
  const client = await connect(url);
  const renewals = () => issuer.requests.filter((one) => one === 'POST /token').length - 1;
  while (renewals() < 2) expect(await textOf(client, 'whoami')).toContain('mcp:read');
  // Whatever the server tells of it: no agent hears it, and it is on no record.
  expect(await textOf(client, 'leak')).toContain('the token is [REDACTED:injected-secret]');
  await tokens.at(-1)?.destroy();
  expect(await textOf(client, 'whoami')).toContain('mcp:read');
  const [{ jti } = { jti: '' }] = tokens.slice(-1);
  const sent = client.callTool({ name: 'whoami', arguments: { token: jti } });
  await expect(sent).rejects.toThrow('a secret that was entrusted to the server');
  await client.close();
  const events = readFileSync(join(folder, 'events.jsonl'), 'utf8');
  expect(events).toContain('"leak"');
  for (const token of tokens) expect(events).not.toContain(token.jti);
});

test('a login that has ended asks for a new one', async () => {
  const { issuer, url } = await startServers();
  const tokens: { destroy(): Promise<void> }[] = [];
  issuer.provider.on('access_token.saved', (token) => void tokens.push(token));
  issuer.provider.on('refresh_token.saved', (token) => void tokens.push(token));
  await login(url);
  const client = await connect(url);
  await textOf(client, 'whoami');
  for (const token of tokens) await token.destroy();
  await expect(textOf(client, 'whoami')).rejects.toThrow('sub auth login tickets');
  await login(url);
  expect(await textOf(client, 'whoami')).toContain('mcp:read');
});

test('a server that wants more scopes names them, and gets them in the same session', async () => {
  const { url } = await startServers({}, { writeTool: 'whoami' });
  await login(url);
  const client = await connect(url);
  await expect(textOf(client, 'whoami')).rejects.toThrow(
    'sub auth login tickets --scope "mcp:write"',
  );
  await login(url, 'mcp:write');
  expect(await textOf(client, 'whoami')).toContain('mcp:write');
});
