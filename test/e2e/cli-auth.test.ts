// `sub auth`, driven as a user does: the built `sub`, a real authorization server, a browser that is a script, and every
// byte that was written or shown searched for tokens.
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import {
  browse,
  listen,
} from '../../packages/plane/services/oauth/testing/authorization-server.ts';
import { startServers } from './oauth-servers.ts';
import { type Ended, ended, ensureBuilt, runSub, startSub } from './sub.ts';

let folder: string;
let env: { readonly [name: string]: string };
beforeAll(ensureBuilt);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sub-cli-auth-'));
  const browser = join(folder, 'browser');
  writeFileSync(browser, '#!/bin/sh\nprintf %s "$1" > "$HOME/opened"\n');
  chmodSync(browser, 0o700);
  const path = process.env['PATH'] ?? '';
  env = { PATH: path, HOME: folder, SUB_HOME: join(folder, 'sub'), BROWSER: browser };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function sub(...args: readonly string[]): Promise<Ended> {
  return runSub(args, { cwd: folder, env });
}

/** Starts a login, and gives the address that it prints for a browser. */
async function starting(args: readonly string[]) {
  const child = startSub(['auth', 'login', ...args], { cwd: folder, env });
  onTestFinished(() => void child.kill('SIGKILL'));
  const end = ended(child);
  let text = '';
  const address = new Promise<string>((resolve, reject) => {
    child.stderr?.on('data', (chunk: string) => {
      text += chunk;
      const [, found] = /^(http:\S+\?\S+)\n/m.exec(text) ?? [];
      if (found !== undefined) resolve(found);
    });
    void end.then(() => reject(new Error(`it has ended: ${text}`)));
  });
  return { child, end, address: await address };
}

async function login(...args: readonly string[]): Promise<Ended> {
  const { child, end, address } = await starting(args);
  child.stdin?.end();
  const page = await fetch(await browse(address));
  expect(page.status).toBe(200);
  return end;
}

/** All that lies in the folder, and all that was said. */
function expectNoToken(tokens: readonly string[], said: readonly Ended[]): void {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => readFileSync(join(file.parentPath, file.name), 'latin1'));
  for (const text of [...files, ...said.flatMap(({ stdout, stderr }) => [stdout, stderr])]) {
    for (const token of tokens) expect(text).not.toContain(token);
  }
}

