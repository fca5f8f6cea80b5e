// The driver and the server of the benches, against each other: figures are worth nothing if calls
// are lost or refused unseen.
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { type Connection, PipeConnection } from './connection.ts';
import { Requests } from './requests.ts';

const SERVER = fileURLToPath(new URL('echo-server.mjs', import.meta.url));
const RELAY = fileURLToPath(new URL('../relay.mjs', import.meta.url));
const REFUSE = `process.stdin.on('data', () => console.log('{"jsonrpc":"2.0","id":1,"error":{}}'))`;

const open: Connection[] = [];
afterEach(async () => {
  for (const connection of open.splice(0)) await connection.close();
});

function connect(...args: readonly string[]): Connection {
  const connection = new PipeConnection({ file: process.execPath, args, env: process.env });
  open.push(connection);
  return connection;
}

test('calls have exactly their size, and no two are the same', () => {
  const requests = new Requests(1_024, 3);
  // Answered calls are overwritten, so each piece is read at once.
  const lines = [2, 3, 1].flatMap((count) =>
    Buffer.concat([...requests.next(count)])
      .toString()
      .split('\n')
      .slice(0, -1),
  );
  expect(lines).toHaveLength(6);
  expect(lines.map((line) => line.length + 1)).toEqual(Array.from({ length: 6 }, () => 1_024));
  const calls = lines.map((line) => JSON.parse(line) as { id: number; params: object });
  expect(new Set(calls.map(({ id }) => id)).size).toBe(6);
  expect(new Set(calls.map(({ params }) => JSON.stringify(params))).size).toBe(6);
});

test.each([
  ['directly', [SERVER]],
  ['by the relay', [RELAY, process.execPath, SERVER]],
])('every call is answered, %s', async (_, args) => {
  const connection = connect(...args);
  await connection.initialize();
  for (const bytes of [1_024, 200_000]) await connection.call(new Requests(bytes, 1));
  const flood = connection.flood(new Requests(1_024, 16), { calls: 500, windowCalls: 8 });
  await expect(flood).resolves.toBeUndefined();
});

test('a refusal is no answer', async () => {
  const connection = connect('-e', REFUSE);
  await connection.initialize();
  await expect(connection.call(new Requests(1_024, 1))).rejects.toThrow('refused');
});

test('a server that ends is told of', async () => {
  const connection = connect('-e', 'process.stdin.once("data", () => process.exit(3))');
  await expect(connection.initialize()).rejects.toThrow('ended: 3');
});
