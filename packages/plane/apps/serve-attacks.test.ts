// Callers and servers that try to get past `sub serve`, with the real session and real processes behind it.
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text as textIn } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { startIssuer } from '../services/serve/auth/testing/issuer.ts';
import { begin, call, modern, post, served, textOf } from './testing/served.ts';

const NO_HOLD = `
policy_id: serve-attacks
version: "1"
mode: guardrails
rules:
  - rule_id: no-hold
    kind: deny
    match: { tool_name: { glob: ["hold"] } }
    effect: { action: BLOCK }
`;

test.each([
  ['', '\n', 1],
  ['large ', '\n', 1_100_000],
  ['', '\r\n', 1],
  ['large ', '\r', 1_100_000],
])(
  'a line inside of a %smessage is no message for a server on stdio (%j)',
  async (_, end, size) => {
    const flags = { profile: 'production' };
    const { url } = await served({ policy: NO_HOLD, flags });
    const session = await begin(url());
    const args = `{"message":"${'x'.repeat(size)}","more":${end}${call(2, 'hold')}${end}}`;
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count","arguments":${args}}}`;
    expect(await textOf(await post(url(), body, session))).toBe(String(size));
    expect(await textOf(await post(url(), call(3, 'holding'), session))).toBe('0');
  },
);

