// Secrets of real config files, moved into a real store and back.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { verifies } from '../../../../../test/requirements.ts';
import { addSecret, removeSecret, rotateSecret } from '../../../stores/vault/index.ts';
import { CLIENTS, clientOf } from '../index.ts';
import { clientPlace } from '../inspect/adoption-place.ts';
import { applyImport, planImport, planMoves } from './import.ts';
import { planRestore } from './restore.ts';
import { envOf, importMoving, Machine, restoreAll } from './testing/machine.ts';

let machine: Machine;
beforeEach(() => {
  machine = new Machine();
});
afterEach(() => machine.end());

const TOKEN = 'tk-7Qe2Lm9Zx4Rv8Bn1';
const OTHER = 'pw-5Tg8Hn2Kq7Wd';

function configOf(servers: object): string {
  return `${JSON.stringify({ theme: 'x', mcpServers: servers }, null, 2)}\n`;
}

function vault() {
  return { home: join(machine.folder, 'sub'), nowMs: () => 0, keychain: null };
}

const KEYS: { readonly [id: string]: string } = {
  vscode: 'servers',
  zed: 'context_servers',
  codex: 'mcp_servers',
};

/** Drawn by lot, with signs that JSON and TOML escape. */
const value = fc
  .tuple(
    fc.stringMatching(/^[A-Za-z0-9+/=_.-]{10,30}$/),
    fc.constantFrom('', '"', '\\', "'", '/', 'é'),
  )
  .map(([text, sign]) => `q7ZxW3${text.slice(0, 5)}${sign}${text.slice(5)}`);
const env = fc.dictionary(
  fc.stringMatching(/^X[A-Z]{0,3}_(?:TOKEN|KEY|MODE|PASSWORD|SECRET)$/),
  value,
  { maxKeys: 4 },
);
const servers = fc.dictionary(
  fc.stringMatching(/^[a-z][a-z0-9 ._-]{0,8}$/),
  fc.record({ command: fc.constantFrom('npx', 'a b'), env }, { requiredKeys: ['command'] }),
  { minKeys: 1, maxKeys: 3 },
);
type Servers = typeof servers extends fc.Arbitrary<infer T> ? T : never;
const style = fc.record({
  indent: fc.constantFrom(0, 2, '\t'),
  lineEnd: fc.constantFrom('\n', '\r\n'),
  bom: fc.constantFrom('', '\uFEFF'),
  way: fc.nat(2),
});
type Style = typeof style extends fc.Arbitrary<infer T> ? T : never;

function jsonText(key: string, all: Servers, { indent, lineEnd, bom }: Style): string {
  const text = JSON.stringify({ [key]: all, last: [1] }, null, indent);
  return bom + text.replaceAll('\n', lineEnd);
}

/** The environment in a table of its own, between braces, or by dotted keys. */
function tomlText(key: string, all: Servers, { lineEnd, way }: Style): string {
  const text = (one: unknown) => JSON.stringify(one);
  const lines = Object.entries(all).flatMap(([name, one]) => {
    const pairs = Object.entries(one.env ?? {}).map(([k, v]) => `${k} = ${text(v)}`);
    const head = [`[${key}.${text(name)}] # mine`, `command = ${text(one.command)}`];
    if (way === 0) return [...head, `env = { ${pairs.join(', ')} }`, ''];
    if (way === 1) return [...head, '', `[${key}.${text(name)}.env]`, ...pairs, ''];
    return [...head, ...pairs.map((pair) => `env.${pair} # kept`), ''];
  });
  return ['model = "x"', ...lines].join(lineEnd);
}

