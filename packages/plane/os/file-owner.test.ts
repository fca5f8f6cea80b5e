import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fileProblem, writerProblem } from './file-owner.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sub-owner-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const IS_ROOT = process.getuid?.() === 0;
const FOREIGN = 12_345;

function policy(mode = 0o644): string {
  mkdirSync(join(folder, 'project'), { recursive: true });
  const path = join(folder, 'project', 'policy.yaml');
  writeFileSync(path, 'x');
  chmodSync(path, mode);
  return path;
}

describe('a file that decides', () => {
  test.each([0o600, 0o644, 0o444])('is the user’s own with mode %o', (mode) => {
    expect(fileProblem(policy(mode))).toBeUndefined();
  });

  test('is nobody’s when it is missing', () => {
    expect(fileProblem(join(folder, 'absent', 'policy.yaml'))).toBeUndefined();
  });

  test.each([0o666, 0o646, 0o602])('is unsafe with mode %o', (mode) => {
    const path = policy(mode);
    expect(fileProblem(path)).toEqual({
      path,
      why: 'can be written to by others',
      fix: `Run: chmod go-w ${path}`,
    });
  });

  test('is unsafe in a folder that others can write to, however far above', () => {
    const path = policy();
    chmodSync(folder, 0o777);
    expect(fileProblem(path)).toMatchObject({ path: folder, why: 'can be written to by others' });
  });

  test('is safe below a sticky folder that everybody can write to', () => {
    const path = policy();
    chmodSync(folder, 0o1777);
    expect(fileProblem(path)).toBeUndefined();
  });

  test('is unsafe behind a link that others can replace, even if it leads back', () => {
    const path = policy();
    const open = join(folder, 'open');
    mkdirSync(open);
    chmodSync(open, 0o777);
    symlinkSync(path, join(open, 'hop'));
    const link = join(mkdtempSync(join(folder, 'own-')), 'policy.yaml');
    symlinkSync(join('..', 'open', 'hop'), link);
    expect(fileProblem(link)).toMatchObject({ path: open, why: 'can be written to by others' });
  });

  test('is unsafe far below a folder that others can write to', () => {
    const open = join(folder, 'open');
    const deep = join(open, ...Array.from({ length: 300 }, () => 'd'));
    mkdirSync(deep, { recursive: true });
    chmodSync(open, 0o777);
    writeFileSync(join(deep, 'policy.yaml'), 'x');
    expect(fileProblem(join(deep, 'policy.yaml'))).toMatchObject({ path: open });
  });

  test('is unsafe where links lead in a circle', () => {
    symlinkSync(join(folder, 'b'), join(folder, 'a'));
    symlinkSync(join(folder, 'a'), join(folder, 'b'));
    expect(fileProblem(join(folder, 'a'))?.why).toContain('too many links');
  });

  test('is unsafe behind a link into a folder that others can write to', () => {
    const path = policy();
    chmodSync(join(folder, 'project'), 0o777);
    const link = join(mkdtempSync(join(folder, 'own-')), 'policy.yaml');
    symlinkSync(path, link);
    expect(fileProblem(link)).toMatchObject({ path: join(folder, 'project') });
  });

  test('may be written to by the private group of the user', () => {
    expect(fileProblem(policy(0o664))).toBeUndefined();
  });
});

describe.skipIf(!IS_ROOT)('with other owners', () => {
  test('a file of another user is unsafe, and the fix names the way out', () => {
    const path = policy();
    chownSync(path, FOREIGN, FOREIGN);
    expect(fileProblem(path)).toMatchObject({
      path,
      why: `belongs to another user (${FOREIGN})`,
      fix: `Run: chown 0 ${path} (or run sub as the user who owns it)`,
    });
  });

  test('a folder of another user above the file is unsafe', () => {
    const path = policy();
    chownSync(folder, FOREIGN, FOREIGN);
    expect(fileProblem(path)).toMatchObject({ path: folder });
  });

  test('a file of another user in a sticky folder is unsafe', () => {
    chmodSync(folder, 0o1777);
    const path = policy();
    chownSync(join(folder, 'project'), FOREIGN, FOREIGN);
    expect(fileProblem(path)).toMatchObject({ path: join(folder, 'project') });
  });

  test('a link of another user is unsafe', () => {
    const link = join(folder, 'policy.yaml');
    symlinkSync(policy(), link);
    lchownSync(link, FOREIGN, FOREIGN);
    expect(fileProblem(link)).toMatchObject({ path: link });
  });

  test('a file that a shared group can write to is unsafe', () => {
    const path = policy(0o664);
    chownSync(path, 0, FOREIGN);
    expect(fileProblem(path)).toMatchObject({ path, why: 'can be written to by others' });
  });
});

describe('the writers of one file', () => {
  test('are others when everybody can write to it', () => {
    expect(writerProblem(policy(0o757))).toBe('can be written to by others');
    expect(writerProblem(policy(0o755))).toBeUndefined();
  });

  test('are not told by the folders above it', () => {
    const path = policy();
    chmodSync(folder, 0o777);
    expect(writerProblem(path)).toBeUndefined();
  });

  test.runIf(IS_ROOT)('are others when it belongs to another user or group', () => {
    const path = policy(0o775);
    chownSync(path, 0, FOREIGN);
    expect(writerProblem(path)).toBe('can be written to by others');
    chownSync(path, FOREIGN, 0);
    expect(writerProblem(path)).toBe(`belongs to another user (${FOREIGN})`);
  });

  test('are unknown when it is not there', () => {
    expect(writerProblem(join(folder, 'none'))).toBe('cannot be looked at');
  });
});
