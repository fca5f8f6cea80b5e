// SIGUSR1 opens a debugger in every Node that does not say otherwise: whoever may send it could then
// decide in our place.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { ended, ensureBuilt, startSub } from './sub.ts';

beforeAll(ensureBuilt);

const ECHO = "process.stdin.on('data', (line) => process.stdout.write(line))";
const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n';

test.each([
  ['shim', ['shim', '--server-name', 's', '--events', 'off', '--', process.execPath, '-e', ECHO]],
  ['run', ['run', '--events', 'off', '--quiet', '--', process.execPath, '-e', ECHO]],
])('sub %s opens no debugger', async (_, args) => {
  const folder = mkdtempSync(join(tmpdir(), 'sub-usr1-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const child = startSub(args, { cwd: folder, env: { HOME: folder, SUB_HOME: '' } });
  onTestFinished(() => void child.kill('SIGKILL'));
  const over = ended(child);
  const heard = new Promise((resolve) => child.stdout?.once('data', resolve));
  child.stdin?.write(PING);
  await heard;
  child.kill('SIGUSR1');
  // It still works, and Node has had time to say that it listens.
  const again = new Promise((resolve) => child.stdout?.once('data', resolve));
  child.stdin?.write(PING.replace('1', '2'));
  await again;
  child.stdin?.end();
  expect((await over).stderr).not.toContain('Debugger');
});
