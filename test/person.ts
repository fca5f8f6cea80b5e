// A person for the tests of the built `sub`: somebody whose terminal was open before the run began,
// and whom no agent has started. A test process that starts shims counts as their agent, so whatever
// it starts itself is inside of the run.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Ended, ROOT, SUB, type SubOptions, subEnvironment } from './e2e/sub.ts';

interface Terminal {
  run(command: string, args: readonly string[], options: SubOptions): Promise<Ended>;
}

const SCRIPT = fileURLToPath(new URL('person-terminal.mjs', import.meta.url));

let opened: Promise<Terminal> | undefined;

/** Opens the terminal of the person; call it before the shims of the test start. */
export function openTerminal(): Promise<Terminal> {
  opened ??= startTerminal();
  return opened;
}

async function startTerminal(): Promise<Terminal> {
  const folder = mkdtempSync(join(tmpdir(), 'sub-person-'));
  const path = join(folder, 'terminal.sock');
  const server = createServer();
  const connected = new Promise<Socket>((resolve) => server.once('connection', resolve));
  await new Promise<void>((resolve) => server.listen(path, resolve));
  // The shell ends at once: nothing of the test is above the terminal then.
  const words = `exec '${process.execPath}' '${SCRIPT}' '${path}'`;
  const line = 'setsid script -qfc "$0" /dev/null </dev/null >/dev/null 2>&1 &';
  const { SUB_RUN_ID: _run, ...env } = process.env;
  spawn('sh', ['-c', line, words], { cwd: ROOT, env, stdio: 'ignore' });
  const socket = await connected;
  server.close();
  rmSync(folder, { recursive: true, force: true });
  socket.unref();
  return { run: requests(socket) };
}

function requests(socket: Socket): Terminal['run'] {
  const waiting = new Map<number, (ended: Ended) => void>();
  let count = 0;
  createInterface({ input: socket }).on('line', (line) => {
    const { id, ...ended } = JSON.parse(line) as Ended & { readonly id: number };
    waiting.get(id)?.(ended);
    waiting.delete(id);
    if (waiting.size === 0) socket.unref();
  });
  return (command, args, { cwd, env = {} }) =>
    new Promise((resolve) => {
      const id = ++count;
      waiting.set(id, resolve);
      socket.ref();
      const request = { id, command, args, cwd, env: subEnvironment(env) };
      socket.write(`${JSON.stringify(request)}\n`);
    });
}

/** Runs `sub` as a person does who types it in a terminal of their own. */
export async function personSub(args: readonly string[], options: SubOptions): Promise<Ended> {
  const terminal = await openTerminal();
  return terminal.run(process.execPath, [SUB, ...args], options);
}