describe('every client', () => {
  const named = CLIENTS.filter(({ id }) => id !== 'custom').map((client) => ({
    id: client.id,
    client,
  }));

  test.each(named)(
    '$id: no byte of what moved is left, its server gets it, and restore gives the same bytes',
    async ({ client }) => {
      verifies('SL-13');
      await fc.assert(
        fc.asyncProperty(servers, style, fc.nat(), async (all, how, pick) => {
          machine.end();
          machine = new Machine();
          const options = machine.options({ client });
          const files = client
            .files(clientPlace(options))
            .filter(({ path }) => !(client.id === 'vscode' && path.endsWith('settings.json')));
          const file = files[pick % files.length];
          if (file === undefined) throw new Error('a client without files');
          const key = KEYS[client.id] ?? 'mcpServers';
          const write = file.format === 'toml' ? tomlText : jsonText;
          const text = machine.write(write(key, all, how), file.path);
          const { files: changed } = await importMoving(options);
          const moves = changed.flatMap((one) => one.moves);
          for (const [name, one] of Object.entries(all)) {
            for (const [variable, secret] of Object.entries(one.env ?? {})) {
              const isMoved = moves.some((m) => m.server === name && m.path.at(-1) === variable);
              expect(isMoved).toBe(!variable.endsWith('_MODE'));
              if (!isMoved) continue;
              expect((await envOf(options, name)).env[variable]).toBe(secret);
              const stays = Object.values(all).some((o) =>
                Object.entries(o.env ?? {}).some(([v, s]) => v.endsWith('_MODE') && s === secret),
              );
              expect(stays ? [] : machine.holding(secret)).toEqual([]);
            }
          }
          expect((await importMoving(options)).files).toEqual([]);
          expect(await restoreAll(options)).toEqual([]);
          expect(readFileSync(file.path, 'utf8')).toBe(text);
          expect(machine.bindings).toBe('');
        }),
        { numRuns: 6 },
      );
    },
    60_000,
  );
});

describe('what moves', () => {
  test('nothing without --move-secrets: a plain import leaves everything where it is', async () => {
    const text = machine.write(configOf({ hub: { command: 'x', env: { HUB_TOKEN: TOKEN } } }));
    const options = machine.options();
    const plan = await planImport(options);
    if (plan.kind === 'failure') throw new Error(plan.message);
    for (const file of plan.files) expect(applyImport(file, options).kind).toBe('applied');
    expect(plan.files.flatMap(({ secrets }) => secrets)).toMatchObject([{ variable: 'HUB_TOKEN' }]);
    expect(JSON.stringify(plan.files.map(({ secrets, diff }) => [secrets, diff]))).not.toContain(
      TOKEN,
    );
    expect(machine.read()).toContain(TOKEN);
    expect(existsSync(join(machine.folder, 'sub', 'vault.db'))).toBe(false);
    await restoreAll(options);
    expect(machine.read()).toBe(text);
  });

  test('what an earlier import has kept in plain text goes with it', async () => {
    const text = machine.write(configOf({ hub: { command: 'x', env: { HUB_TOKEN: TOKEN } } }));
    const options = machine.options();
    const plan = await planImport(options);
    if (plan.kind === 'failure') throw new Error(plan.message);
    for (const file of plan.files) applyImport(file, options);
    // A merge keeps a copy for people.
    machine.write(machine.read().replace('"x"', '"y"').replace('"theme"', '"look"'));
    const again = machine.read();
    await restoreAll(options);
    machine.write(text);
    expect(again).toContain(TOKEN);
    expect(readdirSync(join(machine.folder, 'sub', 'backups'))).toHaveLength(1);
    await importMoving(options);
    expect(machine.holding(TOKEN)).toEqual([]);
    await restoreAll(options);
    expect(machine.read()).toBe(text);
  });

  test('a plan shows no value, and writes nothing', async () => {
    machine.write(configOf({ hub: { command: 'x', env: { HUB_TOKEN: TOKEN } } }));
    const options = machine.options();
    const plan = await planImport(options);
    if (plan.kind === 'failure') throw new Error(plan.message);
    const moving = await planMoves(plan.files, options);
    if (moving.kind === 'failure') throw new Error(moving.message);
    const [file] = moving.files;
    expect(file?.diff).toMatch(/^-.*"HUB_TOKEN": "…"/m);
    expect(file?.diff).not.toContain(TOKEN);
    expect(JSON.stringify(moving.files.map(({ moves }) => moves))).not.toContain(TOKEN);
    expect(readdirSync(machine.folder).toSorted()).toEqual(['bin', 'home']);
  });

  test('the store is asked for an equal value first', async () => {
    machine.write(configOf({ hub: { command: 'x', env: { HUB_TOKEN: TOKEN } } }));
    await importMoving(machine.options());
    await restoreAll(machine.options());
    machine.write(
      configOf({
        hub: { command: 'x', env: { HUB_TOKEN: TOKEN } },
        b: { command: 'x', env: { MY_KEY: TOKEN } },
      }),
    );
    await importMoving(machine.options());
    expect(machine.bindings.match(/secret_ref = .*/g)).toEqual([
      'secret_ref = "claude-code.hub.HUB_TOKEN"',
      'secret_ref = "claude-code.hub.HUB_TOKEN"',
    ]);
  });

  test('a name that holds another value is not taken', async () => {
    machine.write(configOf({ hub: { command: 'x', env: { HUB_TOKEN: TOKEN } } }));
    await importMoving(machine.options());
    await restoreAll(machine.options());
    machine.write(configOf({ hub: { command: 'x', env: { HUB_TOKEN: OTHER } } }));
    await importMoving(machine.options());
    expect(machine.bindings).toContain('"claude-code.hub.HUB_TOKEN-2"');
    expect((await envOf(machine.options(), 'hub')).env['HUB_TOKEN']).toBe(OTHER);
  });
});

