// Runs the real build and the real runner in small checkouts of their own.
import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, expect, test, vi } from 'vitest';

interface Fresh {
  readonly buildHash: () => string;
  readonly buildState: (hash: string) => string;
}

const TOOLS = fileURLToPath(new URL('./', import.meta.url));
const ESBUILD = fileURLToPath(new URL('../node_modules/esbuild', import.meta.url));
const WAIT = { timeout: 20_000, interval: 50 };
const POSIX = process.platform !== 'win32';
const NOBODY = 65_534;

const roots: string[] = [];
const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
});

function checkout(): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'build-test-')));
  roots.push(root);
  chmodSync(root, 0o755);
  for (const name of ['build.mjs', 'build', 'run.mjs', 'setup']) {
    cpSync(join(TOOLS, name), join(root, 'tools', name), { recursive: true });
  }
  mkdirSync(join(root, 'node_modules'));
  symlinkSync(ESBUILD, join(root, 'node_modules', 'esbuild'));
  write(root, 'package.json', '{ "name": "a", "type": "module" }');
  write(root, 'packages/cli/main.ts', 'console.log(1);');
  write(root, 'packages/cli/shim.ts', 'console.log(0);');
  return root;
}

function write(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function start(root: string, args: readonly string[], uid?: number) {
  const options = { cwd: root, ...(uid !== undefined && { uid }) };
  const child = spawn(process.execPath, [...args], options);
  children.push(child);
  let output = '';
  const collect = (chunk: Buffer) => {
    output += chunk.toString();
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const done = new Promise<{ code: number | null; output: string }>((resolve) => {
    child.on('close', (code) => resolve({ code, output }));
  });
  return { child, done, built: () => output.split('build: ').length - 1 };
}

async function stateOf(root: string): Promise<() => string> {
  const url = pathToFileURL(join(root, 'tools', 'setup', 'fresh.mjs')).href;
  const fresh = (await import(/* @vite-ignore */ url)) as Fresh;
  return () => fresh.buildState(fresh.buildHash());
}

test('a watching build is as fresh as one of the setup, and ends when it is interrupted', async () => {
  const root = checkout();
  const state = await stateOf(root);
  const { child, done, built } = start(root, ['tools/build.mjs', '--watch']);
  await vi.waitFor(() => expect(state()).toBe('fresh'), WAIT);
  const before = built();
  write(root, 'packages/cli/main.ts', 'console.log(2);');
  expect(state()).toBe('stale');
  await vi.waitFor(() => expect([state(), built() > before]).toEqual(['fresh', true]), WAIT);
  child.kill('SIGINT');
  expect((await done).code).toBe(POSIX ? 130 : null);
});

test('a build that fails is not taken for a fresh one', async () => {
  const root = checkout();
  const state = await stateOf(root);
  write(root, 'packages/cli/main.ts', 'const = ;');
  const { built } = start(root, ['tools/build.mjs', '--watch']);
  await vi.waitFor(() => expect(built()).toBe(1), WAIT);
  expect(state()).toBe('stale');
  write(root, 'packages/cli/main.ts', 'console.log(2);');
  await vi.waitFor(() => expect(state()).toBe('fresh'), WAIT);
});

/** Whether every folder down to this one may be entered by anybody. */
function isOpenToAll(path: string): boolean {
  const open = (statSync(path).mode & 0o001) !== 0;
  return open && (dirname(path) === path || isOpenToAll(dirname(path)));
}

// Root may write everywhere, so whoever runs this as root becomes nobody for it, and nobody must be
// able to reach what is installed here.
const canTryReadOnly = POSIX && (process.getuid?.() !== 0 || isOpenToAll(dirname(ESBUILD)));
test.skipIf(!canTryReadOnly).each([
  ['run', ['tools/run.mjs', 'packages/cli/main.ts']],
  ['build', ['tools/build.mjs']],
])('%s says in one sentence that a checkout is read-only', async (name, args) => {
  const root = checkout();
  for (const folder of ['node_modules', 'packages/cli']) chmodSync(join(root, folder), 0o555);
  const uid = process.getuid?.() === 0 ? NOBODY : undefined;
  const { code, output } = await start(root, args, uid).done;
  for (const folder of ['node_modules', 'packages/cli']) chmodSync(join(root, folder), 0o755);
  expect(code).toBe(1);
  expect(output).toMatch(new RegExp(`^${name}: The checkout cannot be written\\. .*\\n$`));
  expect(existsSync(join(root, 'packages/cli/dist'))).toBe(false);
});
