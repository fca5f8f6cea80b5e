// Runs the real setup in small checkouts of its own, with an npm and a build that only keep a log.
import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test, vi } from 'vitest';

interface Outcome {
  readonly code: number | null;
  readonly stderr: string;
}

const TOOLS = fileURLToPath(new URL('../', import.meta.url));
const MANIFEST = { name: 'a', version: '1.0.0', dependencies: {} };
const LOCKFILE = { packages: { '': MANIFEST, 'packages/cli': { version: '1.0.0' } } };

// Leaves what the real one leaves, and fails or hangs when told to.
const NPM = `
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
appendFileSync('log', process.argv[2] + '\\n');
rmSync('node_modules', { recursive: true, force: true });
mkdirSync('node_modules');
const mood = existsSync('mood') ? readFileSync('mood', 'utf8') : '';
if (mood === 'hang') {
  setInterval(() => {}, 1000);
  // The real one turns a signal into a plain failure.
  process.on('SIGINT', () => process.exit(1));
  appendFileSync('hanging', '');
}
else if (mood !== '') {
  process.stderr.write('npm error ' + mood);
  process.exitCode = 3;
} else {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const required = Object.entries(packages).filter(([, entry]) => !entry.optional);
  for (const [place] of required) mkdirSync(place === '' ? '.' : place, { recursive: true });
  const installed = JSON.stringify({ packages: Object.fromEntries(required) });
  writeFileSync('node_modules/.package-lock.json', installed);
}
`;
const BUILD = `
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
appendFileSync('log', 'build\\n');
mkdirSync('packages/cli/dist', { recursive: true });
writeFileSync('packages/cli/dist/sub.js', '');
`;

const roots: string[] = [];

function checkout(): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'setup-test-')));
  roots.push(root);
  cpSync(join(TOOLS, 'setup.mjs'), join(root, 'tools', 'setup.mjs'));
  cpSync(join(TOOLS, 'setup'), join(root, 'tools', 'setup'), {
    recursive: true,
    filter: (path) => !path.endsWith('.test.ts'),
  });
  write(root, 'tools/build.mjs', BUILD);
  write(root, 'npm-cli.mjs', NPM);
  write(root, 'package.json', JSON.stringify(MANIFEST));
  write(root, 'package-lock.json', JSON.stringify(LOCKFILE));
  write(root, 'packages/cli/package.json', '{ "name": "b", "version": "1.0.0" }');
  write(root, 'packages/cli/main.ts', 'a;');
  return root;
}

function write(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function start(root: string, ...args: string[]): { child: ChildProcess; done: Promise<Outcome> } {
  return startAs({}, root, args);
}

function startAs(as: { uid?: number; script?: string }, root: string, args: readonly string[]) {
  const { uid, script } = as;
  const npm = { npm_execpath: join(root, 'npm-cli.mjs'), npm_lifecycle_event: script };
  const env = { PATH: process.env['PATH'], ...npm };
  const options = { cwd: root, env, ...(uid !== undefined && { uid }) };
  const child = spawn(process.execPath, ['tools/setup.mjs', ...args], options);
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const done = new Promise<Outcome>((resolve) => {
    child.on('close', (code) => resolve({ code, stderr }));
  });
  return { child, done };
}

const setup = (root: string, ...args: string[]) => start(root, ...args).done;

/** What npm and the build were asked for since the last look. */
function log(root: string): readonly string[] {
  const file = join(root, 'log');
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  rmSync(file, { force: true });
  return lines;
}

afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
});

