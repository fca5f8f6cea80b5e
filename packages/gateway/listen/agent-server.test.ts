import { once } from 'node:events';
import { get } from 'node:http';
import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { type AgentServerOptions, openAgentServer } from './agent-server.ts';

const GRACE_MS = 3_600_000;
const TOKEN = 't'.repeat(32);

async function opened(options: Partial<AgentServerOptions> = {}) {
  const server = await openAgentServer({
    port: 0,
    handle: (_request, response) => response.end('Done.'),
    ...options,
  });
  if (server.kind === 'failed') throw new Error(server.why);
  onTestFinished(() => server.close(0));
  return { ...server, port: Number(new URL(server.url).port) };
}

async function statusOf(port: number, headers: { readonly [name: string]: string }) {
  return new Promise<number | undefined>((resolve, reject) => {
    const asked = get({ host: '127.0.0.1', port, headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asked.on('error', reject);
  });
}

it('a connection that nothing was sent on does not hold up the end of a server for agents', async () => {
  const server = await opened();
  const unused = connect(server.port, '127.0.0.1');
  await once(unused, 'connect');
  expect(await (await fetch(server.url)).text()).toBe('Done.');
  const closed = server.close(GRACE_MS);
  await once(unused, 'close');
  await closed;
});

it('a server for agents refuses other hosts, web pages, wrong tokens and whom its owner refuses', async () => {
  const { port } = await opened({
    token: TOKEN,
    credential: ({ url = '' }) => url.slice(1),
    refusal: ({ headers }) => (headers['x-foreign'] === undefined ? undefined : 'Not you.'),
  });
  expect(await statusOf(port, {})).toBe(401);
  expect(await statusOf(port, { host: 'example.com' })).toBe(403);
  expect(await statusOf(port, { origin: 'https://example.com' })).toBe(403);
  const ask = (headers: { readonly [name: string]: string }) =>
    fetch(`http://127.0.0.1:${port}/${TOKEN}`, { headers });
  expect((await ask({})).status).toBe(200);
  const foreign = await ask({ 'x-foreign': 'yes' });
  expect(foreign.status).toBe(403);
  expect(await foreign.json()).toMatchObject({ error: { message: 'Subluminal: Not you.' } });
});

it('a server for agents tells a client that asks for a WebSocket to use HTTP', async () => {
  const { port } = await opened();
  const socket = connect(port, '127.0.0.1');
  socket
    .setEncoding('utf8')
    .write(
      `GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    );
  let told = '';
  socket.on('data', (text: string) => (told += text));
  await once(socket, 'close');
  expect(told).toMatch(/^HTTP\/1\.1 426 /);
});
