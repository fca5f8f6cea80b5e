// Secrets that move out of configs and back, where something stands against it: servers of the same
// name, other programs, odd names, large files.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { rotateSecret } from '../../../stores/vault/index.ts';
import { clientOf } from '../index.ts';
import { cutAll } from '../secrets/cut-values.ts';
import { applyImport, planImport } from './import.ts';
import { applyRestore, planRestore } from './restore.ts';
import { envOf, importMoving, Machine, restoreAll } from './testing/machine.ts';

let machine: Machine;
beforeEach(() => {
  machine = new Machine();
});
afterEach(() => machine.end());

const TOKEN = 'tk-7Qe2Lm9Zx4Rv8Bn1';
const OTHER = 'pw-5Tg8Hn2Kq7Wd';

function configOf(servers: object): string {
  return `${JSON.stringify({ mcpServers: servers }, null, 2)}\n`;
}

function hubOf(command: string, token?: string, args: readonly string[] = []): object {
  return { command, args, ...(token !== undefined && { env: { HUB_TOKEN: token } }) };
}

async function warningsOf(options: Parameters<typeof planImport>[0]): Promise<readonly string[]> {
  const plan = await planImport(options);
  if (plan.kind === 'failure') throw new Error(plan.message);
  return plan.files.flatMap(({ warnings }) => warnings);
}

async function plannedRestore() {
  const plan = await planRestore({ ...machine.options(), isProjectOnly: false });
  if (plan.kind === 'failure') throw new Error(plan.message);
  const [file] = plan.files;
  if (file === undefined) throw new Error('there is nothing to put back');
  return file;
}

describe('a server of the same name with another command', () => {
  const project = () => join(machine.folder, 'project', '.mcp.json');

  test('gets nothing, and import says so', async () => {
    machine.write(configOf({ hub: hubOf('npx', TOKEN, ['-y', 'hub']) }));
    await importMoving(machine.options());
    machine.write(configOf({ hub: hubOf('./evil.sh') }), project());
    const evil = await envOf(machine.options(), 'hub', { words: ['./evil.sh'] });
    expect(evil.env).toEqual({});
    expect(evil.problems).toMatchObject([{ code: 'SUB_SECRET_UNUSABLE' }]);
    const own = await envOf(machine.options(), 'hub', { words: ['npx', '-y', 'hub'] });
    expect([own.env['HUB_TOKEN'], own.problems]).toEqual([TOKEN, []]);
    expect(await warningsOf(machine.options())).toContainEqual(
      expect.stringMatching(/^hub of .*\.mcp\.json does NOT get HUB_TOKEN/),
    );
  });

  test('keeps a value of its own', async () => {
    machine.write(configOf({ hub: hubOf('npx', TOKEN) }));
    await importMoving(machine.options());
    const env = { HUB_TOKEN: 'own' };
    const own = await envOf(machine.options(), 'hub', { env, words: ['docker'] });
    expect([own.env, own.problems]).toEqual([env, []]);
    // But nothing takes the place of what is bound to the server itself.
    const bound = await envOf(machine.options(), 'hub', { env, words: ['npx'] });
    expect(bound.env['HUB_TOKEN']).toBe(TOKEN);
  });

  test('has its own secret under the same variable, and both come back', async () => {
    const text = machine.write(configOf({ hub: hubOf('npx', TOKEN) }));
    const cursor = join(machine.folder, 'home', '.cursor', 'mcp.json');
    const theirs = machine.write(configOf({ hub: hubOf('docker', OTHER) }), cursor);
    const options = machine.options({ client: undefined });
    await importMoving(options);
    expect([...machine.holding(TOKEN), ...machine.holding(OTHER)]).toEqual([]);
    const tokenOf = async (word: string) =>
      (await envOf(options, 'hub', { words: [word] })).env['HUB_TOKEN'];
    expect([await tokenOf('npx'), await tokenOf('docker')]).toEqual([TOKEN, OTHER]);
    expect(await restoreAll(options)).toEqual([]);
    expect([machine.read(), machine.read(cursor), machine.bindings]).toEqual([text, theirs, '']);
  });

  test('gets the secret of a binding without a command, and import says so', async () => {
    machine.write(
      '[[servers.hub.secret_bindings]]\ninject_as = "HUB_TOKEN"\nsecret_ref = "hub"\nsource = "vault"\n',
      join(machine.folder, 'sub', 'config.toml'),
    );
    machine.write(configOf({ hub: hubOf('./evil.sh') }), project());
    expect(await warningsOf(machine.options())).toContainEqual(
      expect.stringMatching(/^hub of .*\.mcp\.json gets HUB_TOKEN by the bindings/),
    );
  });

  test('is recognized by expanded variables and hidden words', async () => {
    const folder = ['$', '{workspaceFolder}'].join('');
    const args = ['--key', 'drawnS3cr3tByLot', `--root=${folder}/hub`];
    machine.write(configOf({ hub: hubOf('node', TOKEN, args) }));
    await importMoving(machine.options());
    expect(machine.bindings).not.toContain('drawnS3cr3tByLot');
    const tokenOf = async (...words: readonly string[]) =>
      (await envOf(machine.options(), 'hub', { words: ['node', ...words] })).env['HUB_TOKEN'];
    expect(await tokenOf('--key', 'drawnS3cr3tByLot', '--root=/p/hub')).toBe(TOKEN);
    expect(await tokenOf('--key', 'drawnS3cr3tByLot', '--root=/p/evil')).toBeUndefined();
    expect(await tokenOf('--key', 'another', '--root=/p/hub')).toBeUndefined();
  });
});

