// What a hub does with connections of frames that no honest shim makes.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { HUB_CONNECTION } from '@subluminal/contracts/hub-frames';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Crew, TOKEN } from './testing/crew.ts';
import { budget, policyOf, RUN } from './testing/scenario.ts';

const { path: PATH, protocol: PROTOCOL } = HUB_CONNECTION;
const LIMITS = { bodyBytesMax: 1_000, bodiesBytesMax: 1_200 };
const HEALTH = '{"id":1,"to":"health","body":null}\n';

let crew: Crew;

beforeEach(() => {
  crew = new Crew();
});

afterEach(() => crew.end());

function upgrade(path: string = PATH, protocol: string = PROTOCOL, more = ''): string {
  const fields = `Host: localhost\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n${more}`;
  return `GET ${path} HTTP/1.1\r\n${fields}\r\n`;
}

function socketTo(place: { readonly path: string } | { readonly port: number }): Socket {
  const socket = connect(place);
  // However it ends: who is cut off while writing gets an error, and that is meant.
  socket.on('error', () => {});
  crew.atEnd(() => socket.destroy());
  return socket;
}

/** Says this, and gives the first line of the answer, once the connection has ended. */
async function refusalOf(socket: Socket, head: string): Promise<string> {
  let text = '';
  socket.on('data', (chunk) => {
    text += String(chunk);
  });
  socket.write(head);
  await once(socket, 'close');
  return text.split('\r\n', 1)[0] ?? '';
}

/** A connection of frames, and what comes back line by line. */
async function framed() {
  const socket = socketTo({ path: crew.socketPath });
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => String((await lines.next()).value);
  socket.write(upgrade());
  while ((await next()) !== '');
  const isClosed = new Promise((resolve) => {
    socket.once('close', () => resolve(true));
  });
  return { socket, next, isClosed };
}

it('a connection whose client says no more is ended at once', async () => {
  await crew.hub();
  const { socket, isClosed } = await framed();
  socket.end();
  expect(await isClosed).toBe(true);
});

describe('a connection becomes none of frames', () => {
  it.each([
    ['from a page of a browser', upgrade(PATH, PROTOCOL, 'Origin: https://example.com\r\n'), 403],
    ['elsewhere', upgrade('/healthz'), 404],
    ['by another protocol', upgrade(PATH, 'websocket'), 400],
  ])('%s', async (_, head, status) => {
    await crew.hub();
    const line = await refusalOf(socketTo({ path: crew.socketPath }), head);
    expect(line).toContain(`HTTP/1.1 ${status} `);
    expect(await crew.metrics()).toContain(`refused_requests_total{status="${status}"} 1`);
  });

  it('without the token of a port', async () => {
    const { endpoint } = await crew.hub({ listen: { kind: 'tcp', token: TOKEN } });
    const { port, host } = new URL(endpoint);
    const head = upgrade().replace('localhost', host);
    expect(await refusalOf(socketTo({ port: Number(port) }), head)).toContain('HTTP/1.1 401 ');
    const wrong = head.replace('\r\n\r\n', '\r\nAuthorization: Bearer wrong\r\n\r\n');
    expect(await refusalOf(socketTo({ port: Number(port) }), wrong)).toContain('HTTP/1.1 401 ');
  });

  it('at a hub that ends', async () => {
    const hub = await crew.hub();
    const before = await framed();
    const closing = hub.close();
    expect(await before.isClosed).toBe(true);
    await closing;
  });
});

