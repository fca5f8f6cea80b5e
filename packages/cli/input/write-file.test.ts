import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createNewFile, occupied, replaceFile } from './write-file.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sub-write-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('replaceFile replaces a whole file and leaves nothing else behind', async () => {
  const path = join(folder, 'a.json');
  writeFileSync(path, 'old');
  expect(await replaceFile(path, 'new')).toBeUndefined();
  expect(readFileSync(path, 'utf8')).toBe('new');
  expect(readdirSync(folder)).toEqual(['a.json']);
});

test('replaceFile keeps the permissions of the file', async () => {
  const path = join(folder, 'a.json');
  writeFileSync(path, 'old');
  chmodSync(path, 0o600);
  await replaceFile(path, 'new');
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('replaceFile neither writes through a link nor replaces it', async () => {
  const target = join(folder, 'target');
  const link = join(folder, 'link');
  writeFileSync(target, 'old');
  symlinkSync(target, link);
  expect(await replaceFile(link, 'new')).toMatchObject({
    code: 'SUB_FILE_WRITE',
    message: `${link} is a link, and nothing is written through one.`,
  });
  expect(readFileSync(target, 'utf8')).toBe('old');
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
});

test('a missing folder or a folder as the target is reported', async () => {
  expect(await replaceFile(join(folder, 'no', 'a'), 'x')).toMatchObject({ code: 'SUB_FILE_WRITE' });
  expect(await replaceFile(folder, 'x')).toMatchObject({ message: `${folder} is a directory.` });
  expect(readdirSync(folder)).toEqual([]);
});

test('createNewFile never overwrites a file', async () => {
  const path = join(folder, 'key');
  expect(await createNewFile({ path, text: 'first', mode: 0o600 })).toBeUndefined();
  expect(await createNewFile({ path, text: 'second', mode: 0o600 })).toMatchObject({
    code: 'SUB_FILE_WRITE',
  });
  expect(readFileSync(path, 'utf8')).toBe('first');
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('a failure names the path that was given, unless the other path exists', async () => {
  const given = join(folder, 'no', 'key');
  const made = await createNewFile({ path: `${given}.pub`, text: '', mode: 0o600, given });
  expect(made).toMatchObject({ message: `${given} is in a folder that does not exist.` });
  const path = join(folder, 'key.pub');
  writeFileSync(path, 'old');
  expect(await createNewFile({ path, text: '', mode: 0o600, given: 'key' })).toMatchObject({
    message: `${path} exists already, and is not overwritten.`,
  });
});

test('a path is occupied even by a link that leads nowhere', async () => {
  const path = join(folder, 'link');
  expect(await occupied(path)).toBeUndefined();
  symlinkSync(join(folder, 'nowhere'), path);
  expect(await occupied(path)).toMatchObject({ code: 'SUB_FILE_WRITE' });
});
