import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { createServer, get } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { startConnectProxy } from './connect-proxy.test-support.ts';
import { tunnelAgent, tunnelProxy } from './tunnel.ts';

const API = { host: 'api.example.com', port: 443 };

test.each([
  [{}, undefined],
  [{ HTTPS_PROXY: '' }, undefined],
  [{ HTTP_PROXY: 'http://proxy:1' }, undefined],
  [{ HTTPS_PROXY: 'http://proxy:1' }, 'http://proxy:1/'],
  [{ https_proxy: 'proxy:1' }, 'http://proxy:1/'],
  [{ HTTPS_PROXY: 'http://proxy:1', NO_PROXY: '*' }, undefined],
  [{ HTTPS_PROXY: 'http://proxy:1', NO_PROXY: 'localhost, .example.com' }, undefined],
  [{ HTTPS_PROXY: 'http://proxy:1', NO_PROXY: 'API.example.com:443' }, undefined],
  [{ HTTPS_PROXY: 'http://proxy:1', NO_PROXY: 'api.example.com:993' }, 'http://proxy:1/'],
  [{ HTTPS_PROXY: 'http://proxy:1', NO_PROXY: 'ample.com' }, 'http://proxy:1/'],
])('with %j, the way to the API is by %s', (env, proxy) => {
  expect(tunnelProxy(env, API)?.href).toBe(proxy);
});

test('this machine is reached directly', () => {
  const env = { HTTPS_PROXY: 'http://proxy:1' };
  expect(tunnelProxy(env, { host: '127.0.0.1', port: 443 })).toBeUndefined();
});

test('a proxy that is no URL is an error that does not show it', () => {
  const env = { HTTPS_PROXY: 'http://me:pass word@:x' };
  expect(() => tunnelProxy(env, API)).toThrow(/^HTTPS_PROXY is no URL like http:\/\/HOST:PORT\.$/);
});

/** A server for api.example.com, with a certificate that only `ca` vouches for. */
async function startApi() {
  const folder = mkdtempSync(join(tmpdir(), 'sub-tunnel-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const names = ['-subj', '/CN=x', '-addext', 'subjectAltName=DNS:api.example.com'];
  const files = ['-keyout', join(folder, 'key'), '-out', join(folder, 'cert')];
  execFileSync('openssl', ['req', '-x509', ...kind, ...names, ...files], { stdio: 'pipe' });
  const ca = readFileSync(join(folder, 'cert'), 'utf8');
  const server = createServer(
    { key: readFileSync(join(folder, 'key')), cert: ca },
    (_request, response) => response.end('hello'),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { ca, port: (server.address() as AddressInfo).port };
}

test('an agent speaks TLS with the host itself, through the proxy', async () => {
  const { ca, port } = await startApi();
  const proxy = await startConnectProxy(port);
  onTestFinished(() => proxy.close());
  const agent = tunnelAgent({ HTTPS_PROXY: `http://me:s%40cret@127.0.0.1:${proxy.port}` });
  onTestFinished(() => agent.destroy());
  const [answer] = (await once(get('https://api.example.com/', { agent, ca }), 'response')) as [
    IncomingMessage,
  ];
  expect(await text(answer)).toBe('hello');
  const login = `Basic ${Buffer.from('me:s@cret').toString('base64')}`;
  expect(proxy.asked).toEqual([{ target: 'api.example.com:443', login }]);
  // A certificate of another name is refused, as without a proxy.
  const [cause] = (await once(get('https://other.example.com/', { agent, ca }), 'error')) as [
    Error,
  ];
  expect(cause).toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
});

test('what the proxy refuses is not tried directly', async () => {
  const proxy = await startConnectProxy();
  onTestFinished(() => proxy.close());
  const agent = tunnelAgent({ HTTPS_PROXY: `http://me:secret@127.0.0.1:${proxy.port}` });
  const [cause] = (await once(get('https://api.example.com/', { agent }), 'error')) as [Error];
  expect(String(cause)).toBe('Error: The proxy refuses the way to api.example.com:443 (403).');
});
