// Who is at the other end, with real connections of real processes.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import { peerProcess } from './peer-process.ts';
import { runningOwnProxy } from './testing/running-proxy.ts';

const isLinux = process.platform === 'linux';
const HOME = tmpdir();

async function listening() {
  const server = createServer({ allowHalfOpen: true });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const accepted = async (): Promise<Socket> => {
    const socket = await new Promise<Socket>((resolve) => {
      server.once('connection', resolve);
    });
    onTestFinished(() => void socket.destroy());
    return socket;
  };
  return { port: (server.address() as AddressInfo).port, accepted };
}

/** Runs a script in another process, which knows `net`, and hears what it prints. */
function other(script: string, uid?: number): ChildProcess {
  const source = `const net = require('node:net'); ${script}`;
  const child = spawn(process.execPath, ['-e', source], {
    cwd: '/',
    stdio: ['pipe', 'pipe', 'inherit'],
    ...(uid !== undefined && { uid, gid: uid }),
  });
  onTestFinished(() => void child.kill());
  return child;
}

test.runIf(isLinux)(
  'two connections with the same ports are told apart by their addresses',
  async () => {
    const { port, accepted } = await listening();
    const first = accepted();
    const child = other(`net.connect(${port}, '127.0.0.1')`);
    const theirs = await first;
    const second = accepted();
    const localPort = theirs.remotePort ?? 0;
    const own = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2', localPort });
    onTestFinished(() => void own.destroy());
    const ours = await second;
    expect(ours.remotePort).toBe(theirs.remotePort);
    expect([theirs, ours].map((socket) => peerProcess(socket, HOME).pid)).toEqual([
      child.pid,
      process.pid,
    ]);
  },
);

test.runIf(isLinux)(
  'a client that has closed its half is known, and one that has closed all is nobody',
  async () => {
    const { port, accepted } = await listening();
    const first = accepted();
    const child = other(
      `const s = net.connect({ port: ${port}, host: '127.0.0.1', allowHalfOpen: true }); s.end('x'); s.resume()`,
    );
    const socket = await first;
    socket.resume();
    await once(socket, 'end');
    expect(peerProcess(socket, HOME)).toMatchObject({ uid: process.getuid?.(), pid: child.pid });
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(peerProcess(socket, HOME)).toMatchObject({ uid: -1, pid: undefined });
  },
);

// Only root can start a process of another user.
test.runIf(isLinux && process.getuid?.() === 0)(
  'the proxy speaks to no other user, whatever ports it takes',
  async () => {
    const proxy = await runningOwnProxy({});
    const { hostname: host, port } = new URL(proxy.url);
    const own = connect({ host, port: Number(port) });
    onTestFinished(() => void own.destroy());
    await once(own, 'connect');
    const asked = `GET /_aicg/version HTTP/1.1\\r\\nHost: ${host}:${port}\\r\\n\\r\\n`;
    const ask = async (options: string) => {
      const { stdout } = other(
        `const s = net.connect({ host: '${host}', port: ${port}, ${options} }, () => s.write('${asked}'));
       s.once('data', (bytes) => { console.log(bytes.toString('latin1', 9, 12)); s.destroy(); })`,
        65_534,
      );
      const text = await new Promise<Buffer>((resolve) => {
        stdout?.once('data', resolve);
      });
      return text.toString().trim();
    };
    const localPort = own.localPort ?? 0;
    const sources = [2, 3, 4, 5].map(
      (last) => `localAddress: '127.0.0.${last}', localPort: ${localPort}`,
    );
    const statuses = await Promise.all(['', ...sources].map(ask));
    expect(statuses).toEqual(['403', '403', '403', '403', '403']);
  },
);
