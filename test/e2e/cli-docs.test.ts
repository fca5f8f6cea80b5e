// The commands that the docs show, run as they stand, give what the docs show.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSource, treeValue } from '@subluminal/core/policy';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ensureBuilt, ROOT } from './sub.ts';

interface Shown {
  readonly commands: readonly string[];
  readonly output: string;
}

const SUB = `"${process.execPath}" "${ROOT}packages/cli/bin/sub.mjs"`;
const TUTORIAL = readFileSync(`${ROOT}docs/start/policy-in-five-minutes.md`, 'utf8');
const ELLIPSIS = /^…\n/m;

let folder = '';
beforeAll(() => {
  ensureBuilt();
  folder = mkdtempSync(join(tmpdir(), 'sub-docs-'));
  writeFileSync(join(folder, 'policy.yaml'), blockOf('yaml'));
  writeFileSync(join(folder, 'calls.json'), blockOf('json'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function blockOf(language: string): string {
  return new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(TUTORIAL)?.[1] ?? '';
}

/** Every block that shows a command behind `$` and what it prints. */
function shownIn(page: string): readonly Shown[] {
  const blocks = [...page.matchAll(/```\n(\$ .*?)```/gs)].map(([, text = '']) => text);
  return blocks.map((text) => {
    const lines = text.split('\n');
    const commands = lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2));
    return { commands, output: lines.filter((line) => !line.startsWith('$ ')).join('\n') };
  });
}

function run(command: string, cwd: string) {
  const real = command.replace(/\bsub (?=policy )/, `${SUB} `);
  const { NO_COLOR: _no, FORCE_COLOR: _force, ...env } = process.env;
  return spawnSync('sh', ['-c', real], { cwd, env, encoding: 'utf8' });
}

/** A line with an ellipsis stands for whatever is left out. */
function expectShown(actual: string, output: string): void {
  let rest = actual;
  for (const part of output.split(ELLIPSIS)) {
    const at = rest.indexOf(part);
    expect(at, `${JSON.stringify(part)} in\n${rest}`).toBeGreaterThanOrEqual(0);
    rest = rest.slice(at + part.length);
  }
}

describe('the tutorial', () => {
  test('works in a folder that git ignores', () => {
    expect(TUTORIAL).toContain('mkdir -p try\ncd try\n');
    const ignored = spawnSync(
      'git',
      ['check-ignore', 'try/policy.yaml', 'try/policy.key', 'a.key'],
      {
        cwd: ROOT,
        encoding: 'utf8',
      },
    );
    expect(ignored.stdout.trim().split('\n')).toHaveLength(3);
  });

  test.each(shownIn(TUTORIAL))('$commands', ({ commands, output }) => {
    const ended = commands.map((command) => run(command, folder));
    expectShown(ended.map(({ stdout }) => stdout).join(''), output);
  });

  test('has an exercise with a typo that is understood', () => {
    const [, wrong = '', right = ''] = /Write `(.+?)` in place of `(.+?)`/.exec(TUTORIAL) ?? [];
    expect(blockOf('yaml')).toContain(right);
    writeFileSync(join(folder, 'typo.yaml'), blockOf('yaml').replace(right, wrong));
    const { status, stdout } = run('sub policy lint typo.yaml', folder);
    expect(status).toBe(1);
    expect(stdout).toMatch(new RegExp(`^typo\\.yaml:\\d+:\\d+: error: .*did you mean .*${right}`));
  });
});

test.each([
  ['README.md', 'explain'],
  ['docs/reference/cli.md', 'replay'],
])('%s shows what `%s` prints', (page, command) => {
  const shown = shownIn(readFileSync(ROOT + page, 'utf8'));
  const found = shown.find(({ commands }) => commands[0]?.includes(`policy ${command} examples/`));
  if (found === undefined) throw new Error(`${page} shows no ${command}`);
  expectShown(run(found.commands[0] ?? '', ROOT).stdout, found.output);
});

describe('the command is called `sub`', () => {
  /** `npx` with `sub` behind it, also as the words of a config; a registry has another `sub`. */
  const NPX_SUB = /\bnpx\b(?:[^\n`|;&]|,\n)*?[ "']sub(?:luminal)?\b/;
  const below = (place: string) =>
    readdirSync(ROOT + place, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  const pages = readdirSync(ROOT).filter((name) => name.endsWith('.md'));

  test('no page and no example starts it by npx', () => {
    const files = [...pages.map((name) => ROOT + name), ...below('docs'), ...below('examples')];
    expect(files).toEqual(
      expect.arrayContaining(
        ['CONTRIBUTING.md', 'docs/reference/cli.md', 'examples/ci/policy.yml'].map((f) => ROOT + f),
      ),
    );
    expect(files.filter((file) => NPX_SUB.test(readFileSync(file, 'utf8')))).toEqual([]);
  });

  test.each([
    ['npx sub', true],
    ['npx --no-install sub policy lint', true],
    ['npx -y -p ./subluminal-0.1.0.tgz sub demo', true],
    ['npx subluminal@latest', true],
    ['"command": "npx",\n"args": ["-y", "sub", "shim"]', true],
    ['sub shim -- npx -y server-files .\nsub tail', false],
    ['`npx` runs servers; `sub` governs them', false],
  ])('%j is found: %s', (text, isFound) => {
    expect(NPX_SUB.test(text)).toBe(isFound);
  });
});

describe('examples/ci/policy.yml', () => {
  const POLICIES = `${ROOT}examples/policies/`;
  const STARTER = readFileSync(`${POLICIES}starter.yaml`, 'utf8');
  const REPORT = 'Report to code scanning';
  let project = '';
  beforeAll(() => {
    project = join(folder, 'project');
    mkdirSync(project);
    const tests = readFileSync(`${POLICIES}starter.test.yaml`, 'utf8');
    writeFileSync(join(project, 'policy.yaml'), STARTER);
    writeFileSync(
      join(project, 'policy.test.yaml'),
      tests.replace('policy: starter.yaml', 'policy: policy.yaml'),
    );
    const commit = 'git -c user.name=a -c user.email=a@b.example commit -qm policy';
    const onBase = 'git update-ref refs/remotes/origin/main HEAD';
    const { status, stderr } = run(`git init -q && git add . && ${commit} && ${onBase}`, project);
    if (status !== 0) throw new Error(stderr);
  });

  interface Step {
    readonly name?: string;
    readonly run?: string;
    readonly env?: Readonly<Record<string, string>>;
  }

  /** What its steps run, by their names, for a pull request to main. */
  function steps(): Readonly<Record<string, string>> {
    const file = 'examples/ci/policy.yml';
    const read = readSource({ file, bytes: readFileSync(ROOT + file) });
    if (!read.ok) throw new Error(JSON.stringify(read.problems));
    const { jobs } = treeValue(read.tree) as {
      readonly jobs: {
        readonly check: { readonly steps: readonly Step[] };
      };
    };
    const found = jobs.check.steps.flatMap(({ name = 'install', run: line, env = {} }) => {
      if (line === undefined) return [];
      const set = Object.entries(env).map(([key, value]) => `${key}='${value}'; `);
      return [[name, (set.join('') + line).replace('${{ github.base_ref }}', 'main')] as const];
    });
    return Object.fromEntries(found);
  }

  test.each([
    ['that is as before', STARTER, [0, 0, 0]],
    ['that is looser', STARTER.replace('shell_*', 'shell_x*'), [0, 1, 1]],
    ['with a mistake', STARTER.replace('kind: deny', 'kind: dney'), [1, 2, 2]],
  ])('its steps judge a policy %s', (_, policy, [lint, tests, diff]) => {
    writeFileSync(join(project, 'policy.yaml'), policy);
    const { install, ...judging } = steps();
    expect(install).toMatch(/^npm install --global \S+\/subluminal-\*\.tgz$/);
    const codes = Object.entries(judging).map(([name, line]) => [name, run(line, project).status]);
    expect(Object.fromEntries(codes)).toEqual({
      Lint: lint,
      Test: tests,
      [REPORT]: 0,
      'Say what the change loosens': diff,
    });
  });

  test('its report is SARIF', () => {
    writeFileSync(join(project, 'policy.yaml'), STARTER.replace('shell_*', 'shell_x*'));
    run(steps()[REPORT] ?? '', project);
    const text = readFileSync(join(project, 'policy.sarif'), 'utf8');
    expect(JSON.parse(text)).toMatchObject({ version: '2.1.0', runs: [{ results: [{}] }] });
    expect(text).toContain('the shell is closed');
  });
});

describe('README.md', () => {
  const README = readFileSync(`${ROOT}README.md`, 'utf8');

  test('names files that exist, in its commands and in its links', () => {
    const links = [...README.matchAll(/\]\(([^)#:]+)\)/g)].map(([, path = '']) => path);
    const given = [...README.matchAll(/--(?:policy|call) (\S+)/g)].map(([, path = '']) => path);
    expect(given.length).toBeGreaterThan(1);
    expect([...links, ...given].filter((path) => !existsSync(ROOT + path))).toEqual([]);
  });

  test('leads to every page for users', () => {
    const pages = ['start', 'concepts', 'guides', 'operating', 'reference'].flatMap((section) =>
      readdirSync(`${ROOT}docs/${section}`).map((name) => `docs/${section}/${name}`),
    );
    expect(pages.filter((page) => !README.includes(`(${page})`))).toEqual([]);
  });

  test('names commands that exist', () => {
    const listed = (words: string) => {
      const { stdout } = spawnSync('sh', ['-c', `${SUB} ${words} --help`], { encoding: 'utf8' });
      return [...stdout.matchAll(/^ {2}([a-z]+)\b/gm)].map(([, name]) => name);
    };
    const top = new Set(listed(''));
    const below = new Set(listed('policy'));
    const used = [...README.matchAll(/(?:^|`)sub ([a-z]+)(?: ([a-z]+))?/gm)];
    expect(used.length).toBeGreaterThan(5);
    const unknown = used.filter(
      ([, word, next]) => !top.has(word) || (word === 'policy' && !below.has(next)),
    );
    expect(unknown.map(([text]) => text)).toEqual([]);
  });
});
