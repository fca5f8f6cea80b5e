import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ensurePrivateFolder } from '../../os/index.ts';
import { homePaths } from './home-paths.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sub-home-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('the home', () => {
  test('is SUB_HOME, else a folder in the home of the user', () => {
    expect(homePaths({ SUB_HOME: '/x', HOME: '/h' }).config).toBe('/x/config.toml');
    expect(homePaths({ HOME: '/h' }).socket).toBe('/h/.subluminal/run/ledger.sock');
    expect(homePaths({}).home).toBe(join(userInfo().homedir, '.subluminal'));
  });

  test('is not in the current folder when HOME is empty', () => {
    expect(homePaths({ HOME: '' }).home).toBe(join(userInfo().homedir, '.subluminal'));
  });

  test.runIf(process.platform === 'linux')('is not tried for ever where none can be made', () => {
    // Node itself never comes back from this one, asked for all folders at once.
    const problem = ensurePrivateFolder('/proc/nowhere/deep/home');
    expect(problem).toMatchObject({ code: 'SUB_FILE_WRITE' });
    expect(problem?.message).toMatch(
      /^\/proc\/nowhere\/deep\/home cannot be created \(E[A-Z]+\)\.$/,
    );
  });

  test('is not made below more folders than anybody has', () => {
    const deep = join(dir, ...Array.from({ length: 100 }, () => 'x'));
    expect(ensurePrivateFolder(deep)).toMatchObject({ code: 'SUB_FILE_WRITE' });
    expect(readdirSync(dir)).toEqual([]);
  });

  test('is made on demand, for its owner alone', () => {
    const paths = homePaths({ SUB_HOME: join(dir, 'a', 'b') });
    expect(ensurePrivateFolder(paths.home)).toBeUndefined();
    expect(ensurePrivateFolder(paths.run)).toBeUndefined();
    expect(statSync(paths.home).mode & 0o777).toBe(0o700);
    expect(statSync(paths.run).mode & 0o777).toBe(0o700);
    expect(ensurePrivateFolder(paths.home)).toBeUndefined();
  });

  test.each([0o770, 0o702])('is refused when others can write to it: %o', (mode) => {
    chmodSync(dir, mode);
    expect(ensurePrivateFolder(dir)).toEqual({
      kind: 'failure',
      code: 'SUB_HOME_UNSAFE',
      message: `${dir} can be written to by others.`,
      fix: `Run: chmod go-w ${dir}`,
    });
  });

  test('is refused when it is no folder', () => {
    const target = join(dir, 'target');
    mkdirSync(target);
    symlinkSync(target, join(dir, 'link'));
    const refused = {
      code: 'SUB_HOME_UNSAFE',
      message: expect.stringContaining('is not a folder') as unknown,
    };
    expect(ensurePrivateFolder(join(dir, 'link'))).toMatchObject(refused);
    writeFileSync(join(dir, 'file'), '');
    const below = ensurePrivateFolder(join(dir, 'file', 'home'));
    expect(below).toMatchObject({
      code: 'SUB_FILE_WRITE',
      message: expect.stringContaining('cannot be created (ENOTDIR)') as unknown,
    });
    expect(ensurePrivateFolder(join(dir, 'file'))).toMatchObject(refused);
  });
});
