// Makes approved changes on the disk, and takes them back: each file is written only where it is as it was seen.
import {
  closeSync,
  constants,
  fchmodSync,
  lstatSync,
  mkdirSync,
  openSync,
  rmdirSync,
  unlinkSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { quote } from '@subluminal/core/visible';
import { sha256Bytes } from '@subluminal/plane/crypto';
import {
  attempt,
  pinFolder,
  readRegularFile,
  replaceOutput,
  syncFolder,
  systemCode,
} from '@subluminal/plane/os';
import type { StagedFile } from './change-set.ts';
import { FILE_BYTES_MAX } from './change-store.ts';
import type { FileRoots } from './file-roots.ts';

/** A file as it must be found, and as it is to become; hashes, absent where there is no file. */
interface FileWrite {
  readonly path: string;
  readonly found: string | undefined;
  readonly wanted: string | undefined;
  readonly mode: number | undefined;
}

export interface FileWriteOptions {
  readonly roots: FileRoots;
  readonly content: (hash: string) => Buffer | Failure;
  /** Writes also over what somebody else has changed since. */
  readonly isForced?: boolean;
}

export function commitWrites(files: readonly StagedFile[]): readonly FileWrite[] {
  return files.flatMap(({ path, to, before, after, mode }): readonly FileWrite[] => {
    if (to === undefined) return [{ path, found: before, wanted: after, mode }];
    // The new one first: a crash in between leaves two files, not none.
    const copy = { path: to, found: undefined, wanted: after, mode };
    return [copy, { path, found: before, wanted: undefined, mode }];
  });
}

export function rollbackWrites(files: readonly StagedFile[]): readonly FileWrite[] {
  return reversed(commitWrites(files));
}

function reversed(writes: readonly FileWrite[]): readonly FileWrite[] {
  return writes
    .toReversed()
    .map(({ path, found, wanted, mode }) => ({ path, found: wanted, wanted: found, mode }));
}

/** Makes all writes or, as far as it can, none. Gives back the folders that were made. */
export async function writeFiles(
  writes: readonly FileWrite[],
  options: FileWriteOptions,
): Promise<readonly string[] | Failure> {
  const refused = writes.map((write) => checkWrite(write, options)).find(isFailure);
  if (refused !== undefined) return refused;
  const done: FileWrite[] = [];
  const folders: string[] = [];
  for (const write of writes) {
    const failed = await writeOne(write, { ...options, folders });
    if (failed === undefined) done.push(write);
    else {
      for (const back of reversed(done)) await writeOne(back, { ...options, folders: [] });
      removeEmpty(folders);
      return failed;
    }
  }
  return folders;
}

function checkWrite(write: FileWrite, { roots, isForced }: FileWriteOptions): Failure | undefined {
  const { path } = write;
  if (!roots.isOpen(path)) {
    const fix = 'Open the folder to Steward in its configuration, or reject the change.';
    return failure('SUB_CHANGE_CONFLICT', `${quote(path)} is in no open folder.`, fix);
  }
  return checkFile(write, isForced);
}

/** Whether a file is as it was seen, or already as it is wanted. */
function checkFile(write: FileWrite, isForced = false): Failure | undefined {
  const { path } = write;
  const now = fileNow(path);
  if (isFailure(now)) return now;
  if (isForced || now === write.found || now === write.wanted) return undefined;
  return conflict(path);
}

function conflict(path: string): Failure {
  const message = `${quote(path)} was changed by somebody else since.`;
  const fix =
    'Nothing was written. Reject the change and have it proposed again, or force the rollback.';
  return failure('SUB_CHANGE_CONFLICT', message, fix);
}

/** The hash of a file as it is now; undefined where there is none. */
function fileNow(path: string): string | undefined | Failure {
  const read = readRegularFile(path, { bytesMax: FILE_BYTES_MAX, noFollow: true });
  if (read.kind === 'missing') return undefined;
  if (read.kind === 'unreadable') {
    return failure('SUB_CHANGE_CONFLICT', `${quote(path)} ${read.why}.`, read.fix);
  }
  if (process.getuid !== undefined && read.stats.uid !== process.getuid()) {
    const message = `${quote(path)} belongs to another user.`;
    return failure('SUB_CHANGE_CONFLICT', message, 'Change it yourself, and reject the change.');
  }
  return sha256Bytes(read.bytes);
}

type OneWrite = FileWriteOptions & { readonly folders: string[] };

async function writeOne(write: FileWrite, options: OneWrite): Promise<Failure | undefined> {
  const { path, wanted, mode } = write;
  try {
    if (wanted !== undefined) makeFolder(dirname(path), options.folders);
    const bytes = wanted === undefined ? undefined : options.content(wanted);
    if (isFailure(bytes)) return bytes;
    const folder = pinFolder(dirname(path));
    if (folder === 'moved') return conflict(path);
    try {
      const at = folder.at(basename(path));
      // Of the folder that is held open: the path may lead elsewhere by now.
      if (checkFile({ ...write, path: at }, options.isForced) !== undefined) return conflict(path);
      if (bytes === undefined) unlinkIfThere(at);
      else await putFile(at, bytes, mode);
      attempt(() => syncFolder(folder.at('.')));
      return undefined;
    } finally {
      folder.close();
    }
  } catch (cause) {
    const message = `${quote(path)} cannot be written (${systemCode(cause)}).`;
    const fix = 'Nothing was changed. Check the folder, its permissions and the disk.';
    return failure('SUB_FILE_WRITE', message, fix);
  }
}

async function putFile(at: string, bytes: Uint8Array, mode: number | undefined): Promise<void> {
  await replaceOutput(at, bytes, mode === undefined ? {} : { mode });
  if (mode === undefined) return;
  const fd = openSync(at, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    // As it was, whatever the umask says.
    fchmodSync(fd, mode);
  } finally {
    closeSync(fd);
  }
}

function unlinkIfThere(at: string): void {
  if (lstatSync(at, { throwIfNoEntry: false }) !== undefined) unlinkSync(at);
}

/** Makes the missing folders on a path, each in its open parent. */
function makeFolder(path: string, made: string[]): void {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return;
  makeFolder(dirname(path), made);
  const parent = pinFolder(dirname(path));
  if (parent === 'moved') return;
  try {
    mkdirSync(parent.at(basename(path)));
    made.push(path);
  } finally {
    parent.close();
  }
}

/** The deepest first; one that holds something else stays. */
export function removeEmpty(folders: readonly string[]): void {
  for (const folder of folders.toReversed()) attempt(() => rmdirSync(folder));
}
