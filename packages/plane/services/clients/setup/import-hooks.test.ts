// The whole way of hooks into the settings of a client and out again, on real files.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { closedToOthers, thisSystem } from '../../../os/index.ts';
import { homePaths } from '../../../stores/config/index.ts';
import { managedClients } from '../hooks/managed-files.ts';
import { CLIENT_HOOKS } from '../hooks/registry.ts';
import { CLIENTS, clientOf } from '../index.ts';
import { clientPlace } from '../inspect/adoption-place.ts';
import { applyChange } from '../store/apply-change.ts';
import { repairAll } from '../store/repair-configs.ts';
import { applyImport, planImport } from './import.ts';
import { type HookOptions, planHooks } from './import-hooks.ts';
import { applyRestore, planRestore } from './restore.ts';
import { adoptionStatus } from './status.ts';
import { trustState } from './trust-hooks.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sub-hooks-'));
  mkdirSync(join(folder, 'home'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const SCRIPT = fileURLToPath(new URL('../../../../cli/bin/sub.mjs', import.meta.url));

function optionsFor(id: string, script = SCRIPT): HookOptions {
  const home = join(folder, 'sub');
  return {
    env: { HOME: join(folder, 'home'), SUB_HOME: home },
    project: join(folder, 'project'),
    paths: homePaths({ SUB_HOME: home }),
    clients: [clientOf(id)],
    isManaged: false,
    own: { runtime: process.execPath, script },
    redactPatterns: [],
  };
}

function fileOf(id: string): string {
  const hooks = CLIENT_HOOKS.find(({ client }) => client === id);
  return hooks?.userFile(clientPlace(optionsFor(id))).path ?? '';
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

async function installed(options: HookOptions): Promise<readonly string[]> {
  const plan = await planHooks(options);
  if (plan.kind === 'failure') throw new Error(plan.message);
  expect(plan.problems).toEqual([]);
  return plan.files.map((file) => file.apply().kind);
}

async function importServers(id: string): Promise<readonly string[]> {
  const paths = homePaths({ SUB_HOME: join(folder, 'sub') });
  const client = clientOf(id);
  const options = { ...optionsFor(id), paths, client, servers: [], userProfile: '' };
  const plan = await planImport(options);
  if (plan.kind === 'failure') throw new Error(plan.message);
  return plan.files.map((file) => applyImport(file, options).kind);
}

async function restored(options: HookOptions): Promise<readonly string[]> {
  const paths = homePaths({ SUB_HOME: join(folder, 'sub') });
  const plan = await planRestore({ ...options, paths, isProjectOnly: false });
  if (plan.kind === 'failure') throw new Error(plan.message);
  expect(plan.problems).toEqual([]);
  for (const file of plan.files) expect((await applyRestore(file)).kind).toBe('restored');
  return plan.files.map(({ how, hasHooks }) => `${how} ${hasHooks ? 'hooks' : 'none'}`);
}

describe.each(CLIENT_HOOKS.map(({ client }) => client))('hooks of %s', (id) => {
  test('leave odd files as they were, byte for byte', async () => {
    const value = fc.record(
      {
        model: fc.string({ unit: 'binary' }),
        hooks: fc.dictionary(
          fc.constantFrom('PreToolUse', 'preToolUse', 'Stop'),
          fc.constantFrom([], [{ hooks: [{ type: 'command', command: 'mine' }] }]),
        ),
        deep: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    const style = fc.record({
      indent: fc.constantFrom(0, 2, '\t'),
      lineEnd: fc.constantFrom('\n', '\r\n'),
      mark: fc.constantFrom('', '\uFEFF'),
      end: fc.constantFrom('', '\n', '  \n\n'),
    });
    await fc.assert(
      fc.asyncProperty(value, style, async (settings, { indent, lineEnd, mark, end }) => {
        const text = mark + JSON.stringify(settings, null, indent).replaceAll('\n', lineEnd) + end;
        const bytes = Buffer.from(text);
        write(fileOf(id), bytes.toString());
        expect(await installed(optionsFor(id))).toEqual(['applied']);
        expect(await installed(optionsFor(id))).toEqual(['unchanged']);
        expect(await restored(optionsFor(id))).toEqual(['same hooks']);
        expect(readFileSync(fileOf(id))).toEqual(bytes);
        expect(readdirSync(optionsFor(id).paths.backups)).toEqual([]);
      }),
      { numRuns: 20 },
    );
  });

  test('are in a file of their own where there is none, which goes again', async () => {
    const outer = dirname(dirname(fileOf(id)));
    mkdirSync(outer, { recursive: true });
    await installed(optionsFor(id));
    expect(statSync(fileOf(id)).mode & 0o777).toBe(0o600);
    expect(readFileSync(fileOf(id), 'utf8')).toContain(` hook ${id}`);
    expect(await restored(optionsFor(id))).toEqual(['same hooks']);
    expect(readdirSync(outer)).toEqual([]);
  });

  test('come out of a file that others have changed since', async () => {
    await installed(optionsFor(id));
    const text = readFileSync(fileOf(id), 'utf8').replace('{', '{\n  "added": "by the client",');
    writeFileSync(fileOf(id), text);
    expect(await installed(optionsFor(id))).toEqual(['unchanged']);
    expect(await restored(optionsFor(id))).toEqual(['merged hooks']);
    expect(JSON.parse(readFileSync(fileOf(id), 'utf8'))).toEqual({ added: 'by the client' });
  });

  test('come out without a record, too', async () => {
    write(fileOf(id), '{"a": 1}');
    await installed(optionsFor(id));
    rmSync(join(folder, 'sub'), { recursive: true });
    expect(await restored(optionsFor(id))).toEqual(['unrecorded hooks']);
    expect(JSON.parse(readFileSync(fileOf(id), 'utf8'))).toEqual({ a: 1 });
    expect(await restored(optionsFor(id))).toEqual([]);
  });
});

const CLAUDE = 'claude-code';

test('an edit that was made meanwhile stays', async () => {
  const base = '{\n  "model": "x",\n  "hooks": {\n    "Stop": []\n  }\n}\n';
  write(fileOf(CLAUDE), base);
  await installed(optionsFor(CLAUDE));
  writeFileSync(fileOf(CLAUDE), readFileSync(fileOf(CLAUDE), 'utf8').replace('"x"', '"y"'));
  expect(await restored(optionsFor(CLAUDE))).toEqual(['merged hooks']);
  expect(readFileSync(fileOf(CLAUDE), 'utf8')).toBe(base.replace('"x"', '"y"'));
});

test('a sub that has moved takes the place of the old one, and one restore takes both out', async () => {
  write(fileOf(CLAUDE), '{"a": 1}');
  const other = join(folder, 'elsewhere', 'sub.mjs');
  write(other, '');
  await installed(optionsFor(CLAUDE, other));
  await installed(optionsFor(CLAUDE));
  const text = readFileSync(fileOf(CLAUDE), 'utf8');
  expect(text).toContain(SCRIPT.replace(/mjs$/, 'cjs'));
  expect(text).not.toContain('elsewhere');
  await restored(optionsFor(CLAUDE));
  expect(readFileSync(fileOf(CLAUDE), 'utf8')).toBe('{"a": 1}');
});

test('a link stays a link, and what it leads to is changed', async () => {
  const real = join(folder, 'dotfiles.json');
  writeFileSync(real, '{}');
  mkdirSync(dirname(fileOf(CLAUDE)), { recursive: true });
  symlinkSync(real, fileOf(CLAUDE));
  await installed(optionsFor(CLAUDE));
  expect(readFileSync(real, 'utf8')).toContain('hook claude-code');
  await restored(optionsFor(CLAUDE));
  expect(readFileSync(real, 'utf8')).toBe('{}');
});

test.each(['{', '[]', '{"hooks": 7}', '{"hooks": {"PreToolUse": "x"}}', '{"hooks":{},"hooks":{}}'])(
  'a file with %s is left alone, and named',
  async (text) => {
    write(fileOf(CLAUDE), text);
    const plan = await planHooks(optionsFor(CLAUDE));
    if (plan.kind === 'failure') throw new Error(plan.message);
    expect(plan.files).toEqual([]);
    expect(plan.problems[0]?.message).toContain(fileOf(CLAUDE));
    expect(readFileSync(fileOf(CLAUDE), 'utf8')).toBe(text);
  },
);

describe('the policy of hooks', () => {
  const servers = () => join(folder, 'home', '.claude.json');
  const policy = (name = 'team') => join(folder, `${name}.yaml`);
  const started = () => readFileSync(fileOf(CLAUDE), 'utf8');

  async function importWith(policyPath: string, names: readonly string[] = []): Promise<void> {
    const paths = homePaths({ SUB_HOME: join(folder, 'sub') });
    const client = clientOf(CLAUDE);
    const options = { ...optionsFor(CLAUDE), paths, client, servers: names, policyPath };
    const plan = await planImport(options);
    if (plan.kind === 'failure') throw new Error(plan.message);
    for (const file of plan.files) expect(applyImport(file, options).kind).toBe('applied');
  }

  async function noteOf(options = optionsFor(CLAUDE)): Promise<string | undefined> {
    const plan = await planHooks(options);
    if (plan.kind === 'failure') throw new Error(plan.message);
    return plan.files[0]?.note;
  }

  beforeEach(() => {
    const entry = { command: 'npx', args: ['-y', 'x'] };
    const here = { mcpServers: { db: entry } };
    const projects = { [join(folder, 'project')]: here };
    write(servers(), JSON.stringify({ mcpServers: { files: entry, git: entry }, projects }));
    for (const name of ['team', 'other']) write(policy(name), '');
  });

  test('is that of the servers that were imported before, and stays with the next import', async () => {
    await importWith(policy());
    expect(await noteOf()).toBe(`The hooks of Claude Code use ${policy()}, as its servers do.`);
    await installed(optionsFor(CLAUDE));
    expect(started()).toContain(` --policy ${policy()}`);
    rmSync(servers());
    expect(await installed(optionsFor(CLAUDE))).toEqual(['unchanged']);
    await installed({ ...optionsFor(CLAUDE), policyPath: policy('other') });
    expect(started()).toContain(` --policy ${policy('other')}`);
    expect(started()).not.toContain(` --policy ${policy()}`);
  });

  test('is left open, and that is said, where the servers differ or their policy is gone', async () => {
    await importWith(policy());
    rmSync(policy());
    expect(await noteOf()).toContain('is gone; the hooks find theirs from the folder of the agent');
    write(policy(), '');
    await importWith(policy('other'), ['git']);
    expect(await noteOf()).toContain(`have ${policy()}, ${policy('other')} for policies`);
    await installed(optionsFor(CLAUDE));
    expect(started()).not.toContain('--policy');
  });

  test('is the one on record, whatever somebody has written into the file', async () => {
    await installed({ ...optionsFor(CLAUDE), policyPath: policy() });
    writeFileSync(fileOf(CLAUDE), started().replaceAll(policy(), policy('other')));
    await installed(optionsFor(CLAUDE));
    expect(started()).toContain(` --policy ${policy()}`);
    expect(started()).not.toContain(policy('other'));
  });

  test('is not that of the servers of one project', async () => {
    await importWith(policy(), ['db']);
    expect(await noteOf()).toBeUndefined();
  });
});

test('the diff shows our hooks and no value of the file', async () => {
  write(fileOf(CLAUDE), '{\n  "env": { "KEY": "sesame" },\n  "hooks": {}\n}\n');
  const plan = await planHooks(optionsFor(CLAUDE));
  if (plan.kind === 'failure') throw new Error(plan.message);
  const [file] = plan.files;
  expect(file?.diff).toContain('hook claude-code');
  expect(file?.diff).not.toContain('sesame');
});

test('a file with hooks is no config with servers', async () => {
  await installed(optionsFor(CLAUDE));
  const { files, problems } = adoptionStatus(optionsFor(CLAUDE));
  expect([files, problems]).toEqual([[], []]);
});

test('a change that was killed before the file was made leaves nothing', async () => {
  const { paths } = optionsFor(CLAUDE);
  const store = { paths, system: thisSystem() };
  const file = { client: CLAUDE, scope: 'user', path: fileOf(CLAUDE), format: 'json' } as const;
  const killed = () =>
    applyChange({
      ...store,
      file,
      kind: 'import',
      newMode: 0o600,
      rewrite: () => ({ text: '{"hooks":{}}', changes: [], hooks: {} }),
      onStep: (step) => {
        if (step === 'draft written') throw new Error('killed');
      },
    });
  expect(killed).toThrow('killed');
  repairAll(store);
  expect(existsSync(fileOf(CLAUDE))).toBe(false);
  expect(readdirSync(paths.backups)).toEqual([]);
});

describe('hooks and servers in one file of Gemini CLI', () => {
  const GEMINI = 'gemini-cli';
  const SETTINGS = `{
\t// mine
\t"mcpServers": { "files": {"command": "npx", "args": ["-y", "x"]},
\t\t"far": { "httpUrl": "https://mcp.example/a" } },
\t"hooks": { "BeforeTool": [ {"hooks": [{"type": "command", "command": "mine"}]} ] }
}\r\n`;

  test.each([[['servers', 'hooks']], [['hooks', 'servers']], [['servers', 'hooks', 'servers']]])(
    'come and go byte for byte: %j',
    async (steps) => {
      write(fileOf(GEMINI), SETTINGS);
      for (const step of steps) {
        await (step === 'hooks' ? installed(optionsFor(GEMINI)) : importServers(GEMINI));
      }
      const text = readFileSync(fileOf(GEMINI), 'utf8');
      expect(text.match(/"shim"/g)).toHaveLength(2);
      expect(text.match(/ hook gemini-cli/g)).toHaveLength(5);
      expect(await installed(optionsFor(GEMINI))).toEqual(['unchanged']);
      expect(await importServers(GEMINI)).toEqual(['unchanged']);
      await restored(optionsFor(GEMINI));
      expect(readFileSync(fileOf(GEMINI), 'utf8')).toBe(SETTINGS);
      expect(readdirSync(optionsFor(GEMINI).paths.backups)).toEqual([]);
    },
  );

  test('come out of a file that others have changed since', async () => {
    write(fileOf(GEMINI), SETTINGS);
    await importServers(GEMINI);
    await installed(optionsFor(GEMINI));
    const changed = readFileSync(fileOf(GEMINI), 'utf8').replace('// mine', '"ui": {},');
    writeFileSync(fileOf(GEMINI), changed);
    await restored(optionsFor(GEMINI));
    expect(readFileSync(fileOf(GEMINI), 'utf8')).toBe(SETTINGS.replace('// mine', '"ui": {},'));
  });

  test('are not for the settings of the machine, and that is said', async () => {
    const plan = await planHooks({ ...optionsFor(GEMINI), isManaged: true });
    expect(plan).toMatchObject({ files: [], problems: [{ code: 'SUB_CLIENT_HOOKS' }] });
  });
});

describe('hooks of the machine', () => {
  async function planned(id: string, more: Partial<HookOptions> = {}) {
    const plan = await planHooks({ ...optionsFor(id), ...more, isManaged: true });
    if (plan.kind === 'failure') throw new Error(plan.message);
    return { text: plan.files.map(({ diff }) => diff).join('\n'), warnings: plan.warnings };
  }

  test.each(['claude-code', 'codex', 'cursor'])('of %s are for the home of no user', async (id) => {
    const { text, warnings } = await planned(id);
    expect(text).toContain('/usr/bin/env -i PATH=');
    expect(text).not.toContain('HOME=');
    expect(warnings).toContainEqual(expect.stringContaining('SUB_HOME'));
  });

  test('say what is closed to other users: the program, and the policy', async () => {
    // It is closed itself: that of a temporary folder is.
    const [script, policyPath] = ['sub.mjs', 'p.yaml'].map((name) => join(folder, name));
    for (const path of [script, policyPath]) write(path ?? '', '');
    const { warnings } = await planned('claude-code', {
      own: { runtime: process.execPath, script },
      policyPath,
    });
    for (const path of [script, policyPath]) {
      const closed = `${folder}, and with it ${path}, is closed`;
      expect(warnings).toContainEqual(expect.stringContaining(closed));
    }
  });

  // On macOS, the folder for temporary files is closed to others.
  const isOpen = closedToOthers(tmpdir()) === undefined;
  test.runIf(isOpen)('say that others do not trust a policy that anybody can write', async () => {
    const policyPath = join(folder, 'p.yaml');
    write(policyPath, '');
    chmodSync(folder, 0o755);
    chmodSync(policyPath, 0o646);
    const { warnings } = await planned('claude-code', { policyPath });
    expect(warnings).toContainEqual(expect.stringContaining('do not trust the policy'));
  });

  test('are found by the shims of all users', () => {
    const files = { codex: join(folder, 'a'), cursor: join(folder, 'b'), other: join(folder, 'c') };
    write(files.codex, "command = 'env -i node sub.cjs hook codex --policy p'");
    write(files.cursor, '{}');
    expect(managedClients(files)).toEqual(['codex']);
  });
});

describe('trust in Codex', () => {
  const CONFIG =
    '# mine\r\n[mcp_servers.files]\r\ncommand = "npx" # fast\r\nargs = ["-y", "x"]\r\n';
  const config = () => join(folder, 'home', '.codex', 'config.toml');

  function trusted() {
    const state = trustState(optionsFor('codex'));
    if (state === undefined || state.kind === 'failure') throw new Error('there is no state');
    return state;
  }

  test('is written beside governed servers, stays with the next import, and goes byte for byte', async () => {
    write(config(), CONFIG);
    await importServers('codex');
    await installed(optionsFor('codex'));
    expect(trusted().untrusted).toContain('PreToolUse');
    expect(trusted().apply().kind).toBe('applied');
    expect(trusted().untrusted).toEqual([]);
    expect(await importServers('codex')).toEqual(['unchanged']);
    expect(readFileSync(config(), 'utf8')).toContain('shim');
    expect(trusted().untrusted).toEqual([]);
    await restored(optionsFor('codex'));
    expect(readFileSync(config(), 'utf8')).toBe(CONFIG);
    expect(trustState(optionsFor('codex'))).toBeUndefined();
  });

  test('follows a sub that has moved, and leaves what Codex has written', async () => {
    write(config(), CONFIG);
    const other = join(folder, 'elsewhere', 'sub.mjs');
    write(other, '');
    await installed(optionsFor('codex', other));
    trusted().apply();
    await installed(optionsFor('codex'));
    expect(trusted().untrusted).toContain('PreToolUse');
    expect(trusted().changed).toEqual([]);
    trusted().apply();
    expect(trusted().untrusted).toEqual([]);
    writeFileSync(config(), `${readFileSync(config(), 'utf8')}[tui]\nnotifications = true\n`);
    await restored(optionsFor('codex'));
    expect(readFileSync(config(), 'utf8')).toBe(`${CONFIG}[tui]\nnotifications = true\n`);
  });

  test('stays where it is when Codex has written behind it and nothing else is to change', async () => {
    write(config(), CONFIG);
    await importServers('codex');
    await installed(optionsFor('codex'));
    trusted().apply();
    const text = `${readFileSync(config(), 'utf8')}\n[projects."/x"]\ntrust_level = "trusted"\n`;
    writeFileSync(config(), text);
    expect(await importServers('codex')).toEqual(['unchanged']);
    expect(trusted().apply().kind).toBe('unchanged');
    expect(readFileSync(config(), 'utf8')).toBe(text);
  });

  test('that somebody has given to other hooks in that place is theirs to change', async () => {
    await installed(optionsFor('codex'));
    const key = `${fileOf('codex')}:pre_tool_use:0:0`;
    write(config(), `[hooks.state.${JSON.stringify(key)}]\ntrusted_hash = "sha256:0"\n`);
    expect(trusted().changed).toEqual(['PreToolUse']);
    expect(trusted().apply().kind).toBe('applied');
    expect(trusted().untrusted).toEqual(['PreToolUse']);
  });
});

test('every client with hooks is a client', () => {
  const ids = CLIENTS.map(({ id }) => id);
  for (const { client } of CLIENT_HOOKS) expect(ids).toContain(client);
});
