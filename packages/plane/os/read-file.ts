// The one reader for files that decide something: policies, configs, manifests, pins, records. It
// never waits and never reads without a bound, whatever is at the path: a pipe, a device, a folder, a
// file that grows.
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { systemCode } from './system-error.ts';

export interface ReadOptions {
  readonly bytesMax: number;
  /** Refuses a path whose last part is a symbolic link; otherwise links are followed. */
  readonly noFollow?: boolean;
}

export type FileRead =
  | { readonly kind: 'read'; readonly bytes: Buffer; readonly stats: Stats }
  | { readonly kind: 'missing'; readonly code: string }
  | Unreadable;

export interface Unreadable {
  readonly kind: 'unreadable';
  /** What the system says, or `NOT_A_FILE`, `TOO_LARGE` or `LINK`. */
  readonly code: string;
  /** Why, as the end of a sentence about the file. */
  readonly why: string;
  /** What to do about it. */
  readonly fix: string;
}

/** A pipe without a writer does not keep us waiting, and a terminal does not become ours. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);
const CHUNK_BYTES = 1_048_576;
/** A name that is too long for a file is the name of none. */
const MISSING: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG']);

/** Reads a regular file whole, or says why not. Expected failures are returned. */
export function readRegularFile(
  path: string,
  { bytesMax, noFollow = false }: ReadOptions,
): FileRead {
  let fd: number | undefined;
  try {
    fd = openSync(path, FLAGS | (noFollow ? (constants.O_NOFOLLOW ?? 0) : 0));
    // Of the open file, not of the path: nobody can put another one there in between.
    const stats = fstatSync(fd);
    if (stats.isDirectory()) return unreadable('EISDIR');
    if (!stats.isFile()) return unreadable('NOT_A_FILE');
    const bytes = stats.size > bytesMax ? undefined : readAtMost(fd, stats.size, bytesMax);
    return bytes === undefined ? tooLarge(bytesMax) : { kind: 'read', bytes, stats };
  } catch (cause) {
    const code = systemCode(cause);
    if (MISSING.has(code)) return { kind: 'missing', code };
    return unreadable(code === 'ELOOP' || code === 'EMLINK' ? 'LINK' : code);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Undefined when there is more than that. The size that a file claims is only a first guess. */
function readAtMost(fd: number, size: number, bytesMax: number): Buffer | undefined {
  const chunks: Buffer[] = [];
  let total = 0;
  // One byte more than was claimed, so that the end of the file is seen at the first read.
  let next = Math.min(size, bytesMax) + 1;
  while (total <= bytesMax) {
    const chunk = Buffer.allocUnsafe(Math.min(next, bytesMax + 1 - total));
    const count = readSync(fd, chunk, 0, chunk.length, null);
    if (count === 0) return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
    chunks.push(chunk.subarray(0, count));
    total += count;
    next = CHUNK_BYTES;
  }
  return undefined;
}

function tooLarge(bytesMax: number): Unreadable {
  const why = `is larger than ${bytesMax} bytes`;
  return { kind: 'unreadable', code: 'TOO_LARGE', why, fix: 'Give a smaller file.' };
}

function unreadable(code: string): Unreadable {
  const [why, fix] = wordsOf(code);
  return { kind: 'unreadable', code, why, fix };
}

function wordsOf(code: string): readonly [why: string, fix: string] {
  switch (code) {
    case 'EISDIR':
      return ['is a directory', 'Name a file in it.'];
    case 'NOT_A_FILE':
    case 'ENXIO':
      return ['is not a regular file', 'Name a regular file: no pipe, socket or device.'];
    case 'LINK':
      return ['is a symbolic link', 'Put the file itself there.'];
    case 'EACCES':
    case 'EPERM':
      return ['may not be read', 'Check its permissions.'];
    default:
      return [`cannot be read (${code})`, 'Check the path and its permissions.'];
  }
}
