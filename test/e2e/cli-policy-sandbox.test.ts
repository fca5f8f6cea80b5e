// What a policy forbids, in the settings of the clients' own sandboxes, by the built `sub`.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { AdoptHome, SECRET } from './adopt-home.ts';
import { ensureBuilt, SUB } from './sub.ts';

const POLICY = `policy_id: sandbox
version: "1"
mode: control
rules:
  - { rule_id: never-env, kind: deny, match: { any_arg: { path_matches: [".env*"] } }, effect: { action: BLOCK } }
  - { rule_id: no-keys, kind: deny, match: { any_arg: { path_under: ["~/.ssh"] } }, effect: { action: BLOCK } }
  - { rule_id: at-most, kind: budget, match: {}, effect: { budget: { scope: run, limit_calls: 9, on_exceed: BLOCK } } }
`;
const SETTINGS = `{
\t"env": {"TOKEN" : "${SECRET}"},
\t"permissions": { "deny": ["Bash(rm *)"] }
}`;

let machine: AdoptHome;
let [settings, config]: readonly [string, string] = ['', ''];
beforeAll(ensureBuilt);
beforeEach(() => {
  machine = new AdoptHome();
  machine.write(join(machine.project, 'policy.yaml'), POLICY);
  settings = join(machine.home, '.claude', 'settings.json');
  config = join(machine.home, '.codex', 'config.toml');
});
afterEach(() => machine.end());

const codexConfig = () => `# My own.
model = "x" # as it is

[projects.${JSON.stringify(machine.project)}]
trust_level = "trusted"

[mcp_servers.files]
command = "node"
args = ["server.js"]
`;

test('the settings are printed, with what is not in them, and no file is touched', async () => {
  const { code, stdout } = await machine.sub('policy', 'sandbox', 'claude');
  expect(code).toBe(0);
  expect(stdout).toContain('"Read(//**/.env*)"');
  expect(stdout).toContain('"Read(~/.ssh)"');
  expect(stdout).toContain('"Edit(~/.subluminal)"');
  expect(stdout).toContain('Not in the sandbox:\n  at-most: it counts calls');
  expect(existsSync(settings)).toBe(false);
});

test('they are written beside what is there, and a restore gives the old bytes back', async () => {
  machine.write(settings, SETTINGS);
  const dry = await machine.sub('policy', 'sandbox', 'claude-code', '--write', '--dry-run');
  expect(dry.stdout).toContain('"enabled": true,');
  expect(dry.stdout).not.toContain(SECRET);
  expect(machine.read(settings)).toBe(SETTINGS);

  const written = await machine.sub('policy', 'sandbox', 'claude-code', '--write', '--yes');
  expect(written, written.stderr).toMatchObject({ code: 0 });
  const now = machine.read(settings);
  expect(now).toContain('{"TOKEN" : ');
  expect(now).toContain('"Bash(rm *)"');
  expect(now).toContain('"Read(//**/.env*)"');
  const again = await machine.sub('policy', 'sandbox', 'claude-code', '--write', '--yes');
  expect(again.stdout).toContain('Nothing to do.');

  const restored = await machine.sub('restore', 'claude', '--yes');
  expect(restored.stdout).toContain('byte for byte');
  expect(restored.stdout).not.toContain(SECRET);
  expect(machine.read(settings)).toBe(SETTINGS);
  expect([...machine.left('run'), ...machine.left('backups')]).toEqual([]);
});

test('a file that was not there is private, and goes again', async () => {
  await machine.sub('policy', 'sandbox', 'codex', '--write', '--yes');
  expect(statSync(config).mode & 0o777).toBe(0o600);
  expect(readFileSync(config, 'utf8')).toContain('default_permissions = "subluminal"');
  await machine.sub('restore', 'codex', '--yes');
  expect(existsSync(config)).toBe(false);
});

