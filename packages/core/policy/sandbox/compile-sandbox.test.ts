import { readFileSync } from 'node:fs';
import type { Match, Rule } from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import type { ProjectPaths } from '../../ports.ts';
import { compileBundle } from '../compile/snapshot.ts';
import { parseWithEngines } from '../read/parse.ts';
import { allow, budget, deny, snapshotOf } from '../testing/scenario.ts';
import { compileSandbox, SANDBOX_DIALECTS, type SandboxSettings, withProtected } from './index.ts';

const PATHS: ProjectPaths = {
  project: '/repo',
  home: '/home/me',
  tmp: '/tmp',
  env: {},
  isCaseless: false,
  lookup: () => (path) => path,
};

type Settings = { readonly [key: string]: unknown };

async function sandbox(
  client: string,
  rules: readonly Rule[],
  current: Settings = {},
): Promise<SandboxSettings> {
  const dialect = SANDBOX_DIALECTS.find((one) => one.client === client);
  if (dialect === undefined) throw new Error(`no dialect for ${client}`);
  const plan = compileSandbox(await snapshotOf(rules, { paths: PATHS }), dialect, PATHS);
  const { changes, left, notes } = dialect.settings(plan, current, PATHS);
  // A policy about commands always has a rule for those that are not understood.
  const own = plan.left.filter(({ rule_id }) => rule_id !== 'commands:opaque');
  return { changes, left: [...own, ...left], notes };
}

const NAMES = { tool_name: { glob: ['Edit', 'Write', 'apply_patch'] } };

async function claudeRules(match: Match, current?: Settings): Promise<readonly string[]> {
  const { changes } = await sandbox('claude-code', [deny('rule', match)], current);
  const found = changes.find(({ path }) => path.join('.') === 'permissions.deny');
  return found !== undefined && 'add' in found ? found.add : [];
}

async function profile(rules: readonly Rule[], current?: Settings): Promise<unknown> {
  const { changes } = await sandbox('codex', rules, current);
  const found = changes.find(({ path }) => path[0] === 'permissions');
  return found !== undefined && 'set' in found ? found.set : undefined;
}