describe('servers of one name', () => {
  const cursor = () => join(machine.folder, 'home', '.cursor', 'mcp.json');

  test('with two values: neither moves', async () => {
    const text = machine.write(configOf({ hub: { command: 'x', env: { HUB_TOKEN: TOKEN } } }));
    machine.write(configOf({ hub: { command: 'x', env: { HUB_TOKEN: OTHER } } }), cursor());
    const { warnings } = await importMoving(machine.options());
    expect(warnings).toEqual([expect.stringContaining('both would get the same')]);
    expect(machine.read()).toContain(TOKEN);
    expect(machine.bindings).toBe('');
    await restoreAll(machine.options());
    expect(machine.read()).toBe(text);
  });

  test('with one value: both move, and the binding stays until both are back', async () => {
    const text = machine.write(configOf({ hub: { command: 'x', env: { HUB_TOKEN: TOKEN } } }));
    machine.write(configOf({ hub: { command: 'x', env: { HUB_TOKEN: TOKEN } } }), cursor());
    await importMoving(machine.options({ client: undefined }));
    expect(machine.holding(TOKEN)).toEqual([]);
    await restoreAll(machine.options());
    expect(machine.read()).toBe(text);
    expect((await envOf(machine.options(), 'hub')).env['HUB_TOKEN']).toBe(TOKEN);
    await restoreAll(machine.options({ client: clientOf('cursor') }));
    expect(machine.bindings).toBe('');
  });

  test('with a binding to another value: that is reported', async () => {
    machine.write(configOf({ hub: { command: 'x', env: { HUB_TOKEN: TOKEN } } }));
    await importMoving(machine.options());
    machine.write(configOf({ hub: { command: 'x', env: { HUB_TOKEN: OTHER } } }), cursor());
    const options = machine.options({ client: clientOf('cursor') });
    const plan = await planImport(options);
    if (plan.kind === 'failure') throw new Error(plan.message);
    expect(plan.files.flatMap((file) => file.warnings)).toContainEqual(
      'hub gets HUB_TOKEN by its bindings in config.toml: what its env says is not used.',
    );
    const { warnings } = await importMoving(options);
    expect(warnings).toEqual([expect.stringContaining('which has another value')]);
    expect(machine.read(cursor())).toContain(OTHER);
  });
});

