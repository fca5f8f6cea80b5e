// The packed product as a new user has it: installed from its tarball into an empty folder, with a home
// of its own, and nothing of the checkout in reach.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bareEnvironment, INSTALL_MS, installTarball, packInto, succeed } from '../packed.ts';
import { ensureBuilt, ROOT } from './sub.ts';

const CONFIG = { mcpServers: { notes: { command: 'node', args: ['server.mjs'] } } };

let folder: string;
let project: string;
let packedBytes: number;

beforeAll(() => {
  ensureBuilt();
  folder = mkdtempSync(join(tmpdir(), 'sub-package-'));
  project = join(folder, 'project');
  for (const name of ['project', 'home', 'tool', 'bare']) mkdirSync(join(folder, name));
  const tarball = packInto(folder);
  packedBytes = readFileSync(tarball).length;
  installTarball(tarball, join(folder, 'tool'));
  installTarball(tarball, join(folder, 'bare'), '--omit=optional');
}, INSTALL_MS);
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

function sub(...args: string[]): string {
  return succeed(join(folder, 'tool', 'node_modules', '.bin', 'sub'), args, {
    cwd: project,
    env: bareEnvironment(folder),
  });
}

const installed = (...names: string[]) =>
  join(folder, 'tool', 'node_modules', 'subluminal', ...names);

test('the package is small, and lists the licences of the code in it', () => {
  // Clients of mail and chat services are a fifth of it; they are loaded by Steward alone.
  expect(packedBytes).toBeLessThan(5_500_000);
  expect(readFileSync(installed('THIRD-PARTY-NOTICES.txt'), 'utf8')).toContain('commander ');
});

test('its manifest names the repository, asks for provenance and has one dependency', () => {
  const manifest: unknown = JSON.parse(readFileSync(installed('package.json'), 'utf8'));
  expect(manifest).toMatchObject({
    // A registry takes provenance only for the repository that the package names.
    repository: { type: 'git', url: 'git+https://github.com/subluminal/subluminal.git' },
    publishConfig: { access: 'public', provenance: true },
  });
  expect(manifest).toHaveProperty('dependencies', { '@photostructure/sqlite': '1.2.1' });
});

test('what the README and the messages of the command point to is in the package', () => {
  const readme = readFileSync(installed('README.md'), 'utf8');
  const links = [...readme.matchAll(/\]\(([\w./-]+)(?:#[\w-]+)?\)/g)].map(([, path = '']) => path);
  expect(links).toContain('docs/reference/cli.md');
  // Pictures are many bytes, and whoever shows the README takes them from the repository.
  const inPackage = links.filter((path) => !path.endsWith('.png'));
  expect(inPackage.filter((path) => !existsSync(installed(path)))).toEqual([]);
});

test('the installed command prints its version and checks a policy', () => {
  expect(sub('version')).toMatch(/^sub \d+\.\d+\.\d+ /);
  expect(sub('policy', 'lint', installed('examples', 'policies', 'starter.yaml'))).toContain(
    'no problems',
  );
});

test('the starter policies come with the package, and so do their tests', () => {
  for (const use of ['solo', 'team', 'ci', 'read-only']) {
    expect(sub('init', '--use', use, '--dry-run')).toContain(`made by \`sub init --use ${use}\``);
    // That these tests pass is shown where the files come from.
    for (const file of [`${use}.yaml`, `${use}.test.yaml`]) {
      const path = ['examples', 'policies', file];
      expect(readFileSync(installed(...path), 'utf8')).toBe(
        readFileSync(join(ROOT, ...path), 'utf8'),
      );
    }
  }
  const tests = installed('examples', 'policies', 'starter.test.yaml');
  expect(sub('policy', 'test', tests)).toContain('all passed');
});

test('the installed command adopts a client, and puts its config back byte for byte', () => {
  const path = join(folder, 'home', '.claude.json');
  const before = `${JSON.stringify(CONFIG, null, 4)}\n`;
  writeFileSync(path, before);
  sub('import', 'claude', '--yes');
  const governed = readFileSync(path, 'utf8');
  expect(governed).toContain('--server-name');
  expect(governed).not.toContain(ROOT);
  sub('restore', 'claude', '--yes');
  expect(readFileSync(path, 'utf8')).toBe(before);
});

test('a run is recorded, and found in the ledger', () => {
  sub('run', '--quiet', '--', process.execPath, '-e', '0');
  expect(JSON.parse(sub('query', '--runs', '--json'))).toMatchObject({
    runs: [{ status: 'SUCCEEDED' }],
  });
  sub('ledgerd', '--stop');
});

test('the demo runs with the server that came with the package', () => {
  expect(sub('demo')).toContain('9 calls: 5 passed, 4 refused.');
});

test('without its optional packages, Cedar policies are refused with what to install', () => {
  const policy = installed('examples', 'policies', 'starter.yaml');
  const cedar = join(project, 'all.cedar');
  writeFileSync(cedar, 'permit (principal, action, resource);\n');
  const bare = (...args: readonly string[]) =>
    spawnSync(join(folder, 'bare', 'node_modules', '.bin', 'sub'), args, {
      cwd: project,
      env: bareEnvironment(folder),
      encoding: 'utf8',
    });
  const started = join(project, 'started');
  for (const words of [
    ['run', '--cedar', cedar, '--', 'touch', started],
    ['policy', 'explain', policy, '--cedar', cedar, '--tool', 'a', '--server', 'b'],
  ]) {
    const { status, stderr } = bare(...words);
    expect(stderr).toContain('the engine for Cedar policies is not installed');
    expect(stderr).toMatch(/npm i -g @cedar-policy\/cedar-wasm@\d/);
    expect(status).toBe(2);
  }
  expect(existsSync(started)).toBe(false);
  expect(bare('run', '--quiet', '--', 'true').status).toBe(0);
  expect(bare('ledgerd', '--stop').status).toBe(0);
});

test('the installed command restores every client and purges its home', () => {
  const path = join(folder, 'home', '.claude.json');
  const before = `${JSON.stringify(CONFIG)}\n`;
  writeFileSync(path, before);
  sub('import', 'claude', '--yes');
  expect(sub('uninstall', '--purge', '--yes')).toContain('npm rm -g subluminal');
  expect(readFileSync(path, 'utf8')).toBe(before);
  expect(existsSync(join(folder, 'home', '.subluminal'))).toBe(false);
});