describe('the way back', () => {
  test('finds a server that has another name now', async () => {
    machine.write(configOf({ hub: hubOf('npx', TOKEN, ['-y']), a: { command: 'a' } }));
    await importMoving(machine.options());
    machine.write(machine.read().replace('"hub":', '"renamed":'));
    const file = await plannedRestore();
    expect(file).toMatchObject({ missing: [], secrets: ['claude-code.hub.HUB_TOKEN'], stored: [] });
    expect(await applyRestore(file)).not.toHaveProperty('lost');
    expect(JSON.parse(machine.read())).toEqual({
      mcpServers: { renamed: hubOf('npx', TOKEN, ['-y']), a: { command: 'a' } },
    });
    expect(machine.bindings).toBe('');
  });

  test('does not say that a secret is back whose server is gone', async () => {
    machine.write(configOf({ hub: hubOf('npx', TOKEN), a: { command: 'a' } }));
    await importMoving(machine.options());
    const { mcpServers } = JSON.parse(machine.read()) as { mcpServers: { hub?: object } };
    delete mcpServers.hub;
    machine.write(configOf(mcpServers));
    const file = await plannedRestore();
    expect(file).toMatchObject({
      missing: ['hub'],
      secrets: [],
      stored: ['claude-code.hub.HUB_TOKEN'],
    });
  });

  test('leaves the binding while another entry starts a shim of that name', async () => {
    machine.write(configOf({ hub: hubOf('npx', TOKEN) }));
    await importMoving(machine.options());
    const copy = join(machine.folder, 'home', '.cursor', 'mcp.json');
    machine.write(machine.read(), copy);
    const result = await applyRestore(await plannedRestore());
    expect(result.kind === 'restored' ? result.stays : '').toContain(copy);
    expect((await envOf(machine.options(), 'hub')).env['HUB_TOKEN']).toBe(TOKEN);
    // It goes with the last one that needs it.
    expect(await restoreAll(machine.options({ client: clientOf('cursor') }))).toEqual([]);
    expect(machine.bindings).toBe('');
    expect(existsSync(join(machine.folder, 'sub', 'backups', 'kept-bindings.json'))).toBe(false);
  });

  test('writes a newer value so that its file can be read, and does not say byte for byte', async () => {
    const path = join(machine.folder, 'home', '.codex', 'config.toml');
    machine.write(`[mcp_servers.hub]\ncommand = "x"\nenv = { HUB_TOKEN = "${TOKEN}" }\n`, path);
    const options = machine.options({ client: clientOf('codex') });
    await importMoving(options);
    const vault = { home: join(machine.folder, 'sub'), nowMs: () => Date.now() + 1_000 };
    const value = 'new\u007fvalue9';
    await rotateSecret({ ...vault, keychain: null }, { name: 'codex.hub.HUB_TOKEN', value });
    const plan = await planRestore({ ...options, isProjectOnly: false });
    expect(plan).toMatchObject({ files: [{ how: 'same', rotated: ['codex.hub.HUB_TOKEN'] }] });
    expect(await restoreAll(options)).toEqual([]);
    expect(machine.read(path)).toContain('"new\\u007Fvalue9"');
    const again = await planImport(options);
    expect(again).toMatchObject({ files: [{ chosen: ['hub'] }], problems: [] });
  });
});