describe('the way back', () => {
  test('is refused when the store has the secret no more, and nothing changes', async () => {
    machine.write(configOf({ hub: { command: 'x', env: { HUB_TOKEN: TOKEN } } }));
    await importMoving(machine.options());
    const governed = machine.read();
    await removeSecret(vault(), 'claude-code.hub.HUB_TOKEN');
    const [told, ...more] = await restoreAll(machine.options());
    expect(more).toEqual([]);
    expect(told).toContain('SUB_SECRET_UNKNOWN');
    expect(told).toContain('`sub secrets add claude-code.hub.HUB_TOKEN`');
    expect(machine.read()).toBe(governed);
    await addSecret(vault(), { name: 'claude-code.hub.HUB_TOKEN', value: TOKEN });
    expect(await restoreAll(machine.options())).toEqual([]);
    expect(machine.read()).toContain(TOKEN);
  });

  test('is refused when the store cannot be opened', async () => {
    machine.write(configOf({ hub: { command: 'x', env: { HUB_TOKEN: TOKEN } } }));
    await importMoving(machine.options());
    const governed = machine.read();
    rmSync(join(machine.folder, 'sub', 'vault.key'));
    expect(await restoreAll(machine.options())).toEqual([expect.stringContaining('SUB_VAULT_KEY')]);
    expect(machine.read()).toBe(governed);
  });

  test('brings the newest value of a secret that was rotated', async () => {
    const text = machine.write(configOf({ hub: { command: 'x', env: { HUB_TOKEN: TOKEN } } }));
    await importMoving(machine.options());
    await rotateSecret(vault(), { name: 'claude-code.hub.HUB_TOKEN', value: OTHER });
    await restoreAll(machine.options());
    expect(machine.read()).toBe(text.replace(TOKEN, OTHER));
  });

  test.each([
    [
      'other variables stand there',
      (text: string) => text.replace('"env": {', '"env": { "NEW": "1"'),
    ],
    ['the environment is empty', (text: string) => text],
    ['the environment is gone', (text: string) => text.replace(/,\s*"env": \{\s*\}/, '')],
  ])('into a config that others have changed, when %s', async (_, change) => {
    machine.write(configOf({ hub: { command: 'x', env: { HUB_TOKEN: TOKEN } } }));
    await importMoving(machine.options());
    const theirs = machine.write(change(machine.read()).replace('"theme": "x"', '"theme": "y"'));
    const { env: left = {} } = (JSON.parse(theirs) as { mcpServers: { hub: { env?: object } } })
      .mcpServers.hub;
    expect(await restoreAll(machine.options())).toEqual([]);
    expect(JSON.parse(machine.read())).toEqual({
      theme: 'y',
      mcpServers: { hub: { command: 'x', env: { ...left, HUB_TOKEN: TOKEN } } },
    });
  });

  test('into a table of TOML that has no line left', async () => {
    const path = join(machine.folder, 'home', '.codex', 'config.toml');
    const text = `model = "x"\n[mcp_servers.hub]\ncommand = "x"\n[mcp_servers.hub.env]\nHUB_TOKEN = "${TOKEN}"\n`;
    machine.write(text, path);
    const options = machine.options({ client: clientOf('codex') });
    await importMoving(options);
    machine.write(machine.read(path).replace('"x"', '"y"'), path);
    expect(await restoreAll(options)).toEqual([]);
    expect(machine.read(path)).toBe(text.replace('"x"', '"y"'));
  });

  test('what others have set in its place stays', async () => {
    machine.write(configOf({ hub: { command: 'x', env: { HUB_TOKEN: TOKEN } } }));
    await importMoving(machine.options());
    machine.write(machine.read().replace('"env": {', `"env": { "HUB_TOKEN": "${OTHER}"`));
    expect(await restoreAll(machine.options())).toEqual([]);
    expect(machine.read()).toContain(OTHER);
    expect(machine.read()).not.toContain(TOKEN);
  });

  test('by its plan alone changes nothing and shows no value', async () => {
    machine.write(configOf({ hub: { command: 'x', env: { HUB_TOKEN: TOKEN } } }));
    await importMoving(machine.options());
    const governed = machine.read();
    const plan = await planRestore({ ...machine.options(), isProjectOnly: false });
    if (plan.kind === 'failure') throw new Error(plan.message);
    expect(plan.files).toMatchObject([{ secrets: ['claude-code.hub.HUB_TOKEN'] }]);
    expect(JSON.stringify(plan)).not.toContain(TOKEN);
    expect(machine.read()).toBe(governed);
  });
});

