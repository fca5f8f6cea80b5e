// Files that are there whole or not at all, in folders that are ours alone.
import {
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { readRegularFile } from '../../../os/index.ts';
import type { ConfigProblem } from '../types.ts';
import { homeProblem, problem, quoted, systemCode } from './problem.ts';

const LEVELS_MAX = 64;
const WRITABLE_BY_OTHERS = 0o022;
/** What we never write is no file of ours. */
const NOT_OURS: ReadonlySet<string> = new Set([
  'LINK',
  'NOT_A_FILE',
  'EISDIR',
  'TOO_LARGE',
  'ENXIO',
]);

/** Makes a folder for its owner alone. One that others may write to could hold anything: refused. */
export function ensureFolder(path: string): ConfigProblem | undefined {
  try {
    makeFolders(path);
    return folderProblem(path);
  } catch (cause) {
    return homeProblem(path, 'created', cause);
  }
}

/** None where there is no folder. */
export function folderProblem(path: string): ConfigProblem | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  const ownId = process.getuid?.();
  const fix = 'Set SUB_HOME to a folder of your own.';
  if (!stats.isDirectory()) return problem(path, `${path} is not a folder.`, fix);
  if (ownId === undefined) return undefined;
  if (stats.uid !== ownId) return problem(path, `${path} belongs to another user.`, fix);
  if ((stats.mode & WRITABLE_BY_OTHERS) === 0) return undefined;
  return problem(path, `${path} can be written to by others.`, `Run: chmod go-w ${quoted(path)}`);
}

/** One at a time: asked for all at once, Node tries for ever where no new folders are taken. */
function makeFolders(path: string): void {
  const missing: string[] = [];
  let at = path;
  while (missing.length < LEVELS_MAX && !isThere(at) && dirname(at) !== at) {
    missing.push(at);
    at = dirname(at);
  }
  for (const folder of missing.toReversed()) {
    try {
      mkdirSync(folder, { mode: 0o700 });
    } catch (cause) {
      if (systemCode(cause) !== 'EEXIST') throw cause;
    }
  }
}

export function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Makes names in a folder last; file systems that cannot do so are not asked twice. */
export function syncFolder(path: string): void {
  const fd = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(fd);
  } catch (cause) {
    if (!['EINVAL', 'ENOTSUP', 'EBADF', 'EPERM'].includes(systemCode(cause) ?? '')) throw cause;
  } finally {
    closeSync(fd);
  }
}

/** Replaces a file of ours, by way of a draft beside it that only the holder of the lock writes. */
export function writeOwn(path: string, bytes: Uint8Array): void {
  placeOwn(path, bytes);
  syncFolder(dirname(path));
}

/** The same, but its name lasts only when the folder was synced. */
export function placeOwn(path: string, bytes: Uint8Array): void {
  const draft = `${path}.draft`;
  try {
    rmSync(draft, { force: true });
    const fd = openSync(draft, 'wx', 0o600);
    try {
      writeFileSync(fd, bytes);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(draft, path);
  } catch (cause) {
    rmSync(draft, { force: true });
    throw cause;
  }
}

/** Undefined when it is none of the kind that we write, or there is none. */
export function readOwn(path: string, bytesMax: number): Buffer | undefined {
  const read = readRegularFile(path, { bytesMax, noFollow: true });
  if (read.kind === 'read') return read.bytes;
  if (read.kind === 'missing' || NOT_OURS.has(read.code)) return undefined;
  throw Object.assign(new Error(`${path} ${read.why}`), { code: read.code });
}
