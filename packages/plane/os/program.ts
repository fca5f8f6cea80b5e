// Which file the system starts for a command.
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, resolve } from 'node:path';

export interface ProgramPlace {
  /** The working folder of the process that is started. */
  readonly cwd: string;
  /** Its PATH; undefined where it has none. */
  readonly path: string | undefined;
}

/** What execvp takes when there is no PATH. */
const PATH_DEFAULT = '/usr/bin:/bin';
const FOLDERS_MAX = 1_000;

/** The absolute path that execvp would start; links are not followed. Undefined for none. */
export function findProgram(
  name: string,
  { cwd, path = PATH_DEFAULT }: ProgramPlace,
): string | undefined {
  if (name === '' || name.includes('\0')) return undefined;
  if (name.includes('/')) return executableAt(resolve(cwd, name));
  for (const folder of path.split(delimiter).slice(0, FOLDERS_MAX)) {
    const found = executableAt(resolve(cwd, folder, name));
    if (found !== undefined) return found;
  }
  return undefined;
}

function executableAt(path: string): string | undefined {
  return isExecutable(path) ? path : undefined;
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return realFile(path) !== undefined;
  } catch {
    return false;
  }
}

/** The regular file behind all links; undefined where there is none. */
export function realFile(path: string): string | undefined {
  if (!isAbsolute(path)) return undefined;
  try {
    const real = realpathSync.native(path);
    return statSync(real).isFile() ? real : undefined;
  } catch {
    return undefined;
  }
}
