// Servers that are reached by an address: here each of them is a `sub serve` itself.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textIn } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { startIssuer } from '../services/serve/auth/testing/issuer.ts';
import {
  begin,
  call,
  messagesOf,
  modern,
  modernRequest,
  post,
  served,
  textOf,
} from './testing/served.ts';

function before(url: string, more = '', auth = 'none: true'): string {
  return `listen: 127.0.0.1:0\nauth: {${auth}}\nservers: {files: {url: ${JSON.stringify(url)}${more}}}\n`;
}

test('a session reaches a server by its address, with progress and large answers', async () => {
  verifies('ST-8.5', 'ST-8.8');
  const upstream = await served();
  const { url, close } = await served({ config: before(upstream.url()) });
  const session = await begin(url());
  expect(await textOf(await post(url(), call(1, 'echo', { message: 'far' }), session))).toBe('far');
  const progress = await post(url(), call(2, 'progress', {}, { progressToken: 'p' }), session);
  const messages = await messagesOf(progress);
  expect(messages.map(({ id, params }) => id ?? params?.progressToken)).toEqual(['p', 'p', 2]);
  await close();
  // Its session there has ended with it.
  const ends = upstream.eventsOf('run_end');
  await upstream.close();
  expect(ends).toEqual([]);
  expect(upstream.eventsOf('run_end')).toMatchObject([{ run: { status: 'SUCCEEDED' } }]);
});

test('requests of 2026-07-28 go on as such, and a closed stream cancels there too', async () => {
  const upstream = await served();
  const { url } = await served({ config: before(upstream.url()) });
  expect(await textOf(await modern(url(), 1, 'echo', { args: { message: 'far' } }))).toBe('far');
  const closing = new AbortController();
  const held = modern(url(), 2, 'hold', { signal: closing.signal });
  const holding = async () => textOf(await modern(url(), 3, 'holding'));
  await expect.poll(holding).toBe('1');
  closing.abort();
  await expect(held).rejects.toThrow('abort');
  await expect.poll(holding).toBe('0');
});

test('the headers of a call say what its body says there, not what its caller has said', async () => {
  const seen: IncomingMessage['headers'][] = [];
  const properties = {
    region: { type: 'string', 'x-mcp-header': 'Region' },
    bcc: { type: 'string', 'x-mcp-header': 'Bcc' },
  };
  const tools = [{ name: 'send', inputSchema: { type: 'object', properties } }];
  const upstream = createServer((request, response) => {
    if (request.headers['mcp-method'] === 'tools/call') seen.push(request.headers);

    void textIn(request).then((body) => {
      const { id } = JSON.parse(body) as { id: unknown };
      const result = { supportedVersions: ['2026-07-28'], capabilities: {}, tools, content: [] };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
  });
  await new Promise<void>((resolve) => {
    upstream.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void upstream.close());
  const { port } = upstream.address() as AddressInfo;
  const manifest =
    'server: files\ndefault: auto_execute\nschema_rewrites: { send: { strip_params: [bcc] } }\n';
  const { url } = await served({
    config: before(`http://127.0.0.1:${port}/mcp`),
    homeFiles: { 'manifests/files.yaml': manifest },
  });
  const listed = await modernRequest(url(), 1, 'tools/list');
  const shown = await listed.text();
  expect(shown).toContain('Region');
  expect(shown).not.toContain('bcc');
  const headers = { 'mcp-param-region': 'eu', 'mcp-param-bcc': 'x' };
  const passed = await modern(url(), 2, 'send', { args: { region: 'eu' }, headers });
  expect(await messagesOf(passed)).toMatchObject([{ id: 2, result: {} }]);
  const refused = await modern(url(), 3, 'send', { args: { region: 'eu', bcc: 'x' }, headers });
  expect(JSON.stringify(await messagesOf(refused))).toContain('bcc');
  expect(seen).toHaveLength(1);
  expect(seen[0]).toMatchObject({ 'mcp-param-region': 'eu' });
  expect(seen[0]).not.toHaveProperty('mcp-param-bcc');
});

test('the end waits for sessions that are just ending, and their sessions upstream', async () => {
  const order: string[] = [];
  let deleted: () => void = () => {};
  const deleting = new Promise<void>((resolve) => {
    deleted = resolve;
  });
  const ended = async (response: ServerResponse): Promise<void> => {
    // What does not wait has ended by then.
    for (let turn = 0; turn < 5; turn++) await fetch(upstreamUrl).then((one) => one.text());
    order.push('session');
    response.end();
  };
  const upstream = createServer((request, response) => {
    if (request.method === 'DELETE') {
      deleted();
      return void ended(response);
    }
    void textIn(request).then((body) => {
      const { id } = JSON.parse(body === '' ? '{}' : body) as { id?: unknown };
      if (id === undefined) return response.writeHead(request.method === 'GET' ? 405 : 202).end();
      const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: {} };
      const headers = { 'content-type': 'application/json', 'mcp-session-id': 'one' };
      return response.writeHead(200, headers).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
  });
  await new Promise<void>((resolve) => {
    upstream.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void upstream.close());
  const { port } = upstream.address() as AddressInfo;
  const upstreamUrl = `http://127.0.0.1:${port}/mcp`;
  const { url, close } = await served({ config: before(upstreamUrl) });
  const session = await begin(url());
  expect((await fetch(url(), { method: 'DELETE', headers: session })).status).toBe(200);
  await deleting;
  await close();
  order.push('serve');
  expect(order).toEqual(['session', 'serve']);
});

test('an upstream that is away is an error of its calls alone', async () => {
  const gone = await served();
  const there = await served();
  const config = `listen: 127.0.0.1:0\nauth: {none: true}\nservers: {gone: {url: "${gone.url()}"}, files: {url: "${there.url()}"}}\n`;
  const { url } = await served({ config });
  await gone.close(true);
  const session = await begin(url());
  const response = await post(
    url('gone'),
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} }),
  );
  expect(await messagesOf(response)).toMatchObject([{ id: 1, error: {} }]);
  expect(await textOf(await post(url(), call(1, 'echo', { message: 'on' }), session))).toBe('on');
});

test('the token of a caller goes to an upstream only where the configuration says so', async () => {
  const issuer = await startIssuer();
  onTestFinished(() => issuer.close());
  const aud = 'https://mcp.example.com/all';
  const auth = `jwt: [{issuer: "${issuer.url}", audiences: ["${aud}"]}]}\npublic_url: https://mcp.example.com\nlimits: {drain_s: 1`;
  const upstream = await served({
    config: before('', '', auth).replace('url: ""', 'command: COMMAND'),
  });
  const caller = { authorization: `Bearer ${await issuer.sign({ aud })}` };
  const closed = await served({ config: before(upstream.url(), '', auth) });
  const initialize = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} });
  expect((await post(closed.url(), initialize)).status).toBe(401);
  const [answer] = await messagesOf(await post(closed.url(), initialize, caller));
  expect(JSON.stringify(answer)).toContain('sub auth login');
  const open = await served({ config: before(upstream.url(), ', pass_token: true', auth) });
  const session = await begin(open.url(), '2025-11-25', caller);
  const echoed = await post(open.url(), call(1, 'echo', { message: 'me' }), session);
  expect(await textOf(echoed)).toBe('me');
});

