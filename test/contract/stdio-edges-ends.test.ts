// However a session ends, nothing of it is left: no process, no zombie, no open call.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ensureBuilt } from '../e2e/sub.ts';
import { verifies } from '../requirements.ts';
import {
  expectNothingLeft,
  hangUp,
  QUICK,
  type Rig,
  type RigOptions,
  type ServedRig,
  startServed,
} from './driver.ts';
import { nextJson } from './lines.ts';
import { answer, call, ping } from './messages.ts';
import { bearing, isRunning, stateOf, until, zombiesOf } from './proc.ts';
import type { Puppet } from './puppet.ts';

beforeAll(() => ensureBuilt());

interface Household extends ServedRig {
  readonly children: readonly Puppet[];
}

/** A server that heeds neither EOF nor signals, with children that are no better. */
async function startHousehold(options: RigOptions = {}): Promise<Household> {
  const rig = await startServed({ env: QUICK, ...options });
  const ignore = ['SIGTERM', 'SIGINT', 'SIGHUP'];
  await rig.server.tell('ignore', { names: ['eof', ...ignore] });
  await rig.server.tell('fork', { ignore });
  const inGroup = await rig.stage.next();
  await rig.server.tell('fork', { ignore, detached: true });
  const inSession = await rig.stage.next();
  expect(stateOf(inGroup.pid)?.pgid).toBe(rig.server.pid);
  // It left by setsid: no signal to the group reaches it.
  expect(stateOf(inSession.pid)).toMatchObject({ pgid: inSession.pid, sid: inSession.pid });
  return { ...rig, children: [inGroup, inSession] };
}

const pidOf = ({ shim }: Rig): number => {
  if (shim.pid === undefined) throw new Error('the shim runs');
  return shim.pid;
};

