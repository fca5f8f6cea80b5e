// `sub shim --url` as a process: what a policy does to calls of a remote server, where its tokens come from, and
// how it ends.
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ended, ensureBuilt, startSub } from './sub.ts';

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly arguments?: object };
  readonly result?: { readonly content?: readonly { readonly text: string }[] };
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

interface Call {
  readonly method: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly message: Message;
}

beforeAll(() => ensureBuilt());

const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
};
const TOKEN = 'tok-4f8a1c0b7d2e9a6f';

/** A legacy server whose one tool says what it got; `refuse` may answer in its place. */
async function remote(refuse?: (call: Call, response: ServerResponse) => boolean) {
  const calls: Call[] = [];
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    const message = JSON.parse(body === '' ? '{}' : body) as Message;
    const call = { method: request.method, headers: request.headers, message };
    calls.push(call);
    if (refuse?.(call, response) === true) return;
    if (request.method === 'GET') return void response.writeHead(405).end();
    if (message.id === undefined) return void response.writeHead(202).end();
    response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 's1' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: resultOf(call) }));
  };
  const server = createServer((request, response) => void serve(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  return { url: `http://127.0.0.1:${port}/mcp`, calls };
}

function resultOf({ message, headers }: Call): object {
  if (message.method === 'initialize') {
    return { ...INITIALIZE, capabilities: { tools: {} }, serverInfo: INITIALIZE.clientInfo };
  }
  if (message.method === 'tools/list') {
    return { tools: [{ name: 'say', inputSchema: { type: 'object' } }] };
  }
  const said = JSON.stringify(message.params?.arguments ?? {});
  return { content: [{ type: 'text', text: `${said} ${headers.authorization ?? ''}` }] };
}

interface ShimFacts {
  readonly policy?: string;
  readonly config?: string;
  readonly flags?: readonly string[];
  readonly env?: { readonly [name: string]: string };
}

/** A shim before this address, and an agent that asks it. */
function shim(url: string, { policy, config, flags = [], env = {} }: ShimFacts = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'sub-shim-url-'));
  const home = join(folder, 'home');
  mkdirSync(home, { mode: 0o700 });
  if (config !== undefined) writeFileSync(join(home, 'config.toml'), config, { mode: 0o600 });
  if (policy !== undefined) writeFileSync(join(folder, 'policy.yaml'), policy, { mode: 0o600 });
  const events = join(folder, 'events.jsonl');
  const own = policy === undefined ? [] : ['--policy', join(folder, 'policy.yaml')];
  const child = startSub(
    ['shim', '--server-name', 'far', '--url', url, '--events', `file:${events}`, ...own, ...flags],
    { cwd: folder, env: { HOME: folder, SUB_HOME: home, ...env } },
  );
  onTestFinished(() => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  const over = ended(child);
  const answers = new Map<number, (message: Message) => void>();
  if (child.stdout === null) throw new Error('the shim has no output');
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line) as Message;
    if (message.id !== undefined) answers.get(message.id)?.(message);
  });
  let id = 0;
  const tell = (message: object): void =>
    void child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const ask = (method: string, params: object = {}): Promise<Message> =>
    new Promise((resolve) => {
      answers.set(++id, resolve);
      tell({ id, method, params });
    });
  const begin = async (): Promise<void> => {
    await ask('initialize', INITIALIZE);
    tell({ method: 'notifications/initialized' });
    await ask('tools/list');
  };
  const say = (args: object) => ask('tools/call', { name: 'say', arguments: args });
  return { child, over, ask, begin, say, recorded: () => readFileSync(events, 'utf8') };
}

const POLICY = `policy_id: remote
version: "1.0.0"
mode: control
defaults: { decision_on_error: BLOCK }
selectors: {}
rules:
  - rule_id: no-denied
    kind: deny
    enabled: true
    severity: critical
    match: { tool_name: { glob: ["denied"] } }
    effect: { action: BLOCK, reason_code: DENIED, message: Not that. }
  - rule_id: two
    kind: budget
    enabled: true
    severity: warn
    match: { tool_name: { glob: ["say"] } }
    effect: { budget: { scope: run, limit_calls: 2, on_exceed: BLOCK } }
  - rule_id: asked
    kind: approval
    enabled: true
    severity: warn
    match: { tool_name: { glob: ["asked"] } }
    effect: { approval: { wait: hold, timeout_ms: 1000 } }
`;

describe('a policy holds for a remote server', () => {
  test('that denies a tool, budgets another and asks a person for a third', async () => {
    const server = await remote();
    const { begin, say, ask, child, over, recorded } = shim(server.url, { policy: POLICY });
    await begin();
    expect(await ask('tools/call', { name: 'denied', arguments: {} })).toMatchObject({
      error: { message: expect.stringContaining('Not that.') as string },
    });
    expect(await say({ path: 'a' })).toMatchObject({ result: {} });
    expect(await say({ path: 'b' })).toMatchObject({ result: {} });
    expect((await say({ path: 'c' })).error).toBeDefined();
    // Nobody answers in time.
    expect((await ask('tools/call', { name: 'asked', arguments: {} })).error).toBeDefined();
    const executed = server.calls.flatMap(({ message }) =>
      message.method === 'tools/call' ? [message.params?.name] : [],
    );
    expect(executed).toEqual(['say', 'say']);
    child.stdin?.end();
    expect(await over).toMatchObject({ code: 0 });
    expect(recorded()).toContain('"transport":"mcp_http"');
  });
});

