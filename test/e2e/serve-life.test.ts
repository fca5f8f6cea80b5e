// The built `sub serve` as a process: signals, addresses that cannot be used, TLS, the run of `sub run`, and the SDKs.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { get } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { parseEventLine } from '@subluminal/contracts';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Serving, SMALL_SERVER, startServing } from './served.ts';
import { ended, ensureBuilt, ROOT, runSub, SUB, startSub } from './sub.ts';

const EVERYTHING = [
  process.execPath,
  `${ROOT}node_modules/@modelcontextprotocol/server-everything/dist/index.js`,
];

let home: string;
const open: Serving[] = [];
beforeAll(ensureBuilt);
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'sub-serve-life-'));
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
  rmSync(home, { recursive: true, force: true, maxRetries: 3 });
});

async function serving(config: Parameters<typeof startServing>[0]): Promise<Serving> {
  const one = await startServing({ auth: { none: true }, ...config });
  open.push(one);
  return one;
}

function write(config: object): string {
  const file = join(home, 'serve.yaml');
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  return file;
}

const env = () => ({ HOME: home, SUB_HOME: join(home, '.subluminal') });

test('clients of the SDKs, of both eras, call the tools of a server on stdio', async () => {
  const { url } = await serving({ servers: { everything: { command: EVERYTHING } } });
  const address = new URL(`${url}/mcp/everything`);
  const legacy = new Client({ name: 'legacy', version: '1' });
  await legacy.connect(new StreamableHTTPClientTransport(address));
  const modern = new ModernClient(
    { name: 'modern', version: '1' },
    { versionNegotiation: { mode: 'auto' } },
  );
  const transport = new ModernTransport(address);
  await modern.connect(transport);
  expect(transport.sessionId).toBeUndefined();
  for (const client of [legacy, modern]) {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('echo');
    const call = { name: 'echo', arguments: { message: 'hello' } };
    expect(await client.callTool(call)).toMatchObject({ content: [{ text: 'Echo: hello' }] });
  }
  const steps: number[] = [];
  const slow = { name: 'trigger-long-running-operation', arguments: { duration: 0.2, steps: 2 } };
  await modern.callTool(slow, { onprogress: ({ progress }) => steps.push(progress) });
  expect(steps).toEqual([1, 2]);
  await legacy.close();
  await modern.close();
}, 30_000);