describe('rules of Claude Code', () => {
  it.each<[string, Match, readonly string[]]>([
    [
      'a name in any folder',
      { any_arg: { path_matches: ['.env*'] } },
      ['Read(//**/.env*)', 'Edit(//**/.env*)'],
    ],
    [
      'a folder of the home',
      { any_arg: { path_under: ['~/.ssh'] } },
      ['Read(~/.ssh)', 'Edit(~/.ssh)'],
    ],
    [
      'a folder of the project, and all in it',
      { any_arg: { path_matches: ['secrets/**', '${project}/a/../b'] } },
      ['Read(./b)', 'Edit(./b)', 'Read(./secrets)', 'Edit(./secrets)'],
    ],
    [
      'braces, which the client does not know',
      { any_arg: { path_matches: ['/etc/{passwd,shadow}'] } },
      ['Read(//etc/passwd)', 'Edit(//etc/passwd)', 'Read(//etc/shadow)', 'Edit(//etc/shadow)'],
    ],
    [
      'a folder with a name that is a pattern',
      { any_arg: { path_under: ['a[1]*'] } },
      ['Read(./a\\[1\\]\\*)', 'Edit(./a\\[1\\]\\*)'],
    ],
    ['tools that only write', { ...NAMES, any_arg: { path_under: ['dist'] } }, ['Edit(./dist)']],
    [
      'an argument that its tools have',
      { args: { path_under: { '*_path': ['dist'] } } },
      ['Read(./dist)', 'Edit(./dist)'],
    ],
    ['an argument that they do not have', { args: { path_under: { where: ['dist'] } } }, []],
    ['a tool as a whole', { tool_name: { glob: ['Bash'] } }, ['Bash']],
    [
      'tools of a server',
      { server_name: { glob: ['files'] }, any_arg: { path_under: ['dist'] } },
      [],
    ],
    ['resources alone', { subjects: ['resource'], any_arg: { path_under: ['dist'] } }, []],
  ])('from %s', async (_name, match, expected) => {
    expect(await claudeRules(match)).toEqual(expected);
  });

  it('close a plain name to a shell that knows no patterns', async () => {
    const rule = deny('keys', { any_arg: { path_matches: ['.env', '**/.ssh/**', '*.pem'] } });
    const { changes } = await sandbox('claude-code', [rule]);
    const hidden = { path: ['sandbox', 'filesystem', 'denyRead'], add: ['~/.ssh', '~/.env'] };
    expect(changes).toContainEqual(hidden);
    expect(await claudeRules(rule.match)).toEqual([
      ...['Read(//**/.ssh)', 'Edit(//**/.ssh)', 'Read(//**/*.pem)', 'Edit(//**/*.pem)'],
      ...['Read(//**/.env)', 'Edit(//**/.env)', 'Read(./.ssh)', 'Read(./.env)'],
    ]);
    expect(await profile([rule])).toMatchObject({
      filesystem: { '/home/me/.ssh': 'deny', '/home/me/.env': 'deny' },
    });
  });

  it('switch the sandbox on, and never ask less than the client would', async () => {
    const { changes } = await sandbox('claude-code', []);
    expect(changes).toEqual([
      { path: ['sandbox', 'enabled'], set: true },
      { path: ['sandbox', 'allowUnsandboxedCommands'], set: false },
      { path: ['sandbox', 'autoAllowBashIfSandboxed'], set: false },
    ]);
  });

  it('leave what the user has said as strictly, and turn back what voids it', async () => {
    const strict = {
      sandbox: { enabled: true, allowUnsandboxedCommands: false, autoAllowBashIfSandboxed: true },
    };
    expect((await sandbox('claude-code', [], strict)).changes).toEqual([]);
    const loose = { sandbox: { ...strict.sandbox, filesystem: { disabled: true } } };
    expect((await sandbox('claude-code', [], loose)).changes).toEqual([
      { path: ['sandbox', 'filesystem', 'disabled'], set: false },
    ]);
  });

  it('confine the tools to the project, and say that they cannot be confined further', async () => {
    const whole = await sandbox('claude-code', [
      deny('stay', { any_arg: { not_path_under: ['${project}', '${tmp}'] } }),
    ]);
    expect(whole.changes).toContainEqual({
      path: ['permissions', 'blockWritesOutsideWorkingDirectories'],
      set: true,
    });
    expect(whole.changes).toContainEqual({
      path: ['permissions', 'blockReadsOutsideWorkingDirectories'],
      set: true,
    });
    const narrow = await sandbox('claude-code', [
      deny('src', { ...NAMES, any_arg: { not_path_under: ['src'] } }),
    ]);
    expect(narrow.changes.flatMap(({ path }) => path)).not.toContain(
      'blockReadsOutsideWorkingDirectories',
    );
    expect(narrow.left).toEqual([
      {
        rule_id: 'src',
        why: 'Claude Code cannot confine writing to a folder inside of the project',
      },
    ]);
    const wider = await sandbox('claude-code', [
      deny('notes', { ...NAMES, any_arg: { not_path_under: ['${project}', '~/notes'] } }),
    ]);
    expect(wider.changes.flatMap(({ path }) => path)).not.toContain(
      'blockWritesOutsideWorkingDirectories',
    );
    expect(wider.left).toMatchObject([{ rule_id: 'notes' }]);
  });
});

