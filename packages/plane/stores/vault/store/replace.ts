// Files that are there whole or not at all, for their owner alone.
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { systemCode } from './fault.ts';

const DRAFT = /^vault\.(?:db|key)\.[0-9a-f]{12}\.draft$/;

/** Whoever reads sees the old content or the new, also after a loss of power; never a part. */
export function replaceOwn(path: string, bytes: Uint8Array): void {
  const draft = `${path}.${randomBytes(6).toString('hex')}.draft`;
  try {
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
  syncFolder(dirname(path));
}

/** What a killed writer has left. Only for the holder of the lock: nobody else writes then. */
export function dropDrafts(home: string): void {
  for (const name of readdirSync(home).filter((one) => DRAFT.test(one))) {
    rmSync(join(home, name), { force: true });
  }
}

/** Makes names in a folder last, on file systems that can. */
function syncFolder(path: string): void {
  const fd = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(fd);
  } catch (cause) {
    if (!['EINVAL', 'ENOTSUP', 'EBADF', 'EPERM'].includes(systemCode(cause))) throw cause;
  } finally {
    closeSync(fd);
  }
}
