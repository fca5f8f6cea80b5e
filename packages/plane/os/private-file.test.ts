import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs, {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { bundleProgram } from '../services/sink/testing/program.ts';
import {
  createPrivateFile,
  ensurePrivateFolder,
  makeFolders,
  ownerProblem,
  privateFolderFailure,
  readPrivateFile,
  removeDrafts,
  writePrivateFile,
} from './private-file.ts';

let folder = '';
let path = '';
let programs = '';
beforeEach(() => {
  programs = mkdtempSync(join(tmpdir(), 'sub-private-programs-'));
  folder = mkdtempSync(join(tmpdir(), 'sub-private-'));
  path = join(folder, 'state.json');
});
afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  for (const one of [folder, programs]) rmSync(one, { recursive: true, force: true });
});

const diskFull = (): never => {
  throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
};

/** Makes a function of node:fs fail as on a full disk. */
function fill(name: 'writeFileSync' | 'fsyncSync' | 'linkSync' | 'renameSync'): void {
  vi.spyOn(fs, name).mockImplementation(diskFull);
  syncBuiltinESMExports();
}

describe('writePrivateFile', () => {
  test('makes a file for its owner alone', () => {
    writePrivateFile(path, 'text');
    expect(readFileSync(path, 'utf8')).toBe('text');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['state.json']);
  });

  test('replaces a link and never writes through it', () => {
    const other = join(folder, 'other');
    writeFileSync(other, 'untouched');
    symlinkSync(other, path);
    writePrivateFile(path, 'text');
    expect(readFileSync(other, 'utf8')).toBe('untouched');
    expect(readFileSync(path, 'utf8')).toBe('text');
  });

  test.each(['writeFileSync', 'fsyncSync', 'renameSync'] as const)(
    'keeps the old content and leaves no draft when the disk is full at %s',
    (name) => {
      fs.writeFileSync(path, 'old');
      fill(name);
      expect(() => writePrivateFile(path, 'new')).toThrow('ENOSPC');
      expect(readFileSync(path, 'utf8')).toBe('old');
      expect(readdirSync(folder)).toEqual(['state.json']);
    },
  );

  test('readers see whole contents only while several processes write', async () => {
    writePrivateFile(path, 'a'.repeat(100_000));
    const program = `import { writePrivateFile } from '../../os/private-file.ts';
const [path, letter] = process.argv.slice(2);
for (let at = 0; at < 30; at++) writePrivateFile(path, letter.repeat(100000), { isLasting: false });`;
    const bundle = await bundleProgram(programs, program);
    const writers = ['b', 'c'].map((letter) =>
      spawn(process.execPath, [bundle, path, letter], { stdio: 'inherit' }),
    );
    const ended = Promise.all(writers.map((writer) => once(writer, 'close')));
    let isRunning = true;
    void ended.then(() => (isRunning = false));
    while (isRunning) {
      const text = readFileSync(path, 'utf8');
      expect(text).toBe((text[0] ?? '').repeat(100_000));
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    expect(readdirSync(folder)).toEqual(['state.json']);
  });

  test('a killed writer leaves a draft at most, which removeDrafts takes away', async () => {
    const program = `import fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module';
import { writePrivateFile } from '../../os/private-file.ts';
fs.renameSync = () => process.kill(process.pid, 'SIGKILL'); syncBuiltinESMExports();
writePrivateFile(process.argv[2], 'new');`;
    const bundle = await bundleProgram(programs, program);
    writePrivateFile(path, 'old');
    writeFileSync(join(folder, 'other.json.0123456789ab.draft'), '');
    const child = spawn(process.execPath, [bundle, path]);
    await once(child, 'close');
    expect(readFileSync(path, 'utf8')).toBe('old');
    expect(readdirSync(folder)).toHaveLength(3);
    removeDrafts(path);
    expect(readdirSync(folder)).toEqual(['other.json.0123456789ab.draft', 'state.json']);
  });
});

