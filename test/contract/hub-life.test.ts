// A shim and the life of its hub: before it is there, while it stops, and when it is gone.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { HUB_READINESS } from '@subluminal/contracts';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ensureBuilt } from '../e2e/sub.ts';
import { verifies } from '../requirements.ts';
import {
  expectNothingLeft,
  expectStillWorks,
  hangUp,
  QUICK,
  startRig,
  startServed,
} from './driver.ts';
import { listenAs, realHub, sayWell, socketPath } from './hubs.ts';
import { answer, call, ping } from './messages.ts';

beforeAll(ensureBuilt);

const RUNNER = fileURLToPath(new URL('../../tools/run.mjs', import.meta.url));
const HUB = fileURLToPath(
  new URL('../../packages/plane/services/hub/testing/hub-process.ts', import.meta.url),
);

const at = (path: string) => ({
  ...QUICK,
  SUB_RUN_ID: 'run-1',
  SUB_GOVERNANCE_ENDPOINT: `unix:${path}`,
});

describe('a hub that is not there', () => {
  const nobody = { ...at('/nonexistent/hub.sock'), SUB_HUB_READY_TIMEOUT_MS: '200' };

  it('stops the shim in production before anything of the server runs', async () => {
    verifies('F-016a', 'EC-STDIO-036');
    const rig = await startRig({ env: nobody });
    rig.say(ping(1));
    expect(await rig.exit).toEqual({ code: 2, signal: null });
    expect(rig.stderr()).toMatch(/hub of this run .* is not there.*ENOENT.* \[SUB_HUB_DOWN\]\n$/);
    expect(rig.stage.puppets()).toEqual([]);
    await expectNothingLeft(rig);
  });

  it('is only told of in development, and the session goes on', async () => {
    verifies('F-016a', 'F-023');
    const rig = await startServed({ env: nobody, profile: 'development' });
    expect(rig.stderr()).toMatch(/is not there.*we go on without it/);
    await expectStillWorks(rig);
    await hangUp(rig);
  });

  it('is waited for: what the agent says meanwhile is not lost', async () => {
    verifies('F-016a', 'EC-STDIO-036');
    const path = socketPath();
    let asked = 0;
    const unwell = (up: () => boolean) =>
      listenAs((frame) => {
        if (frame.to !== 'health' || up()) return sayWell(frame);
        asked++;
        frame.answer({}, 503);
      }, path);
    let isUp = false;
    unwell(() => isUp);
    const rig = await startRig({ env: at(path) });
    rig.say(ping(1));
    await expect.poll(() => asked, { timeout: 20_000 }).toBeGreaterThanOrEqual(3);
    expect(rig.stage.puppets()).toEqual([]);
    isUp = true;
    const server = await rig.stage.next();
    await server.tell('listen');
    expect(String(await server.heard.next())).toBe(ping(1));
    await server.write(answer(1));
    expect(String(await rig.heard.next())).toBe(answer(1));
    expect(asked).toBeLessThanOrEqual(HUB_READINESS.attemptsMax);
    await hangUp(rig);
  });

  it('is not waited for when it is about to end', async () => {
    const endpoint = listenAs((frame) => frame.answer({ status: 'stopping' }));
    const env = { ...QUICK, SUB_GOVERNANCE_ENDPOINT: endpoint };
    const rig = await startRig({ env });
    expect((await rig.exit).code).toBe(2);
    await rig.silent;
    expect(rig.stderr()).toContain('the hub is stopping [SUB_HUB_DOWN]');
  });
});

it('a hub that is there is asked once, and costs no further connection', async () => {
  const seen: string[] = [];
  const connections = new Set<unknown>();
  const endpoint = listenAs((frame) => {
    seen.push(frame.to);
    connections.add(frame.connection);
    sayWell(frame);
  });
  const rig = await startServed({ env: { SUB_GOVERNANCE_ENDPOINT: endpoint } });
  await expect.poll(() => seen.length).toBe(2);
  expect(seen).toEqual(['health', 'heartbeat']);
  expect(connections.size).toBe(1);
  await hangUp(rig);
});

it('an idle shim hears by its heartbeat that the hub stops, within five seconds', async () => {
  verifies('EC-STDIO-041');
  const { hub, env, joined } = await realHub();
  const rig = await startServed({ env: { ...QUICK, ...env } });
  await joined();
  await expectStillWorks(rig);
  hub.shutdown();
  // The test itself ends after twenty seconds; the interval is a constant of the contract.
  expect((await rig.exit).code).toBe(0);
  expect(hub.shims.list()).toMatchObject([{ state: 'left' }]);
  await expectNothingLeft(rig);
});

describe('a hub that vanishes', () => {
  async function hubProcess(path: string): Promise<ChildProcess> {
    const child = spawn(process.execPath, [RUNNER, HUB, path], { stdio: 'pipe' });
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    return child;
  }

  it('takes its shims with it in production, cleanly', async () => {
    verifies('EC-STDIO-042');
    const path = socketPath();
    const child = await hubProcess(path);
    const rig = await startServed({ env: at(path) });
    await expectStillWorks(rig);
    rig.say(call(7, 'slow'));
    await rig.server.heard.next();
    child.kill('SIGKILL');
    expect(await rig.exit).toEqual({ code: 0, signal: null });
    expect(rig.stderr()).toMatch(/^sub: the hub of this run is gone, so this shim ends: .*\n$/);
    expect(rig.stderr()).toContain('[SUB_HUB_DOWN]');
    // Whoever waited for an answer is told that none will come.
    const [last] = await rig.heard.rest();
    expect(JSON.parse(String(last))).toMatchObject({ id: 7, error: {} });
    const kinds = rig.events().map(({ type }) => type);
    expect(kinds.filter((type) => type === 'tool_call_end')).toHaveLength(1);
    await expectNothingLeft(rig);
  });

  it('is only told of in development', async () => {
    verifies('F-023');
    const path = socketPath();
    const child = await hubProcess(path);
    const rig = await startServed({ env: at(path), profile: 'development' });
    await expectStillWorks(rig);
    child.kill('SIGKILL');
    await rig.told(/hub of this run is gone, and we go on/);
    await expectStillWorks(rig, 991);
    await hangUp(rig);
  });

  it('ends a shim whose server never started, too', async () => {
    const path = socketPath();
    const child = await hubProcess(path);
    const rig = await startRig({ env: at(path), command: ['/nonexistent/server'] });
    await rig.told(/could not be started/);
    child.kill('SIGKILL');
    expect((await rig.exit).code).toBe(1);
  });
});

it('a hub that is slow is no hub that is gone', async () => {
  let beats = 0;
  const endpoint = listenAs((frame) => {
    if (frame.to === 'heartbeat') beats++;
    else sayWell(frame);
  });
  const rig = await startServed({ env: { ...QUICK, SUB_GOVERNANCE_ENDPOINT: endpoint } });
  await rig.told(/hub of this run does not answer: .* in time/);
  expect(beats).toBe(3);
  await expectStillWorks(rig);
  await hangUp(rig);
});
