// A secret that is bound to a command reaches the program that the user meant, and no other one that a
// project's config can make the same words start: by its PATH, or by a file of its folder.
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AdoptHome } from './adopt-home.ts';
import { type Ended, ended, ensureBuilt, SUB } from './sub.ts';

const TOKEN = 'tk-7Qe2Lm9Zx4Rv8Bn1';

let machine: AdoptHome;
beforeAll(ensureBuilt);
beforeEach(() => {
  machine = new AdoptHome();
  program(join(machine.folder, 'bin', 'hub'));
});
afterEach(() => machine.end());

const given = () => join(machine.folder, 'given');

/** Writes down which file it is, and the secret that it was given. */
function program(path: string): string {
  machine.write(path, `#!/bin/sh\necho "${path} $HUB_TOKEN" > "${given()}"\nexec cat\n`);
  chmodSync(path, 0o755);
  return path;
}

const userPath = () => `${join(machine.folder, 'bin')}:${process.env['PATH']}`;
const bindings = () => join(machine.subHome, 'config.toml');

function started(words: readonly string[], env: { readonly [name: string]: string } = {}) {
  const shim = ['shim', '--server-name', 'hub', '--events', 'off', '--', ...words];
  return ended(machine.start(shim, { PATH: userPath(), ...env }));
}

function bind(...lines: readonly string[]): void {
  const block = ['[[servers.hub.secret_bindings]]', 'inject_as = "HUB_TOKEN"'];
  const from = ['secret_ref = "hub_token"', 'source = "file"', ...lines];
  machine.write(bindings(), `${[...block, ...from].join('\n')}\n`);
  const path = join(machine.subHome, 'secrets', 'hub_token');
  machine.write(path, TOKEN);
  chmodSync(path, 0o600);
  for (const folder of [machine.subHome, dirname(path)]) chmodSync(folder, 0o700);
}

function expectRefused({ code, stderr }: Ended, words: string): void {
  expect({ code, stderr }).toMatchObject({ code: 2 });
  expect(stderr).toContain(words);
  expect(stderr).toContain('SUB_SECRET_UNUSABLE');
  expect(() => readFileSync(given())).toThrow('ENOENT');
}

describe('a program that a secret is bound to', () => {
  const command = 'command = ["hub", "serve"]';

  test('gets it', async () => {
    bind(command, `program = "${join(machine.folder, 'bin', 'hub')}"`);
    expect(await started(['hub', 'serve'])).toMatchObject({ code: 0 });
    expect(readFileSync(given(), 'utf8')).toBe(`${join(machine.folder, 'bin', 'hub')} ${TOKEN}\n`);
  });

  test('is not the one that the PATH of a project leads to', async () => {
    bind(command, `program = "${join(machine.folder, 'bin', 'hub')}"`);
    const evil = program(join(machine.project, 'bin', 'hub'));
    const PATH = `${dirname(evil)}:${userPath()}`;
    expectRefused(await started(['hub', 'serve'], { PATH }), `starts ${evil}`);
    expectRefused(await started(['hub', 'serve'], { PATH: `bin:${userPath()}` }), evil);
  });

  test('is not a file of the folder', async () => {
    const mine = program(join(machine.folder, 'mine', 'hub'));
    program(join(machine.project, 'hub'));
    bind('command = ["./hub"]', `program = "${mine}"`);
    expectRefused(await started(['./hub']), join(machine.project, 'hub'));
  });

  test('in development is warned of and does not get it', async () => {
    bind(command, `program = "${join(machine.folder, 'bin', 'hub')}"`);
    const evil = program(join(machine.project, 'bin', 'hub'));
    const PATH = `${dirname(evil)}:${userPath()}`;
    const { code, stderr } = await started(['hub', 'serve'], { PATH, SUB_PROFILE: 'development' });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stderr).toContain('SUB_SECRET_UNUSABLE');
    expect(readFileSync(given(), 'utf8')).toBe(`${evil} \n`);
  });

  test('by words alone is refused where they may start anything, with what to run', async () => {
    bind(command);
    expectRefused(await started(['hub', 'serve']), 'Run `command -v hub` in a terminal of yours');
  });

  test('by words alone still works for a whole path', async () => {
    const hub = join(machine.folder, 'bin', 'hub');
    bind(`command = ["${hub}"]`);
    expect(await started([hub])).toMatchObject({ code: 0 });
    expect(readFileSync(given(), 'utf8')).toContain(TOKEN);
  });
});

describe('sub import --move-secrets', () => {
  const file = () => join(machine.project, '.mcp.json');

  function importMoving(): Promise<Ended> {
    const words = ['import', 'claude', '--move-secrets', '--yes'];
    return ended(machine.start(words, { PATH: userPath() }));
  }

  test('binds the program and the script, and restore takes all of it out', async () => {
    const script = join(machine.project, 'server.sh');
    program(script);
    const env = { HUB_TOKEN: TOKEN };
    const before = machine.servers({ hub: { command: 'sh', args: ['server.sh'], env } }, file());
    expect(await importMoving()).toMatchObject({ code: 0 });
    const text = machine.read(bindings());
    expect(text).toContain('command = ["sh", "server.sh"]\nprogram = "/');
    expect(text).toContain(`files = ["${script}"]`);
    expect(await started(['sh', 'server.sh'])).toMatchObject({ code: 0 });
    expect(readFileSync(given(), 'utf8')).toContain(TOKEN);
    rmSync(given());
    // Another project with a script of that name.
    mkdirSync(join(machine.folder, 'other'));
    program(join(machine.folder, 'other', 'server.sh'));
    const words = ['shim', '--server-name', 'hub', '--events', 'off', '--', 'sh', 'server.sh'];
    const other = ['-c', `cd "${join(machine.folder, 'other')}" && exec "$@"`, 'sh'];
    const child = spawn('sh', [...other, process.execPath, SUB, ...words], {
      env: { ...process.env, ...machine.env, PATH: userPath() },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    expectRefused(await ended(child), 'other/server.sh');
    expect((await machine.sub('restore', 'claude', '--yes')).code).toBe(0);
    expect(machine.read(file())).toBe(before);
    expect(() => machine.read(bindings())).toThrow('ENOENT');
  });

  test('has a restore that gives nothing to a command that was changed meanwhile', async () => {
    const env = { HUB_TOKEN: TOKEN };
    machine.servers({ hub: { command: 'hub', args: ['serve'], env } }, file());
    await importMoving();
    machine.write(file(), machine.read(file()).replace('"serve"', '"evil"'));
    const { code, stdout } = await machine.sub('restore', 'claude', '--yes');
    expect(code).toBe(0);
    expect(stdout).toContain('hub is left without HUB_TOKEN, because its command is not the one');
    expect(stdout).toContain('`sub secrets get claude-code.hub.HUB_TOKEN`');
    expect(machine.read(file())).not.toContain(TOKEN);
  });

  test('leaves a secret where it is when its program cannot be told', async () => {
    const env = { HUB_TOKEN: TOKEN };
    const config = machine.servers({ hub: { command: 'hub', args: ['./x.js'], env } });
    const { stderr } = await importMoving();
    expect(stderr).toContain('HUB_TOKEN of hub');
    expect(stderr).toContain('name it by its whole path');
    expect(machine.read()).toContain(TOKEN);
    expect(config).toContain(TOKEN);
  });
});
