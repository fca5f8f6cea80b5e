// Whether others could have written a policy, a config or a manifest. Such a file must belong to the
// user or to root, and nobody else may write to it or to a folder above it.
import { lstatSync, readlinkSync, type Stats } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join, parse, resolve, sep } from 'node:path';
import { readRegularFile } from './read-file.ts';
import { attempt, realPath, systemCode } from './system-error.ts';

export interface FileProblem {
  /** The file, or the folder above it, that others control. */
  readonly path: string;
  /** Why, as the end of a sentence about the path. */
  readonly why: string;
  /** What to do about it. */
  readonly fix: string;
}

const GROUP_WRITABLE = 0o020;
const OTHERS_WRITABLE = 0o002;
const STICKY = 0o1000;
const STEPS_MAX = 4_096;
const SYSTEM_FILE_BYTES_MAX = 4_194_304;
/** How Linux shows an owner who has no number in this user namespace. */
const OVERFLOW_ID = 65_534;

/** Undefined when only the user and root can change the file at the path, and when there is none. */
export function fileProblem(
  path: string,
  ownId: number | undefined = process.getuid?.(),
): FileProblem | undefined {
  // On Windows, modes mean nothing.
  if (ownId === undefined || process.getuid === undefined) return undefined;
  const waiting = partsOf(resolve(path));
  let at = parse(resolve(path)).root;
  for (let steps = 0; ; steps++) {
    if (steps > STEPS_MAX) return unseen(path, 'leads through too many links or folders');
    const stats = statsOf(at);
    if (stats === 'missing') return undefined;
    if (typeof stats === 'string') return unseen(at, `cannot be looked at (${stats})`);
    const problem = placeProblem(at, stats, ownId);
    if (problem !== undefined) return problem;
    if (stats.isSymbolicLink()) {
      const link = attempt(() => readlinkSync(at));
      if (link === undefined) return unseen(at, 'cannot be followed');
      const target = resolve(dirname(at), link);
      waiting.unshift(...partsOf(target));
      at = parse(target).root;
      continue;
    }
    const next = waiting.shift();
    if (next === undefined) return undefined;
    at = join(at, next);
  }
}

/** The names on an absolute path, without its root. */
function partsOf(path: string): string[] {
  return path
    .slice(parse(path).root.length)
    .split(sep)
    .filter((part) => part !== '');
}

function unseen(path: string, why: string): FileProblem {
  return { path, why, fix: 'Check the path and its permissions.' };
}

/**
 * Why others could have written this one file, as the end of a sentence; undefined when they could
 * not. The folders above it are not checked: many systems let a group of administrators write to the
 * folders of programs.
 */
export function writerProblem(path: string): string | undefined {
  const ownId = process.getuid?.();
  if (ownId === undefined) return undefined;
  const stats = statsOf(realPath(path));
  return typeof stats === 'string' ? 'cannot be looked at' : placeProblem(path, stats, ownId)?.why;
}

/** `missing`, or the code of the failed call. */
function statsOf(path: string): Stats | string {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? 'missing';
  } catch (cause) {
    const code = systemCode(cause);
    return code === 'ENOTDIR' || code === 'ENAMETOOLONG' ? 'missing' : code;
  }
}

function placeProblem(path: string, stats: Stats, ownId: number): FileProblem | undefined {
  const { uid, gid, mode } = stats;
  if (uid !== ownId && uid !== 0 && !(stats.isDirectory() && isUnmappedRoot(uid))) {
    const fix = `Run: chown ${ownId} ${path} (or run sub as the user who owns it)`;
    return { path, why: `belongs to another user (${uid})`, fix };
  }
  if (stats.isSymbolicLink()) return undefined;
  // In a sticky folder nobody can replace what belongs to another user, and owners are checked.
  if (stats.isDirectory() && (mode & STICKY) !== 0) return undefined;
  const isGroups = (mode & GROUP_WRITABLE) !== 0 && !isPrivateGroup(gid, ownId);
  if ((mode & OTHERS_WRITABLE) === 0 && !isGroups) return undefined;
  return { path, why: 'can be written to by others', fix: `Run: chmod go-w ${path}` };
}

/**
 * Many systems give each user a group of their own and let it write (umask 002). Such a group has the
 * number or the name of the user, is the user's primary one, and has no other members.
 */
function isPrivateGroup(gid: number, ownId: number): boolean {
  if (gid !== process.getgid?.()) return false;
  const read = readRegularFile('/etc/group', { bytesMax: SYSTEM_FILE_BYTES_MAX });
  const lines = read.kind === 'read' ? read.bytes.toString('utf8').split('\n') : [];
  const group = lines.map((line) => line.split(':')).find(([, , id]) => id === String(gid));
  if (group === undefined) return gid === ownId;
  const [name, , , members = ''] = group;
  const user = attempt(() => userInfo().username);
  const others = members.split(',').filter((member) => member !== '' && member !== user);
  return others.length === 0 && (gid === ownId || name === user);
}

/** In a user namespace that maps no id to root, as sandboxes make them, root has the overflow id. */
function isUnmappedRoot(uid: number): boolean {
  if (uid !== OVERFLOW_ID || process.platform !== 'linux') return false;
  const read = readRegularFile('/proc/self/uid_map', { bytesMax: SYSTEM_FILE_BYTES_MAX });
  if (read.kind !== 'read') return false;
  // Each line maps a range of ids: its first id here, its first id outside, its length.
  const outside = [...read.bytes.toString('utf8').matchAll(/^\s*\d+\s+(\d+)/gm)];
  return outside.length > 0 && outside.every(([, first]) => Number(first) !== 0);
}
