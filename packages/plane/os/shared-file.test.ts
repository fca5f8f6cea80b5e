import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { closedToOthers } from './shared-file.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sub-shared-'));
  chmodSync(folder, 0o711);
  for (const name of ['open', 'closed']) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'file'), '');
    chmodSync(join(folder, name, 'file'), 0o644);
  }
  chmodSync(join(folder, 'open'), 0o755);
  chmodSync(join(folder, 'closed'), 0o750);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

// On macOS, the folder for temporary files is closed to others.
describe.runIf(closedToOthers(tmpdir()) === undefined)('other users', () => {
  test('a file that all may read, in folders that all may enter, is closed to nobody', () => {
    expect(closedToOthers(join(folder, 'open', 'file'))).toBeUndefined();
  });

  test('the folder that keeps others out is named', () => {
    expect(closedToOthers(join(folder, 'closed', 'file'))).toBe(join(folder, 'closed'));
  });

  test('a file that others may not read is named, and so is one that is not there', () => {
    const file = join(folder, 'open', 'file');
    chmodSync(file, 0o640);
    expect(closedToOthers(file)).toBe(file);
    expect(closedToOthers(`${file}s`)).toBe(`${file}s`);
  });

  test('a link is closed where either end of it is', () => {
    symlinkSync(join(folder, 'closed', 'file'), join(folder, 'open', 'link'));
    symlinkSync(join(folder, 'open', 'file'), join(folder, 'closed', 'link'));
    for (const name of ['open', 'closed']) {
      expect(closedToOthers(join(folder, name, 'link'))).toBe(join(folder, 'closed'));
    }
  });
});
