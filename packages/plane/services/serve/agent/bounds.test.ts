import { once } from 'node:events';
import {
  createServer,
  get,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text as textIn } from 'node:stream/consumers';
import { Outline, type SeenRequest } from '@subluminal/core/session';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { seenIn } from '../../transports/http/message-facts.ts';
import type { Incoming, ReadMessage } from '../../transports/types.ts';
import { BackPressure } from './back-pressure.ts';
import { EventStream } from './event-stream.ts';
import { Exchange } from './exchange.ts';
import { LegacyAgent } from './legacy-agent.ts';
import { ModernAgent } from './modern-agent.ts';
import { callerRooms, Room } from './room.ts';

const MEGABYTE = 1024 * 1024;

function notification(bytes: number, data = 'x'): Buffer {
  const params = { level: 'info', data: data.repeat(bytes) };
  return Buffer.from(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params }));
}

function bytesOf(message: Incoming): Buffer {
  return Buffer.from('bytes' in message ? message.bytes : []);
}

let server: Server;
let waiting: (pair: readonly [IncomingMessage, ServerResponse]) => void;
beforeEach(async () => {
  server = createServer((request, response) => waiting([request, response]));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** A request that a client has made, and what it reads. */
async function exchange(headers: { readonly [name: string]: string } = {}) {
  const { port } = server.address() as AddressInfo;
  const arrived = new Promise<readonly [IncomingMessage, ServerResponse]>((resolve) => {
    waiting = resolve;
  });
  const answered = new Promise<IncomingMessage>((resolve) => {
    get({ host: '127.0.0.1', port, headers, agent: false }, (response) => {
      // A test may be over before it is.
      response.on('error', () => {});
      resolve(response);
    }).on('error', () => {});
  });
  const [request, response] = await arrived;
  return { request, response, answered };
}

test('messages for a server that reads nothing wait within bounds', () => {
  const agent = new LegacyAgent('id');
  agent.hold();
  const message = notification(100_000);
  let taken = 0;
  while (agent.hasRoom && taken < 1_000) {
    agent.take(message);
    taken += 1;
  }
  expect(agent.hasRoom).toBe(false);
  expect(taken * message.length).toBeLessThan(9 * MEGABYTE);
  const seen: number[] = [];
  agent.read({ incoming: (messages) => seen.push(messages.length), end: () => {} });
  agent.release();
  expect(seen).toHaveLength(taken);
  expect(agent.hasRoom).toBe(true);
});

test('the sessions of one caller have bounds together, and what has ended takes none', () => {
  const rooms = callerRooms();
  const sessions = Array.from({ length: 20 }, () => new LegacyAgent('id', rooms));
  const message = notification(500_000);
  for (const session of sessions) {
    session.hold();
    while (session.hasRoom) session.take(message);
  }
  expect(rooms.inbox.bytes).toBeLessThan(80 * MEGABYTE);
  expect(new LegacyAgent('id', rooms).hasRoom).toBe(false);
  expect(new LegacyAgent('id', callerRooms()).hasRoom).toBe(true);
  for (const session of sessions) session.closeWith('over');
  expect(rooms.inbox.bytes).toBe(0);
});

test('the streams of one caller keep so many events together', () => {
  const rooms = callerRooms();
  const kept = (): EventStream => {
    const room = new Room(4 * MEGABYTE, rooms.kept);
    return new EventStream({
      ...{ name: 'p1', primes: false, headers: {}, kept: room },
      pressure: new BackPressure(),
    });
  };
  const streams = Array.from({ length: 200 }, kept);
  for (const stream of streams) stream.send(notification(900_000));
  expect(rooms.kept.bytes).toBeLessThan(70 * MEGABYTE);
  for (const stream of streams) stream.forget();
  expect(rooms.kept.bytes).toBe(0);
});

test('small messages for a server that reads nothing are counted, too', () => {
  const agent = new LegacyAgent('id');
  agent.hold();
  let taken = 0;
  for (; agent.hasRoom && taken < 10_000; taken++) agent.take(notification(1));
  expect(taken).toBe(1_024);
});

test('of large requests without an id at their start, one is taken at a time', async () => {
  const agent = new LegacyAgent('id');
  agent.hold();
  const head = Buffer.from('{"jsonrpc":"2.0","method":"tools/call","params":{"name":"');
  const seen = seenIn(head);
  expect(agent.takesLarge(seen)).toBe(true);
  const { request, response } = await exchange();
  agent.postLarge({ request, head, bytesMax: MEGABYTE }, seen, response);
  expect(agent.takesLarge(seen)).toBe(false);
});

test('an answer that is too large to be kept until it names its request is an error for that one', async () => {
  const agent = new LegacyAgent('id');
  const texts: Promise<string>[] = [];
  for (const id of [1, 2]) {
    const { response, answered } = await exchange();
    const message = Buffer.from(`{"jsonrpc":"2.0","id":${id},"method":"tools/call"}`);
    agent.post(message, seenIn(message), response);
    texts.push(answered.then((answer) => textIn(answer)));
  }
  const head = Buffer.from(`{"result":{"content":"${'x'.repeat(MEGABYTE)}`);
  const outline = new Outline();
  outline.feed(head);
  const soFar = outline.soFar();
  const read = { kind: 'head', from: 'server', bytes: head, outline, soFar, call: undefined };
  agent.writePart(head, read as ReadMessage);
  for (let at = 0; at < 16; at++) agent.writePart(Buffer.alloc(MEGABYTE, 'x'));
  agent.writePart(Buffer.from('"},"jsonrpc":"2.0","id":2}'));
  agent.endParts();
  agent.write(Buffer.from('{"jsonrpc":"2.0","id":1,"result":{}}'));
  expect(JSON.parse((await texts[1]) ?? '')).toMatchObject({ id: 2, error: { code: -32_603 } });
  expect(JSON.parse((await texts[0]) ?? '')).toMatchObject({ id: 1, result: {} });
});

test('a large request whose client is gone before its turn keeps no other waiting', async () => {
  const agent = new LegacyAgent('id');
  const kinds: string[] = [];
  agent.read({
    incoming: (messages) => kinds.push(...messages.map(({ kind }) => kind)),
    end: () => {},
  });
  agent.hold();
  const head = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"');
  const { request, response } = await exchange();
  agent.postLarge({ request, head, bytesMax: MEGABYTE }, seenIn(head), response);
  const closed = new Promise((resolve) => request.once('close', resolve));
  request.socket.destroy();
  await closed;
  agent.take(notification(1));
  agent.release();
  expect(kinds).toEqual(['head', 'end', 'message']);
});

test('a large answer that is broken off leaves nothing in the next one', async () => {
  const agent = new ModernAgent();
  const sent: Buffer[] = [];
  agent.read({ incoming: (all) => sent.push(...all.map(bytesOf)), end: () => {} });
  const texts: string[] = [];
  for (const word of ['first', 'second']) {
    const { response, answered } = await exchange();
    const asked = Buffer.from(`{"jsonrpc":"2.0","id":"${word}","method":"tools/call"}`);
    agent.post(asked, seenIn(asked) as SeenRequest, response);
    const inside = /"id":("[^"]*")/.exec(String(sent.at(-1)))?.[1] ?? '';
    const head = Buffer.from(
      `{"jsonrpc":"2.0","id":${inside},"result":{"text":"${word.repeat(99)}`,
    );
    const outline = new Outline();
    outline.feed(head);
    const soFar = outline.soFar();
    agent.writePart(head, {
      kind: 'head',
      from: 'server',
      bytes: head,
      outline,
      soFar,
      call: undefined,
    });
    if (word === 'first') {
      agent.abortParts();
      continue;
    }
    agent.writePart(Buffer.from('"}}'));
    agent.endParts();
    for await (const part of await answered) texts.push(String(part));
  }
  expect(texts.join('')).toBe(
    `data: {"jsonrpc":"2.0","id":"second","result":{"text":"${'second'.repeat(99)}"}}\n\n`,
  );
});

test('what waits behind a large answer that stands still is bounded', async () => {
  const { request, response, answered } = await exchange();
  const stream = new EventStream({
    name: 'p1',
    primes: false,
    headers: {},
    pressure: new BackPressure(),
    kept: new Room(MEGABYTE),
  });
  stream.attach(response);
  stream.sendPart(Buffer.from('{"result":"'));
  stream.send(notification(1));
  expect(response.destroyed).toBe(false);
  for (let count = 0; count < 3; count++) stream.send(notification(MEGABYTE / 2));
  expect(response.destroyed).toBe(true);
  const cut = once(await answered, 'error');
  await cut;
  // The rest of it is no event of the next connection.
  const next = await exchange();
  expect(stream.resume(next.response, 5)).toBe(true);
  stream.sendPart(Buffer.from('the rest'));
  stream.endParts();
  stream.send(notification(1));
  stream.end();
  let text = '';
  for await (const part of await next.answered) text += String(part);
  expect(text).toBe(`id: p1_6\ndata: ${notification(1).toString()}\n\n`);
  expect(request.destroyed).toBe(true);
});

test('a client without a stream gets the last messages only, and not without end', async () => {
  const agent = new LegacyAgent('id');
  for (let count = 0; count < 256; count++) agent.write(notification(500_000, String(count % 10)));
  const { request, response, answered } = await exchange();
  expect(agent.attach(request, response)).toBe('attached');
  agent.closeWith('over');
  let bytes = 0;
  for await (const part of await answered) bytes += (part as Buffer).length;
  expect(bytes).toBeGreaterThan(500_000);
  expect(bytes).toBeLessThan(2 * MEGABYTE);
});

test('a client that comes back without an event gets what it has missed, once', async () => {
  const agent = new LegacyAgent('id');
  const first = await exchange();
  agent.attach(first.request, first.response);
  agent.write(notification(1, 'a'));
  const closed = once(first.response, 'close');
  (await first.answered).destroy();
  await closed;
  agent.write(notification(1, 'b'));
  const second = await exchange();
  expect(agent.attach(second.request, second.response)).toBe('attached');
  agent.write(notification(1, 'c'));
  agent.closeWith('over');
  const events = (await textIn(await second.answered)).match(/"data":"./g);
  expect(events).toEqual(['"data":"b', '"data":"c']);
});

test('a stream goes on behind what was got last, unless too much has come since', async () => {
  const agent = new LegacyAgent('id');
  const first = await exchange();
  agent.attach(first.request, first.response);
  agent.write(notification(10));
  agent.write(notification(20));
  const second = await exchange({ 'last-event-id': 'get_1' });
  expect(agent.attach(second.request, second.response)).toBe('attached');
  for (let count = 0; count < 20; count++) agent.write(notification(500_000));
  const third = await exchange({ 'last-event-id': 'get_2' });
  expect(agent.attach(third.request, third.response)).toBe('gone');
});

test('a response without an answer becomes a stream, which comments keep alive', async () => {
  const agent = new ModernAgent();
  agent.read({ incoming: () => {}, end: () => {} });
  const { response, answered } = await exchange();
  const bytes = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}');
  agent.post(bytes, seenIn(bytes) as SeenRequest, response);
  agent.tick(performance.now() + 3_000);
  const stream = await answered;
  expect(stream.headers['content-type']).toBe('text/event-stream');
  agent.tick(performance.now() + 20_000);
  const parts = stream[Symbol.asyncIterator]();
  expect(String((await parts.next()).value)).toMatch(/^:[^\n]*\n\n/);
});

test('a client that never reads its answer is given up', async () => {
  const arrived = new Promise<ServerResponse>((resolve) => {
    waiting = ([, response]) => resolve(response);
  });
  const { port } = server.address() as AddressInfo;
  const client = connect(port, '127.0.0.1').pause();
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const response = await arrived;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const stream = () =>
    new EventStream({ name: 'p', primes: false, headers: {}, pressure: new BackPressure() });
  // More than the connection takes by itself.
  new Exchange({ response, ids: ['1'], stream, headers: {} }).answer(
    notification(16 * MEGABYTE),
    ['1'],
    200,
  );
  const closed = once(response, 'close');
  vi.advanceTimersByTime(60_000);
  vi.useRealTimers();
  await closed;
  expect(response.destroyed).toBe(true);
  client.destroy();
});
