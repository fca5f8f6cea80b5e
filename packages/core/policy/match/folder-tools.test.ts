// What rules about paths see of tools that read whole folders: as of `grep -r`.
import type { AnyArgMatch, JsonObject } from '@subluminal/contracts';
import { expect, test } from 'vitest';
import type { ProjectPaths } from '../../ports.ts';
import { deny, runOf, snapshotOf } from '../testing/scenario.ts';

const FILES = ['/repo/.env', '/repo/.git', '/repo/secrets', '/repo/src', '/repo/a/b/c/.env'];

const PATHS: ProjectPaths = {
  project: '/repo',
  home: '/home/me',
  tmp: '/tmp',
  env: {},
  isCaseless: false,
  lookup: () => (path) => path,
  // `folder/.*` and `folder/[!.]*`.
  expansion: () => (pattern) => {
    const [, folder, end] = /^(.*)\/(\.\*|\[!\.\]\*)$/.exec(pattern) ?? [];
    const paths = FILES.filter((file) => {
      const name = file.slice(file.lastIndexOf('/') + 1);
      return file === `${folder}/${name}` && name.startsWith('.') === (end === '.*');
    });
    return { paths, isWhole: folder !== '/unread' };
  },
};

async function isRefused(
  any_arg: AnyArgMatch,
  args: JsonObject,
  tool_name = 'Grep',
): Promise<boolean> {
  const run = runOf(await snapshotOf([deny('r', { any_arg })], { paths: PATHS }));
  const call = { server_name: 'claude-code', tool_name, args: { pattern: 'KEY', ...args } };
  return run.call(call, 0).decision.action === 'BLOCK';
}

test.each<[AnyArgMatch, JsonObject, boolean]>([
  [{ path_matches: ['.env*'] }, {}, true],
  [{ path_matches: ['.env*'] }, { glob: '*.{ts,tsx}' }, false],
  [{ path_matches: ['.env*'] }, { glob: '*.ts,*nv' }, true],
  [{ path_matches: ['.env*'] }, { glob: '*.ts', path: '/repo' }, false],
  [{ path_matches: ['.env*'] }, { glob: 'src/**' }, false],
  [{ path_matches: ['.env*'] }, { path: 'a/b', glob: 'c/*' }, true],
  [{ path_matches: ['.env*'] }, { path: 'src', cwd: '/elsewhere' }, false],
  [{ path_matches: ['.env*'] }, { path: '../b/c', cwd: '/repo/a/x' }, true],
  [{ path_matches: ['*.pem'] }, {}, false],
  [{ path_under: ['secrets'] }, {}, true],
  [{ path_under: ['secrets'] }, { glob: '*.ts' }, true],
  [{ path_under: ['secrets'] }, { glob: 'src/**' }, false],
  [{ path_under: ['secrets'] }, { path: 'src' }, false],
  // Searches leave out what version control keeps.
  [{ path_matches: ['**/.git/**'] }, {}, false],
  [{ path_matches: ['**/.git/**'] }, { glob: '*.ts' }, false],
  [{ path_matches: ['**/.git/**'] }, { glob: '**' }, true],
])('a rule with %j sees a search with %j: %s', async (match, args, isSo) => {
  expect(await isRefused(match, args)).toBe(isSo);
});

test('a folder that could not be read may hold anything', async () => {
  const match = { path_matches: ['.env*'] };
  expect(await isRefused(match, { path: '/unread' })).toBe(true);
  expect(await isRefused(match, { path: '/unread', glob: '*.ts' })).toBe(true);
  expect(await isRefused(match, { command: 'grep -r KEY /unread' }, 'Bash')).toBe(true);
  expect(await isRefused(match, { command: 'grep -r KEY src' }, 'Bash')).toBe(false);
});