test('a call that is too large to inspect goes to a remote server and back in parts', async () => {
  const server = await remote();
  const { begin, say } = shim(server.url, { flags: ['--profile', 'development'] });
  await begin();
  const long = 'é'.repeat(1_500_000);
  const { result } = await say({ long });
  expect(result?.content?.[0]?.text).toBe(`${JSON.stringify({ long })} `);
  const call = server.calls.find(({ message }) => message.method === 'tools/call');
  expect(call?.headers['transfer-encoding']).toBe('chunked');
});

describe('the token of a remote server', () => {
  test('comes from the environment, is sent, and is nowhere on record', async () => {
    const server = await remote();
    const { begin, say, child, over, recorded } = shim(server.url, {
      flags: [
        '--bearer-env',
        'FAR_TOKEN',
        '--header',
        'X-Team: blue',
        '--header-env',
        'X-Key=FAR_KEY',
      ],
      env: { FAR_TOKEN: TOKEN, FAR_KEY: 'key-93b1c7d5' },
    });
    await begin();
    await say({ token: TOKEN });
    child.stdin?.end();
    const { stderr } = await over;
    for (const { headers } of server.calls) {
      expect(headers).toMatchObject({
        authorization: `Bearer ${TOKEN}`,
        'x-team': 'blue',
        'x-key': 'key-93b1c7d5',
      });
    }
    expect(recorded()).not.toContain(TOKEN);
    expect(stderr).not.toContain(TOKEN);
  });

  test('comes from a secret that is bound to the address', async () => {
    const server = await remote();
    const config = [
      '[[servers.far.secret_bindings]]',
      'inject_as = "FAR_TOKEN"',
      'secret_ref = "VAULTED"',
      'source = "env"',
      `url = "${server.url}"`,
    ].join('\n');
    const { begin } = shim(server.url, {
      config,
      flags: ['--bearer-env', 'FAR_TOKEN'],
      env: { VAULTED: TOKEN },
    });
    await begin();
    expect(server.calls[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
  });

  test('that is bound to another address is not given, and the shim says so', async () => {
    const config = [
      '[[servers.far.secret_bindings]]',
      'inject_as = "FAR_TOKEN"',
      'secret_ref = "VAULTED"',
      'source = "env"',
      'url = "https://mcp.example.com/mcp"',
    ].join('\n');
    const { over } = shim('http://127.0.0.1:9/mcp', {
      config,
      flags: ['--bearer-env', 'FAR_TOKEN'],
      env: { VAULTED: TOKEN },
    });
    const { code, stderr } = await over;
    expect(code).toBe(2);
    expect(stderr).toContain('bound to another address');
    expect(stderr).not.toContain(TOKEN);
  });

  test('that is missing is told to the agent with the command that gets one', async () => {
    const server = await remote((_, response) => {
      response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
      return true;
    });
    const { ask } = shim(server.url);
    const { error } = await ask('initialize', INITIALIZE);
    expect(error?.message).toContain('sub auth login far');
  });
});

describe('a shim of a remote server', () => {
  test.each([
    [['--url', 'ftp://example.com'], 'neither https nor http'],
    [['--url', 'https://user:pw@example.com/'], 'has a password in it'],
    [['--url', 'https://example.com/', '--transport', 'carrier'], '--transport takes'],
    [['--url', 'https://example.com/', '--header', 'Host: x'], 'written by `sub` itself'],
    [['--url', 'https://example.com/', '--header', 'x'], '`Name: value`. Run `sub shim --help`'],
    [['--url', 'https://example.com/', '--bearer-env', 'NOT_SET'], 'which is not set'],
    [['--url', 'https://example.com/', '--', 'node'], 'a command or an address'],
    [['--bearer-env', 'X', '--', 'node'], 'need --url'],
  ])('does not start with %j', async (flags, words) => {
    const folder = mkdtempSync(join(tmpdir(), 'sub-shim-url-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const child = startSub(['shim', '--server-name', 'far', ...flags], {
      cwd: folder,
      env: { HOME: folder, SUB_HOME: join(folder, 'home') },
    });
    const { code, stderr } = await ended(child);
    expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
  });

  test('answers each request while the server is not there, and goes on when it is', async () => {
    const { ask, child, over } = shim('http://127.0.0.1:9/mcp');
    const { error } = await ask('initialize', INITIALIZE);
    expect(error?.message).toContain(
      'cannot be reached. The upstream refuses connections. Nothing',
    );
    expect((await ask('initialize', INITIALIZE)).error).toBeDefined();
    child.stdin?.end();
    expect(await over).toMatchObject({ code: 0 });
  });

  test('ends its session on the server when the agent leaves, and by a signal', async () => {
    for (const leave of ['end', 'SIGTERM'] as const) {
      const server = await remote();
      const { begin, child, over } = shim(server.url);
      await begin();
      if (leave === 'end') child.stdin?.end();
      else child.kill(leave);
      expect(await over).toMatchObject({ code: leave === 'end' ? 0 : 143 });
      expect(server.calls.at(-1)).toMatchObject({ method: 'DELETE' });
    }
  });

  test('waits for the answers of an agent that has closed its output', async () => {
    let answer: () => void = () => {};
    const server = await remote(({ message }, response) => {
      if (message.method !== 'tools/call') return false;
      answer = () => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: { content: [] } }));
      };
      return true;
    });
    const { begin, say, child, over } = shim(server.url);
    await begin();
    const said = say({});
    await expect
      .poll(() => server.calls.some(({ message }) => message.method === 'tools/call'))
      .toBe(true);
    child.stdin?.end();
    answer();
    expect(await said).toMatchObject({ result: { content: [] } });
    expect(await over).toMatchObject({ code: 0 });
  });
});
