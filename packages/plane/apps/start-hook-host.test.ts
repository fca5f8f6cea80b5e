import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { isFailure, NO_CALLS } from '@subluminal/contracts';
import { expect, onTestFinished, test, vi } from 'vitest';
import { processInfo } from '../os/index.ts';
import { hostSocketsOf } from '../services/hooks/find-host.ts';
import { createHubClient } from '../services/hub/index.ts';
import { Shims } from '../services/hub/shims.ts';
import { startHookHost } from './start-hook-host.ts';

const LINGER_MS = 2_000;
/** One each second: without a shim, it would have ended before. */
const LOOKS = 4;

/** A host for this very process. */
function startHost() {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'sub-host-')));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const sub = join(home, '.subluminal');
  const run = join(sub, 'run');
  mkdirSync(sub, { mode: 0o700 });
  writeFileSync(join(sub, 'config.toml'), '[events]\nsink = "off"\n', { mode: 0o600 });
  const agent = processInfo(process.pid);
  if (agent === undefined) throw new Error('this process is not known');
  const sockets = hostSocketsOf(run, agent);
  const start = (onReady: () => void): ReturnType<typeof startHookHost> =>
    startHookHost({ agent, env: { HOME: home }, cwd: home, onReady, lingerMs: LINGER_MS });
  return { start, ...sockets, run };
}

test('a host stays while a shim shares its hub, and leaves nothing behind', async () => {
  const looks = vi.spyOn(Shims.prototype, 'list');
  onTestFinished(() => looks.mockRestore());
  const { start, hubPath, run } = startHost();
  let ending: ReturnType<typeof start> | undefined;
  await new Promise<void>((resolve) => {
    ending = start(resolve);
  });
  const ended = vi.fn<() => void>();
  void ending?.then(() => ended());
  const client = createHubClient({
    ...{ endpoint: `unix:${hubPath}`, runId: '', shimId: 's1', serverId: 'files' },
    summary: () => NO_CALLS,
  });
  if (isFailure(client)) throw new Error(client.message);
  client.start();
  await vi.waitFor(() => expect(looks.mock.calls.length).toBeGreaterThan(LOOKS), 20_000);
  expect(ended).not.toHaveBeenCalled();
  expect(await client.leave(NO_CALLS, 10_000)).toBe(true);
  client.close();
  expect(await ending).toBeUndefined();
  expect(readdirSync(run)).toEqual([]);
});

test.each(['hubPath', 'socketPath'] as const)(
  'a host that cannot listen at its %s says so, and leaves nothing behind',
  async (which) => {
    const { start, run, ...sockets } = startHost();
    const path = sockets[which];
    mkdirSync(path, { recursive: true, mode: 0o700 });
    expect(await start(() => {})).toContain(path);
    expect(readdirSync(run)).toEqual([basename(path)]);
  },
);