test('SIGTERM ends it with its servers, and with exit code 0', async () => {
  const file = write({
    listen: '127.0.0.1:0',
    auth: { none: true },
    servers: { small: { command: SMALL_SERVER } },
  });
  const child = startSub(['serve', '--config', file, '--events', 'off'], { cwd: home, env: env() });
  let log = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (log += text));
  await expect.poll(() => log, { timeout: 10_000 }).toContain('It listens on');
  const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(log) ?? [];
  const client = new Client({ name: 'c', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp/small`)));
  const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim();
  expect(children).not.toBe('');
  const all = children.split(' ');
  const over = ended(child);
  child.kill('SIGTERM');
  expect((await over).code).toBe(0);
  expect(log).toContain('It takes no new sessions');
  await expect.poll(() => all.filter((pid) => isAlive(Number(pid)))).toEqual([]);
  await client.close();
}, 30_000);

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('a port in use, a broken certificate and a broken configuration are told with the fix', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const config = { auth: { none: true }, servers: { small: { command: SMALL_SERVER } } };
  const run = (more: object) =>
    runSub(['serve', '--config', write({ ...config, ...more })], { cwd: home, env: env() });
  const inUse = await run({ listen: `127.0.0.1:${port}` });
  taken.close();
  expect([inUse.code, inUse.stderr]).toEqual([2, expect.stringContaining('is in use')]);
  const noTls = await run({ listen: '127.0.0.1:0', tls: { cert: 'a.pem', key: 'b.pem' } });
  expect([noTls.code, noTls.stderr]).toEqual([2, expect.stringContaining('certificate')]);
  const broken = await run({ listn: '127.0.0.1:0' });
  expect(broken.code).toBe(1);
  expect(broken.stderr).toMatch(/serve\.yaml:1:\d+: error: .*did you mean `listen`\?/);
  const nowhere = await run({ listen: '127.0.0.1:99999' });
  expect(nowhere.stderr).toMatch(
    /^\S+serve\.yaml:1:\d+: error: `127.0.0.1:99999` is no address.*\n$/,
  );
  const key = await runSub(['serve', 'key', 'ci', '--server', 'a b'], { cwd: home, env: env() });
  expect([key.code, key.stdout]).toEqual([2, '']);
}, 30_000);

test('its log has a line for each problem of a broken configuration, and an answer to SIGHUP', async () => {
  const config = { auth: { none: true }, servers: { small: { command: SMALL_SERVER } } };
  const { log, configure, pid } = await serving(config);
  expect(log()).toContain('There is no policy');
  const { auth, servers } = config;
  configure({ auth, srvers: servers });
  await expect.poll(log, { timeout: 10_000 }).toMatch(/Z serve: \S+serve\.yaml:1:\d+: error: .*\n/);
  expect(log()).toMatch(
    /Z serve: \S+: error: missing `servers`.*\n.*Z serve: \S+: error: unknown field/,
  );
  configure(config);
  await expect.poll(log, { timeout: 10_000 }).toContain('has not changed');
  const before = log().length;
  process.kill(pid, 'SIGHUP');
  await expect.poll(() => log().slice(before), { timeout: 10_000 }).toContain('has not changed');
}, 30_000);

test('its log tells once that a server cannot be reached, and that it is again', async () => {
  const place = createServer().listen(0, '127.0.0.1');
  await once(place, 'listening');
  const { port } = place.address() as AddressInfo;
  place.close();
  const { url, log } = await serving({ servers: { far: { url: `http://127.0.0.1:${port}/mcp` } } });
  const connect = async (): Promise<void> => {
    const client = new Client({ name: 'c', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp/far`)));
  };
  for (let tries = 0; tries < 2; tries++) {
    await expect(connect()).rejects.toThrow('cannot be reached');
  }
  expect(
    log().match(/server far cannot be reached\. The upstream refuses connections/g),
  ).toHaveLength(1);
  const back = createHttpServer((_request, response) => void response.writeHead(500).end());
  back.listen(port, '127.0.0.1');
  await once(back, 'listening');
  await expect(connect()).rejects.toThrow('has failed');
  back.closeAllConnections();
  back.close();
  expect(log()).toContain('server far is reached again');
}, 30_000);

test('it speaks TLS with the certificate of its configuration', async () => {
  const [cert, key] = [join(home, 'cert.pem'), join(home, 'key.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
  spawnSync('openssl', [
    ...['req', '-x509', ...curve, '-nodes', '-days', '1', ...subject],
    ...['-keyout', key, '-out', cert],
  ]);
  const tls = { cert, key };
  const servers = { small: { command: SMALL_SERVER } };
  const file = write({ listen: '127.0.0.1:0', tls, auth: { none: true }, servers });
  const child = startSub(['serve', '--config', file, '--events', 'off'], { cwd: home, env: env() });
  let log = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (log += text));
  await expect.poll(() => log, { timeout: 10_000 }).toMatch(/https:\/\/127\.0\.0\.1:\d+/);
  const [url = ''] = /https:\/\/127\.0\.0\.1:\d+/.exec(log) ?? [];
  const status = await new Promise((resolve, reject) => {
    get(`${url}/readyz`, { ca: readFileSync(cert) }, ({ statusCode }) => resolve(statusCode)).on(
      'error',
      reject,
    );
  });
  expect(status).toBe(200);
  const over = ended(child);
  child.kill('SIGTERM');
  await over;
}, 30_000);

test('under `sub run` all sessions belong to its run, and its hub counts their calls', async () => {
  const file = write({
    listen: '127.0.0.1:0',
    auth: { none: true },
    servers: { everything: { command: EVERYTHING } },
  });
  const policy = join(home, 'policy.yaml');
  writeFileSync(
    policy,
    `policy_id: one-call
version: "1"
mode: control
rules:
  - rule_id: one
    kind: budget
    match: { tool_name: { glob: ["echo"] } }
    effect: { budget: { scope: run, limit_calls: 1, on_exceed: BLOCK } }
`,
    { mode: 0o600 },
  );
  const agent = join(home, 'agent.mjs');
  writeFileSync(agent, AGENT, { mode: 0o600 });
  const events = join(home, 'events.jsonl');
  const run = await runSub(
    [
      ...['run', '--policy', policy, '--events', `file:${events}`, '--'],
      ...[process.execPath, agent, SUB, file, ROOT],
    ],
    { cwd: home, env: env() },
  );
  expect(run.stderr).not.toContain('Error');
  expect(run.stdout).toContain('first: Echo: 1');
  expect(run.stdout).toMatch(/second: .*budget is used up/);
  const lines = readFileSync(events, 'utf8').trim().split('\n').map(parseEventLine);
  const all = lines.flatMap((line) => (line.ok ? [line.event] : []));
  expect(new Set(all.map(({ run_id }) => run_id)).size).toBe(1);
  expect(all.filter(({ type }) => type === 'run_start')).toHaveLength(1);
  const decisions = all.filter(({ type }) => type === 'tool_call_decision');
  expect(decisions).toHaveLength(2);
}, 40_000);

/** Starts `sub serve` and calls through two sessions of it. */
const AGENT = `
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
const [sub, file, root] = process.argv.slice(2);
const load = createRequire(root + 'package.json');
const { Client } = load('@modelcontextprotocol/sdk/client/index.js');
const { StreamableHTTPClientTransport } = load('@modelcontextprotocol/sdk/client/streamableHttp.js');
const serve = spawn(process.execPath, [sub, 'serve', '--config', file], { stdio: ['ignore', 'inherit', 'pipe'] });
let log = '';
await new Promise((resolve) => {
  serve.stderr.on('data', (text) => {
    log += text;
    if (log.includes('It listens on')) resolve();
  });
  serve.once('exit', resolve);
});
const url = /http:\\/\\/127\\.0\\.0\\.1:\\d+/.exec(log)?.[0];
if (url === undefined) { console.log(log); process.exit(1); }
for (const name of ['first', 'second']) {
  const client = new Client({ name, version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url + '/mcp/everything')));
  const message = name === 'first' ? '1' : '2';
  const answer = await client.callTool({ name: 'echo', arguments: { message } }).catch((error) => error);
  console.log(name + ': ' + (answer.content?.[0]?.text ?? answer.message));
  await client.close();
}
serve.kill('SIGTERM');
await once(serve, 'exit');
`;