describe.skipIf(process.platform !== 'linux')('the end of a session', () => {
  it('is quiet when the agent closes stdin and the server follows', async () => {
    verifies('F-018', 'F-021', 'T-A1.4');
    const rig = await startServed();
    rig.say(call(1, 'a'));
    await rig.server.heard.next();
    await rig.server.write(answer(1));
    await rig.heard.next();
    expect(await hangUp(rig)).toEqual({ exit: { code: 0, signal: null }, rest: [] });
    // Waited for by the shim itself, before it went.
    expect(stateOf(rig.server.pid)).toBeUndefined();
    expect(rig.events().at(-1)).toMatchObject({ type: 'run_end', run: { status: 'SUCCEEDED' } });
    await expectNothingLeft(rig);
  });

  it('closes stdin, then sends SIGTERM, then kills', async () => {
    verifies('F-018', 'F-021');
    const env = { SUB_GRACE_MS: '500', SUB_TERM_GRACE_MS: '500' };
    const rig = await startServed({ env });
    await rig.server.tell('ignore', { names: ['eof', 'SIGTERM'] });
    rig.shim.stdin?.end();
    expect(await rig.server.fact('eof')).toBe(true);
    expect(await rig.server.fact('signal')).toBe('SIGTERM');
    await rig.server.gone;
    expect(await rig.exit).toEqual({ code: 0, signal: null });
    expect(stateOf(rig.server.pid)).toBeUndefined();
    await expectNothingLeft(rig);
  });

  it('waits for a server that goes on SIGTERM', async () => {
    verifies('F-018');
    const env = { SUB_GRACE_MS: '0', SUB_TERM_GRACE_MS: '600000' };
    const rig = await startServed({ env });
    await rig.server.tell('ignore', { names: ['eof', 'SIGTERM'] });
    rig.shim.stdin?.end();
    expect(await rig.server.fact('signal')).toBe('SIGTERM');
    rig.server.order('exit', { code: 0 });
    expect(await rig.exit).toEqual({ code: 0, signal: null });
    await expectNothingLeft(rig);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('by %s ends server and children in order', async (signal, code) => {
    verifies('EC-STDIO-012', 'EC-STDIO-013', 'F-011', 'F-018', 'F-021', 'SL-7.5', 'T-I.2');
    const rig = await startHousehold();
    rig.say(call(1, 'slow'));
    await rig.server.heard.next();
    rig.shim.kill(signal);
    expect(await rig.exit).toEqual({ code, signal: null });
    expect(stateOf(rig.server.pid)).toBeUndefined();
    await expectNothingLeft(rig);
    const ends = rig.events().filter(({ type }) => type === 'tool_call_end');
    expect(ends).toHaveLength(1);
  });

  it.each([
    ['by the end of input', (rig: Household): void => void rig.shim.stdin?.end(), 0],
    ['by an agent that closes both pipes', closeBoth, 0],
  ] as const)(
    '%s ends the children too, also the one that left the group',
    async (_how, end, code) => {
      verifies('F-011', 'F-018', 'F-021', 'NFR-003.3');
      const rig = await startHousehold();
      end(rig);
      expect(await rig.exit).toEqual({ code, signal: null });
      for (const { pid } of [rig.server, ...rig.children]) expect(isRunning(pid)).toBe(false);
      await expectNothingLeft(rig);
    },
  );

  function closeBoth(rig: Household): void {
    rig.shim.stdin?.destroy();
    rig.shim.stdout?.destroy();
  }

  it('comes when the agent no longer reads, at the next thing it should', async () => {
    verifies('NFR-003.3');
    const rig = await startHousehold();
    const { stdout } = rig.shim;
    if (stdout === null) throw new Error('the shim has a stdout');
    stdout.destroy();
    // What is written before the pipe is closed still finds room in it.
    await once(stdout, 'close');
    const over = rig.exit.then(() => 'over');
    const line = '{"jsonrpc":"2.0","method":"notifications/message"}\n';
    // A process that another test is about to start holds the pipe for a moment: then it is the line
    // after that which finds nobody.
    const tell = () => Promise.race([over, rig.server.write(line)]);
    while ((await tell()) !== 'over') continue;
    expect(await rig.exit).toEqual({ code: 0, signal: null });
    await expectNothingLeft(rig);
  });

  it('comes when the agent is killed', async () => {
    verifies('IP-6.3', 'EC-STDIO-011', 'NFR-003.3');
    const rig = await startHousehold({ agent: 'pipes' });
    rig.say(call(1, 'slow'));
    await rig.server.heard.next();
    rig.shim.kill('SIGKILL');
    expect((await rig.exit).signal).toBe('SIGKILL');
    await expectNothingLeft(rig);
    expect(rig.events().at(-1)?.type).toBe('run_end');
    expect(rig.events().find(({ type }) => type === 'tool_call_end')).toMatchObject({
      status: 'CANCELLED',
    });
  });

  it('comes when the agent is killed while others hold its pipes', async () => {
    verifies('IP-6.3', 'EC-STDIO-011');
    const holder = spawn('sleep', ['600'], { stdio: ['ignore', 'pipe', 'ignore'] });
    onTestFinished(() => void holder.kill('SIGKILL'));
    const rig = await startHousehold({ agent: 'inherit', stdin: holder.stdout });
    rig.shim.kill('SIGKILL');
    await expectNothingLeft(rig);
  });

  it('comes when the shim itself is killed', async () => {
    verifies('IP-6.3', 'F-011', 'NFR-003.3', 'T-I.3');
    const rig = await startHousehold();
    rig.shim.kill('SIGKILL');
    expect((await rig.exit).signal).toBe('SIGKILL');
    await expectNothingLeft(rig);
  });

  it('comes when the shim is killed with nobody in the way of a good server', async () => {
    verifies('F-011');
    const rig = await startServed();
    rig.shim.kill('SIGKILL');
    // Its stdin has ended, which is enough for it.
    await rig.server.gone;
    await expectNothingLeft(rig);
  });

  it('ends what a server leaves behind when it dies, and tells its exit code', async () => {
    verifies('EC-STDIO-010', 'F-011', 'F-021', 'NFR-003.3');
    const rig = await startHousehold();
    rig.server.order('exit', { code: 9 });
    expect(await rig.exit).toEqual({ code: 9, signal: null });
    await expectNothingLeft(rig);
  });

  it('does not wait for a child that holds the stdout of a dead server', async () => {
    verifies('EC-STDIO-010', 'F-011');
    const rig = await startServed({ env: QUICK });
    await rig.server.tell('fork', { holds: true, ignore: ['SIGTERM'] });
    await rig.stage.next();
    rig.say(ping(1));
    await rig.server.heard.next();
    rig.server.order('exit', { code: 4 });
    expect(await nextJson(rig.heard)).toMatchObject({ id: 1, error: {} });
    expect(await rig.exit).toEqual({ code: 4, signal: null });
    await expectNothingLeft(rig);
  });

  it('ends a server that closes its stdout but lives, and answers who waits', async () => {
    verifies('EC-STDIO-010', 'F-018');
    const rig = await startServed({ env: QUICK });
    await rig.server.tell('ignore', { names: ['eof', 'SIGTERM'] });
    rig.say(call(1, 'a') + call(2, 'b'));
    await rig.server.heard.next();
    await rig.server.heard.next();
    await rig.server.tell('closeStdout');
    for (const id of [1, 2]) {
      const told = await nextJson(rig.heard);
      expect(told).toMatchObject({ id, error: { code: -32603 } });
    }
    expect(await rig.exit).toEqual({ code: 1, signal: null });
    await expectNothingLeft(rig);
  });

  it('ends a server that closes its stdin but lives', async () => {
    verifies('F-018');
    const rig = await startServed({ env: QUICK });
    await rig.server.tell('ignore', { names: ['eof', 'SIGTERM'] });
    await rig.server.tell('closeStdin');
    rig.say(ping(1));
    expect(await nextJson(rig.heard)).toMatchObject({ id: 1, error: {} });
    await rig.exit;
    await expectNothingLeft(rig);
  });

  it.each([
    ['SIGTERM', (rig: Rig): void => void rig.shim.kill('SIGTERM'), 143],
    ['the end of input', (rig: Rig): void => void rig.shim.stdin?.end(), 0],
  ] as const)('lets the last answers through after %s', async (_how, end, code) => {
    verifies('F-018', 'EC-STDIO-012');
    const rig = await startServed();
    await rig.server.tell('ignore', { names: ['eof'] });
    rig.say(call(1, 'slow'));
    await rig.server.heard.next();
    end(rig);
    expect(await rig.server.fact('eof')).toBe(true);
    // It drains: what it still has to say arrives.
    await rig.server.write(answer(1));
    rig.server.order('exit', { code: 0 });
    expect((await rig.heard.rest()).map(String)).toEqual([answer(1)]);
    expect(await rig.exit).toEqual({ code, signal: null });
  });

  it('comes for a server that is stopped and hears nothing', async () => {
    verifies('F-018', 'F-021');
    const rig = await startServed({ env: QUICK });
    process.kill(rig.server.pid, 'SIGSTOP');
    expect(await hangUp(rig)).toEqual({ exit: { code: 0, signal: null }, rest: [] });
    await expectNothingLeft(rig);
  });

  it('of one shim leaves the others alone', async () => {
    verifies('NFR-003.1');
    const [rig, other] = await Promise.all([startServed({ env: QUICK }), startServed()]);
    rig.shim.kill('SIGKILL');
    await expectNothingLeft(rig);
    other.say(ping(1));
    await other.server.heard.next();
    await other.server.write(answer(1));
    expect(String(await other.heard.next())).toBe(answer(1));
  });

  it('is hurried on by a second signal', async () => {
    verifies('EC-STDIO-013');
    const rig = await startServed();
    await rig.server.tell('ignore', { names: ['eof', 'SIGTERM'] });
    rig.shim.kill('SIGINT');
    expect(await rig.server.fact('eof')).toBe(true);
    rig.shim.kill('SIGINT');
    expect(await rig.exit).toEqual({ code: 130, signal: null });
    await expectNothingLeft(rig);
  });
});

describe.skipIf(process.platform !== 'linux')('the server of a session', () => {
  it('has a group of its own, and a guard that is none of its kin', async () => {
    verifies('F-011');
    const rig = await startServed();
    const { pid, shimId, env } = rig.server;
    expect(stateOf(pid)).toMatchObject({ ppid: pidOf(rig), pgid: pid, sid: pid });
    expect(env).toContain('SUB_SHIM_ID');
    const guard = await until(
      () => bearing([shimId]).find((one) => one !== pid && one !== pidOf(rig)),
      'the guard',
    );
    expect(stateOf(guard)?.pgid).toBe(guard);
    expect(zombiesOf(pidOf(rig))).toEqual([]);
  });

  it('leaves no zombie in the shim when its children come and go', async () => {
    verifies('F-021');
    const rig = await startServed();
    for (const _ of [1, 2, 3]) {
      await rig.server.tell('fork', { detached: true });
      const child = await rig.stage.next();
      child.order('exit', { code: 0 });
      await child.gone;
    }
    rig.say(ping(1));
    await rig.server.heard.next();
    expect(zombiesOf(pidOf(rig))).toEqual([]);
    await hangUp(rig);
    await expectNothingLeft(rig);
  });
});