test('a copy that holds the secret behind escapes does not stay', async () => {
  const text = machine.write(configOf({ hub: hubOf('npx', TOKEN) }));
  const options = machine.options();
  const plan = await planImport(options);
  if (plan.kind === 'failure') throw new Error(plan.message);
  for (const file of plan.files) applyImport(file, options);
  // Another program writes it with an escape, and a merge keeps a copy for people.
  machine.write(machine.read().replace('tk-', 'tk\\u002d').replace('{', '{ '));
  await restoreAll(options);
  machine.write(text);
  const { told } = await importMoving(options);
  expect(told).toEqual([expect.stringContaining('was removed')]);
  expect(machine.holding(TOKEN.slice(3))).toEqual([]);
});

test('a server with an odd name keeps no other one from moving', async () => {
  const odd = 'od\u0007d';
  machine.write(configOf({ hub: hubOf('npx', TOKEN), [odd]: hubOf('npx', OTHER) }));
  const { warnings, files } = await importMoving(machine.options());
  expect(files.flatMap(({ moves }) => moves.map(({ server }) => server))).toEqual(['hub']);
  expect(warnings).toEqual([expect.stringContaining('stay in plain text')]);
  expect(machine.holding(TOKEN)).toEqual([]);
  expect(machine.read()).toContain(OTHER);
});

test('secrets beyond the limit of one import are counted in a warning', async () => {
  const names = Array.from({ length: 257 }, (_, index) => `s${index}`);
  machine.write(configOf(Object.fromEntries(names.map((name) => [name, hubOf('x', TOKEN)]))));
  expect(await warningsOf(machine.options())).toContainEqual(
    expect.stringContaining('has 1 more secrets in plain text'),
  );
});

test('all values of a config are cut out with a few looks at it, and come back to the byte', () => {
  const servers = Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => [
      `s${index}`,
      { command: 'x', env: { A_KEY: `a${index}`, MODE: 'm', B_KEY: `b${index}` } },
    ]),
  );
  const text = JSON.stringify({ mcpServers: servers }, null, 1);
  const targets = Object.keys(servers).flatMap((name, index) =>
    ['A_KEY', 'B_KEY'].map((variable) => ({
      path: ['mcpServers', name, 'env', variable],
      value: `${variable.startsWith('A') ? 'a' : 'b'}${index}`,
    })),
  );
  const wrong = { path: ['mcpServers', 's0', 'env', 'MODE'], value: 'other' };
  const out = cutAll(text, { format: 'json', targets: [...targets, wrong] });
  expect(out.left).toEqual([wrong]);
  expect(out.cuts).toHaveLength(80);
  const rest = JSON.parse(out.text) as { mcpServers: { [name: string]: { env: object } } };
  expect(
    Object.values(rest.mcpServers).every(({ env }) => Object.keys(env).join() === 'MODE'),
  ).toBe(true);
});

test('an entry that starts the script of sub by another runtime is none of ours', async () => {
  const runtime = join(machine.folder, 'node');
  machine.write('#!/bin/sh\n', runtime);
  const { script } = machine.options().own;
  const args = [script, 'shim', '--server-name', 'hub', '--', 'npx'];
  machine.write(configOf({ hub: { command: runtime, args, env: { HUB_TOKEN: TOKEN } } }));
  const plan = await planImport(machine.options());
  expect(plan).toMatchObject({
    files: [{ secrets: [], warnings: [expect.stringContaining(`another sub, ${runtime}`)] }],
  });
});
