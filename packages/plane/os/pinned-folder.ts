// A folder that is held open while something is done in it. A path is walked anew each time it is used, and whoever can
// write on the way can put a link there in between; names in an open folder lead nowhere else.
import { closeSync, constants, openSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { realPath } from './system-error.ts';

export interface PinnedFolder {
  /** The path of a name in it; only for a name without slashes. */
  at(name: string): string;
  close(): void;
}

const FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/**
 * Opens a folder by its true path. `moved` when a link has come to stand on the way. Where the system shows no open
 * files as paths, the path itself is used, and only that it is true now is known.
 */
export function pinFolder(path: string): PinnedFolder | 'moved' {
  const fd = openSync(path, FLAGS);
  const close = (): void => closeSync(fd);
  const isLinux = process.platform === 'linux';
  const opened = isLinux ? readlinkSync(`/proc/self/fd/${fd}`) : realPath(path);
  if (opened !== path) {
    close();
    return 'moved';
  }
  const base = isLinux ? `/proc/self/fd/${fd}` : path;
  return { at: (name: string) => join(base, name), close };
}