describe('createPrivateFile', () => {
  test('leaves a file that is there as it is', () => {
    expect(createPrivateFile(path, 'first')).toBe('created');
    expect(createPrivateFile(path, 'second')).toBe('exists');
    expect(readFileSync(path, 'utf8')).toBe('first');
    expect(readdirSync(folder)).toEqual(['state.json']);
  });

  test('takes a link that leads nowhere for a file', () => {
    symlinkSync(join(folder, 'nowhere'), path);
    expect(createPrivateFile(path, 'text')).toBe('exists');
    expect(readdirSync(folder)).toEqual(['state.json']);
  });

  test('leaves nothing behind on a full disk', () => {
    fill('writeFileSync');
    expect(() => createPrivateFile(path, 'text')).toThrow('ENOSPC');
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('readPrivateFile', () => {
  test('refuses a link, a pipe, a folder and a file that is too large', () => {
    const real = join(folder, 'real');
    writeFileSync(real, 'x'.repeat(11), { mode: 0o600 });
    symlinkSync(real, path);
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const codes = [path, pipe, folder, real].map((one) => {
      const read = readPrivateFile(one, { bytesMax: 10 });
      return read.kind === 'unreadable' ? read.code : read.kind;
    });
    expect(codes).toEqual(['LINK', 'NOT_A_FILE', 'EISDIR', 'TOO_LARGE']);
  });

  test('refuses a file that others can write, and a secret that others can read', () => {
    writeFileSync(path, 'text');
    chmodSync(path, 0o666);
    expect(readPrivateFile(path, { bytesMax: 10 })).toMatchObject({ code: 'OPEN_MODE' });
    chmodSync(path, 0o644);
    expect(readPrivateFile(path, { bytesMax: 10 })).toMatchObject({ kind: 'read' });
    const secret = readPrivateFile(path, { bytesMax: 10, isSecret: true });
    expect(secret).toMatchObject({ why: 'has mode 0644, wider than 0600' });
  });

  test('says that a file is missing', () => {
    expect(readPrivateFile(path, { bytesMax: 10 })).toMatchObject({ kind: 'missing' });
  });
});

describe('ownerProblem', () => {
  const ownId = process.getuid?.() ?? 0;

  test('refuses what belongs to another user', () => {
    const stats = { uid: ownId + 1, mode: 0o600 };
    expect(ownerProblem(stats)).toBe('belongs to another user');
    expect(ownerProblem(stats, { mayBeRoots: true })).toBe('belongs to another user');
  });

  test("takes root's file only where it may be root's", () => {
    vi.spyOn(process, 'getuid').mockReturnValue(1_000);
    expect(ownerProblem({ uid: 0, mode: 0o600 })).toBe('belongs to another user');
    expect(ownerProblem({ uid: 0, mode: 0o600 }, { mayBeRoots: true })).toBeUndefined();
  });
});

describe('ensurePrivateFolder', () => {
  test('makes all missing folders for their owner alone', () => {
    const inner = join(folder, 'a', 'b');
    expect(ensurePrivateFolder(inner)).toBeUndefined();
    expect(statSync(join(folder, 'a')).mode & 0o777).toBe(0o700);
  });

  test('refuses a folder that others can write to, a link and a file', () => {
    chmodSync(folder, 0o777);
    expect(ensurePrivateFolder(folder)).toMatchObject({
      code: 'SUB_HOME_UNSAFE',
      message: `${folder} can be written to by others.`,
      fix: `Run: chmod go-w ${folder}`,
    });
    const link = join(folder, 'link');
    mkdirSync(join(folder, 'real'));
    symlinkSync(join(folder, 'real'), link);
    writeFileSync(path, '');
    for (const one of [link, path]) {
      expect(ensurePrivateFolder(one)).toMatchObject({ message: `${one} is not a folder.` });
    }
  });

  test('says that a folder cannot be made', () => {
    writeFileSync(path, '');
    expect(ensurePrivateFolder(join(path, 'x'))).toMatchObject({ code: 'SUB_FILE_WRITE' });
  });

  test.runIf(process.platform === 'linux')('gives up where no folder can be made', () => {
    expect(() => makeFolders('/proc/none/folder')).toThrow('ENOENT');
    expect(privateFolderFailure(join(folder, 'none'))).toBeUndefined();
  });
});