describe('a frame', () => {
  it.each([
    ['is no JSON', 'hello\n'],
    ['is no object', '[]\n'],
    ['has no name', '{"id":1,"body":null}\n'],
    ['has a number that is none', '{"id":"1","to":"health","body":null}\n'],
    ['is too long', `{"id":1,"to":"health","body":"${'x'.repeat(3_000)}"}\n`],
    ['has no end', 'x'.repeat(3_000)],
  ])('that %s ends its connection, and no other', async (_, text) => {
    await crew.hub({ serverLimits: LIMITS });
    const other = await framed();
    const { socket, isClosed } = await framed();
    socket.write(text);
    expect(await isClosed).toBe(true);
    other.socket.write(HEALTH);
    expect(await other.next()).toContain('{"id":1,"status":200,');
  });

  it.each(['/healthz', 'metrics', 'unknown', 'constructor'])(
    'that asks for %s is answered with 404',
    async (to) => {
      await crew.hub();
      const { socket, next } = await framed();
      socket.write(`${JSON.stringify({ id: 7, to, body: null })}\n${HEALTH}`);
      expect(await next()).toContain('{"id":7,"status":404,');
      expect(await next()).toContain('{"id":1,"status":200,');
    },
  );

  it.each(['lease', 'evaluate', 'observe', 'heartbeat'])(
    'for %s with a body that breaks the contract is answered with 400',
    async (to) => {
      await crew.hub();
      const { socket, next } = await framed();
      socket.write(`${JSON.stringify({ id: 1, to, body: { run_id: 5 } })}\n`);
      expect(await next()).toContain('{"id":1,"status":400,');
    },
  );

  it('that has no end takes room from others only while it is there', async () => {
    await crew.hub({ serverLimits: LIMITS });
    const [slow, greedy] = [await framed(), await framed()];
    const begun = `{"id":2,"to":"health","body":"${'x'.repeat(700)}`;
    slow.socket.write(HEALTH + begun);
    await slow.next();
    greedy.socket.write(begun);
    expect(await greedy.isClosed).toBe(true);
    slow.socket.write('"}\n');
    expect(await slow.next()).toContain('{"id":2,"status":200,');
    const later = await framed();
    later.socket.write(HEALTH + begun);
    await later.next();
    later.socket.write('"}\n');
    expect(await later.next()).toContain('{"id":2,"status":200,');
  });

  it('that does not end in time ends its connection, and what it held is free again', async () => {
    const limits = {
      bodyBytesMax: 100_000,
      bodiesBytesMax: 100_000,
      headersMs: 100,
      requestMs: 100,
    };
    await crew.hub({ serverLimits: { ...limits, idleMs: 600_000 } });
    const begun = `{"id":1,"to":"health","body":"${'x'.repeat(60_000)}`;
    const { socket: slow, isClosed } = await framed();
    slow.write(begun);
    const drip = setInterval(() => slow.write('x'), 50);
    crew.atEnd(() => clearInterval(drip));
    expect(await isClosed).toBe(true);
    const { socket, next } = await framed();
    socket.write(`${begun}"}\n`);
    expect(await next()).toContain('{"id":1,"status":200,');
  });

  it('that came while the hub stood still is answered, however long that was', async () => {
    await crew.hub({ serverLimits: { idleMs: 50 } });
    const { socket, next, isClosed } = await framed();
    socket.write(HEALTH);
    const untilMs = performance.now() + 200;
    while (performance.now() < untilMs);
    const first = await Promise.race([next(), isClosed]);
    expect(first).toContain('{"id":1,"status":200,');
    // Then it says nothing any more.
    expect(await isClosed).toBe(true);
  });

  it.each([-1, -1e9, 1.5, 2 ** 53, 1e308, '9', null])(
    'that returns or wants %s calls adds none to the budget',
    async (calls) => {
      const hub = await crew.hub();
      const { file, hash } = await policyOf([budget('cap', { limit_calls: 10 })]);
      await hub.policy(file);
      const lease = (wanted: unknown) => ({
        policy_hash: hash,
        leases: [{ rule: 'budget cap', key: 'run', calls: wanted }],
      });
      const { socket, next } = await framed();
      const say = (frame: object) => socket.write(`${JSON.stringify(frame)}\n`);
      const asked = (body: object) => {
        say({ id: 1, to: 'lease', body });
        return next();
      };
      say({ to: 'return', body: lease(calls) });
      expect(await asked({ run_id: RUN, ...lease(calls) })).toContain('"status":400');
      say({ to: 'return', body: { ...lease(calls), recall: 1 } });
      expect(await asked({ run_id: RUN, ...lease(1_000) })).toContain('"calls":10}');
      expect(await asked({ run_id: RUN, ...lease(1) })).toContain('"calls":0}');
      expect(await asked({ run_id: 'another run', ...lease(1) })).toContain('"status":400');
    },
  );

  it('is no longer answered to whoever reads no answers', async () => {
    await crew.hub({ serverLimits: { unreadBytesMax: 10_000 } });
    const { socket, isClosed } = await framed();
    socket.pause();
    const flood = setInterval(() => socket.write(HEALTH.repeat(100)), 1);
    crew.atEnd(() => clearInterval(flood));
    expect(await isClosed).toBe(true);
  });
});