test('a store whose passphrase only a person knows is no place for what a server needs', async () => {
  const passphraseFile = join(machine.folder, 'passphrase');
  writeFileSync(passphraseFile, 'correct horse battery', { mode: 0o600 });
  mkdirSync(join(machine.folder, 'sub'), { mode: 0o700 });
  await addSecret(
    { ...vault(), passphraseFile, scryptN: 16_384 },
    { name: 'a', value: OTHER, protect: 'passphrase' },
  );
  const text = machine.write(configOf({ hub: { command: 'x', env: { HUB_TOKEN: TOKEN } } }));
  const plan = await planImport(machine.options());
  if (plan.kind === 'failure') throw new Error(plan.message);
  const refused = await planMoves(plan.files, machine.options());
  expect(refused).toMatchObject({ kind: 'failure', code: 'SUB_VAULT_KEY' });
  expect(JSON.stringify(refused)).toContain('A server has no terminal');
  expect(machine.read()).toBe(text);
  machine.write(
    `[secrets]\npassphrase_file = ${JSON.stringify(passphraseFile)}\n`,
    join(machine.folder, 'sub', 'config.toml'),
  );
  await importMoving(machine.options());
  expect(machine.holding(TOKEN)).toEqual([]);
});

describe('config.toml', () => {
  test('gets the bindings at its end, and is what it was afterwards', async () => {
    const own = join(machine.folder, 'sub', 'config.toml');
    const text = machine.write('# mine\nprofile = "development" # yes', own);
    machine.write(configOf({ 'my hub "x"': { command: 'x', env: { HUB_TOKEN: TOKEN } } }));
    await importMoving(machine.options());
    expect(machine.bindings.startsWith(`${text}\n`)).toBe(true);
    expect((await envOf(machine.options(), 'my hub "x"')).env['HUB_TOKEN']).toBe(TOKEN);
    await restoreAll(machine.options());
    expect(machine.bindings).toBe(`${text}\n`);
  });

  test('that cannot take them keeps the secrets where they are', async () => {
    const own = join(machine.folder, 'sub', 'config.toml');
    const list = '[servers]\nhub = { secret_bindings = [] }\n';
    machine.write(list, own);
    const text = machine.write(configOf({ hub: { command: 'x', env: { HUB_TOKEN: TOKEN } } }));
    await expect(importMoving(machine.options())).rejects.toThrow('cannot take the binding');
    expect([machine.read(), machine.bindings]).toEqual([text, list]);
    expect(existsSync(join(machine.folder, 'sub', 'vault.db'))).toBe(false);
  });

  test('is made for its owner alone', async () => {
    machine.write(configOf({ hub: { command: 'x', env: { HUB_TOKEN: TOKEN } } }));
    await importMoving(machine.options());
    expect(statSync(join(machine.folder, 'sub', 'config.toml')).mode & 0o777).toBe(0o600);
  });
});

describe.each(['gemini-cli', 'copilot-cli'])('variables without braces that %s expands', (id) => {
  const client = clientOf(id);

  function setUp(hub: object, more: { readonly [name: string]: string } = {}) {
    const plain = machine.options({ client });
    const options = { ...plain, env: { ...plain.env, ...more } };
    const file = client.files(clientPlace(options)).find(({ scope }) => scope === 'user');
    machine.write(configOf({ hub }), file?.path);
    return options;
  }

  test('stand for any text in the command that a secret is bound to', async () => {
    const given = { HUB_TOKEN: TOKEN };
    const options = setUp(
      { command: '$TOOLS/x', args: ['--root=$DIR/hub'], env: given },
      {
        TOOLS: join(machine.folder, 'bin'),
      },
    );
    expect((await importMoving(options)).warnings).toEqual([]);
    const words = [join(machine.folder, 'bin', 'x'), '--root=/srv/hub'];
    expect(await envOf(options, 'hub', { words })).toMatchObject({ env: given, problems: [] });
    expect((await envOf(options, 'hub', { words: [...words, 'more'] })).env).toEqual({});
  });

  test('keep a secret from a program that nobody knows', async () => {
    const options = setUp({ command: '$TOOLS/x', env: { HUB_TOKEN: TOKEN } });
    expect((await importMoving(options)).warnings).toEqual([
      expect.stringContaining('depends on a variable that is not known here'),
    ]);
  });

  test('leave a value as it is that the client makes of them', async () => {
    const options = setUp({ command: 'x', env: { HUB_TOKEN: `${TOKEN}$MINE` } });
    const { files } = await importMoving(options);
    expect(files.flatMap(({ moves }) => moves)).toEqual([]);
  });
});