/** A server of 2026-07-28 that tells each caller what it got to know of it: the token, or else the connection. */
async function tellingServer() {
  const server = createServer((request, response) => {
    void textIn(request).then((body) => {
      const { id } = JSON.parse(body) as { id: unknown };
      const text = request.headers.authorization ?? String(request.socket.remotePort);
      const content = [{ type: 'text', text }];
      const result = { supportedVersions: ['2026-07-28'], capabilities: {}, content };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

async function servedByTokens(server: string) {
  const issuer = await startIssuer();
  onTestFinished(() => issuer.close());
  const aud = 'https://mcp.example.com/mcp/files';
  const { url, ...rest } = await served({
    config: `listen: 127.0.0.1:0
auth: {jwt: [{issuer: "${issuer.url}"}]}
public_url: https://mcp.example.com
servers: {files: ${server}}
`,
  });
  const token = (claims: object = {}) => issuer.sign({ aud, ...claims });
  const callWith = (bearer: string) =>
    modern(url(), 1, 'pid', { headers: { authorization: `Bearer ${bearer}` } });
  return { ...rest, url, token, callWith };
}

test('a call goes on with the token that it came with, and no other of its caller', async () => {
  const upstream = await tellingServer();
  const { token, callWith, close, home } = await servedByTokens(
    `{url: "${upstream}", pass_token: true}`,
  );
  const tokens = [await token({ scope: 'read' }), await token({ scope: 'read write' })];
  const answers = await Promise.all(tokens.map((one) => callWith(one)));
  expect(await Promise.all(answers.map(textOf))).toEqual(tokens.map((one) => `Bearer ${one}`));
  await close();
  const record = readFileSync(join(home, 'events.jsonl'), 'utf8');
  expect(record).toContain('"pid"');
  for (const one of tokens) expect(record).not.toContain(one.split('.')[2]);
});

test('callers with long names are not one caller in the record', async () => {
  const { token, callWith, close, eventsOf } = await servedByTokens('{command: COMMAND}');
  const long = 'x'.repeat(250);
  for (const sub of [`${long}1`, `${long}2`]) {
    expect((await callWith(await token({ sub }))).status).toBe(200);
  }
  await close();
  const principals = eventsOf('run_start').map(({ principal }) => principal ?? '');
  expect(new Set(principals).size).toBe(2);
  // As long as a request for an approval takes it.
  for (const principal of principals) expect(principal.length).toBeLessThanOrEqual(256);
});

test('a run that the policy has ended stays ended, and says why', async () => {
  const policy = `
policy_id: serve-attacks
version: "1"
mode: control
rules:
  - rule_id: few
    kind: budget
    match: { tool_name: { glob: ["echo"] } }
    effect: { budget: { scope: run, limit_calls: 1, on_exceed: TERMINATE_RUN } }
`;
  const { url, close, eventsOf } = await served({ policy, flags: { profile: 'production' } });
  const session = await begin(url());
  const other = await begin(url());
  const echo = (own: { [name: string]: string }) =>
    post(url(), call(1, 'echo', { message: 'x' }), own);
  expect(await textOf(await echo(session))).toBe('x');
  expect(await (await echo(session)).text()).toContain('The budget is used up');
  await expect.poll(async () => (await echo(session)).status).toBe(404);
  await expect.poll(async () => (await echo(other)).status).toBe(404);
  await expect(begin(url())).rejects.toThrow('403');
  expect((await modern(url(), 1, 'echo')).status).toBe(403);
  await close();
  expect(eventsOf('run_end')).toMatchObject([{ run: { status: 'TERMINATED' } }]);
});

test('a caller with many runs ends its oldest, and keeps those that are in use', async () => {
  const { url, eventsOf } = await served({
    config: `listen: 127.0.0.1:0
auth: {none: true}
servers: {files: {command: COMMAND}}
limits: {sessions_per_principal: 2}
`,
  });
  const inRun = (name: string) => begin(url(), '2025-11-25', { 'x-subluminal-run': name });
  const used = await inRun('used');
  for (const name of ['first', 'second']) {
    const headers = await inRun(name);
    expect((await fetch(url(), { method: 'DELETE', headers })).status).toBe(200);
    await expect.poll(async () => (await post(url(), call(1, 'pid'), headers)).status).toBe(404);
  }
  await inRun('third');
  const names = () => eventsOf('run_start').map(({ run_id }) => run_id);
  await expect
    .poll(() => eventsOf('run_end').map(({ run_id }) => run_id))
    .toEqual(names().slice(1, 3));
  expect((await post(url(), call(1, 'pid'), used)).status).toBe(200);
});

test.each([
  ['an id that nests without end', `{"jsonrpc":"2.0","id":${nested('[', ']')},"method":"ping"}`],
  ['an id of objects', `{"jsonrpc":"2.0","id":${nested('{"a":', '}')},"method":"ping"}`],
  ['what is no message', '1'],
  ['no end', '{'],
])('a batch with %s is refused, and no request in it waits', async (_, item) => {
  const { url } = await served();
  const session = await begin(url(), '2025-03-26');
  const answered = await post(url(), `[${call(1, 'pid')},${item}]`, session);
  expect(answered.status).toBe(400);
  expect(await textOf(await post(url(), call(1, 'echo', { message: 'x' }), session))).toBe('x');
});

function nested(open: string, close: string): string {
  const depth = 100_000;
  return `${open.repeat(depth)}1${close.repeat(depth)}`;
}

test('a process gets no token that is meant for another server', async () => {
  const { url } = await served({
    config: `listen: 127.0.0.1:0
auth: {none: true}
servers:
  far: {url: "http://127.0.0.1:9/mcp", bearer_env: FAR_TOKEN, header_env: {X-Key: FAR_KEY}}
  files: {command: COMMAND}
  own: {command: COMMAND, env: {FAR_KEY: own}}
`,
    variables: { FAR_TOKEN: 'token-of-far', FAR_KEY: 'key-of-far', OTHER: 'other' },
  });
  const told = async (server: string) => {
    const session = await begin(url(server));
    const names = ['FAR_TOKEN', 'FAR_KEY', 'OTHER'];
    const calls = names.map((name) => post(url(server), call(name, 'variable', { name }), session));
    return Promise.all((await Promise.all(calls)).map(textOf));
  };
  expect(await told('files')).toEqual(['undefined', 'undefined', 'other']);
  expect(await told('own')).toEqual(['undefined', 'own', 'other']);
});

test('callers share no connections to a server, so that nobody takes those of others', async () => {
  const keys = ['alice', 'bob'].map((name) => ({ name, sha256: hash('sha256', name) }));
  const { url } = await served({
    config: `listen: 127.0.0.1:0
auth: {keys: ${JSON.stringify(keys)}}
servers: {files: {url: "${await tellingServer()}"}}
`,
  });
  const connectionsOf = async (key: string) => {
    const headers = { authorization: `Bearer ${key}` };
    const used = new Set<string>();
    for (let id = 1; id <= 5; id++)
      used.add(await textOf(await modern(url(), id, 'pid', { headers })));
    return used;
  };
  const alice = await connectionsOf('alice');
  const bob = await connectionsOf('bob');
  expect([...bob].filter((one) => alice.has(one))).toEqual([]);
});
