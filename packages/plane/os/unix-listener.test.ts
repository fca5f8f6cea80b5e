import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isAnswered, listenOnUnixSocket } from './unix-listener.ts';

let folder = '';
let path = '';
let servers: Server[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sub-unix-'));
  path = join(folder, 'x.sock');
});
afterEach(() => {
  for (const server of servers) server.close();
  servers = [];
  rmSync(folder, { recursive: true, force: true });
});

function newServer(): Server {
  const server = createServer();
  servers.push(server);
  return server;
}

const PRIVATE = { isFolderPrivate: true };

test('a socket is for its owner alone, and is removed by its owner', async () => {
  const listening = await listenOnUnixSocket(newServer(), path, PRIVATE);
  expect(listening.kind).toBe('listening');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  if (listening.kind === 'listening') listening.unlink();
  expect(existsSync(path)).toBe(false);
});

test('a socket on which another process answers is not taken', async () => {
  await listenOnUnixSocket(newServer(), path);
  expect(await listenOnUnixSocket(newServer(), path)).toEqual({ kind: 'taken' });
  expect(await isAnswered(path)).toBe(true);
});

test('a socket that a killed process left is taken over', async () => {
  const program = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
  await once(spawn(process.execPath, ['-e', program]), 'close');
  expect(existsSync(path)).toBe(true);
  expect(await isAnswered(path)).toBe(false);
  expect(await listenOnUnixSocket(newServer(), path)).toMatchObject({ kind: 'listening' });
});

test('a file or a link at the path is never removed', async () => {
  writeFileSync(path, 'mine');
  expect(await listenOnUnixSocket(newServer(), path)).toMatchObject({ why: 'EADDRINUSE' });
  const link = join(folder, 'link.sock');
  symlinkSync(path, link);
  expect(await listenOnUnixSocket(newServer(), link)).toMatchObject({ kind: 'failed' });
  expect(existsSync(path)).toBe(true);
});

test('another socket that was put there since is not removed', async () => {
  const first = await listenOnUnixSocket(newServer(), path);
  rmSync(path);
  await listenOnUnixSocket(newServer(), path);
  if (first.kind === 'listening') first.unlink();
  expect(existsSync(path)).toBe(true);
});

test('a private socket needs an absolute, short path in a private folder', async () => {
  const why = async (at: string) => {
    const listening = await listenOnUnixSocket(newServer(), at, PRIVATE);
    return listening.kind === 'failed' ? listening.why : listening.kind;
  };
  expect(await why('x.sock')).toContain('must be absolute');
  expect(await why(join(folder, 'x'.repeat(110)))).toContain('at most 103 bytes');
  expect(await why(join(folder, 'none', 'x.sock'))).toContain('ENOENT');
  chmodSync(folder, 0o755);
  expect(await why(path)).toContain('its mode must be 0700');
});
