import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { thisSystem } from '@subluminal/plane/os';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Callers } from './callers.ts';

/** Takes each line that it gets for its name, and listens on the socket that it is given. */
const CALLER = `
const fs = require('node:fs');
const [, socket] = process.argv;
process.stdin.on('data', (word) => {
  fs.writeFileSync('/proc/self/comm', String(word).trim());
  const told = () => console.log('named');
  socket === '' ? told() : require('node:net').createServer().listen(socket, told);
});`;

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sub-callers-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function startCaller({ env = {}, socket = '' } = {}): ChildProcess {
  const child = spawn(process.execPath, ['-e', CALLER, socket], {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill());
  return child;
}

function wordOf(callers: Callers): string {
  const first = callers.admit({});
  if (!('word' in first)) throw new Error('It gave no word.');
  return first.word;
}

async function takeName(child: ChildProcess, word: string): Promise<void> {
  child.stdin?.write(`${word}\n`);
  if (child.stdout !== null) await once(child.stdout, 'data');
}

// Linux alone tells which process asks.
describe.skipIf(process.platform !== 'linux')('of a process that asks on the socket', () => {
  /** As if Steward were another process, above none of these. */
  const elsewhere = { ...thisSystem(), pid: 0 };
  const callersIn = (runDir: string, system = elsewhere) =>
    new Callers({ runDir, ledgerSocket: join(runDir, 'ledger.sock'), system });

  test('one outside of all runs gets a token, once for each word', async () => {
    const callers = callersIn(emptyFolder());
    const child = startCaller();
    const shown = { word: wordOf(callers), pid: child.pid };
    await takeName(child, shown.word);
    const admitted = callers.admit(shown);
    if (!('token' in admitted)) throw new Error('It gave no token.');
    expect(callers.isKnown(`Bearer ${admitted.token}`)).toBe(true);
    expect(callers.isKnown(undefined)).toBe(false);
    expect(callers.admit(shown)).toMatchObject({ code: 'SUB_STEWARD_REQUEST' });
  });

  test('one inside a governed run is refused', async () => {
    const callers = callersIn(emptyFolder());
    const child = startCaller({ env: { SUB_RUN_ID: 'run-1' } });
    const word = wordOf(callers);
    await takeName(child, word);
    expect(callers.admit({ word, pid: child.pid })).toMatchObject({ code: 'SUB_INSIDE_RUN' });
  });

  test('one that Steward has started is refused', async () => {
    const callers = callersIn(emptyFolder(), thisSystem());
    const child = startCaller();
    const word = wordOf(callers);
    await takeName(child, word);
    expect(callers.admit({ word, pid: child.pid })).toMatchObject({ code: 'SUB_INSIDE_RUN' });
  });

  test('one that names another process is refused', async () => {
    const callers = callersIn(emptyFolder());
    const child = startCaller({ env: { SUB_RUN_ID: 'run-1' } });
    const word = wordOf(callers);
    await takeName(child, word);
    const refused = { code: 'SUB_STEWARD_REQUEST' };
    expect(callers.admit({ word, pid: process.pid })).toMatchObject(refused);
    expect(callers.admit({ word: 'made up', pid: child.pid })).toMatchObject(refused);
  });

  test('the daemon may have been started in a run; one that takes its place beside it is none', async () => {
    const folder = emptyFolder();
    const socket = join(folder, 'ledger.sock');
    const callers = callersIn(folder);
    const daemon = startCaller({ env: { SUB_RUN_ID: 'run-1' }, socket });
    const word = wordOf(callers);
    await takeName(daemon, word);
    expect(callers.admit({ word, pid: daemon.pid })).toHaveProperty('token');

    rmSync(socket);
    const second = wordOf(callers);
    const thief = startCaller({ env: { SUB_RUN_ID: 'run-1' }, socket });
    await takeName(thief, second);
    expect(callers.admit({ word: second, pid: thief.pid })).toMatchObject({
      code: 'SUB_INSIDE_RUN',
    });
  });
});
