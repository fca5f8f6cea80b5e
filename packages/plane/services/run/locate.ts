// Whether the agent's command exists, before anything is made for its run.
import { accessSync, constants, statSync } from 'node:fs';
import { resolve } from 'node:path';

export type Located = 'found' | 'not_found' | 'not_executable';

/** What execvp takes when there is no PATH. */
const PATH_DEFAULT = '/usr/bin:/bin';
const FOLDERS_MAX = 1_000;

export function locateCommand(
  command: string,
  {
    env,
    cwd,
  }: { readonly env: { readonly [name: string]: string | undefined }; readonly cwd: string },
): Located {
  if (command === '' || command.includes('\0')) return 'not_found';
  if (command.includes('/')) return lookAt(resolve(cwd, command));
  const folders = (env['PATH'] ?? PATH_DEFAULT).split(':').slice(0, FOLDERS_MAX);
  const looks = new Set(folders.map((folder) => lookAt(resolve(cwd, folder, command))));
  if (looks.has('found')) return 'found';
  return looks.has('not_executable') ? 'not_executable' : 'not_found';
}

function lookAt(path: string): Located {
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) {
      return path.endsWith('/') || !isFolder(path) ? 'not_found' : 'not_executable';
    }
    accessSync(path, constants.X_OK);
    return 'found';
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    return code === 'EACCES' ? 'not_executable' : 'not_found';
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