describe('a checkout', () => {
  test('is installed and built once, and then left in silence', async () => {
    const root = checkout();
    const first = await setup(root);
    expect(first.code).toBe(0);
    expect(first.stderr).toMatch(/installing dependencies.* s\n.*building.* s\n$/s);
    expect(log(root)).toEqual(['ci', 'build']);
    expect(await setup(root)).toEqual({ code: 0, stderr: '' });
    expect(log(root)).toEqual([]);
  });

  test('is built again for a changed source, and not for a changed test', async () => {
    const root = checkout();
    await setup(root);
    log(root);
    write(root, 'packages/cli/main.test.ts', 'b;');
    await setup(root);
    expect(log(root)).toEqual([]);
    write(root, 'packages/cli/main.ts', 'b;');
    await setup(root);
    expect(log(root)).toEqual(['build']);
  });

  test('is built again when asked to, or when the built file is gone', async () => {
    const root = checkout();
    await setup(root);
    log(root);
    await setup(root, '--build');
    expect(log(root)).toEqual(['build']);
    rmSync(join(root, 'packages/cli/dist'), { recursive: true });
    await setup(root);
    expect(log(root)).toEqual(['build']);
  });

  test('is installed again for another lockfile, or without its modules', async () => {
    const root = checkout();
    await setup(root);
    log(root);
    const more = { ...LOCKFILE.packages, 'node_modules/c': { version: '1.0.0' } };
    write(root, 'package-lock.json', JSON.stringify({ packages: more }));
    await setup(root);
    expect(log(root)).toEqual(['ci', 'build']);
    rmSync(join(root, 'node_modules'), { recursive: true });
    await setup(root);
    expect(log(root)).toEqual(['ci', 'build']);
  });

  test('is not installed again for another script in a package.json', async () => {
    const root = checkout();
    await setup(root);
    log(root);
    write(root, 'package.json', JSON.stringify({ ...MANIFEST, scripts: { a: 'b' } }));
    await setup(root);
    expect(log(root)).toEqual(['build']);
  });

  test('is installed again for a dependency that the lockfile does not have', async () => {
    const root = checkout();
    await setup(root);
    log(root);
    write(root, 'package.json', JSON.stringify({ ...MANIFEST, dependencies: { c: '1.0.0' } }));
    await setup(root);
    expect(log(root)[0]).toBe('ci');
  });

  test('that was installed by hand is taken as it is', async () => {
    const root = checkout();
    write(root, 'node_modules/.package-lock.json', JSON.stringify(LOCKFILE));
    await setup(root);
    expect(log(root)).toEqual(['build']);
  });
});