test.each(['development', 'production'])(
  'a server that lacks its secret is not ready in %s, and a reload finds the secret that was set',
  async (profile) => {
    const upstream = await served();
    const settings =
      '[[servers.docs.secret_bindings]]\ninject_as = "TOKEN"\nsecret_ref = "docs_token"\nsource = "file"\n';
    const config = `listen: 127.0.0.1:0\nauth: {none: true}\nservers: {docs: {url: "${upstream.url()}", bearer_env: TOKEN}, files: {command: COMMAND}}\n`;
    const { url, lines, reload, writeHome } = await served({
      config,
      flags: { profile },
      homeFiles: { 'config.toml': settings },
    });
    expect(lines.join('\n')).toMatch(/The server docs is not ready.*docs_token/s);
    const session = await begin(url());
    expect(await textOf(await post(url(), call(1, 'echo', { message: 'on' }), session))).toBe('on');
    const initialize = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} });
    for (const refused of [
      await post(url('docs'), initialize),
      await modern(url('docs'), 1, 'echo'),
    ]) {
      expect(refused.status).toBe(503);
      const text = await refused.text();
      expect(JSON.parse(text)).toMatchObject({ id: 1, error: { code: -31_080 } });
      expect(text).toContain('SIGHUP');
      expect(text).not.toMatch(/docs_token|TOKEN/);
    }
    const ready = await fetch(url().replace('/mcp/files', '/readyz'));
    expect(await ready.json()).toEqual({ status: 'ready', servers_not_ready: 1 });
    writeHome('secrets/docs_token', 'a-token-of-docs');
    reload();
    await expect.poll(() => lines.join('\n')).toContain('The server docs is ready.');
    const there = await begin(url('docs'));
    expect(await textOf(await post(url('docs'), call(1, 'echo', { message: 'up' }), there))).toBe(
      'up',
    );
    expect((await post(url(), call(2, 'echo'), session)).status).toBe(200);
  },
);

test('where no server is ready, neither is the address', async () => {
  const { url } = await served({ config: before('http://127.0.0.1:9/mcp', ', bearer_env: TOKEN') });
  const ready = await fetch(url().replace('/mcp/files', '/readyz'));
  expect(ready.status).toBe(503);
  expect(await ready.json()).toEqual({ status: 'not_ready', servers_not_ready: 1 });
});
