// Files whose path the user has named. The folder they are in may belong to a project, so whatever
// stands at the path is suspicious: nothing is written through a symbolic link, which somebody else
// may have put there to have another file overwritten. Failures are the errors of the system;
// `ELOOP` is a link.
import { randomBytes } from 'node:crypto';
import { constants, lstatSync, openSync, type Stats } from 'node:fs';
import { chmod, type FileHandle, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { syncFolder } from './private-file.ts';
import { attempt } from './system-error.ts';

const PUBLIC_MODE = 0o644;
const PERMISSIONS = 0o777;
/** Links of the system to what this process has open already; nobody else can put them there. */
const OWN_STREAM = /^(?:\/dev\/(?:stdout|stderr|fd\/\d{1,9})|\/proc\/self\/fd\/\d{1,9})$/;

interface ReplaceOptions {
  /** Of a file that is new; one that is replaced keeps its own. */
  readonly mode?: number;
}

/** Replaces a file in one step: readers see the old content or the new, never a part of it. */
export async function replaceOutput(
  path: string,
  text: string | Uint8Array,
  { mode = PUBLIC_MODE }: ReplaceOptions = {},
): Promise<void> {
  const known = checkedStats(path);
  if (known?.isDirectory()) throw systemError('EISDIR', path);
  if (known !== undefined && !known.isFile()) return writeInto(path, text);
  const next = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}`);
  try {
    const permissions = known === undefined ? mode : known.mode & PERMISSIONS;
    await createOutput(next, text, permissions);
    // The umask of this process is for files that are new.
    if (known !== undefined) await chmod(next, permissions);
    // A link that has appeared since is replaced, not followed.
    await rename(next, path);
  } catch (cause) {
    await rm(next, { force: true });
    throw cause;
  }
  // The rename should survive a power cut; the file is in place whether or not it does.
  attempt(() => syncFolder(dirname(path)));
}

/**
 * Makes a new file; what exists, a link included, stays as it is. What cannot be written whole is
 * taken away again: it is ours, because it was not there before.
 */
export async function createOutput(
  path: string,
  text: string | Uint8Array,
  mode: number,
): Promise<void> {
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

/** A descriptor that appends, and never waits for a pipe that nobody reads. */
export function openForAppending(path: string, mode: number): number {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;
  return openSync(path, flags | noFollow(path), mode);
}

/** Throws when the path is a link; for folders that files are put into. */
export function refuseLink(path: string): void {
  checkedStats(path);
}

/** What stands at the path itself; undefined when there is nothing. */
function checkedStats(path: string): Stats | undefined {
  // A slash at the end would make the system follow the link.
  const bare = path.replace(/(?<=.)\/+$/, '');
  const stats = lstatSync(bare, { throwIfNoEntry: false });
  if (stats?.isSymbolicLink() && !OWN_STREAM.test(path)) throw systemError('ELOOP', path);
  return stats;
}

function noFollow(path: string): number {
  return OWN_STREAM.test(path) ? 0 : constants.O_NOFOLLOW;
}

/** Pipes and devices cannot be replaced. */
async function writeInto(path: string, text: string | Uint8Array): Promise<void> {
  const handle = await open(path, constants.O_WRONLY | noFollow(path));
  await withFile(handle, () => handle.writeFile(text));
}

async function withFile(handle: FileHandle, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } finally {
    await handle.close();
  }
}

function systemError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code, path });
}
