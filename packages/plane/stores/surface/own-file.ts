// Files that decide what an agent may do: only where nobody else can write them; written whole or not
// at all.
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

const WRITABLE_BY_OTHERS = 0o022;
const LEVELS_MAX = 64;

/** Why others decide what is there, as the end of a sentence; root may write anywhere anyway. */
export function openToOthers({ uid, mode }: Stats): string | undefined {
  const ownId = process.getuid?.();
  // On Windows the mode says nothing.
  if (ownId === undefined) return undefined;
  if (uid !== ownId && uid !== 0) return 'belongs to another user';
  return (mode & WRITABLE_BY_OTHERS) === 0 ? undefined : 'can be written to by others';
}

/** Whoever reads sees the old content or the new, also after a loss of power; never a part. */
export function replaceOwn(path: string, text: string): void {
  const draft = `${path}.${randomBytes(6).toString('hex')}.draft`;
  try {
    const fd = openSync(draft, 'wx', 0o600);
    try {
      writeFileSync(fd, text);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(draft, path);
  } catch (cause) {
    rmSync(draft, { force: true });
    throw cause;
  }
  syncFolder(dirname(path));
}

const DRAFT = /^(.+)\.[0-9a-f]{12}\.draft$/;

/** What killed writers have left. Only for the holder of the lock: nobody else writes then. */
export function dropDrafts(folder: string, name: string): void {
  for (const one of readdirSync(folder)) {
    if (DRAFT.exec(one)?.[1] === name) rmSync(join(folder, one), { force: true });
  }
}

/** Makes names in a folder last, on file systems that can. */
export function syncFolder(path: string): void {
  const fd = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(fd);
  } catch (cause) {
    if (!['EINVAL', 'ENOTSUP', 'EBADF', 'EPERM'].includes(systemCode(cause))) throw cause;
  } finally {
    closeSync(fd);
  }
}

/** For their owner alone. One at a time: asked for all at once, Node may try for ever. */
export function makeFolders(path: string): void {
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

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** The code of a failed system call; anything else is a defect. */
export function systemCode(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (typeof code !== 'string') throw cause;
  return code;
}
