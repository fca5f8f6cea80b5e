import { describe, expect, it } from 'vitest';
import type { ProjectPaths } from '../../ports.ts';
import { compilePathPatterns, foldPath, pathPatternFault } from './path-patterns.ts';

const DISK: Omit<ProjectPaths, 'isCaseless'> = {
  project: '/Repo',
  home: '/Users/me',
  tmp: '/tmp',
  env: {},
  lookup: () => (path) => path,
};

describe('a path glob', () => {
  it.each([
    ['[A-_]*.PEM', '/x/Key.pem', true],
    ['[A-_]*.PEM', '/x/_key.pem', true],
    ['[A-_]*.PEM', '/x/1key.pem', false],
    ['Src/[!A-C]*', '/repo/src/Apple', false],
    ['Src/[!A-C]*', '/REPO/src/Dog', true],
  ])('folds its ranges on a disk without case: %s and %s, %s', (glob, path, expected) => {
    const paths = { ...DISK, isCaseless: true };
    expect(pathPatternFault(glob, 'path_matches')).toBeUndefined();
    const test = compilePathPatterns([glob], 'path_matches', paths);
    expect(test(foldPath(path, paths))).toBe(expected);
  });

  it.each(['[\u200c]x', '[\u2100-\u212b]x'])(
    'is refused everywhere when some disk cannot compile it: %j',
    (glob) => {
      expect(pathPatternFault(glob, 'path_matches')).toMatchObject({ ok: false });
    },
  );
});
