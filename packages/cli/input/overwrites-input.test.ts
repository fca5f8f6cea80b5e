import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { overwritesInput } from './write-file.ts';

let folder = '';
const at = (name: string) => join(folder, name);
const input = (name: string) => [{ path: at(name), role: 'the bundle' }];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sub-same-'));
  writeFileSync(at('a'), 'a');
  writeFileSync(at('b'), 'a');
  symlinkSync(at('a'), at('soft'));
  linkSync(at('a'), at('hard'));
  mkdirSync(at('folder'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ['itself', 'a', 'a'],
  ['another spelling', 'folder/../a', 'a'],
  ['a link to it', 'soft', 'a'],
  ['what it links to', 'a', 'soft'],
  ['a hard link to it', 'hard', 'a'],
])('an output that is its own input is refused: %s', async (_, out, from) => {
  const refused = await overwritesInput(`${folder}/${out}`, input(from));
  expect(refused?.code).toBe('SUB_USAGE');
  expect(refused?.message).toContain('would overwrite the bundle');
});

test('any input counts, and says what it is', async () => {
  const inputs = [...input('b'), { path: at('a'), role: 'the private key' }];
  expect(await overwritesInput(at('a'), inputs)).toMatchObject({
    message: `--out ${at('a')} would overwrite the private key.`,
  });
});

test('a file with the same content, and one that is not there, are others', async () => {
  expect(await overwritesInput(at('b'), input('a'))).toBeUndefined();
  expect(await overwritesInput(at('new'), input('a'))).toBeUndefined();
  expect(await overwritesInput(at('a'), input('none'))).toBeUndefined();
});