describe('a profile of Codex', () => {
  const TRUSTED = { projects: { '/repo': { trust_level: 'trusted' } } };
  const ENV = deny('env', { any_arg: { path_matches: ['.env*', '~/.ssh/**'] } });

  it('denies reading in the project and at fixed places', async () => {
    expect(await profile([ENV], TRUSTED)).toEqual({
      extends: ':workspace',
      filesystem: {
        glob_scan_max_depth: 8,
        '/home/me/.ssh': 'deny',
        ':workspace_roots': { '**/.env*': 'deny' },
      },
    });
  });

  it.each<[string, Settings, string]>([
    ['nothing, in a project without trust', {}, ':read-only'],
    ['nothing, in a trusted project', TRUSTED, ':workspace'],
    ['the older read-only', { ...TRUSTED, sandbox_mode: 'read-only' }, ':read-only'],
    ['the older workspace-write', { sandbox_mode: 'workspace-write' }, ':workspace'],
    ['no sandbox at all', { sandbox_mode: 'danger-full-access' }, ':workspace'],
    ['the profile without bounds', { default_permissions: ':danger-full-access' }, ':workspace'],
    ['a profile of their own', { default_permissions: 'mine' }, 'mine'],
  ])('opens no more than the user: %s', async (_name, current, parent) => {
    expect(await profile([ENV], current)).toMatchObject({ extends: parent });
  });

  it('takes over what the older settings say, and those go', async () => {
    const older = { writable_roots: ['/data'], network_access: true, exclude_slash_tmp: true };
    const current = { sandbox_mode: 'workspace-write', sandbox_workspace_write: older };
    const { changes } = await sandbox('codex', [], current);
    expect(changes).toEqual([
      { path: ['sandbox_mode'], drop: true },
      { path: ['default_permissions'], set: 'subluminal' },
      {
        path: ['permissions', 'subluminal'],
        set: {
          extends: ':workspace',
          filesystem: { '/data': 'write', ':slash_tmp': 'read' },
          network: { enabled: true },
        },
      },
    ]);
  });

  it('confines writing to folders of the project', async () => {
    const only = deny('src', { ...NAMES, any_arg: { not_path_under: ['src', 'docs'] } });
    const older = { writable_roots: ['/data'] };
    const current = { sandbox_mode: 'workspace-write', sandbox_workspace_write: older };
    expect(await profile([only], current)).toMatchObject({
      filesystem: {
        ':tmpdir': 'read',
        ':slash_tmp': 'read',
        ':workspace_roots': { '.': 'read', src: 'write', docs: 'write' },
      },
    });
    expect(await profile([only], current)).not.toHaveProperty(['filesystem', '/data']);
  });

  it('takes the folders that all rules let pass', async () => {
    const rules = [
      deny('one', { ...NAMES, any_arg: { not_path_under: ['src', 'docs'] } }),
      deny('other', { ...NAMES, any_arg: { not_path_under: ['${project}/src/app', 'test'] } }),
    ];
    expect(await profile(rules, TRUSTED)).toMatchObject({
      filesystem: { ':workspace_roots': { '.': 'read', 'src/app': 'write' } },
    });
  });

  it('does not weaken a profile that it extends', async () => {
    const current = {
      default_permissions: 'mine',
      permissions: { mine: { filesystem: { '/repo/dist': 'deny', glob_scan_max_depth: 3 } } },
    };
    const rules = [deny('dist', { ...NAMES, any_arg: { path_under: ['/repo/dist', '/x'] } }), ENV];
    const found = await profile(rules, current);
    expect(found).toMatchObject({ extends: 'mine', filesystem: { '/x': 'read' } });
    expect(found).not.toHaveProperty(['filesystem', '/repo/dist']);
    expect(found).not.toHaveProperty(['filesystem', 'glob_scan_max_depth']);
  });

  it('says what it cannot say', async () => {
    const { left } = await sandbox('codex', [
      deny('pem', { ...NAMES, any_arg: { path_matches: ['*.pem'] } }),
      deny('no-shell', { tool_name: { glob: ['Bash'] } }),
    ]);
    expect(left).toEqual([
      { rule_id: 'pem', why: 'Codex cannot deny writing alone by a pattern (**/*.pem)' },
      { rule_id: 'no-shell', why: 'Codex cannot switch a tool off by a setting' },
    ]);
  });
});

describe('what Codex would put a file in the place of, where it is missing,', () => {
  it('is closed with its folder if it governs a client', async () => {
    const dialect = SANDBOX_DIALECTS.find(({ client }) => client === 'codex');
    if (dialect === undefined) throw new Error('no dialect');
    const own = compileSandbox(await snapshotOf([], { paths: PATHS }), dialect, PATHS);
    const files = ['.claude/settings.json', '.claude/settings.local.json', '.gemini/settings.json'];
    const all = [...files, '.github/copilot/settings.json', 'a.yaml'].map(
      (name) => `/repo/${name}`,
    );
    const { changes, left } = dialect.settings(withProtected(own, all, PATHS), {}, PATHS);
    expect(changes.at(-1)).toHaveProperty('set.filesystem', {
      ':workspace_roots': { '.claude': 'read', '.gemini': 'read', 'a.yaml': 'read' },
    });
    const why = 'Codex would close all of .github where .github/copilot/settings.json is missing';
    expect(left).toEqual([{ rule_id: 'gate:self-protection', why }]);
  });

  it('is closed by a pattern if it is the policy', async () => {
    const match: Match = { any_arg: { path_matches: ['${project}/policy.yaml'] } };
    expect(await profile([deny('own', match)])).toMatchObject({
      filesystem: { ':workspace_roots': { 'policy.yam[l]': 'deny' } },
    });
  });
});

