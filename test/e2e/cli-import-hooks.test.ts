// Hooks in clients, by the built `sub`: for good, and for one session.
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AdoptHome, SECRET } from './adopt-home.ts';
import { type Ended, ended, ensureBuilt } from './sub.ts';

let machine: AdoptHome;
beforeAll(ensureBuilt);
beforeEach(() => {
  machine = new AdoptHome();
});
afterEach(() => machine.end());

const SETTINGS = `{\n\t"env" : { "TOKEN": "${SECRET}" },\n\t"hooks": { "Stop": [ {"hooks": []} ] }\n}`;
const settings = () => join(machine.home, '.claude', 'settings.json');

describe('for good', () => {
  test('they go in beside the others, and out again byte for byte', async () => {
    machine.write(settings(), SETTINGS);
    const imported = await machine.sub('import', 'claude', '--hooks', '--yes');
    expect(imported.code, imported.stderr).toBe(0);
    expect(imported.stdout).toContain('Done: the own tools of Claude Code are governed');
    expect(imported.stdout).toContain('A project can switch hooks of the user off');
    expect(imported.stdout + imported.stderr).not.toContain(SECRET);
    expect(readFileSync(settings(), 'utf8')).toContain(' hook claude-code"');
    const status = JSON.parse((await machine.sub('status', '--json')).stdout) as object;
    expect(status).toMatchObject({
      clients: [{ client: 'claude-code', native_tools: 'installed', prompts: 'installed' }],
    });
    const restored = await machine.sub('uninstall', '--yes');
    expect(restored.code, restored.stderr).toBe(0);
    expect(readFileSync(settings(), 'utf8')).toBe(SETTINGS);
  });

  test('flags that say the opposite are an error', async () => {
    machine.write(settings(), SETTINGS);
    const { code, stderr } = await machine.sub(
      'import',
      'claude',
      '--no-hooks',
      '--hooks',
      '--yes',
    );
    expect(code).toBe(2);
    expect(stderr).toContain('--hooks and --no-hooks say the opposite. Leave out one of the two.');
    expect(readFileSync(settings(), 'utf8')).toBe(SETTINGS);
  });

  test('--dry-run shows them, and --yes alone does not put them in', async () => {
    machine.write(settings(), SETTINGS);
    machine.servers();
    const tried = await machine.sub('import', 'claude', '--hooks', '--dry-run');
    expect(tried.stdout).toContain(' hook claude-code');
    const { stdout } = await machine.sub('import', 'claude', '--yes');
    expect(stdout).toContain('Hooks govern these tools: sub import claude-code --hooks');
    expect(readFileSync(settings(), 'utf8')).toBe(SETTINGS);
  });

  test('Codex is not told to trust them without the word of its user', async () => {
    const config = join(machine.home, '.codex', 'config.toml');
    const text = machine.write(config, 'model = "x"\n');
    const { stdout, stderr } = await machine.sub('import', 'codex', '--hooks', '--yes');
    expect(stderr).toContain('nobody has trusted them');
    expect(stderr).toContain('`sub import codex --trust-hooks`');
    expect(stdout).not.toContain('are governed from');
    expect(stdout).not.toContain('sub import codex --hooks');
    expect(machine.read(config)).toBe(text);
    const doctor = await machine.sub('doctor');
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toContain('nobody has trusted them');
    const trusted = await machine.sub('import', 'codex', '--trust-hooks', '--yes');
    expect(trusted.code, trusted.stderr).toBe(0);
    expect(trusted.stdout).toContain('Done: the own tools of Codex CLI are governed');
    expect(trusted.stdout).not.toContain('Nothing to do');
    expect(machine.read(config)).toContain('trusted_hash');
    await machine.sub('restore', 'codex', '--yes');
    expect(machine.read(config)).toBe(text);
    expect(existsSync(join(machine.home, '.codex', 'hooks.json'))).toBe(false);
  });

  test('a trust that cannot be written down fails the command', async () => {
    const config = join(machine.home, '.codex', 'config.toml');
    machine.write(config, '[hooks]\nstate = 3\n');
    const { code, stderr } = await machine.sub('import', 'codex', '--trust-hooks', '--yes');
    expect(stderr).toContain('keeps what was trusted in another form');
    expect(code).not.toBe(0);
  });

  test('without a policy, it is said that calls are only recorded', async () => {
    machine.write(settings(), SETTINGS);
    const { stdout } = await machine.sub('import', 'claude', '--hooks', '--yes');
    expect(stdout).toContain('so calls are only recorded. To write one: sub init');
    const status = await machine.sub('status');
    expect(status.stdout).toMatch(/^Claude Code: own tools and prompts governed by hooks .*\n$/);
  });

  test('hooks that are switched off do not count as done', async () => {
    machine.write(settings(), '{ "disableAllHooks": true }');
    const { stdout, stderr } = await machine.sub('import', 'claude', '--hooks', '--yes');
    expect(stderr).toContain('disableAllHooks: no hook is called');
    expect(stdout).not.toContain('are governed from');
  });

  test.each([
    [['import', 'claude', '--no-hooks', '--managed'], 'Leave out one of the two. [SUB_USAGE]'],
    [['import', 'zed', '--hooks', '--yes'], 'Leave out --hooks. [SUB_CLIENT_HOOKS]'],
    [['import', '--hooks', '--yes'], 'such as sub import claude-code --hooks [SUB_CLIENT_HOOKS]'],
  ])('%j is refused', async (args, words) => {
    const { code, stderr } = await machine.sub(...args);
    expect(code).toBe(2);
    expect(stderr).toContain(words);
  });

  test('a broken file is named, and stays', async () => {
    machine.write(settings(), '{ "hooks": ');
    const { code, stderr } = await machine.sub('import', 'claude', '--hooks', '--yes');
    expect(code).toBe(2);
    expect(stderr).toContain(settings());
    expect(readFileSync(settings(), 'utf8')).toBe('{ "hooks": ');
  });
});

