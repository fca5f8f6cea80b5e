import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../stores/config/index.ts';
import { recordText } from '../clients/store/record-text.ts';
import { ProtectedFinder } from './find-protected.ts';
import { finderOptions } from './finder-options.ts';

let root: string;
let find: (...names: readonly string[]) => string | undefined;

interface Layout {
  readonly home: string;
  readonly project: string;
  readonly other: string;
}

function layout(): Layout {
  return { home: join(root, 'user'), project: join(root, 'user/proj'), other: join(root, 'other') };
}

async function finderAt(policyPath: string | null): Promise<ProtectedFinder> {
  const { home, project } = layout();
  const env = { HOME: home, USER: 'me' };
  const loaded = await loadConfig({ env, flags: {}, cwd: project });
  if (!loaded.ok) throw new Error('no configuration');
  const server = { env, cwd: project, command: 'node', args: ['server.js', project] };
  let nowMs = 0;
  // Each look is a new one.
  const now = () => (nowMs += 10_000);
  const policies = policyPath === null ? [] : [policyPath];
  return new ProtectedFinder({ ...finderOptions(server, { ...loaded, policies }), now });
}

beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'sub-protect-')));
  const { home, project, other } = layout();
  for (const folder of [
    join(home, '.subluminal/run'),
    join(project, 'src'),
    join(project, '.git'),
    other,
  ]) {
    mkdirSync(folder, { recursive: true });
  }
  writeFileSync(join(project, 'policy.yaml'), 'x');
  writeFileSync(join(project, 'src/policy.yaml'), 'x');
  writeFileSync(join(other, 'policy.yaml'), 'x');
  writeFileSync(join(home, '.subluminal/config.toml'), '');
  symlinkSync(join(project, 'policy.yaml'), join(project, 'link'));
  linkSync(join(project, 'policy.yaml'), join(project, 'hard'));
  linkSync(join(home, '.subluminal/config.toml'), join(other, 'hard.toml'));
  symlinkSync(project, join(other, 'way'));
  symlinkSync(join(home, '.subluminal/new.toml'), join(project, 'dangling'));
  const finder = await finderAt(join(project, 'policy.yaml'));
  find = (...names) => finder.find(names)?.what;
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const at = (path: string) => path.replace('ROOT', root);

