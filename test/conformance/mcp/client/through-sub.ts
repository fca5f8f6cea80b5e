// The ways of the client scenarios that go through `sub`. It is the OAuth client then, not the SDK.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StreamableHTTPClientTransport as ModernHttp } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { LOGIN_DESK_VARIABLE, type LoginRequest } from '../login-desk.ts';
import { type SubHome, startServe, subHome } from '../sub-serve.ts';
import { scenarioContext } from './context.ts';
import { CLIENT_METADATA_URL } from './oauth-fetch.ts';
import type { Connection } from './types.ts';

const NAME = 'upstream';

export async function throughServe(sub: string, url: string): Promise<Connection> {
  const home = await homeFor(sub, url);
  const serve = await startServe(home, { [NAME]: { url } });
  const served = new URL(`${serve.origin}/mcp/${NAME}`);
  return {
    legacy: () => new StreamableHTTPClientTransport(served),
    modern: () => new ModernHttp(served),
    logIn: (cause) => logIn(home, url, cause),
    close: async () => {
      await serve.stop();
      home.remove();
    },
  };
}

export async function throughShim(sub: string, url: string): Promise<Connection> {
  const home = await homeFor(sub, url);
  const program = {
    command: process.execPath,
    args: [sub, 'shim', '--server-name', NAME, '--url', url],
    env: home.env,
  };
  return {
    legacy: () => new StdioClientTransport(program),
    modern: () => new ModernStdio(program),
    logIn: (cause) => logIn(home, url, cause),
    close: async () => home.remove(),
  };
}

/** What the user of the scenario has written into config.toml. */
async function homeFor(sub: string, url: string): Promise<SubHome> {
  const home = subHome(sub);
  const { client_id: id, client_secret: secret } = scenarioContext();
  const lines = [`[servers.${NAME}.oauth]`];
  if (id === undefined || secret === undefined) {
    lines.push(`client_metadata_url = "${CLIENT_METADATA_URL}"`);
  } else {
    home.env['CLIENT_SECRET'] = secret;
    lines.push(`client_id = "${id}"`, 'client_secret = "env://CLIENT_SECRET"');
    lines.push(`authorization_server = "${await issuerOf(url)}"`);
  }
  const folder = home.env['SUB_HOME'] ?? '';
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, 'config.toml'), `${lines.join('\n')}\n`, { mode: 0o600 });
  return home;
}

/** Whoever registers a client by hand knows where. */
async function issuerOf(url: string): Promise<string> {
  const { origin, pathname } = new URL(url);
  const response = await fetch(`${origin}/.well-known/oauth-protected-resource${pathname}`);
  const { authorization_servers: servers } = (await response.json()) as {
    authorization_servers: readonly string[];
  };
  return servers[0] ?? '';
}

/** Asks the person to do what the error says: `sub auth login NAME …`. */
async function logIn(home: SubHome, url: string, cause: unknown): Promise<boolean> {
  const words = /sub auth login ([^`\n]*)/.exec(String(cause))?.[1];
  if (words === undefined) return false;
  const scope = /--scope[ =](?:'([^']*)'|"([^"]*)"|([^\s.,]+))/.exec(words);
  const scopes = scope?.[1] ?? scope?.[2] ?? scope?.[3];
  const more = scopes === undefined ? [] : ['--scope', scopes];
  const args = [home.sub, 'auth', 'login', NAME, '--url', url, '--no-browser', ...more];
  const request: LoginRequest = { args, env: home.env };
  const response = await fetch(process.env[LOGIN_DESK_VARIABLE] ?? '', {
    method: 'POST',
    body: JSON.stringify(request),
  });
  if (!response.ok) throw new Error(`sub auth login failed: ${await response.text()}`, { cause });
  return true;
}
