import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { prepareBundle } from './trace.ts';

function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sub-bundle-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

it('makes the folder of a bundle, for its owner alone', () => {
  const dir = join(tempFolder(), 'deep', 'bundle');
  expect(prepareBundle(dir, false)).toBeUndefined();
  expect(statSync(dir).mode & 0o777).toBe(0o700);
});

it('refuses a folder below a file', () => {
  const file = join(tempFolder(), 'file');
  writeFileSync(file, '');
  expect(prepareBundle(join(file, 'bundle'), false)).toMatchObject({ code: 'SUB_FILE_WRITE' });
});

// There, Node makes folders for ever when it is asked for all of them at once.
it.runIf(process.platform === 'linux')('refuses at once where no folder can be made', () => {
  const refused = prepareBundle('/proc/nowhere/deep/bundle', false);
  expect(refused).toMatchObject({ code: 'SUB_FILE_WRITE' });
});