describe('for one session', () => {
  /** A program of that name, which prints its arguments. */
  function fake(name: string, version: string): string {
    const bin = join(machine.folder, 'bin');
    const script = `#!/bin/sh\nif [ "$1" = --version ]; then echo ${version}; exit; fi\nfor word; do echo "$word"; done\necho token=\${SUB_HOOK_TOKEN:+given}\n`;
    machine.write(join(bin, name), script);
    chmodSync(join(bin, name), 0o755);
    return [bin, process.env['PATH'] ?? ''].join(delimiter);
  }

  function started(args: readonly string[], path: string): Promise<Ended> {
    return ended(machine.start(args, { PATH: path }));
  }

  test.each(['run', 'wrap'])(
    '`sub %s` puts them on the command line, without any server',
    async (way) => {
      const { code, stdout, stderr } = await started(
        [way, '--events', 'off', '--', 'claude', '-p', 'go'],
        fake('claude', '2.1.325'),
      );
      expect(code, stderr).toBe(0);
      expect(stdout).toMatch(/^--settings\n\{.*"type":"http".*\}\n-p\ngo\ntoken=given\n$/);
      expect(stderr).not.toContain('Not seen by Subluminal');
      expect(existsSync(settings())).toBe(false);
    },
  );

  test('what would drop them is refused, and --no-hooks starts it all the same', async () => {
    const path = fake('claude', '2.1.325');
    const refused = await started(['run', '--', 'claude', '--bare'], path);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('[SUB_CLIENT_HOOKS]');
    expect(refused.stderr).toContain('--no-hooks');
    const plain = ['run', '--no-hooks', '--events', 'off', '--', 'claude', '--bare'];
    expect(await started(plain, path)).toMatchObject({ code: 0, stdout: '--bare\ntoken=\n' });
  });

  test('--hooks is refused for an agent that takes none', async () => {
    const { code, stderr } = await machine.sub('run', '--hooks', '--', 'true');
    expect(code).toBe(2);
    expect(stderr).toContain('[SUB_CLIENT_HOOKS]');
  });
});
