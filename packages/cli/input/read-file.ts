// Files and standard input, read whole but never without a limit.

import { createReadStream } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { type Failure, failure } from '@subluminal/contracts';
import { nearest } from '@subluminal/core/policy';
import { readRegularFile } from '@subluminal/plane/os';
import type { Io } from '../terminal/io.ts';
import { badUsage } from './command.ts';

export interface FileBytes {
  readonly kind: 'file';
  /** As the user wrote it; `<stdin>` for standard input. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

interface ReadOptions {
  readonly io: Io;
  readonly bytesMax: number;
  /** Refuses pipes and devices, which could block without a notice. */
  readonly isRegular?: boolean | undefined;
}

/** Standard input where a file is read, standard output where one is written. */
export const STDIO = '-';
/** A key is a few lines; a larger file is no key. */
export const KEY_BYTES_MAX = 16_384;
const NEIGHBOURS_MAX = 1_000;

/** A failure when standard input is given for more than one file. */
export function stdinTwice(paths: readonly (string | undefined)[]): Failure | undefined {
  if (paths.filter((path) => path === STDIO).length < 2) return undefined;
  return badUsage('standard input can be only one of the files.', 'Write the others to files.');
}

export function emptyName(): Failure {
  return badUsage('the name of a file is empty.', 'Name a file.');
}

/** Reads a file, or standard input for `-`. */
export async function readFileBytes(
  path: string,
  options: ReadOptions,
): Promise<FileBytes | Failure> {
  if (path === STDIO) return readStdin(options);
  if (path === '') return emptyName();
  if (options.isRegular === true) return readRegular(path, options.bytesMax);
  try {
    // One handle for the check and the reading, so that the file cannot be swapped in between.
    const handle = await open(path, 'r');
    try {
      const stats = await handle.stat();
      if (stats.isDirectory()) return notRead(`${path} is a directory.`, 'Name a file in it.');
      if (stats.size > options.bytesMax) return tooLarge(path, options.bytesMax);
      const stream = createReadStream(path, { fd: handle, autoClose: false });
      return await collect(path, stream, options.bytesMax);
    } finally {
      await handle.close();
    }
  } catch (cause) {
    return unreadable(path, cause);
  }
}

async function readRegular(path: string, bytesMax: number): Promise<FileBytes | Failure> {
  const read = readRegularFile(path, { bytesMax });
  if (read.kind === 'read') return { kind: 'file', name: path, bytes: read.bytes };
  return read.kind === 'unreadable' ? notRead(`${path} ${read.why}.`, read.fix) : missingFile(path);
}

async function readStdin({ io, bytesMax }: ReadOptions): Promise<FileBytes | Failure> {
  if (io.stdinIsTerminal) io.err.write('sub: reading standard input; end it with Ctrl-D.\n');
  try {
    return await collect('<stdin>', io.stdin, bytesMax);
  } catch (cause) {
    return unreadable('<stdin>', cause);
  }
}

/** Pipes and devices have no size to look at, so what arrives is counted. */
async function collect(
  name: string,
  chunks: AsyncIterable<Uint8Array>,
  bytesMax: number,
): Promise<FileBytes | Failure> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > bytesMax) return tooLarge(name, bytesMax);
    parts.push(chunk);
  }
  return { kind: 'file', name, bytes: Buffer.concat(parts) };
}

export async function unreadable(path: string, cause: unknown): Promise<Failure> {
  const code = errorCode(cause);
  if (code === 'ENOENT' || code === 'ENOTDIR') return missingFile(path);
  if (code === 'EISDIR') return notRead(`${path} is a directory.`, 'Name a file in it.');
  const isForbidden = code === 'EACCES' || code === 'EPERM';
  return isForbidden
    ? notRead(`${path} may not be read.`, 'Check its permissions.')
    : notRead(`${path} cannot be read (${code}).`, 'Check the path.');
}

function notRead(message: string, fix: string): Failure {
  return failure('SUB_FILE_READ', message, fix);
}

async function missingFile(path: string): Promise<Failure> {
  const names = await readdir(dirname(resolve(path))).catch(() => []);
  const guess = nearest(basename(path), names.slice(0, NEIGHBOURS_MAX));
  const fix = guess === undefined ? 'Check the path.' : `Did you mean ${guess}?`;
  return notRead(`${path} does not exist.`, fix);
}

function tooLarge(name: string, bytesMax: number): Failure {
  return notRead(`${name} is larger than ${bytesMax} bytes.`, 'Give a smaller file.');
}

/** The code that Node gives to a failed system call. */
export function errorCode(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (typeof code !== 'string') throw cause;
  return code;
}
