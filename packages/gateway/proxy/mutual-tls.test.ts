// Mutual TLS between proxy and gateway, with real certificates.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { loadConfig } from '@subluminal/plane/config';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { CONFIG_ENV, CONFIG_TEXTS, configFolder } from '../config/testing/config-folder.ts';
import { startGateway } from '../serve/start-gateway.ts';
import { anthropicAnswer } from '../serve/testing/running-gateway.ts';
import { loopback } from '../turns/testing/loopback.ts';
import { GatewayClient } from './gateway-client.ts';
import { openGatewayLink } from './start-proxy.ts';
import { ASKED, MESSAGES, runningProxyFor } from './testing/running-proxy.ts';

let certificates = '';
beforeAll(() => {
  certificates = mkdtempSync(join(tmpdir(), 'sub-certificates-'));
  for (const name of ['ca', 'foreign-ca']) authority(name);
  certificate('gateway', 'ca');
  certificate('machine', 'ca');
  certificate('stranger', 'foreign-ca');
  return () => rmSync(certificates, { recursive: true, force: true });
});

const file = (name: string) => join(certificates, name);
const openssl = (...args: readonly string[]) =>
  execFileSync('openssl', args, { cwd: certificates, stdio: 'pipe' });
const EC = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

function authority(name: string): void {
  const files = ['-keyout', `${name}.key`, '-out', `${name}.pem`];
  openssl('req', '-x509', ...EC, '-days', '2', '-subj', `/CN=${name}`, ...files);
}

function certificate(name: string, ca: string): void {
  const extensions = ['-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', `${name}.key`, '-out', `${name}.csr`];
  openssl('req', '-new', ...EC, '-subj', `/CN=${name}`, ...extensions, ...files);
  const signer = ['-CA', `${ca}.pem`, '-CAkey', `${ca}.key`, '-CAcreateserial'];
  const signed = ['-in', `${name}.csr`, '-out', `${name}.pem`, '-days', '2'];
  openssl('x509', '-req', ...signed, ...signer, '-copy_extensions', 'copy');
}

type Files = { readonly ca?: string; readonly cert?: string };

function settings({ ca, cert }: Files): { readonly [name: string]: string } {
  return {
    ...(ca !== undefined && { SUB_PROXY_CA_FILE: file(`${ca}.pem`) }),
    ...(cert !== undefined && {
      SUB_PROXY_CERT_FILE: file(`${cert}.pem`),
      SUB_PROXY_KEY_FILE: file(`${cert}.key`),
    }),
  };
}

const RIGHT: Files = { ca: 'ca', cert: 'machine' };

/** A gateway that serves none but machines with a certificate of its authority. */
async function gatewayWithTls() {
  const bodies: string[] = [];
  const provider = await loopback((request, response) => {
    request.resume();
    bodies.push(request.url ?? '');
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(anthropicAnswer('Hello.')));
  });
  const tls = `{ cert_file: ${file('gateway.pem')}, key_file: ${file('gateway.key')}, client_ca_file: ${file('ca.pem')} }`;
  const dir = configFolder({
    'gateway.yaml': `tenant_id: acme\ntls: ${tls}\n`,
    'pools.yaml': (CONFIG_TEXTS['pools.yaml'] ?? '').replace(
      'https://api.anthropic.com',
      provider.url,
    ),
    'webhooks.yaml': 'webhooks: []\n',
  });
  const home = mkdtempSync(join(tmpdir(), 'sub-tls-gateway-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const log: string[] = [];
  const started = await startGateway({
    dir,
    home,
    places: { env: CONFIG_ENV, home, userHome: home, settings: {} },
    version: '0.1.0',
    listen: { host: '127.0.0.1', port: 0 },
    log: (line) => log.push(line),
  });
  if (isFailure(started) || started.kind === 'invalid') throw new Error(JSON.stringify(started));
  onTestFinished(() => started.close());
  const { url: gatewayUrl } = started;
  return { gatewayUrl, bodies, apiKey: await firstKey(gatewayUrl, log.join('\n')) };
}

/** Also the login goes over mutual TLS. */
async function firstKey(gatewayUrl: string, log: string): Promise<string> {
  const loaded = await loadConfig({ env: { HOME: certificates, ...settings(RIGHT) }, cwd: '/' });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const upstream = openGatewayLink(loaded.config, gatewayUrl);
  if (isFailure(upstream)) throw new Error(upstream.message);
  onTestFinished(() => upstream.close());
  const client = new GatewayClient({ gatewayUrl, upstream, version: '0.1.0' });
  const made = await client.setUp(/--setup (\S+)/.exec(log)?.[1] ?? '', 'ada', 'machine');
  if (isFailure(made)) throw new Error(made.message);
  return made.api_key;
}

test('a machine with a certificate of the right authority is served', async () => {
  verifies('R-20');
  const { gatewayUrl, apiKey, bodies } = await gatewayWithTls();
  expect(gatewayUrl).toMatch(/^https:/);
  const proxy = await runningProxyFor({ gatewayUrl, apiKey, env: settings(RIGHT) });
  const answer = await proxy.ask(MESSAGES, ASKED);
  expect(await answer.json()).toEqual(anthropicAnswer('Hello.'));
  expect(await (await proxy.ask('/_aicg/health')).json()).toMatchObject({ status: 'ok' });
  expect(bodies).toEqual(['/v1/messages']);
});

test.each<[string, Files]>([
  ['no certificate', { ca: 'ca' }],
  ['a certificate of another authority', { ca: 'ca', cert: 'stranger' }],
  ['no trust in the authority of the gateway', { cert: 'machine' }],
  ['trust in another authority alone', { ca: 'foreign-ca', cert: 'machine' }],
])('a machine with %s gets no turn through', async (_, files) => {
  verifies('R-20');
  const { gatewayUrl, apiKey, bodies } = await gatewayWithTls();
  const proxy = await runningProxyFor({ gatewayUrl, apiKey, env: settings(files) });
  expect(proxy.log.join('\n')).toMatch(/cannot be reached.*No turn passes/);
  const answer = await proxy.ask(MESSAGES, ASKED);
  expect(answer.status).toBe(503);
  expect(await answer.text()).toMatch(/^\{"type":"error",.*cannot be reached/);
  expect(await (await proxy.ask('/_aicg/health')).json()).toMatchObject({
    status: 'degraded',
    problem: { code: 'SUB_GATEWAY_AWAY' },
  });
  expect(bodies).toEqual([]);
});

test('a certificate that cannot be read keeps the proxy from starting', async () => {
  const env = { SUB_PROXY_CERT_FILE: file('missing.pem'), SUB_PROXY_KEY_FILE: file('machine.key') };
  const started = runningProxyFor({ gatewayUrl: 'https://127.0.0.1:1', apiKey: 'sk-sub-key', env });
  await expect(started).rejects.toThrow(/ENOENT.*SUB_FILE_READ/);
});
