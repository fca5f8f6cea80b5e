import { execFileSync } from 'node:child_process';
import fs, {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { readRegularFile } from './read-file.ts';

/** Comes with the system. */
const MKFIFO = 'mkfifo';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sub-read-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const at = (name: string) => join(folder, name);

function written(name: string, text: string): string {
  writeFileSync(at(name), text);
  return at(name);
}

describe('readRegularFile', () => {
  test.each(['', 'x', 'x'.repeat(10)])('reads a file of up to the limit: %j', (text) => {
    const read = readRegularFile(written('whole', text), { bytesMax: 10 });
    expect(read).toMatchObject({ kind: 'read' });
    expect(read.kind === 'read' && read.bytes.toString()).toBe(text);
  });

  test('refuses a file that is larger than the limit', () => {
    const read = readRegularFile(written('large', 'x'.repeat(11)), { bytesMax: 10 });
    expect(read).toMatchObject({ kind: 'unreadable', code: 'TOO_LARGE' });
  });

  test('does not wait for the writer of a pipe', () => {
    execFileSync(MKFIFO, [at('pipe')]);
    const read = readRegularFile(at('pipe'), { bytesMax: 10 });
    expect(read).toMatchObject({ kind: 'unreadable', why: 'is not a regular file' });
  });

  test.each(['/dev/zero', '/dev/null', '/dev/tty', '/dev/full'])('does not read %s', (path) => {
    expect(readRegularFile(path, { bytesMax: 10 })).toMatchObject({ kind: 'unreadable' });
  });

  test('does not read a folder', () => {
    mkdirSync(at('folder'));
    const read = readRegularFile(at('folder'), { bytesMax: 10 });
    expect(read).toMatchObject({ kind: 'unreadable', code: 'EISDIR' });
  });

  test.each(['absent', 'whole/below', 'n'.repeat(300)])('tells that %s is missing', (name) => {
    written('whole', '');
    expect(readRegularFile(at(name), { bytesMax: 10 })).toMatchObject({ kind: 'missing' });
  });

  test('follows a link unless told not to', () => {
    symlinkSync(written('target', 'text'), at('link'));
    expect(readRegularFile(at('link'), { bytesMax: 10 })).toMatchObject({ kind: 'read' });
    const read = readRegularFile(at('link'), { bytesMax: 10, noFollow: true });
    expect(read).toMatchObject({ kind: 'unreadable', code: 'LINK' });
  });

  test('stops reading a file that grows while it is read', () => {
    const path = written('growing', 'x'.repeat(8));
    const { readSync } = fs;
    const spy = vi.spyOn(fs, 'readSync').mockImplementation((...args) => {
      appendFileSync(path, 'x'.repeat(8));
      return Reflect.apply(readSync, fs, args);
    });
    syncBuiltinESMExports();
    try {
      const read = readRegularFile(path, { bytesMax: 40 });
      expect(read).toMatchObject({ kind: 'unreadable', code: 'TOO_LARGE' });
      expect(spy).toHaveBeenCalled();
    } finally {
      spy.mockRestore();
      syncBuiltinESMExports();
    }
  });
});
