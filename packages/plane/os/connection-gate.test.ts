import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConnectionGate } from './connection-gate.ts';

let server: Server;
let gate: ConnectionGate;
const clients: Socket[] = [];
const accepted: Socket[] = [];

beforeEach(async () => {
  gate = new ConnectionGate({ connectionsMax: 2, waitingMax: 2 });
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    accepted.push(socket);
    gate.add(socket);
    socket.on('data', (data) => {
      if (String(data) === 'key') gate.admit(socket);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  for (const socket of [...clients.splice(0), ...accepted.splice(0)]) socket.destroy();
  server.close();
});

async function client(words = ''): Promise<Socket> {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const taken = once(server, 'connection');
  const socket = connect(address.port, '127.0.0.1');
  socket.on('error', () => undefined);
  clients.push(socket);
  await taken;
  if (words === '') return socket;
  const read = once(accepted.at(-1) ?? socket, 'data');
  socket.write(words);
  await read;
  return socket;
}

const isOpen = () => accepted.map(({ destroyed }) => !destroyed);

describe('a listener', () => {
  it('drops the oldest silent connection first, then the oldest that waits', async () => {
    await client('part');
    await client();
    await client();
    for (let turn = 0; turn < 4; turn++) await nextTurn();
    expect(isOpen()).toEqual([true, false, true]);
    await client('part');
    for (let turn = 0; turn < 4; turn++) await nextTurn();
    expect(isOpen()).toEqual([true, false, false, true]);
    await client('part');
    for (let turn = 0; turn < 4; turn++) await nextTurn();
    expect(isOpen()).toEqual([false, false, false, true, true]);
  });

  it('never drops a connection that has shown who it is', async () => {
    await client('key');
    for (let more = 0; more < 6; more++) await client();
    for (let turn = 0; turn < 4; turn++) await nextTurn();
    expect(isOpen()).toEqual([true, false, false, false, false, true, true]);
  });

  it('closes the one too many that has shown who it is', async () => {
    await client('key');
    await client('key');
    await client('key');
    expect(isOpen()).toEqual([true, true, false]);
  });
});
