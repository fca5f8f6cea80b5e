// Which file the system starts for a command.
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, resolve } from 'node:path';
import { attempt } from './system-error.ts';

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
export function findProgram(name: string, place: ProgramPlace): string | undefined {
  return programCandidates(name, place).find(isExecutable);
}

/** The paths at which execvp looks for a command, in its order. */
export function programCandidates(
  name: string,
  { cwd, path = PATH_DEFAULT }: ProgramPlace,
): readonly string[] {
  if (name === '' || name.includes('\0')) return [];
  if (name.includes('/')) return [resolve(cwd, name)];
  const folders = path.split(delimiter).slice(0, FOLDERS_MAX);
  return folders.map((folder) => resolve(cwd, folder, name));
}

export function isExecutable(path: string): boolean {
  const access = attempt(() => accessSync(path, constants.X_OK) ?? 'granted');
  return access !== undefined && realFile(path) !== undefined;
}

/** The regular file behind all links; undefined where there is none. */
export function realFile(path: string): string | undefined {
  const real = isAbsolute(path) ? attempt(() => realpathSync.native(path)) : undefined;
  return real !== undefined && attempt(() => statSync(real).isFile()) ? real : undefined;
}
