// Files that are written whole or not at all.

import { fstatSync } from 'node:fs';
import { lstat, realpath, stat } from 'node:fs/promises';
import { type Failure, failure } from '@subluminal/contracts';
import { createOutput, replaceOutput } from '@subluminal/plane/os';
import { badUsage } from './command.ts';
import { emptyName, errorCode, STDIO } from './read-file.ts';

/**
 * Replaces a file in one step: readers see the old content or the new, never a part of it. Nothing
 * is written through a link.
 */
export async function replaceFile(path: string, text: string): Promise<Failure | undefined> {
  try {
    await replaceOutput(path, text);
    return undefined;
  } catch (cause) {
    return unwritable(path, errorCode(cause));
  }
}

interface NewFile {
  readonly path: string;
  readonly text: string | Uint8Array;
  readonly mode: number;
  /** The path that the user gave, where this one was made from it. */
  readonly given?: string;
}

/** Makes a new file; one that exists stays as it is. */
export async function createNewFile(file: NewFile): Promise<Failure | undefined> {
  const { path, text, mode, given = path } = file;
  try {
    await createOutput(path, text, mode);
    return undefined;
  } catch (cause) {
    const code = errorCode(cause);
    // That a file exists is true of this path alone; all else is true of the folder of both.
    return unwritable(code === 'EEXIST' ? path : given, code);
  }
}

/** A failure when something is there already, even a link that leads nowhere. */
export async function occupied(path: string): Promise<Failure | undefined> {
  const known = await lstat(path).catch(() => undefined);
  if (known === undefined) return undefined;
  return unwritable(path, known.isDirectory() ? 'EISDIR' : 'EEXIST');
}

/** The codes of failed system calls: what is wrong with the file, and what to do. */
const WRITE_PROBLEMS: readonly (readonly [codes: string, message: string, fix: string])[] = [
  ['EEXIST', 'exists already, and is not overwritten.', 'Choose another name.'],
  ['EISDIR', 'is a directory.', 'Name a file in it.'],
  ['ELOOP', 'is a link, and nothing is written through one.', 'Name the file itself.'],
  ['ENOENT ENOTDIR', 'is in a folder that does not exist.', 'Make the folder first.'],
  ['EACCES EPERM EROFS', 'may not be written.', 'Check the permissions of its folder.'],
  ['ENOSPC EDQUOT EFBIG', 'does not fit: the disk is full.', 'Free some space.'],
];

export function unwritable(path: string, code: string): Failure {
  if (path === '') return emptyName();
  const known = WRITE_PROBLEMS.find(([codes]) => codes.split(' ').includes(code));
  const [, message, fix] = known ?? ['', `cannot be written (${code}).`, 'Check the path.'];
  return failure('SUB_FILE_WRITE', `${path} ${message}`, fix);
}

interface FileLocation {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly path: string;
}

const STDIN_FD = 0;

/**
 * A failure when the output is one of the inputs, by whatever name, link or redirection. The role of
 * an input is what it is to the command: "the bundle", "the key".
 */
export async function overwritesInput(
  out: string,
  inputs: readonly { readonly path: string; readonly role: string }[],
): Promise<Failure | undefined> {
  const target = await locate(out);
  if (target === undefined) return undefined;
  for (const { path, role } of inputs) {
    const location = path === STDIO ? locateStdin() : await locate(path);
    if (location === undefined || !isSame(location, target)) continue;
    const also = path === out ? '' : `, which is ${path === STDIO ? 'standard input' : path}`;
    const message = `--out ${out} would overwrite ${role}${also}.`;
    return badUsage(message, 'Name another file; nothing was written.');
  }
  return undefined;
}

/** Where a path leads; undefined when nothing is there, so that nothing can be lost. */
async function locate(path: string): Promise<FileLocation | undefined> {
  try {
    const { dev, ino } = await stat(path, { bigint: true });
    return { dev, ino, path: await realpath(path) };
  } catch {
    return undefined;
  }
}

function locateStdin(): FileLocation | undefined {
  try {
    const stats = fstatSync(STDIN_FD, { bigint: true });
    return stats.isFile() ? { dev: stats.dev, ino: stats.ino, path: '' } : undefined;
  } catch {
    return undefined;
  }
}

/** Hard links share the inode; file systems without inodes are compared by path. */
function isSame(left: FileLocation, right: FileLocation): boolean {
  if (left.path === right.path) return true;
  return left.ino !== 0n && left.ino === right.ino && left.dev === right.dev;
}
