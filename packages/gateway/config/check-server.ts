// What the server itself needs, and where its webhooks go.
import type { GatewayFile, WebhooksFile } from '@subluminal/contracts';
import type { Path, Problem } from '@subluminal/core/source';
import { quote } from '@subluminal/core/visible';
import { readPrivateFile, readRegularFile } from '@subluminal/plane/os';
import { readBlocks } from '@subluminal/plane/os/public-address';
import { urlProblem } from '../webhooks/webhook-url.ts';
import { checkedUrl } from './check-url.ts';
import type { ConfigFile, ConfigFiles } from './config-file.ts';
import { isPrivateHost } from './private-host.ts';

const PEM_BYTES_MAX = 1_048_576;
const HOST =
  /^(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$|^\[[0-9a-f:]+\]$/;
const VERSION = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/;

/** `level` is that of what may be right on another machine. */
export function checkServer({ gateway }: ConfigFiles, level: Problem['level']): void {
  const { value } = gateway;
  if (value === undefined) return;
  for (const field of ['ip_allowlist', 'trusted_proxies'] as const) {
    for (const [index, block] of value[field].entries()) {
      if (typeof readBlocks([block]) !== 'string') continue;
      const message = `${quote(block)} is no address and no CIDR range`;
      const fix = 'Write it like `203.0.113.7` or `2001:db8::/32`.';
      gateway.report({ code: 'SUB_GATEWAY_VALUE', path: [field, index], message, fix });
    }
  }
  checkListen(value, gateway);
  checkLimits(value, gateway);
  checkTls(value, { gateway, level });
  checkDatabase(value, gateway);
  const endpoint = value.telemetry.otlp_endpoint;
  const path = ['telemetry', 'otlp_endpoint'];
  if (endpoint !== undefined)
    checkedUrl(endpoint, { file: gateway, path, schemes: ['https', 'http'] });
  for (const field of ['version_min', 'version_latest'] as const) {
    const version = value.clients[field];
    if (version === undefined || VERSION.test(version)) continue;
    const message = `${quote(version)} is no version`;
    const at = ['clients', field];
    gateway.report({ code: 'SUB_GATEWAY_VALUE', path: at, message, fix: 'Write it like `1.2.3`.' });
  }
}

function checkListen({ listen, tls }: GatewayFile, gateway: ConfigFile<unknown>): void {
  const isLocal = listen.host === 'localhost' || /^(?:127\.|::1$)/.test(listen.host);
  if (isLocal || tls !== undefined) return;
  const message = 'the gateway is open to the network without TLS: keys and prompts can be read';
  const fix = 'Add `tls`, or let it listen on 127.0.0.1 behind a proxy that ends TLS.';
  const path = ['listen', 'host'];
  gateway.report({ level: 'warning', code: 'SUB_GATEWAY_VALUE', path, message, fix });
}

function checkLimits({ limits }: GatewayFile, gateway: ConfigFile<unknown>): void {
  if (limits.bodies_bytes_max >= limits.body_bytes_max) return;
  const message = 'all requests together may take less than one of them';
  const fix = 'Raise it to several times `body_bytes_max`.';
  const path = ['limits', 'bodies_bytes_max'];
  gateway.report({ code: 'SUB_GATEWAY_VALUE', path, message, fix });
}

function checkTls(
  { tls }: GatewayFile,
  { gateway, level }: { gateway: ConfigFile<unknown>; level: Problem['level'] },
): void {
  if (tls === undefined) return;
  const names = ['cert_file', 'key_file', 'client_ca_file'] as const;
  for (const name of names) {
    const path = tls[name];
    if (path === undefined) continue;
    // Kubernetes mounts keys as root's.
    const isKey = { bytesMax: PEM_BYTES_MAX, isSecret: true, mayBeRoots: true };
    const read =
      name === 'key_file'
        ? readPrivateFile(path, isKey)
        : readRegularFile(path, { bytesMax: PEM_BYTES_MAX });
    if (read.kind === 'read') continue;
    const why = read.kind === 'missing' ? 'does not exist' : read.why;
    const fix = read.kind === 'missing' ? 'Put the PEM file there.' : read.fix;
    const message = `${quote(path)} ${why}`;
    gateway.report({ level, code: 'SUB_GATEWAY_FILE', path: ['tls', name], message, fix });
  }
}

function checkDatabase({ database }: GatewayFile, gateway: ConfigFile<unknown>): void {
  if (database === undefined) return;
  const { url, url_ref } = database;
  if ((url === undefined) === (url_ref === undefined)) {
    const message = '`database` needs either `url` or `url_ref`';
    const fix = 'Write `url: sqlite:PATH`, or `url_ref: env://DATABASE_URL` for Postgres.';
    gateway.report({ code: 'SUB_GATEWAY_FIELD', path: ['database'], message, fix });
  }
  if (url === undefined) return;
  const path = ['database', 'url'];
  if (/^postgres(?:ql)?:/.test(url)) {
    const parsed = URL.canParse(url) ? new URL(url) : undefined;
    // A user without a password is no secret.
    const isSecret = parsed?.password !== '' || parsed.searchParams.has('password');
    if (parsed !== undefined && !isSecret) return;
    const message = 'the database URL holds a password, or is none';
    const fix = 'Write `url_ref: env://DATABASE_URL`, and put the whole URL there.';
    gateway.report({ code: 'SUB_GATEWAY_SECRET', path, message, fix });
  } else if (!/^sqlite:./.test(url)) {
    const message = 'expected `sqlite:PATH` or `postgres://HOST/NAME`';
    const fix = 'Write one of them, or leave `database` out.';
    gateway.report({ code: 'SUB_GATEWAY_VALUE', path, message, fix });
  }
}

export function checkWebhooks({ webhooks: file }: ConfigFiles): void {
  const { value } = file;
  if (value === undefined) return;
  for (const [index, host] of value.allowed_hosts.entries()) {
    if (HOST.test(host.toLowerCase())) continue;
    const message = `${quote(host)} is no host`;
    const fix = 'Write a name like `hooks.example.com` or `*.example.com`, without `https://`.';
    file.report({ code: 'SUB_GATEWAY_VALUE', path: ['allowed_hosts', index], message, fix });
  }
  const ids = new Set<string>();
  for (const [index, { id, url }] of value.webhooks.entries()) {
    const at = ['webhooks', index];
    if (ids.has(id)) {
      const message = `the id ${quote(id)} is taken already`;
      const path = [...at, 'id'];
      file.report({ code: 'SUB_GATEWAY_DUPLICATE', path, message, fix: 'Rename one of the two.' });
    }
    ids.add(id);
    checkWebhookUrl(url, { file, path: [...at, 'url'] }, value);
  }
}

/** What would be refused when it is sent is refused here already. */
function checkWebhookUrl(
  url: string,
  { file, path }: { readonly file: ConfigFile<unknown>; readonly path: Path },
  { allowed_hosts, allow_private_addresses: allowPrivateAddresses }: WebhooksFile,
): void {
  const problem = urlProblem(url, { allowedHosts: allowed_hosts, allowPrivateAddresses });
  if (problem !== undefined) {
    const code = /\/\/[^/]*@/.test(url) ? 'SUB_GATEWAY_SECRET' : 'SUB_GATEWAY_VALUE';
    const fix = 'Write `https://HOST/…`, with a public host of `allowed_hosts`.';
    file.report({ code, path, message: `the URL cannot be used: ${problem}`, fix });
  } else if (!allowPrivateAddresses && isPrivateHost(new URL(url).hostname)) {
    const message = 'the URL cannot be used: its name belongs to a private network';
    const fix = 'Use a public host, or write `allow_private_addresses: true`.';
    file.report({ code: 'SUB_GATEWAY_VALUE', path, message, fix });
  }
}
