// What `sub import` leaves to others, and what no shim sees.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AdoptHome, SERVER } from './adopt-home.ts';
import { ensureBuilt } from './sub.ts';

let machine: AdoptHome;
let shared: string;
let before: string;
beforeAll(ensureBuilt);
beforeEach(() => {
  machine = new AdoptHome();
  shared = join(machine.project, '.mcp.json');
  before = machine.servers({ team: SERVER }, shared);
  machine.servers();
});
afterEach(() => machine.end());

function git(...words: readonly string[]): void {
  const env = { ...process.env, HOME: machine.home, GIT_CONFIG_NOSYSTEM: '1' };
  execFileSync('git', words, { cwd: machine.project, env, stdio: 'ignore' });
}

describe('a file of the project in a git work tree', () => {
  beforeEach(() => git('init'));

  test.each([
    ['untracked', () => {}],
    ['tracked', () => git('add', '.mcp.json')],
    [
      'tracked, although .gitignore names it',
      () => {
        machine.write(join(machine.project, '.gitignore'), '.mcp.json\n');
        git('add', '--force', '.mcp.json');
      },
    ],
  ])('is left as it is, with one line about --shared: %s', async (_what, prepare) => {
    prepare();
    const { code, stderr } = await machine.sub('import', 'claude', '--yes');
    expect(code).toBe(0);
    expect(stderr).toBe(
      `sub: not imported, because git shares them with others: ${shared}. Add --shared to import them.\n`,
    );
    expect(machine.read(shared)).toBe(before);
    expect(machine.read()).toContain('"shim"');
  });

  test('is left as it is, too, when it starts shims that are weakened', async () => {
    await machine.sub('import', 'claude', '--shared', '--server', 'team', '--yes');
    const args = [
      '"--server-name"',
      '"--events",\n        "off",\n        "--server-name"',
    ] as const;
    const loose = machine.write(shared, machine.read(shared).replace(...args));
    rmSync(join(machine.subHome, 'backups'), { recursive: true });
    const { stderr } = await machine.sub('import', 'claude', '--yes');
    expect(stderr).toContain('Add --shared to import them.');
    expect(machine.read(shared)).toBe(loose);
    await machine.sub('import', 'claude', '--shared', '--yes');
    expect(machine.read(shared)).not.toContain('"off"');
  });

  test('is imported with --shared, kept up by later imports, and comes back', async () => {
    const { code } = await machine.sub('import', 'claude', '--shared', '--yes');
    expect(code).toBe(0);
    expect(machine.read(shared)).toContain('"shim"');
    const again = await machine.sub('import', 'claude', '--profile', 'development', '--yes');
    expect(again.stderr).not.toContain('--shared');
    expect(machine.read(shared)).toContain('development');
    expect((await machine.sub('restore', 'claude', '--yes')).code).toBe(0);
    expect(machine.read(shared)).toBe(before);
  });

  test('is imported without --shared when git ignores it, or when it is named', async () => {
    const named = await machine.sub('import', 'claude', '--config-path', shared, '--dry-run');
    expect(named.stdout).toContain('to be governed');
    machine.write(join(machine.project, '.gitignore'), '.mcp.json\n');
    expect((await machine.sub('import', 'claude', '--yes')).code).toBe(0);
    expect(machine.read(shared)).toContain('"shim"');
  });

  test('is named by `sub status` and `sub doctor` with what governs it', async () => {
    await machine.sub('import', 'claude', '--yes');
    const status = JSON.parse((await machine.sub('status', '--json')).stdout) as {
      readonly files: readonly { readonly path: string; readonly shared: boolean }[];
    };
    expect(status.files.map(({ path, shared: isShared }) => [path, isShared])).toEqual([
      [machine.config, false],
      [shared, true],
    ]);
    expect((await machine.sub('doctor')).stdout).toContain('`sub import --shared`');
  });

  test('a repository cannot have its own program asked instead of git', async () => {
    const proof = join(machine.project, 'proof');
    git('config', 'core.fsmonitor', `touch ${proof}; false`);
    git('config', 'core.hooksPath', machine.project);
    git('-c', 'core.fsmonitor=false', 'add', '.mcp.json');
    await machine.sub('import', 'claude', '--yes');
    expect(() => machine.read(proof)).toThrow('ENOENT');
    expect(machine.read(shared)).toBe(before);
  });

  test('--shared and --user-only exclude each other', async () => {
    const { code, stderr } = await machine.sub('import', '--shared', '--user-only', '--yes');
    expect(code).toBe(2);
    expect(stderr).toContain('--user-only and --shared say the opposite.');
  });
});

test('outside of git, a file of the project is the user’s own', async () => {
  const { code, stderr } = await machine.sub('import', 'claude', '--yes');
  expect(code).toBe(0);
  expect(stderr).not.toContain('--shared');
  expect(machine.read(shared)).toContain('"shim"');
});

describe('what Subluminal does not see', () => {
  const UNSEEN =
    'Not seen by Subluminal: the built-in tools of Claude Code (Bash, Edit, Write, WebFetch, …); servers by address: docs. Hooks govern these tools: sub import claude-code --hooks\n';
  beforeEach(() => {
    const docs = { type: 'http', url: 'https://mcp.example.com', headersHelper: 'x' };
    machine.servers({ files: SERVER, docs, off: { ...docs, disabled: true } });
  });

  test('import and status say it once', async () => {
    const { stdout } = await machine.sub('import', 'claude', '--yes');
    expect(stdout.split(UNSEEN)).toHaveLength(2);
    expect((await machine.sub('status')).stdout.split(UNSEEN)).toHaveLength(2);
  });

  test('the end of a run says it of a client that sub knows, and of no other', async () => {
    await machine.sub('import', 'claude', '--yes');
    machine.write(join(machine.folder, 'claude'), '#!/bin/sh\nexit 0\n');
    execFileSync('chmod', ['+x', join(machine.folder, 'claude')]);
    const run = (...words: readonly string[]) =>
      machine.sub('run', '--events', 'off', ...words, '--', join(machine.folder, 'claude'));
    expect((await run('--no-hooks')).stderr).toContain(`sub: ${UNSEEN}`);
    expect((await run()).stderr).toContain(
      'sub: Not seen by Subluminal: servers by address: docs.\n',
    );
    expect((await run('--quiet')).stderr).not.toContain('Not seen');
    const other = await machine.sub('run', '--events', 'off', '--', 'true');
    expect(other.stderr).not.toContain('Not seen');
  });
});
