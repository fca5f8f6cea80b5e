// Repositories as git makes them, and one that wants a program to be started.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { RepoReader } from './repo-facts.ts';

const NAME = ['-c', 'user.name=ada', '-c', 'user.email=ada@example.com'];

const git = (root: string, ...args: readonly string[]) =>
  execFileSync('git', ['-C', root, ...NAME, ...args], { encoding: 'utf8', stdio: 'pipe' }).trim();

/** One commit with one file. */
function repository(root = mkdtempSync(join(tmpdir(), 'sub-repo-'))): string {
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(root, { recursive: true });
  git(root, 'init', '--quiet', '--initial-branch=trunk');
  writeFileSync(join(root, 'file'), 'one');
  git(root, 'add', 'file');
  git(root, 'commit', '--quiet', '--message=one');
  return root;
}

/** Has the program of a filter started for each file that git reads; says where it leaves its mark. */
function trap(root: string): string {
  const mark = join(root, 'started');
  git(root, 'config', 'filter.trap.clean', `touch '${mark}'; cat`);
  writeFileSync(join(root, '.git/info/attributes'), '* filter=trap\n');
  writeFileSync(join(root, 'file'), 'two');
  return mark;
}

test('a repository is known with its branch, its commit and whether it has changes', async () => {
  const root = repository();
  git(root, 'remote', 'add', 'origin', 'https://me:secret@example.com/acme/web.git');
  const facts = {
    root,
    remoteUrl: 'https://example.com/acme/web.git',
    branch: 'trunk',
    headSha: git(root, 'rev-parse', 'HEAD'),
  };
  expect(await new RepoReader().read(root)).toMatchObject({ ...facts, isDirty: false });
  writeFileSync(join(root, 'file'), 'two');
  expect(await new RepoReader().read(root)).toMatchObject({ ...facts, isDirty: true });
  git(root, 'checkout', '--quiet', '--detach');
  expect((await new RepoReader().read(root))?.branch).toBeUndefined();
});

test('no program of a repository is started', async () => {
  const root = repository();
  const mark = trap(root);
  const facts = await new RepoReader().read(root);
  expect(existsSync(mark)).toBe(false);
  expect(facts).toMatchObject({ branch: 'trunk', isDirty: undefined });
  // The trap works.
  git(root, 'status');
  expect(existsSync(mark)).toBe(true);
});

test('no program of a repository inside of another is started', async () => {
  const root = repository();
  const inner = repository(join(root, 'inner'));
  git(root, 'add', 'inner');
  git(root, 'commit', '--quiet', '--message=two');
  const mark = trap(inner);
  expect(await new RepoReader().read(root)).toMatchObject({ isDirty: false });
  expect(existsSync(mark)).toBe(false);
  git(root, 'status');
  expect(existsSync(mark)).toBe(true);
});

test('a proxy that was started inside of git asks the repository of the agent', async () => {
  const [root, other] = [repository(), repository()];
  git(root, 'checkout', '--quiet', '-b', 'own');
  vi.stubEnv('GIT_DIR', join(other, '.git'));
  onTestFinished(() => void vi.unstubAllEnvs());
  const facts = { branch: 'own', gitDir: join(root, '.git') };
  expect(await new RepoReader().read(root)).toMatchObject(facts);
});
