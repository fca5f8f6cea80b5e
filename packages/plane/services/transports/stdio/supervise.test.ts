import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../../../../test/requirements.ts';
import {
  allProcesses,
  heard,
  isRunning,
  marked,
  nothingLeft,
  type Shim,
  startShim,
  until,
} from './testing/shim-process.ts';

const QUICK = { graceMs: 300, termMs: 300 };
const PATIENT = { graceMs: 600_000, termMs: 600_000 };
// The server itself, two children in its group and one that left for a session of its own.
const DIFFICULT = ['ignore-eof', 'ignore-term', 'fork', 'escape', 'ready'];
const DIFFICULT_COUNT = 4;

async function difficult(options: Partial<Parameters<typeof startShim>[0]> = {}): Promise<Shim> {
  const shim = await startShim({ server: DIFFICULT, ...QUICK, ...options });
  await heard(shim.child.stdout, 'ready', 'child', 'child', 'child');
  await marked(shim, DIFFICULT_COUNT);
  await shim.fact('up');
  return shim;
}

async function overOf(shim: Shim) {
  const over = await shim.fact('over');
  expect(over.left).toEqual([]);
  expect(over.zombies).toEqual([]);
  return { reason: over.reason.kind, force: over.force };
}

describe.skipIf(process.platform !== 'linux')('supervise', () => {
  test('ends with 0 when the agent closes stdin and the server follows', async () => {
    verifies('T-A1.4', 'F-018');
    const shim = await startShim({ server: ['echo', 'code=3', 'ready'], ...PATIENT });
    await heard(shim.child.stdout, 'ready');
    shim.child.stdin?.end();
    expect(await shim.exit).toBe(0);
    expect(await overOf(shim)).toEqual({ reason: 'input_closed', force: 'none' });
    await nothingLeft(shim);
  });

  test('sends SIGTERM to a server that stays after the end of input', async () => {
    verifies('F-018');
    const shim = await startShim({ server: ['ignore-eof', 'ready'], ...PATIENT, graceMs: 100 });
    await heard(shim.child.stdout, 'ready');
    shim.child.stdin?.end();
    expect(await shim.exit).toBe(0);
    expect(await overOf(shim)).toEqual({ reason: 'input_closed', force: 'term' });
    await nothingLeft(shim);
  });

  test('kills a server that ignores SIGTERM, its children and those that left its group', async () => {
    verifies('F-018', 'F-021', 'T-A1.5');
    const shim = await difficult();
    shim.child.stdin?.end();
    expect(await shim.exit).toBe(0);
    expect(await overOf(shim)).toEqual({ reason: 'input_closed', force: 'kill' });
    await nothingLeft(shim);
  });

  test('catches a child that is another process in another session all the time', async () => {
    verifies('F-021');
    const server = ['ignore-eof', 'ignore-term', 'relay', 'ready'];
    const shim = await startShim({ server, ...QUICK });
    await heard(shim.child.stdout, 'ready');
    await marked(shim, 2);
    shim.child.stdin?.end();
    expect(await shim.exit).toBe(0);
    expect(await overOf(shim)).toEqual({ reason: 'input_closed', force: 'kill' });
    await nothingLeft(shim);
  });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('ends everything on %s and exits with %i', async (signal, exitCode) => {
    verifies('T-A1.4', 'T-A1.5', 'F-021', 'EC-STDIO-012', 'EC-STDIO-013');
    const shim = await difficult();
    shim.child.kill(signal);
    expect(await shim.exit).toBe(exitCode);
    expect(await overOf(shim)).toEqual({ reason: 'signal', force: 'kill' });
    await nothingLeft(shim);
  });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('loses no %s that comes before it watches', async (early, exitCode) => {
    verifies('T-A1.5');
    const server = ['ignore-eof', 'ignore-term', 'ready'];
    const shim = await startShim({ server, ...QUICK, early });
    expect(await shim.exit).toBe(exitCode);
    expect(await overOf(shim)).toMatchObject({ reason: 'signal' });
    await nothingLeft(shim);
  });

  test('lets a server that ends on EOF end without force on SIGTERM', async () => {
    verifies('EC-STDIO-012');
    const shim = await startShim({ server: ['echo', 'ready'], ...PATIENT });
    await heard(shim.child.stdout, 'ready');
    shim.child.kill('SIGTERM');
    expect(await shim.exit).toBe(143);
    expect(await overOf(shim)).toEqual({ reason: 'signal', force: 'none' });
    await nothingLeft(shim);
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('kills at once on a second %s', async (signal) => {
    const shim = await difficult(PATIENT);
    shim.child.kill(signal);
    // Signals of one kind that wait together count once: the first must have arrived.
    const again = setInterval(() => shim.child.kill(signal), 50);
    await shim.exit;
    clearInterval(again);
    expect(await overOf(shim)).toEqual({ reason: 'signal', force: 'kill' });
    await nothingLeft(shim);
  });

  test('goes on to SIGTERM when a signal follows the end of input', async () => {
    const shim = await startShim({ server: ['ignore-eof', 'ready', 'tell-eof'], ...PATIENT });
    await heard(shim.child.stdout, 'ready');
    const told = heard(shim.child.stdout, 'eof');
    shim.child.stdin?.end();
    await told;
    shim.child.kill('SIGTERM');
    expect(await shim.exit).toBe(0);
    expect(await overOf(shim)).toEqual({ reason: 'input_closed', force: 'term' });
    await nothingLeft(shim);
  });

  test('ends everything when the agent is killed', async () => {
    verifies('IP-6.3', 'EC-STDIO-011');
    const agent = await difficult({ agent: 'pipes' });
    agent.child.kill('SIGKILL');
    await nothingLeft(agent);
    expect((await agent.fact('over')).left).toEqual([]);
  });

  test('notices the death of the agent also while another process holds the pipe', async () => {
    verifies('IP-6.3', 'EC-STDIO-011');
    const holder = spawn('sleep', ['600'], { stdio: ['ignore', 'pipe', 'ignore'] });
    onTestFinished(() => void holder.kill('SIGKILL'));
    const agent = await difficult({ agent: 'inherit', stdin: holder.stdout });
    agent.child.kill('SIGKILL');
    await nothingLeft(agent);
    expect(await overOf(agent)).toEqual({ reason: 'parent_gone', force: 'kill' });
    const { shimPid } = await agent.fact('up');
    await until(() => (isRunning(shimPid) ? undefined : true), 'the end of the shim');
  });

  test('ends everything when the shim itself is killed', async () => {
    verifies('IP-6.3', 'T-A1.5');
    const shim = await difficult();
    shim.child.kill('SIGKILL');
    expect(await shim.exit).toBe('SIGKILL');
    await nothingLeft(shim);
    expect(shim.facts().map(({ kind }) => kind)).toEqual(['up']);
  });

  test('waits no second grace when the shim is killed on its way to the end', async () => {
    const server = [...DIFFICULT, 'tell-eof', 'tell-term'];
    const shim = await difficult({ server, graceMs: 600_000, termMs: 2_000 });
    const heardEof = heard(shim.child.stdout, 'eof');
    const heardTerm = heard(shim.child.stdout, 'term');
    shim.child.stdin?.end();
    await heardEof;
    shim.child.kill('SIGTERM');
    await heardTerm;
    shim.child.kill('SIGKILL');
    expect(await shim.exit).toBe('SIGKILL');
    await nothingLeft(shim);
  });

  test('ends a server that closes its stdout but lives', async () => {
    const shim = await startShim({ server: ['close-stdout', 'ignore-eof', 'ready'], ...QUICK });
    await heard(shim.child.stdout, 'ready');
    shim.child.stdin?.write('x');
    expect(await shim.exit).toBe(1);
    expect(await overOf(shim)).toEqual({ reason: 'server_closed_pipe', force: 'term' });
    await nothingLeft(shim);
  });

  test('ends with the code of a server that dies by itself', async () => {
    verifies('EC-STDIO-010');
    const shim = await startShim({ server: ['die', 'code=7', 'ready'], ...PATIENT });
    await heard(shim.child.stdout, 'ready');
    shim.child.stdin?.write('x');
    expect(await shim.exit).toBe(7);
    expect(await overOf(shim)).toEqual({ reason: 'server_ended', force: 'none' });
    await nothingLeft(shim);
  });

  test('ends with 128 + signal, and ends the children, when the server is killed', async () => {
    verifies('EC-STDIO-010', 'F-021');
    const shim = await difficult();
    process.kill((await shim.fact('up')).serverPid, 'SIGKILL');
    expect(await shim.exit).toBe(137);
    expect(await overOf(shim)).toEqual({ reason: 'server_ended', force: 'kill' });
    await nothingLeft(shim);
  });

  test('ends when the agent closes our stdout', async () => {
    const shim = await startShim({ server: ['flood-stdout', 'ignore-eof'], ...QUICK });
    shim.child.stdout?.once('data', () => shim.child.stdout?.destroy());
    expect(await shim.exit).toBe(0);
    expect((await overOf(shim)).reason).toBe('output_closed');
    await nothingLeft(shim);
  });

  test('passes on the stderr of the server, unchanged and however long', async () => {
    verifies('EC-STDIO-028', 'F-011');
    const shim = await startShim({ server: ['flood-stderr', 'echo', 'ready'], ...PATIENT });
    let bytes = 0;
    let isPure = true;
    shim.child.stderr?.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      isPure &&= chunk.every((byte) => byte === 0x65);
    });
    const closed = once(shim.child, 'close');
    await heard(shim.child.stdout, 'ready');
    shim.child.stdin?.end();
    await closed;
    expect({ bytes, isPure }).toEqual({ bytes: 64 * 65_536, isPure: true });
  });

  test('keeps the server in a session of its own, away from the terminal', async () => {
    verifies('F-011');
    const shim = await startShim({ server: ['ready'], ...PATIENT });
    await heard(shim.child.stdout, 'ready');
    const { serverPid } = await shim.fact('up');
    expect(allProcesses().find(({ pid }) => pid === serverPid)?.pgid).toBe(serverPid);
    shim.child.stdin?.end();
    await shim.exit;
    await nothingLeft(shim);
  });
});