describe('two setups', () => {
  test('at the same time share the work', async () => {
    const root = checkout();
    const outcomes = await Promise.all([setup(root), setup(root), setup(root)]);
    expect(outcomes.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(log(root)).toEqual(['ci', 'build']);
    expect(existsSync(join(root, '.setup.lock'))).toBe(false);
  });

  test('do not wait for one that has died', async () => {
    const root = checkout();
    // Far above any pid that a system gives out.
    const owner = { pid: 2 ** 30, host: hostname() };
    write(root, '.setup.lock/owner.json', JSON.stringify(owner));
    const { code, stderr } = await setup(root);
    expect(code).toBe(0);
    expect(stderr).not.toContain('waiting');
  });

  test('wait for the npm of one that was killed', async () => {
    const root = checkout();
    const owner = { pid: 2 ** 30, stepPid: process.pid, host: hostname() };
    write(root, '.setup.lock/owner.json', JSON.stringify(owner));
    const { child, done } = start(root);
    const said = new Promise<string>((resolve) => {
      child.stderr?.once('data', (chunk: Buffer) => resolve(chunk.toString()));
    });
    expect(await said).toContain('waiting');
    child.kill();
    await done;
    expect(log(root)).toEqual([]);
  });

  test('wait for one that lives', async () => {
    const root = checkout();
    const owner = { pid: process.pid, host: hostname() };
    write(root, '.setup.lock/owner.json', JSON.stringify(owner));
    const { child, done } = start(root);
    const said = new Promise<string>((resolve) => {
      child.stderr?.once('data', (chunk: Buffer) => resolve(chunk.toString()));
    });
    expect(await said).toContain(`waiting for another setup (pid ${process.pid})`);
    expect(log(root)).toEqual([]);
    rmSync(join(root, '.setup.lock'), { recursive: true });
    expect((await done).code).toBe(0);
    expect(log(root)).toEqual(['ci', 'build']);
  });
});

describe('a setup that fails', () => {
  test.each([
    ['getaddrinfo ENOTFOUND', 'registry cannot be reached'],
    ['code ENOSPC', 'disk is full'],
    ['EROFS: read-only file system', 'cannot be written'],
    ['code EUSAGE', 'npm run lockfile'],
  ])('after "%s" says what helps, and passes the exit code on', async (mood, fix) => {
    const root = checkout();
    write(root, 'mood', mood);
    const { code, stderr } = await setup(root);
    expect(code).toBe(3);
    expect(stderr).toContain(mood);
    expect(stderr).toContain(fix);
    expect(log(root)).toEqual(['ci']);
  });

  test('because npm left out an optional package says which', async () => {
    const root = checkout();
    const here = { optional: true, os: [process.platform], cpu: [process.arch] };
    const elsewhere = { optional: true, os: ['aix'], cpu: ['ppc64'] };
    const packages = {
      ...LOCKFILE.packages,
      'node_modules/@c/here': here,
      'node_modules/@c/elsewhere': elsewhere,
    };
    write(root, 'package-lock.json', JSON.stringify({ packages }));
    for (const _ of ['once', 'and again']) {
      const { code, stderr } = await setup(root);
      expect(code).toBe(1);
      expect(stderr).toContain('npm ci left out @c/here.');
      expect(log(root)).toEqual(['ci']);
    }
  });

  test('tries again the next time', async () => {
    const root = checkout();
    await setup(root);
    write(root, 'packages/cli/main.ts', 'b;');
    write(root, 'tools/build.mjs', 'process.exitCode = 4;');
    expect((await setup(root)).code).toBe(4);
    expect((await setup(root)).code).toBe(4);
    write(root, 'tools/build.mjs', BUILD);
    expect((await setup(root)).code).toBe(0);
  });

  test('because it was interrupted leaves nothing that looks ready', async () => {
    const root = checkout();
    write(root, 'mood', 'hang');
    const { child, done } = start(root);
    await vi.waitFor(() => expect(existsSync(join(root, 'hanging'))).toBe(true), 10_000);
    child.kill('SIGINT');
    const { code, stderr } = await done;
    expect(code).toBe(130);
    expect(stderr).toContain('setup: interrupted');
    expect(existsSync(join(root, '.setup.lock'))).toBe(false);
    rmSync(join(root, 'mood'));
    log(root);
    await setup(root);
    expect(log(root)).toEqual(['ci', 'build']);
  });

  // Root may write everywhere, so whoever runs this as root becomes nobody for it.
  test.skipIf(process.platform === 'win32')('says when the checkout is read-only', async () => {
    const root = checkout();
    await setup(root);
    const modules = join(root, 'node_modules');
    chmodSync(root, 0o755);
    chmodSync(modules, 0o555);
    const uid = process.getuid?.() === 0 ? 65_534 : undefined;
    const as = (script: string) => startAs({ script, ...(uid !== undefined && { uid }) }, root, []);
    const { code, stderr } = await as('test').done;
    expect(code).toBe(1);
    expect(stderr).toMatch(/The checkout cannot be written\. Make .+ writable for you/);
    expect(stderr).not.toMatch(/^\s+at /m);
    // What only reads still works there.
    expect(await as('start').done).toEqual({ code: 0, stderr: '' });
    chmodSync(modules, 0o755);
  });

  test('on a wrong option says how it is used', async () => {
    const { code, stderr } = await setup(checkout(), '--biuld');
    expect(code).toBe(2);
    expect(stderr).toContain('Usage: node tools/setup.mjs [--build]');
  });
});