describe('sub auth', () => {
  test('logs in by the browser, shows it, and logs out', async () => {
    const { issuer, url } = await startServers();
    const tokens: string[] = [];
    issuer.provider.on('access_token.saved', ({ jti }) => void tokens.push(jti));
    issuer.provider.on('refresh_token.saved', ({ jti }) => void tokens.push(jti));
    const done = await login('tickets', '--url', url, '--json');
    expect(done).toMatchObject({ code: 0 });
    expect(readFileSync(join(folder, 'opened'), 'utf8')).toContain('code_challenge_method=S256');
    const said = JSON.parse(done.stdout) as unknown;
    expect(said).toMatchObject({
      server: 'tickets',
      url,
      principal: null,
      issuer: issuer.origin,
      scopes: ['mcp:read'],
      refreshable: true,
    });
    const status = await sub('auth', 'status');
    expect(status.stdout).toMatch(/tickets\s+http:\S+\s+you\s+mcp:read\s+in 60 minutes\s+yes/);
    const listed = await sub('auth', 'status', 'tickets', '--json');
    expect(JSON.parse(listed.stdout)).toEqual({ logins: [said] });
    expect(tokens).toHaveLength(2);
    expectNoToken(tokens, [done, status, listed]);
    // The name is known by the login now.
    const out = await sub('auth', 'logout', 'tickets');
    expect(out).toMatchObject({
      code: 0,
      stdout: 'Logged out of tickets. The tokens are revoked and forgotten.\n',
    });
    for (const token of tokens) {
      expect(await issuer.provider.AccessToken.find(token)).toBeUndefined();
      expect(await issuer.provider.RefreshToken.find(token)).toBeUndefined();
    }
    expect(await sub('auth', 'status', 'tickets')).toMatchObject({
      code: 1,
      stdout: 'You are not logged in to tickets.\n',
    });
  });

  test('finds the address of a server in the config of a client', async () => {
    const { url } = await startServers();
    mkdirSync(join(folder, '.cursor'));
    const config = { mcpServers: { tickets: { url } } };
    writeFileSync(join(folder, '.cursor', 'mcp.json'), JSON.stringify(config));
    expect(await login('tickets')).toMatchObject({ code: 0 });
    expect(await sub('auth', 'login', 'other')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('SUB_SERVER_UNKNOWN') as unknown,
    });
  });

  test('is the client that the entry of Claude Code names, behind a shim as well', async () => {
    const client_id = 'registered-for-claude';
    const { url } = await startServers({
      clients: [
        {
          client_id,
          application_type: 'native',
          token_endpoint_auth_method: 'none',
          grant_types: ['authorization_code', 'refresh_token'],
          redirect_uris: ['http://localhost/callback'],
        },
      ],
    });
    const file = join(folder, '.claude.json');
    const tickets = { type: 'http', url, oauth: { clientId: client_id, scopes: 'mcp:read' } };
    const text = `${JSON.stringify({ mcpServers: { tickets } }, null, 3)}\n`;
    writeFileSync(file, text);
    const who = async () => JSON.parse((await login('tickets', '--json')).stdout) as unknown;
    const wanted = { client_id, scopes: ['mcp:read'], url };
    expect(await who()).toMatchObject(wanted);
    expect(await sub('import', 'claude-code', '--yes')).toMatchObject({ code: 0 });
    expect(readFileSync(file, 'utf8')).toContain(`--client-id=${client_id}`);
    expect(await who()).toMatchObject(wanted);
    expect(await sub('restore', 'claude-code', '--yes')).toMatchObject({ code: 0 });
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test('finds the address of a server in a config of `sub serve`', async () => {
    const { url } = await startServers();
    const file = join(folder, 'serve.yaml');
    writeFileSync(file, `auth: { none: true }\nservers:\n  tickets:\n    url: ${url}\n`, {
      mode: 0o600,
    });
    expect(await login('tickets', '--config', file)).toMatchObject({ code: 0 });
    expect(await sub('auth', 'login', 'other', '--config', file)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('has no remote server `other`') as unknown,
    });
  });

  test.each([
    ['the whole address', (back: string) => back],
    ['its query', (back: string) => new URL(back).search],
  ])('takes %s that is pasted', async (_what, part) => {
    const { url } = await startServers();
    const { child, end, address } = await starting(['tickets', '--url', url, '--no-browser']);
    child.stdin?.end(`${part(await browse(address))}\n`);
    expect(await end).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Logged in') as unknown,
    });
  });

  test('takes no pasted answer that another login has asked for, and no code without its issuer', async () => {
    const { url } = await startServers();
    const { child, end, address } = await starting(['tickets', '--url', url, '--no-browser']);
    const back = new URL(await browse(address));
    child.stdin?.end(`${back.searchParams.get('code')}\n`);
    expect(await end).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Paste the whole address') as unknown,
    });
    const other = await starting(['tickets', '--url', url, '--no-browser']);
    other.child.stdin?.end(`${back.href}\n`);
    expect(await other.end).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('it belongs to another login') as unknown,
    });
  });

  test('says what to do at a server that takes a fixed token, and shows no password of an address', async () => {
    const server = await listen(() => (_request, response) => void response.writeHead(401).end());
    onTestFinished(() => server.close());
    const refused = await sub('auth', 'login', 'tickets', '--url', `${server.origin}/mcp`);
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('If it takes a fixed token or an API key') as unknown,
    });
    const secret = 'https://ada:hunter2@127.0.0.1/mcp';
    const shown = await sub('auth', 'login', 'tickets', '--url', secret);
    expect(shown).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('holds a user or a password') as unknown,
    });
    expect(shown.stderr).not.toContain('hunter');
  });

  test('gives up in time, and leaves nothing when it is interrupted', async () => {
    const { url } = await startServers();
    const late = await sub('auth', 'login', 'tickets', '--url', url, '--timeout', '1');
    expect(late).toMatchObject({ code: 2, stderr: expect.stringContaining('in time') as unknown });
    const { child, end, address } = await starting(['tickets', '--url', url]);
    child.kill('SIGINT');
    expect(await end).toMatchObject({ signal: 'SIGINT' });
    const redirect = new URL(address).searchParams.get('redirect_uri') ?? '';
    await expect(fetch(redirect)).rejects.toThrow('fetch failed');
    expect((await sub('auth', 'status', '--json')).stdout).toContain('"logins": []');
  });

  test('is not for an agent', async () => {
    const refused = await runSub(['auth', 'logout', 'x'], {
      cwd: folder,
      env: { ...env, SUB_RUN_ID: '0199c0de-0000-7000-8000-000000000001' },
    });
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('SUB_INSIDE_RUN') as unknown,
    });
  });
});
