// Whether all users of the machine can read a file: by its mode, and those of the folders above it.
import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { attempt, realPath } from './system-error.ts';

const OTHERS_READ = 0o004;
const OTHERS_ENTER = 0o001;

/** The file, or the first folder on the way to it, that is closed to other users; undefined when they can read it. */
export function closedToOthers(path: string): string | undefined {
  // On Windows, modes mean nothing.
  if (process.getuid === undefined) return undefined;
  // A link and what it leads to have folders of their own.
  return closedOnWay(resolve(path)) ?? closedOnWay(realPath(path));
}

function closedOnWay(path: string): string | undefined {
  const folder = dirname(path);
  const above = folder === path ? undefined : closedOnWay(folder);
  if (above !== undefined) return above;
  const stats = attempt(() => statSync(path));
  const wanted = stats?.isDirectory() ? OTHERS_ENTER : OTHERS_READ;
  return stats !== undefined && (stats.mode & wanted) !== 0 ? undefined : path;
}
