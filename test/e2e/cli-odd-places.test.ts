// Every command, in a working folder that is gone, and with option values that look like options:
// a clear error with a fix, never an internal one.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { askSub } from './ask-sub.ts';
import { type Ended, ended, ensureBuilt, ROOT, runSub, SUB } from './sub.ts';

let folder = '';
beforeAll(ensureBuilt);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sub-odd-'));
  mkdirSync(join(folder, 'home'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function homeEnv() {
  return { HOME: join(folder, 'home'), SUB_HOME: join(folder, 'home', 'sub') };
}

/** Runs `sub` in a folder that is deleted while the shell stands in it. */
function runWithoutFolder(args: readonly string[]): Promise<Ended> {
  const script = 'mkdir "$0" && cd "$0" && rmdir "$0" && exec "$@"';
  const words = ['-c', script, join(folder, 'gone'), process.execPath, SUB, ...args];
  const env = { ...process.env, ...homeEnv() };
  const child = spawn('sh', words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  return ended(child);
}

/** Commands that wait for more than their input, and get by without a working folder. */
const WAITING = new Set(['approvals watch']);
/** Every command has a section in the reference, which another test holds against the list of commands. */
const REFERENCE = readFileSync(`${ROOT}docs/reference/cli.md`, 'utf8');
const COMMANDS = [...REFERENCE.matchAll(/^## sub (.+)$/gm)]
  .map(([, name = '']) => name)
  .filter((name) => !WAITING.has(name));

/** With as many arguments as it needs, whatever they are. */
async function callOf(name: string): Promise<readonly string[]> {
  const path = name.split(' ');
  const { stdout } = await askSub([...path, '--help'], { cwd: folder, env: homeEnv() });
  const [usage = ''] = stdout.split('\n');
  const args = usage.match(/<[^>]+>/g) ?? [];
  const server = name === 'shim' ? ['--server-name', 'x'] : [];
  return [
    ...path,
    ...server,
    ...args.flatMap((arg) => (arg === '<command...>' ? ['--', 'true'] : ['x'])),
  ];
}

describe('in a working folder that was deleted', () => {
  test.each(COMMANDS)('sub %s', async (name) => {
    const { code, stderr } = await runWithoutFolder(await callOf(name));
    expect({ code, stderr }).not.toMatchObject({ code: 70 });
    expect(stderr).not.toContain('internal error');
    if (!stderr.includes('working folder')) return;
    expect(code).toBe(2);
    expect(stderr).toContain('Change to a folder that exists');
  });

  test('the shim, import, status and doctor say so', async () => {
    for (const words of [['shim', '--server-name', 'x', '--', 'cat'], ['import'], ['status']]) {
      const { code, stderr } = await runWithoutFolder(words);
      expect({ words, code, stderr }).toMatchObject({ code: 2 });
      expect(stderr).toContain('the working folder does not exist any more');
    }
  });
});

describe('a value that looks like an option', () => {
  const run = (...args: readonly string[]) => runSub(args, { cwd: folder, env: homeEnv() });

  test.each(['-h', '--help', '-x', '--', '--policy'])(
    'sub shim --server-name %s is a wrong call, with a fix',
    async (value) => {
      const { code, stderr } = await run('shim', '--server-name', value, '--', 'true');
      expect(code).toBe(2);
      expect(stderr).toMatch(/SUB_USAGE/);
      expect(stderr).not.toContain('internal error');
    },
  );

  test('in the same word as its option it is taken', async () => {
    const words = ['shim', '--server-name=-h', '--events', 'off', '--', process.execPath, '-e', ''];
    const { code, stderr } = await run(...words);
    expect(stderr).not.toContain('SUB_USAGE');
    expect(code).not.toBe(70);
  });

  test('a shim that is asked for help still gives it', async () => {
    const { code, stdout } = await run('shim', '--verbose', '-h');
    expect({ code, isHelp: stdout.startsWith('Usage: sub shim') }).toEqual({
      code: 0,
      isHelp: true,
    });
  });
});
