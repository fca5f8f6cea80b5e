// The whole way of `sub import` and `sub restore`, on real files of every client.
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { verifies } from '../../../../../test/requirements.ts';
import { homePaths } from '../../../stores/config/index.ts';
import { CLIENTS, type Client, clientOf } from '../index.ts';
import { clientPlace } from '../inspect/adoption-place.ts';
import { applyImport, type ImportOptions, type ImportPlan, planImport } from './import.ts';
import { applyRestore, planRestore } from './restore.ts';
import { adoptionStatus } from './status.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sub-adopt-'));
  mkdirSync(join(folder, 'home'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const SCRIPT = fileURLToPath(new URL('../../../../cli/bin/sub.mjs', import.meta.url));

function optionsFor(client: Client | undefined, extra: Partial<ImportOptions> = {}): ImportOptions {
  const home = join(folder, 'sub');
  return {
    env: { HOME: join(folder, 'home'), SUB_HOME: home },
    project: join(folder, 'project'),
    paths: homePaths({ SUB_HOME: home }),
    client,
    servers: [],
    own: { runtime: process.execPath, script: SCRIPT },
    redactPatterns: [],
    ...extra,
  };
}

async function planned(options: ImportOptions): Promise<ImportPlan> {
  const plan = await planImport(options);
  if (plan.kind === 'failure') throw new Error(plan.message);
  expect(plan.problems).toEqual([]);
  return plan;
}

async function imported(options: ImportOptions): Promise<readonly string[]> {
  const { files } = await planned(options);
  return files
    .filter(({ diff }) => diff !== '')
    .map((file) => {
      const result = applyImport(file, options);
      expect(result.kind).toBe('applied');
      return file.path;
    });
}

async function restored(options: ImportOptions): Promise<void> {
  const plan = await planRestore({ ...options, isProjectOnly: false });
  if (plan.kind === 'failure') throw new Error(plan.message);
  expect(plan.problems).toEqual([]);
  for (const file of plan.files) expect((await applyRestore(file)).kind).toBe('restored');
}

/** Where the servers of a client's files stand. */
const KEYS: { readonly [id: string]: string } = {
  vscode: 'servers',
  zed: 'context_servers',
  codex: 'mcp_servers',
};

const word = fc.stringMatching(/^[A-Za-z0-9 _./:"\\é→#'{}$-]{0,12}$/);
const server = fc.record(
  {
    command: fc.stringMatching(/^[a-z][a-z0-9 "\\é-]{0,10}$/),
    args: fc.array(word, { maxLength: 3 }),
    // Not `CI` and its like, which act on the shim.
    env: fc.dictionary(fc.stringMatching(/^X[A-Z]{1,4}$/), word, { maxKeys: 2 }),
  },
  { requiredKeys: ['command'] },
);
const servers = fc.dictionary(fc.stringMatching(/^[a-z][a-z0-9 ._-]{0,8}$/), server, {
  minKeys: 1,
  maxKeys: 3,
});
const style = fc.record({
  indent: fc.constantFrom(0, 2, 4, '\t'),
  lineEnd: fc.constantFrom('\n', '\r\n'),
  bom: fc.constantFrom('', '\uFEFF'),
  end: fc.constantFrom('', '\n', '\n\n'),
});
type Servers = typeof servers extends fc.Arbitrary<infer T> ? T : never;
type Style = typeof style extends fc.Arbitrary<infer T> ? T : never;

function jsonText(key: string, value: Servers, { indent, lineEnd, bom, end }: Style): string {
  const text = JSON.stringify(
    { other: [1, { deep: 'x' }], [key]: value, last: null },
    null,
    indent,
  );
  return bom + (text + end).replaceAll('\n', lineEnd);
}

function tomlText(key: string, value: Servers, { lineEnd, end }: Style): string {
  const text = (one: unknown) => JSON.stringify(one);
  const lines = Object.entries(value).flatMap(([name, { command, args, env }]) => [
    `[${key}.${text(name)}] # of mine`,
    `command = ${text(command)}`,
    ...(args === undefined ? [] : [`args = [${args.map(text).join(', ')}]`]),
    'startup_timeout_sec = 5',
    ...(env === undefined
      ? []
      : [
          `env = { ${Object.entries(env)
            .map(([k, v]) => `${k} = ${text(v)}`)
            .join(', ')} }`,
        ]),
    '',
  ]);
  return ['model = "x"', '', ...lines].join(lineEnd) + end.replaceAll('\n', lineEnd);
}

describe('every client', () => {
  const named = CLIENTS.filter(({ id }) => id !== 'custom').map((client) => ({
    id: client.id,
    client,
  }));

  test.each(named)(
    '$id: import twice is import once, and restore gives the same bytes',
    async ({ client }) => {
      verifies('SL-13', 'F-006');
      const options = optionsFor(client);
      const files = client.files(clientPlace(options));
      await fc.assert(
        fc.asyncProperty(servers, style, fc.nat(), async (value, how, pick) => {
          const file = files[pick % files.length];
          if (file === undefined) throw new Error('a client without files');
          const key = keyFor(client, file.path);
          if (key === undefined) return;
          const text =
            file.format === 'toml' ? tomlText(key, value, how) : jsonText(key, value, how);
          mkdirSync(dirname(file.path), { recursive: true });
          writeFileSync(file.path, text);
          expect(await imported(options)).toEqual([file.path]);
          const once = readFileSync(file.path, 'utf8');
          expect(once).not.toBe(text);
          expect(await imported(options)).toEqual([]);
          expect(readFileSync(file.path, 'utf8')).toBe(once);
          const states = adoptionStatus(options).files.flatMap((one) => one.servers);
          expect(new Set(states.map(({ state }) => state))).toEqual(new Set(['governed']));
          await restored(options);
          expect(readFileSync(file.path, 'utf8')).toBe(text);
          rmSync(file.path);
        }),
        { numRuns: 12 },
      );
      expect(readdirSync(join(folder, 'sub', 'backups'))).toEqual([]);
    },
  );

  /** The settings of VS Code hold servers two levels down, which the others show already. */
  function keyFor({ id }: Client, path: string): string | undefined {
    return path.endsWith('settings.json') && id === 'vscode'
      ? undefined
      : (KEYS[id] ?? 'mcpServers');
  }
});

test('a dry plan writes nothing at all', async () => {
  const options = optionsFor(clientOf('claude-code'));
  const path = join(folder, 'home', '.claude.json');
  writeFileSync(path, '{"mcpServers":{"a":{"command":"x"}}}', { mode: 0o600 });
  const before = statSync(path).mtimeMs;
  const { files } = await planned(options);
  expect(files).toHaveLength(1);
  expect(statSync(path).mtimeMs).toBe(before);
  expect(readdirSync(folder)).toEqual(['home']);
});

test('a sub that has moved is brought up to date by the next import', async () => {
  const client = clientOf('claude-code');
  const path = join(folder, 'home', '.claude.json');
  const text = '{"mcpServers":{"a":{"command":"x"}}}';
  writeFileSync(path, text);
  const old = join(folder, 'sub.mjs');
  writeFileSync(old, '');
  await imported(optionsFor(client, { own: { runtime: process.execPath, script: old } }));
  expect(readFileSync(path, 'utf8')).toContain(old);
  const moved = join(folder, 'new', 'sub.mjs');
  mkdirSync(dirname(moved));
  writeFileSync(moved, '');
  const options = optionsFor(client, { own: { runtime: process.execPath, script: moved } });
  const [file] = (await planned(options)).files;
  expect(file).toMatchObject({ chosen: [], updated: ['a'], isChanged: true });
  expect(await imported(options)).toEqual([path]);
  expect(readFileSync(path, 'utf8')).toContain(moved);
  expect(readFileSync(path, 'utf8')).not.toContain(`"${old}"`);
  await restored(options);
  expect(readFileSync(path, 'utf8')).toBe(text);
});
