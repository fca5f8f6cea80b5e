// What a registry may do to us, with the real npm and registries on loopback.
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { install } from './install.ts';
import { PINNED, type Pinned } from './installed.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Codex, to be installed into an empty folder from this registry and no cache. */
async function codexFrom(answer: RequestListener): Promise<Pinned> {
  const folder = mkdtempSync(join(tmpdir(), 'sub-install-'));
  const registry = createServer(answer).listen(0, '127.0.0.1');
  await once(registry, 'listening');
  onTestFinished(() => {
    registry.close();
    rmSync(folder, { recursive: true, force: true });
  });
  vi.stubEnv('npm_config_registry', `http://127.0.0.1:${(registry.address() as AddressInfo).port}`);
  vi.stubEnv('NO_PROXY', '127.0.0.1');
  vi.stubEnv('npm_config_cache', join(folder, 'cache'));
  const codex = PINNED.find(({ id }) => id === 'codex');
  if (codex === undefined) throw new Error('codex is pinned');
  return { ...codex, folder: join(folder, 'clients', 'codex-1') };
}

test('a registry without the client is a reason to skip it, and leaves nothing', async () => {
  const codex = await codexFrom((_, response) => void response.writeHead(404).end('{}'));
  expect(await install(codex)).toEqual({
    kind: 'absent',
    why: 'the package registry has not got it',
  });
  expect(readdirSync(join(codex.folder, '..'))).toEqual([]);
});

test('a registry that hangs up is a reason to skip it', async () => {
  const codex = await codexFrom((request) => void request.socket.destroy());
  expect(await install(codex)).toEqual({
    kind: 'absent',
    why: 'the package registry cannot be reached',
  });
});

test('a client that is not what was pinned is a failure, and is not kept', async () => {
  const codex = await codexFrom((request, response) => {
    const host = `http://${request.headers.host}`;
    if (request.url?.endsWith('.tgz')) {
      response.end('Something else altogether.');
      return;
    }
    const tarball = `${host}/codex.tgz`;
    const name = '@openai/codex';
    const natives = ['', '-linux-x64', '-linux-arm64', '-darwin-x64', '-darwin-arm64'];
    const versions = natives.map((native) => `${codex.version}${native}`);
    response.end(
      JSON.stringify({
        name,
        'dist-tags': { latest: codex.version },
        versions: Object.fromEntries(
          versions.map((version) => [version, { name, version, dist: { tarball } }]),
        ),
      }),
    );
  });
  expect(await install(codex)).toMatchObject({
    kind: 'failed',
    output: expect.stringContaining('EINTEGRITY') as unknown,
  });
  expect(existsSync(codex.folder)).toBe(false);
});