describe('what no sandbox can say', () => {
  const PATH: Match = { any_arg: { path_under: ['dist'] } };

  it.each<[string, Rule, string]>([
    ['a budget', budget('rule', { limit_calls: 3 }), 'it counts calls'],
    ['a condition', deny('rule', PATH, 'true'), 'it has a condition (`when`)'],
    ['the time', deny('rule', { ...PATH, time: { utc_hours: [1] } }), 'it depends on the time'],
    ['a class', deny('rule', { ...PATH, risk_class: ['x'] }), 'it depends on risk classes'],
    [
      'a value',
      deny('rule', { ...PATH, args: { has_keys: ['x'] } }),
      'it looks at the values of arguments',
    ],
    [
      'two conditions',
      deny('rule', { ...PATH, args: { path_under: { file_path: ['src'] } } }),
      'it joins several conditions',
    ],
    ['a text', deny('rule', { any_arg: { glob: ['x*'] } }), 'it looks for texts in arguments'],
    [
      'tools of a server',
      deny('rule', { ...PATH, server_name: { glob: ['files'] } }),
      'it is about tools of servers',
    ],
  ])('is named: %s', async (_name, rule, why) => {
    const { left, changes } = await sandbox('claude-code', [rule]);
    expect(left).toEqual([{ rule_id: 'rule', why }]);
    expect(changes.map(({ path }) => path[0])).not.toContain('permissions');
  });

  it('is the folder that git itself needs', async () => {
    const rule = deny('git', {
      any_arg: { path_matches: ['**/.git/**', '.git/hooks/**', '*.key'] },
    });
    const { left, changes } = await sandbox('claude-code', [rule]);
    expect(left).toEqual([{ rule_id: 'git', why: 'git itself has to use .git' }]);
    expect(changes).toContainEqual({
      path: ['permissions', 'deny'],
      add: ['Read(//**/*.key)', 'Edit(//**/*.key)', 'Edit(./.git/hooks)'],
    });
  });

  it('is not what a rule lets pass that is about commands, for tools that run none', async () => {
    const rules = [allow('make', { command: { program: ['make'] } }), deny('dist', PATH)];
    const { left, changes } = await sandbox('claude-code', rules);
    expect(left).toEqual([{ rule_id: 'dist', why: 'an earlier rule lets some of it pass: make' }]);
    expect(changes).toContainEqual({
      path: ['permissions', 'deny'],
      add: ['Read(./dist)', 'Edit(./dist)'],
    });
  });

  it('is what an earlier rule lets pass', async () => {
    const rules = [allow('reads', { tool_name: { glob: ['Read'] } }), deny('dist', PATH)];
    const { left, changes } = await sandbox('claude-code', rules);
    expect(left).toEqual([{ rule_id: 'dist', why: 'an earlier rule lets some of it pass: reads' }]);
    expect(changes).toContainEqual({
      path: ['permissions', 'deny'],
      add: ['Read(./dist)', 'Edit(./dist)'],
    });
  });

  it('is a policy that only observes, and one for some runs', async () => {
    const dialect = SANDBOX_DIALECTS[0];
    if (dialect === undefined) throw new Error('no dialect');
    const rules = [deny('dist', PATH)];
    const seen = await snapshotOf(rules, { paths: PATHS, mode: 'observe' });
    expect(compileSandbox(seen, dialect, PATHS)).toMatchObject({
      denied: [],
      left: [{ rule_id: 'dist', why: 'the policy only observes' }],
    });
    const some = await snapshotOf(rules, { paths: PATHS, selectors: { env: ['ci'] } });
    expect(compileSandbox(some, dialect, PATHS)).toMatchObject({
      denied: [],
      left: [{ rule_id: 'dist', why: 'the policy is for some runs only (`selectors`)' }],
    });
  });
});

