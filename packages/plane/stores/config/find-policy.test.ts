import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findPolicies } from './find-policy.ts';

const IS_ROOT = process.getuid?.() === 0;
const SOMEBODY = 65_534;

let dir: string;
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'sub-find-')));
  mkdirSync(join(dir, 'user'), { mode: 0o755 });
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function put(...parts: string[]): string {
  const path = join(dir, ...parts);
  mkdirSync(join(path, '..'), { recursive: true, mode: 0o755 });
  writeFileSync(path, '');
  return path;
}

function find(cwd: string, userHome = 'user') {
  return findPolicies({
    cwd: join(dir, cwd),
    home: join(dir, 'home'),
    userHome: join(dir, userHome),
  });
}

describe('the policy of a project', () => {
  test('is found from any folder in it, beside the one of the user', () => {
    const user = put('home', 'policy.yaml');
    put('user', 'repo', '.git', 'HEAD');
    mkdirSync(join(dir, 'user', 'repo', 'a', 'b'), { recursive: true });
    expect(find('user/repo/a/b')).toEqual({ user, project: undefined, ignored: undefined });
    const hidden = put('user', 'repo', '.subluminal', 'policy.yaml');
    expect(find('user/repo/a/b')).toMatchObject({ user, project: hidden });
    const plain = put('user', 'repo', 'policy.yaml');
    expect(find('user/repo/a/b')).toMatchObject({ user, project: plain });
    const nearer = put('user', 'repo', 'a', 'policy.yaml');
    expect(find('user/repo/a/b')).toMatchObject({ user, project: nearer });
  });

  test('is not looked for above the repository', () => {
    put('user', 'policy.yaml');
    put('user', 'code', 'policy.yaml');
    put('user', 'code', 'repo', '.git', 'HEAD');
    expect(find('user/code/repo').project).toBeUndefined();
  });

  test('is not looked for outside of the home, and what lies there is told', () => {
    const path = put('elsewhere', 'repo', 'policy.yaml');
    put('elsewhere', 'repo', '.git', 'HEAD');
    mkdirSync(join(dir, 'elsewhere', 'repo', 'deep'));
    const { project, ignored } = find('elsewhere/repo/deep');
    expect(project).toBeUndefined();
    expect(ignored).toEqual({
      path,
      why: `${join(dir, 'elsewhere', 'repo', 'deep')} is outside of ${join(dir, 'user')}`,
      fix: `add: --policy ${path}`,
    });
    expect(find('elsewhere').ignored).toBeUndefined();
  });

  test('is not looked for behind a link that leads out of the home', () => {
    const path = put('elsewhere', 'policy.yaml');
    symlinkSync(join(dir, 'elsewhere'), join(dir, 'user', 'link'));
    expect(find('user/link')).toMatchObject({ project: undefined, ignored: { path } });
  });

  test('is found where the home is a link', () => {
    symlinkSync(join(dir, 'user'), join(dir, 'linked'));
    const path = put('user', 'repo', 'policy.yaml');
    expect(find('user/repo', 'linked').project).toBe(path);
  });

  test('is looked for up to the home of the user, but not in it', () => {
    put('user', 'policy.yaml');
    mkdirSync(join(dir, 'user', 'notes', 'today'), { recursive: true });
    expect(find('user/notes/today').project).toBeUndefined();
    const path = put('user', 'notes', 'policy.yaml');
    expect(find('user/notes/today').project).toBe(path);
  });

  test('is found in the home itself by who works there', () => {
    const path = put('user', 'policy.yaml');
    expect(find('user').project).toBe(path);
  });

  test('is not the one of the user, where both would lie in one place', () => {
    const path = put('user', '.subluminal', 'policy.yaml');
    const found = findPolicies({
      cwd: join(dir, 'user'),
      home: join(dir, 'user', '.subluminal'),
      userHome: join(dir, 'user'),
    });
    expect(found).toEqual({ user: path, project: undefined, ignored: undefined });
  });

  test('is a file', () => {
    mkdirSync(join(dir, 'user', 'repo', 'policy.yaml'), { recursive: true });
    put('user', 'repo', '.git', 'HEAD');
    expect(find('user/repo').project).toBeUndefined();
  });

  test.each([0o777, 0o757])('is not used from a folder of mode %o', (mode) => {
    const path = put('user', 'open', 'policy.yaml');
    put('user', 'open', '.git', 'HEAD');
    mkdirSync(join(dir, 'user', 'open', 'own'), { mode: 0o755 });
    chmodSync(join(dir, 'user', 'open'), mode);
    const ignored = { path, why: `${join(dir, 'user', 'open')} can be written to by others` };
    expect(find('user/open')).toMatchObject({ project: undefined, ignored });
    expect(find('user/open/own')).toMatchObject({ project: undefined, ignored });
  });

  test('is used from a folder that the group of the user alone can write to', () => {
    const path = put('user', 'shared', 'policy.yaml');
    const id = process.getuid?.() ?? 0;
    if (IS_ROOT) chownSync(join(dir, 'user', 'shared'), id, id);
    chmodSync(join(dir, 'user', 'shared'), 0o775);
    const isPrivate = process.getgid?.() === id;
    expect(find('user/shared').project).toBe(isPrivate ? path : undefined);
  });

  test('of a folder in a place that others can write to is not used: they could replace the folder', () => {
    const path = put('user', 'open', 'own', 'policy.yaml');
    chmodSync(join(dir, 'user', 'open'), 0o777);
    const why = `${join(dir, 'user', 'open')} can be written to by others`;
    expect(find('user/open/own')).toMatchObject({ project: undefined, ignored: { path, why } });
  });

  test("is not used from a sticky folder, where it may be anybody's", () => {
    const path = put('user', 'sticky', 'policy.yaml');
    chmodSync(join(dir, 'user', 'sticky'), 0o1777);
    expect(find('user/sticky')).toMatchObject({ project: undefined, ignored: { path } });
  });

  test.runIf(IS_ROOT)(
    'is not used from a folder of another user, nor from their repository',
    () => {
      const path = put('user', 'theirs', 'policy.yaml');
      put('user', 'theirs', '.git', 'HEAD');
      chownSync(join(dir, 'user', 'theirs', '.git'), SOMEBODY, SOMEBODY);
      const why = `${join(dir, 'user', 'theirs', '.git')} belongs to another user (${SOMEBODY})`;
      expect(find('user/theirs')).toMatchObject({ project: undefined, ignored: { path, why } });
      chownSync(join(dir, 'user', 'theirs'), SOMEBODY, SOMEBODY);
      expect(find('user/theirs').ignored?.why).toMatch(/theirs belongs to another user \(65534\)$/);
    },
  );
});
