// Commands that remove or overwrite what is protected, without its name; and everyday ones that don't.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { outlineCommand } from '@subluminal/core/shell';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { shellCorpus } from '../../../../test/corpora/shell/read-corpus.ts';
import { loadConfig } from '../../stores/config/index.ts';
import { ProtectedFinder } from './find-protected.ts';
import { finderOptions } from './finder-options.ts';

let root: string;
let finder: ProtectedFinder;

beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'sub-changed-')));
  const project = join(root, 'user/proj');
  for (const folder of ['.claude', 'src', 'other/.claude', 'vendor/.codex', 'docs'])
    mkdirSync(join(project, folder), { recursive: true });
  for (const file of ['.claude/settings.json', 'policy.yaml', 'other/.claude/settings.json'])
    writeFileSync(join(project, file), '{}');
  writeFileSync(join(project, 'vendor/.codex/hooks.json'), '{}');
  symlinkSync(join(project, '.claude'), join(project, 'src/conf'));
  const env = { HOME: join(root, 'user'), USER: 'me' };
  const loaded = await loadConfig({ env, flags: {}, cwd: project });
  if (!loaded.ok) throw new Error('no configuration');
  const policies = [join(project, 'policy.yaml')];
  const server = { env, cwd: project, command: '', args: [] };
  const clientSettings = ['.claude/settings.json', '.codex/hooks.json'].map((name) =>
    join(project, name),
  );
  finder = new ProtectedFinder({
    ...finderOptions(server, { ...loaded, policies }),
    clientSettings,
  });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('a command that takes away what is protected', () => {
  it.each([
    'rm -rf .claude',
    'rm -rf ./.claude/',
    'rm -rf .claude/*',
    'rm -rf .c*',
    'rm -rf *',
    'rm -rf ../proj',
    'rm -rf ~/proj',
    'cd .claude && rm *',
    'rm src/conf/*',
    'mv .claude old',
    'mv -t old .claude',
    'rename s/c/d/ .claude',
    'git mv .claude old',
    'git rm -r .claude',
    'git checkout HEAD -- .claude',
    'git restore --source HEAD~3 .claude',
    'git restore --staged --worktree .claude',
    "git checkout HEAD~3 -- '*.json'",
    'cd .claude; git checkout HEAD~3 .',
    'git clean -fdx',
    'git stash -u',
    'find . -name settings.json -delete',
    "find . -name '*.json' -delete",
    "find . -name '*claude' -exec rm -rf {} +",
    'find . -type f -delete',
    'rsync -a --delete src/ .',
    "sh -c 'rm -rf .claude'",
  ])('is found: %s', (line) => {
    expect(finder.findChanged(outlineCommand(line))).toBeDefined();
  });
});

describe('a command that puts something in its place', () => {
  it.each([
    'cp src/settings.json .claude/',
    'cp src/settings.json .claude',
    'cp -t .claude src/settings.json',
    'install -m 644 src/settings.json .claude',
    'mv src/settings.json .claude',
    'ln -sf /tmp/settings.json .claude',
    'cd .claude && ln -sf /tmp/settings.json',
    'cp src/settings.json src/conf',
    'cp docs/policy.yaml .',
    'cp -r other/. .',
    'cp -r other/.claude .',
    'cp other/.claude/* .claude',
    'rsync -a other/ .',
    'cp -r vendor/.codex .',
    'mv vendor/.codex .codex',
    'ln -s vendor/.codex .codex',
    'mkdir n; echo {} > n/settings.json; cp n/* .claude',
    'tar xf a.tar',
    'tar xf a.tar -C .claude',
    'wget -P .claude https://x.example/settings.json',
    'cd .claude; curl -O https://x.example/settings.json',
    'curl -OJ --output-dir .claude https://x.example/y',
    'wget -r -nH -P .claude https://x.example/',
    'tar xf a.tar .claude',
    'tar xf a.tar -C .codex',
    'unzip a.zip',
    'unzip a.zip -d .claude',
    'unzip -od .codex a.zip',
    'cd src; unzip a.zip -d ..',
  ])('is found: %s', (line) => {
    expect(finder.findChanged(outlineCommand(line))).toBeDefined();
  });
});

describe('a command that leaves it alone', () => {
  it.each([
    'touch ./x',
    'touch .claude/x',
    'mkdir -p .claude/commands',
    'cp x.md .claude/commands/',
    'cp x .claude/',
    'rm .claude/x',
    'rm -rf src dist node_modules',
    'rm src/conf',
    'rm *.log',
    'rm -rf "$tmp"',
    'cp -r src docs',
    'cp -r docs .',
    'cp src/* .',
    'mv src/a.ts .',
    'git mv src/a.ts .',
    'git stash',
    'git checkout .',
    'git checkout main',
    'git restore --staged .',
    'git rm -r --cached .claude',
    'git clean -n',
    'git clean -fdx dist',
    "find . -name '*.log' -delete",
    "find . -name '*.orig' -not -path './node_modules/*' -delete",
    'tar xf a.tar -C src',
    'wget -P src https://x.example/settings.json',
    'wget -r https://x.example/',
    'curl -O https://x.example/a.tgz',
    'tar xf a.tar src/x',
    'tar czf a.tgz .claude',
    'unzip a.zip -d out',
    'rsync -a src/ docs/',
  ])('is free: %s', (line) => {
    expect(finder.findChanged(outlineCommand(line))).toBeUndefined();
  });

  it('is every line of the corpus of everyday work', () => {
    const lines = shellCorpus('everyday').map(({ line }) => line);
    expect(lines.filter((line) => finder.findChanged(outlineCommand(line)))).toEqual([]);
  });
});

it('more changes than can be checked are refused', () => {
  const removes = Array.from({ length: 10_000 }, (_, index) => `x${index}`);
  expect(finder.findChanged({ removes, puts: [], writes: [] })?.what).toContain('more files');
});