describe('a protected file is found', () => {
  it.each([
    'ROOT/user/proj/policy.yaml',
    'policy.yaml',
    './policy.yaml',
    'src/../policy.yaml',
    'src/../../proj/policy.yaml',
    'ROOT/user/proj/src/../policy.yaml',
    'ROOT//user/./proj//policy.yaml',
    'ROOT/user/proj/policy.yaml/',
    'ROOT/user/proj/policy.yaml/.',
    '~/proj/policy.yaml',
    '~me/proj/policy.yaml',
    '$HOME/proj/policy.yaml',
    '${HOME}/proj/policy.yaml',
    'file://ROOT/user/proj/policy.yaml',
    'file:ROOT/user/proj/policy.yaml',
    'file://ROOT/user/proj/pol\ticy.yaml',
    '%20/../policy.yaml',
    'fi\nle://ROOT/user/proj/pol\r\nicy.yaml',
    'file://localhostROOT/user/proj/policy.yaml',
    'FILE://ROOT/user/proj/policy%2Eyaml',
    'file://ROOT/user/proj/%70olicy.yaml?x=1#y',
    '%2e%2fpolicy.yaml',
    '%252e/policy.yaml',
    'vscode://file/ROOT/user/proj/policy.yaml',
    'repo://policy.yaml',
    '/proc/self/rootROOT/user/proj/policy.yaml',
    'link',
    './hard',
    'ROOT/other/way/policy.yaml',
    'ROOT/other/way/src/../policy.yaml',
    '--file=policy.yaml',
    'of=ROOT/user/proj/policy.yaml',
    '@policy.yaml',
    '-opolicy.yaml',
    'HEAD:policy.yaml',
    'host:ROOT/user/proj/policy.yaml',
    'policy.yaml:ro',
    'pol*.yaml',
    'p?licy.yaml',
    '*icy.yaml',
    '[p]olicy.yaml',
    '../pro*/policy.yaml',
    '**/policy.yaml',
    'ROOT/other/way/p*',
    '\0/policy.yaml',
    'pol\0.yaml',
    'a:policy.yaml:b',
    `${'x:'.repeat(60)}policy.yaml`,
    '$UNKNOWN/policy.yaml',
    '~/.subluminal',
    '~/.subluminal/config.toml',
    '~/.subluminal/not/yet/there',
    '~/.sub*/config.toml',
    '$X/.subluminal/pins.json',
    'dangling',
    'ROOT/other/hard.toml',
    '.subluminal/policy.yaml',
    '.subluminal/x/y',
    '.subluminal',
    'policy.yaml.',
    '$x/../policy.yaml',
    'x*/../policy.yaml',
    '[x]/../policy.yaml',
    'src/?/../../policy.yaml',
    'a\n/../policy.yaml',
    'src\0/../policy.yaml',
    'git://ROOT/user/proj/policy.yaml',
    's3:ROOT/user/proj/policy.yaml',
    'jar:file://ROOT/user/proj/policy.yaml!/x',
    'blob:file://ROOT/user/proj/policy.yaml',
    'file://ROOT/user/proj/%25252570olicy.yaml',
    ' policy.yaml ',
    '.\\policy.yaml',
    'polic[[:alpha:]].yaml',
    '[[:alpha:]x]olicy.yaml',
    '-uopolicy.yaml',
    '-fsSLopolicy.yaml',
    '-sosrc/../policy.yaml',
    '-uo~/.subluminal/x',
    'wpolicy.yaml',
    's/a/b/gwpolicy.yaml',
    '$wpolicy.yaml',
    '1,2wROOT/user/proj/policy.yaml',
    'w~/.subluminal/x',
    '~+/policy.yaml',
    '~-/policy.yaml',
    '~1/policy.yaml',
    '~+2/src/../policy.yaml',
    ':/policy.yaml',
    ':(icase)POLICY.YAML',
    ':(top)policy.yaml',
    ':(top,icase)Policy.yaml',
    ':(glob)**/policy.yaml',
    '/proc/\0/cwd/policy.yaml',
    '/proc/*/cwd/policy.yaml',
    '/proc/999999/cwd/policy.yaml',
    '/proc/self/task/\0/cwd/policy.yaml',
    '/proc/\0/fd/3/policy.yaml',
    '/dev/fd/9/policy.yaml',
    '/proc/\0/rootROOT/user/proj/policy.yaml',
  ])('%j', (name) => {
    expect(find(at(name))).toBeDefined();
  });

  it('from a folder that the call names as well', () => {
    expect(find(at('ROOT/user/proj'), 'policy.yaml')).toBeDefined();
    expect(find(at('ROOT/other'), 'way', 'hard.toml')).toBeDefined();
    expect(find('/', at('ROOT/user').slice(1), 'proj', 'policy.yaml')).toBeDefined();
    expect(find(at('ROOT/user/proj/src'), '../policy.yaml')).toBeDefined();
  });

  it('in a part that a word of the same call can fill in', () => {
    expect(find('\0.yaml', 'policy')).toBeDefined();
    expect(find('\0\0.yaml', 'pol', 'icy')).toBeDefined();
    expect(find('\0\0', 'a=policy', '.yaml')).toBeDefined();
    expect(find('\0/\0.yaml', 'POLICY')).toBeDefined();
    expect(find('\0/x', '.subluminal')).toBeDefined();
    expect(find('\0.yaml', 'policies', 'my')).toBeUndefined();
    expect(find('\0.ts', 'policy')).toBeUndefined();
    expect(find('*.yaml', 'policy')).toBeUndefined();
  });

  it('in a pattern that leads through a link', () => {
    const { project } = layout();
    symlinkSync('.', join(project, 'qq'));
    for (const name of ['q*/policy.yaml', '?q/hard', 'lin[k]', 'har?', '*/q*/policy.yaml']) {
      expect(find(name), name).toBeDefined();
    }
    expect(find('sr*', '../policy.yaml')).toBeDefined();
    expect(find('/p*/self/rootROOT/user/proj/policy.yaml'.replace('ROOT', root))).toBeDefined();
    expect(find('s*/policy.yaml')).toBeUndefined();
    expect(find('src/*/policy.yaml')).toBeUndefined();
    expect(find('*/policy.yaml')).toBeDefined();
  });

  it('behind a link or a folder that the same call makes', () => {
    expect(find('ln', '-s', '.', 'zz', 'zz/policy.yaml')).toBeDefined();
    expect(find('ln', '-s', '.', 'zz', 'z*/policy.yaml')).toBeDefined();
    expect(find('ln', '-s', '.', 'zz', 'z*/pol*')).toBeDefined();
    expect(find('rm', 'ln', '-s', '.', 'src', 'src/policy.yaml')).toBeDefined();
    expect(find('os.symlink', '.', 'zz', 'zz/.subluminal/x')).toBeDefined();
    expect(find('mkdir', 'zz', 'cd', '../policy.yaml')).toBeDefined();
    expect(find('ln', '-s', 'x', 'src/policy.yaml')).toBeUndefined();
    expect(find('ln', '-s', 'x', 'zz/README.md', 'z*/*')).toBeUndefined();
    expect(find('mkdir', 'zz', 'src/policy.yaml', 'zz/policy.yaml')).toBeUndefined();
    expect(find('mkdir', 'zz', 'cd', '../src/policy.yaml')).toBeUndefined();
  });

  it('in any case where the shell ignores case', () => {
    expect(find('POLICY.YAM[L]')).toBeUndefined();
    expect(find('shopt', 'nocaseglob', 'POLICY.YAM[L]')).toBeDefined();
  });

  it('when it is another file now, or gone', () => {
    const { project } = layout();
    renameSync(join(project, 'policy.yaml'), join(project, 'old'));
    expect(find('policy.yaml')).toBeDefined();
    writeFileSync(join(project, 'policy.yaml'), 'y');
    linkSync(join(project, 'policy.yaml'), join(project, 'second'));
    expect(find('second')).toBeDefined();
  });

  it('when its folder was moved away', async () => {
    const { project, home } = layout();
    const finder = await finderAt(join(project, 'policy.yaml'));
    expect(finder.find(['README.md'])).toBeUndefined();
    renameSync(project, join(home, 'away'));
    expect(finder.find([join(home, 'away', 'policy.yaml')])?.what).toBe('the policy in force');
    expect(finder.find([join(project, 'policy.yaml')])?.what).toBe('the policy in force');
  });

  it('in the roots that the agent has given', async () => {
    const { project, other } = layout();
    const policy = join(other, 'policy.yaml');
    const finder = await finderAt(policy);
    expect(finder.find(['way/../policy.yaml'])).toBeUndefined();
    finder.useRoots([`file://${other}`]);
    expect(finder.find(['policy.yaml'])?.what).toBe('the policy in force');
    expect(finder.find([join(project, 'policy.yaml')])).toBeUndefined();
  });

  it('when it is a client config that was changed for a client', () => {
    const { home, other, project } = layout();
    const config = join(other, 'mcp.json');
    writeFileSync(config, '{}');
    expect(find(config)).toBeUndefined();
    const folder = join(home, '.subluminal/backups', '0'.repeat(32));
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const digest = { sha256: '0'.repeat(64), bytes: 2 };
    const record = recordText({
      v: 1,
      kind: 'import',
      client: 'custom',
      path: config,
      target: config,
      format: 'json',
      created_at: '2026-01-01T00:00:00Z',
      base: digest,
      after: digest,
      changes: [],
      hooks: { guards: ['.claude/settings.json'] },
      draft: join(other, `.mcp.json.subluminal-${'0'.repeat(36)}`),
    });
    writeFileSync(join(folder, 'record.json'), record, { mode: 0o600 });
    expect(find(config)).toBe('a client config that sub governs');
    expect(find(join(project, '.claude/settings.json'))).toContain('settings of the agent');
  });

  it('with words that name it', () => {
    expect(find('policy.yaml')).toBe('the policy in force');
    expect(find('~/.subluminal/x')).toBe('the folder of sub (SUB_HOME)');
  });
});

