import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
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

describe('a listener with TLS', () => {
  it('drops connections that never become secure, and keeps those that have shown who they are', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sub-gate-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [key, cert] = [join(folder, 'key'), join(folder, 'cert')];
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    const about = ['-days', '2', '-subj', '/CN=127.0.0.1', '-keyout', key, '-out', cert];
    execFileSync('openssl', ['req', '-x509', ...curve, ...about], { stdio: 'pipe' });
    const secure = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) });
    secure.on('tlsClientError', () => undefined);
    const guarded = new ConnectionGate({ connectionsMax: 1, waitingMax: 2 });
    guarded.watch(secure);
    const shown: boolean[] = [];
    secure.on('secureConnection', (socket) => {
      socket.on('error', () => undefined);
      shown.push(guarded.admit(socket));
    });
    secure.listen(0, '127.0.0.1');
    await once(secure, 'listening');
    onTestFinished(() => void secure.close());
    const { port } = secure.address() as AddressInfo;
    const known = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
    clients.push(known);
    await once(known, 'secureConnect');
    await expect.poll(() => shown).toEqual([true]);
    for (let more = 0; more < 5; more++) {
      const taken = once(secure, 'connection');
      const silent = connect(port, '127.0.0.1');
      clients.push(silent.on('error', () => undefined));
      await taken;
    }
    const count = () =>
      new Promise<number>((resolve) => {
        secure.getConnections((_, open) => resolve(open));
      });
    await expect.poll(count).toBe(3);
    expect(known.destroyed).toBe(false);
  });
});