test('a file is listed once, with its servers', async () => {
  machine.write(config, codexConfig());
  for (const client of ['claude', 'codex']) {
    await machine.sub('policy', 'sandbox', client, '--write', '--yes');
  }
  const { stdout } = await machine.sub('status');
  const files = stdout.split('\n').filter((line) => /^[^:]+: \//.test(line));
  expect(files).toEqual([`Codex CLI: ${config}`]);
});

test('another policy takes the place of the first', async () => {
  machine.write(settings, SETTINGS);
  await machine.sub('policy', 'sandbox', 'claude', '--write', '--yes');
  machine.write(join(machine.project, 'policy.yaml'), POLICY.replace('.env*', 'secrets.json'));
  await machine.sub('policy', 'sandbox', 'claude', '--write', '--yes');
  expect(machine.read(settings)).toContain('Read(//**/secrets.json)');
  expect(machine.read(settings)).not.toContain('.env');
  await machine.sub('restore', 'claude', '--yes');
  expect(machine.read(settings)).toBe(SETTINGS);
});

const IMPORT = ['import', 'CLIENT', '--hooks', '--yes'];
const SANDBOX = ['policy', 'sandbox', 'CLIENT', '--write', '--yes'];

test.each([
  ['hooks, then the sandbox', [IMPORT, SANDBOX]],
  ['the sandbox, then hooks', [SANDBOX, IMPORT]],
  ['each of them twice', [SANDBOX, IMPORT, SANDBOX, IMPORT]],
  ['each of them twice, the other way round', [IMPORT, SANDBOX, IMPORT, SANDBOX]],
])('servers, hooks and sandbox come out together, byte for byte: %s', async (_name, steps) => {
  const before = { [settings]: SETTINGS, [config]: codexConfig() };
  for (const [path, text] of Object.entries(before)) machine.write(path, text);
  for (const client of ['claude-code', 'codex']) {
    for (const step of steps) {
      const args = step.map((word) => (word === 'CLIENT' ? client : word));
      const done = await machine.sub(...args);
      expect(done, `${args.join(' ')}: ${done.stderr}`).toMatchObject({ code: 0 });
    }
  }
  expect(machine.read(settings)).toContain('"PreToolUse"');
  expect(machine.read(settings)).toContain('Read(//**/.env*)');
  expect(machine.read(config)).toContain('[permissions.subluminal]');
  expect(machine.read(config)).toContain('shim');
  const restored = await machine.sub('restore', '--all', '--yes');
  expect(restored, restored.stderr).toMatchObject({ code: 0 });
  for (const [path, text] of Object.entries(before)) expect(machine.read(path)).toBe(text);
  expect(machine.left('backups').filter((name) => !name.includes('replaced'))).toEqual([]);
});

test('a file that was not there goes with the last of the changes', async () => {
  machine.servers();
  const steps = [SANDBOX, IMPORT, SANDBOX].map((step) =>
    step.map((word) => (word === 'CLIENT' ? 'claude-code' : word)),
  );
  for (const [at, step] of steps.entries()) {
    // Another policy, so that there is something to write again.
    if (at === 2) machine.write(join(machine.project, 'policy.yaml'), POLICY.replace('.env', '.x'));
    const done = await machine.sub(...step);
    expect(done, done.stderr).toMatchObject({ code: 0 });
  }
  expect(machine.read(settings)).toContain('"PreToolUse"');
  await machine.sub('restore', 'claude', '--yes');
  expect(existsSync(settings)).toBe(false);
});

test('what others have changed since stays', async () => {
  machine.write(config, codexConfig());
  await machine.sub('policy', 'sandbox', 'codex', '--write', '--yes');
  machine.write(config, `${machine.read(config)}\n[projects."/new"]\ntrust_level = "trusted"\n`);
  await machine.sub('restore', 'codex', '--yes');
  expect(machine.read(config)).toBe(
    `${codexConfig()}\n[projects."/new"]\ntrust_level = "trusted"\n`,
  );
});

test('a session of `sub wrap` on top leaves the settings where they are', async () => {
  machine.write(config, codexConfig());
  await machine.sub('policy', 'sandbox', 'codex', '--write', '--yes');
  const before = machine.read(config);
  const { code } = await machine.sub('wrap', '--agent-type', 'codex', '--', 'true');
  expect(code).toBe(0);
  expect(machine.read(config)).toBe(before);
});

test('programs get it as JSON', async () => {
  machine.write(config, codexConfig());
  const { stdout } = await machine.sub('policy', 'sandbox', 'codex', '--json');
  expect(stdout).toContain('extends = \\":workspace\\"');
  expect(JSON.parse(stdout)).toMatchObject({
    client: 'codex',
    tried: true,
    path: config,
    left: [{ rule_id: 'at-most', why: 'it counts calls' }],
    changed: true,
    written: false,
  });
});

test.each<[readonly string[], string]>([
  [['zed'], 'There are: claude-code, codex, cursor.'],
  [['codex', '--dry-run'], '--dry-run goes with --write.'],
  [['codex', '--policy', ''], '--policy'],
])('what cannot be is an error: %j', async (args, words) => {
  const { code, stderr } = await machine.sub('policy', 'sandbox', ...args);
  expect(code).toBe(2);
  expect(stderr).toContain(words);
});

test('an agent prints the settings, but does not write others', async () => {
  machine.write(config, codexConfig());
  const asAgent = (...args: readonly string[]) =>
    machine.sub(
      'run',
      '--events',
      'off',
      '--',
      process.execPath,
      SUB,
      'policy',
      'sandbox',
      ...args,
    );
  const { stdout } = await asAgent('codex');
  expect(stdout).toContain('[permissions.subluminal]');
  const { stderr } = await asAgent('codex', '--write', '--yes');
  expect(stderr).toContain('SUB_INSIDE_RUN');
  expect(machine.read(config)).toBe(codexConfig());
});

test('a file that cannot be read is left alone', async () => {
  for (const [text, why] of [
    ['{ "permissions": [] }', '`permissions` is no object.'],
    ['{} // mine', 'Comments are not allowed in this file.'],
  ] as const) {
    machine.write(settings, text);
    const { code, stderr } = await machine.sub('policy', 'sandbox', 'claude', '--write', '--yes');
    expect(code).toBe(2);
    expect(stderr).toContain(why);
    expect(machine.read(settings)).toBe(text);
  }
});