describe('rules about commands', () => {
  it.each<[string, Match['command'], readonly string[]]>([
    ['files that are read', { reads: ['~/.aws/**'] }, ['Read(~/.aws)', 'Edit(~/.aws)']],
    ['files that are written', { writes: ['dist/*'] }, ['Edit(./dist/*)']],
    ['folders that are named', { args_under: ['/etc'] }, ['Read(//etc)', 'Edit(//etc)']],
    ['programs', { program: ['rm'] }, []],
    ['two of them', { program: ['rm'], writes: ['dist'] }, []],
  ])('deny files: %s', async (_name, command, expected) => {
    expect(await claudeRules(command === undefined ? {} : { command })).toEqual(expected);
  });

  it('deny writing outside of folders', async () => {
    const rule = deny('stay', { command: { not_writes_under: ['${project}'] } });
    const { changes, left } = await sandbox('claude-code', [rule]);
    const path = ['permissions', 'blockWritesOutsideWorkingDirectories'];
    expect(changes).toContainEqual({ path, set: true });
    expect(left).toEqual([]);
  });

  const GITHUB = allow('github', { command: { hosts: ['github.com', '*.github.com'] } });
  const NOWHERE = deny('nowhere', { command: { hosts: ['*'] } });

  it('deny hosts, and all but some', async () => {
    const evil = deny('evil', { command: { hosts: ['evil.example', 'e?il.example'] } });
    const some = await sandbox('claude-code', [evil]);
    const denied = { path: ['sandbox', 'network', 'deniedDomains'], add: ['evil.example'] };
    expect(some.changes).toContainEqual(denied);
    expect(some.left).toEqual([{ rule_id: 'evil', why: 'e?il.example is not a domain' }]);
    const { changes, left } = await sandbox('claude-code', [GITHUB, NOWHERE]);
    expect(changes).toContainEqual({
      path: ['sandbox', 'network', 'allowedDomains'],
      add: ['*.github.com', 'github.com'],
    });
    expect(changes).toContainEqual({ path: ['sandbox', 'network', 'strictAllowlist'], set: true });
    expect(left).toEqual([]);
  });

  it('never open the network of Codex', async () => {
    const older = { network_access: true };
    const online = { sandbox_mode: 'workspace-write', sandbox_workspace_write: older };
    expect(await profile([GITHUB, NOWHERE], online)).toMatchObject({ network: { enabled: false } });
    expect(await profile([GITHUB, NOWHERE])).not.toHaveProperty('network.enabled', true);
    expect(await profile([NOWHERE], online)).toMatchObject({ network: { enabled: false } });
  });

  it('do not make an exception of hosts for files', async () => {
    const env = deny('env', { any_arg: { path_matches: ['.env'] } });
    const { left, changes } = await sandbox('codex', [GITHUB, env]);
    expect(left).toContainEqual({
      rule_id: 'env',
      why: 'an earlier rule lets some of it pass: github',
    });
    expect(JSON.stringify(changes)).not.toContain('.env');
  });
});

describe('the policy of twelve lines', () => {
  it('is in the sandbox as far as it speaks of files', async () => {
    const page = readFileSync(
      new URL('../../../../docs/start/twelve-lines.md', import.meta.url),
      'utf8',
    );
    const [, policy = ''] = /```yaml\n(.*?)```/s.exec(page) ?? [];
    const bytes = new TextEncoder().encode(policy);
    const parsed = await parseWithEngines({ file: 'policy.yaml', bytes });
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
    const sha256 = (text: string) => text.length.toString(16).padStart(64, '0');
    const snapshot = await compileBundle(parsed.bundle, { sha256, paths: PATHS });
    const dialect = SANDBOX_DIALECTS.find(({ client }) => client === 'claude-code');
    if (dialect === undefined) throw new Error('no dialect');
    const plan = compileSandbox(snapshot, dialect, PATHS);
    expect(plan).toMatchObject({
      denied: [{ folder: 'root', rest: '**/.env*', access: 'read' }],
      deniedTools: [{ name: 'Bash', rule_id: 'no-shell' }],
      writeRoots: { folders: [{ folder: 'project', rest: 'src' }] },
      left: [
        { rule_id: 'at-most-200', why: 'it counts calls' },
        { rule_id: 'ask-push', why: 'it asks a person' },
      ],
    });
  });
});
