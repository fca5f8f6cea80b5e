import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RemoteServer } from '@subluminal/plane/serve/config';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { serverLooker } from './look-at-server.ts';

let connections = 0;
const inside = createServer((_, response) => void response.writeHead(404).end());
inside.on('connection', () => {
  connections += 1;
});
beforeAll(() => new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve)));
afterAll(() => void inside.close());
beforeEach(() => {
  connections = 0;
});

function entryAt(host: string): RemoteServer {
  const { port } = inside.address() as AddressInfo;
  return {
    ...{ kind: 'remote', name: 'songs', url: `http://${host}:${port}/mcp`, transport: 'http' },
    ...{ headers: {}, headerEnv: {}, bearerEnv: undefined, passToken: false, login: 'shared' },
  };
}

const home = mkdtempSync(join(tmpdir(), 'look-at-server-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const look = serverLooker({
  env: { HOME: home, SUB_HOME: join(home, 'sub') },
  version: '0',
  resolve: async () => ['127.0.0.1'],
});

test.each(['127.0.0.1', 'songs.example.com'])(
  'a registry makes nobody look into the own network by %s',
  async (host) => {
    expect(await look(entryAt(host), 'registry')).toMatchObject({ kind: 'failure' });
    expect(connections).toBe(0);
  },
);

test('a server that the user has named may be in the own network', async () => {
  expect(await look(entryAt('127.0.0.1'), 'user')).toMatchObject({ code: 'SUB_SERVER_LOOK' });
  expect(connections).toBeGreaterThan(0);
});
