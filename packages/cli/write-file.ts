// Files that are written whole or not at all.
import { randomBytes } from 'node:crypto';
import { type FileHandle, lstat, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Failure, failure } from './failure.ts';
import { errorCode } from './read-file.ts';

interface Written {
  readonly kind: 'written';
}

const PUBLIC_MODE = 0o644;

/** Replaces a file in one step: readers see the old content or the new, never a part of it. */
async function replaceFile(path: string, text: string): Promise<Written | Failure> {
  try {
    const target = await realpath(path).catch(() => path);
    const known = await stat(target).catch(() => undefined);
    if (known?.isDirectory()) return unwritable(path, 'EISDIR');
    if (known !== undefined && !known.isFile()) return await writeInto(path, text);
    const mode = known === undefined ? PUBLIC_MODE : known.mode & 0o777;
    const next = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString('hex')}`);
    try {
      await createFile(next, text, mode);
      await rename(next, target);
    } catch (cause) {
      await rm(next, { force: true });
      throw cause;
    }
    await syncFolder(dirname(target));
    return { kind: 'written' };
  } catch (cause) {
    return unwritable(path, errorCode(cause));
  }
}

interface NewFile {
  readonly path: string;
  readonly text: string;
  readonly mode: number;
  /** The path that the user gave, where this one was made from it. */
  readonly given?: string;
}

/** Makes a new file; one that exists stays as it is. */
async function createNewFile({ path, text, mode, given }: NewFile): Promise<Written | Failure> {
  try {
    await createFile(path, text, mode);
    return { kind: 'written' };
  } catch (cause) {
    const code = errorCode(cause);
    // Only that it exists is true of this path alone; all else is true of the folder of both.
    return unwritable(code === 'EEXIST' ? path : (given ?? path), code);
  }
}

/** A failure when something is there already, even a link that leads nowhere. */
async function occupied(path: string): Promise<Failure | undefined> {
  const known = await lstat(path).catch(() => undefined);
  if (known === undefined) return undefined;
  return unwritable(path, known.isDirectory() ? 'EISDIR' : 'EEXIST');
}

/** What cannot be written whole is taken away again: it is ours, because it was not there before. */
async function createFile(path: string, text: string, mode: number): Promise<void> {
  const handle = await open(path, 'wx', mode);
  try {
    await withFile(handle, async () => {
      await handle.writeFile(text);
      await handle.sync();
    });
  } catch (cause) {
    await rm(path, { force: true });
    throw cause;
  }
}

/** Pipes and devices cannot be replaced. */
async function writeInto(path: string, text: string): Promise<Written> {
  await withFile(await open(path, 'w'), (handle) => handle.writeFile(text));
  return { kind: 'written' };
}

/** The rename itself must survive a power cut; where folders cannot be synced, it may not. */
async function syncFolder(folder: string): Promise<void> {
  try {
    await withFile(await open(folder, 'r'), (handle) => handle.sync());
  } catch {
    // The file is in place; only its endurance is the system's own affair here.
  }
}

async function withFile(
  handle: FileHandle,
  work: (handle: FileHandle) => Promise<void>,
): Promise<void> {
  try {
    await work(handle);
  } finally {
    await handle.close();
  }
}

function unwritable(path: string, code: string): Failure {
  if (path === '') return failure('SUB_USAGE', 'the name of a file is empty.', 'Name a file.');
  const because = (message: string, fix: string) =>
    failure('SUB_FILE_WRITE', `${path} ${message}`, fix);
  switch (code) {
    case 'EEXIST':
      return because('exists already, and is not overwritten.', 'Choose another name.');
    case 'EISDIR':
      return because('is a directory.', 'Name a file in it.');
    case 'ENOENT':
    case 'ENOTDIR':
      return because('is in a folder that does not exist.', 'Make the folder first.');
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return because('may not be written.', 'Check the permissions of its folder.');
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EFBIG':
      return because('does not fit: the disk is full.', 'Free some space.');
    default:
      return because(`cannot be written (${code}).`, 'Check the path.');
  }
}

export { createNewFile, occupied, replaceFile, unwritable };