describe('an unprotected file stays free', () => {
  it.each([
    'src/policy.yaml',
    'ROOT/other/policy.yaml',
    'ROOT/user/proj',
    '.',
    '..',
    '~',
    '/',
    '*',
    'src/*',
    '**',
    '.*',
    '*.ts',
    '*.yaml',
    '**/*.yaml',
    '\0.yaml',
    '[',
    '*}',
    '.a[]',
    '*minal',
    'README.md',
    'src/index.ts',
    'policy.yaml.bak',
    'my-policy.yaml',
    'https://example.com/policy.yaml',
    'policies.yaml',
    'mypolicy.yaml',
    'src/mypolicy.yaml',
    '-my-policy.yaml',
    'war/policy.yaml',
    ':!policy.yaml',
    ':(exclude)policy.yaml',
    ':/src/policy.yaml',
    '/proc/self/status',
    '~+/src/policy.yaml',
    '-rf',
    'git@example.com:x/policy',
    '\0',
    '$X',
    '$X/src/*.ts',
    '~/.subluminal2/x',
    'ROOT/user/.other',
    '3.14',
    'e.g.',
  ])('%j', (name) => {
    expect(find(at(name))).toBeUndefined();
  });

  it('beside folders of other projects', () => {
    expect(find(at('ROOT/other'), 'policy.yaml')).toBe('the policy in force');
    expect(find(at('ROOT/other'), 'x.yaml')).toBeUndefined();
  });
});

describe('a place where a policy would be found first', () => {
  it('is protected as far as the search goes, and no further than the policy in force', async () => {
    const { project } = layout();
    const none = await finderAt(null);
    expect(none.find(['policy.yaml'])?.what).toBe('a place where a policy is looked for');
    const named = await finderAt(join(root, 'named.yaml'));
    expect(named.find([join(project, 'policy.yaml')])).toBeUndefined();
    expect(named.find([join(root, 'named.yaml')])?.what).toBe('the policy in force');
  });
});
