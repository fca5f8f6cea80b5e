// Files and folders of the product's home. They are written whole or not at all, belong to their
// owner alone, and are not believed when somebody else could have written them.
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  type Stats,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type Failure, failure } from '@subluminal/contracts';
import { type FileRead, readRegularFile } from './read-file.ts';
import { attempt, hasSystemCode, systemCode } from './system-error.ts';

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
const WRITABLE_BY_OTHERS = 0o022;
const FOLDER_LEVELS_MAX = 64;
const DRAFT = /^(.+)\.[0-9a-f]{12}\.draft$/;
/** What a file system says that cannot sync a folder. */
const UNSYNCABLE = ['EINVAL', 'ENOTSUP', 'EBADF', 'EPERM'];

interface WriteOptions {
  /** False for a file that means nothing after a restart of the machine: it is not synced. */
  readonly isLasting?: boolean;
}

/**
 * Makes or replaces a file with mode 0600. Readers see the old content or the new one, also after a
 * power cut, never a part of it. Throws the system's error and then leaves nothing behind.
 */
export function writePrivateFile(
  path: string,
  content: string | Uint8Array,
  options: WriteOptions = {},
): void {
  placeDraft(path, content, { ...options, place: renameSync });
}

/**
 * Makes a file with mode 0600 unless there is one. Of any number of processes that try at once,
 * exactly one gets `created`.
 */
export function createPrivateFile(
  path: string,
  content: string | Uint8Array,
  options: WriteOptions = {},
): 'created' | 'exists' {
  try {
    // A link, not a rename: it never replaces what another process has made meanwhile.
    placeDraft(path, content, { ...options, place: linkSync });
    return 'created';
  } catch (cause) {
    if (hasSystemCode(cause, 'EEXIST')) return 'exists';
    throw cause;
  }
}

interface Placing extends WriteOptions {
  readonly place: (draft: string, path: string) => void;
}

function placeDraft(path: string, content: string | Uint8Array, how: Placing): void {
  const { isLasting = true, place } = how;
  const draft = `${path}.${randomBytes(6).toString('hex')}.draft`;
  try {
    const fd = openSync(draft, 'wx', FILE_MODE);
    try {
      writeFileSync(fd, content);
      if (isLasting) fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    place(draft, path);
  } finally {
    // A rename has taken it away. `rmSync` would load more of Node than all else here.
    attempt(() => unlinkSync(draft));
  }
  if (isLasting) syncFolder(dirname(path));
}

/** Removes what killed writers of a file left behind. Only the holder of the file's lock may. */
export function removeDrafts(path: string): void {
  const folder = dirname(path);
  for (const name of readdirSync(folder)) {
    const draft = join(folder, name);
    const target = draftTarget(name);
    if (target !== undefined && join(folder, target) === path) rmSync(draft, { force: true });
  }
}

/** The file that a draft would have become; undefined for what is no draft. */
export function draftTarget(draft: string): string | undefined {
  return DRAFT.exec(draft)?.[1];
}

/** Makes the names in a folder survive a power cut, on file systems that can. */
export function syncFolder(path: string): void {
  const fd = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(fd);
  } catch (cause) {
    if (!hasSystemCode(cause, ...UNSYNCABLE)) throw cause;
  } finally {
    closeSync(fd);
  }
}

export interface OwnerRules {
  /** Nobody else may even read it. Otherwise nobody else may write it. */
  readonly isSecret?: boolean;
  /** It may also be root's, for example a secret that Kubernetes mounts. */
  readonly mayBeRoots?: boolean;
}

/** Why others control what has these stats, as the end of a sentence about it. */
export function ownerProblem(
  { uid, mode }: Pick<Stats, 'uid' | 'mode'>,
  { isSecret = false, mayBeRoots = false }: OwnerRules = {},
): string | undefined {
  const ownId = process.getuid?.();
  // On Windows modes say nothing.
  if (ownId === undefined) return undefined;
  if (uid !== ownId && !(mayBeRoots && uid === 0)) return 'belongs to another user';
  if (isSecret && (mode & 0o7777 & ~FILE_MODE) !== 0) {
    return `has mode ${(mode & 0o7777).toString(8).padStart(4, '0')}, wider than 0600`;
  }
  return (mode & WRITABLE_BY_OTHERS) === 0 ? undefined : 'can be written to by others';
}

export interface PrivateReadOptions extends OwnerRules {
  readonly bytesMax: number;
}

/** Reads a regular file, never through a link, that only its owner can have written. */
export function readPrivateFile(path: string, options: PrivateReadOptions): FileRead {
  const read = readRegularFile(path, { bytesMax: options.bytesMax, noFollow: true });
  if (read.kind !== 'read') return read;
  const why = ownerProblem(read.stats, options);
  if (why === undefined) return read;
  const isOthers = why === 'belongs to another user';
  const chmod = options.isSecret ? `Run: chmod 600 ${path}` : `Run: chmod go-w ${path}`;
  const fix = isOthers ? 'Use a file of your own.' : chmod;
  return { kind: 'unreadable', code: isOthers ? 'OTHER_OWNER' : 'OPEN_MODE', why, fix };
}

/**
 * Makes a folder on demand, for its owner alone. Refuses one that others can write to: they could
 * put their own policy, ledger or approvals there.
 */
export function ensurePrivateFolder(path: string): Failure | undefined {
  try {
    makeFolders(path);
    return privateFolderFailure(path);
  } catch (cause) {
    const message = `${path} cannot be created (${systemCode(cause)}).`;
    const fix = 'Check the path and its permissions, or set SUB_HOME to another folder.';
    return failure('SUB_FILE_WRITE', message, fix);
  }
}

/** Undefined for a safe folder, and where there is none. Throws the system's error. */
export function privateFolderFailure(path: string): Failure | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (!stats.isDirectory()) {
    const fix = `Remove ${path}, or set SUB_HOME to another folder.`;
    return failure('SUB_HOME_UNSAFE', `${path} is not a folder.`, fix);
  }
  const why = ownerProblem(stats);
  if (why === undefined) return undefined;
  const isOthers = why === 'belongs to another user';
  const fix = isOthers ? 'Set SUB_HOME to a folder of your own.' : `Run: chmod go-w ${path}`;
  return failure('SUB_HOME_UNSAFE', `${path} ${why}.`, fix);
}

/**
 * Makes the missing folders of a path, for their owner alone. One at a time: with `recursive`, Node
 * tries for ever where a file system takes no new folders (/proc).
 */
export function makeFolders(path: string): void {
  const missing: string[] = [];
  let at = path;
  while (missing.length < FOLDER_LEVELS_MAX && !isThere(at) && dirname(at) !== at) {
    missing.push(at);
    at = dirname(at);
  }
  for (const folder of missing.toReversed()) {
    try {
      mkdirSync(folder, { mode: FOLDER_MODE });
    } catch (cause) {
      // Another process may have made it just now.
      if (!hasSystemCode(cause, 'EEXIST')) throw cause;
    }
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
