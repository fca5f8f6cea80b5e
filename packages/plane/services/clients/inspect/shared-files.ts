// Which files of a project are shared with others through git.
import { execFileSync } from 'node:child_process';
import { basename, delimiter, dirname, isAbsolute } from 'node:path';
import { realPath, repositoryOf } from '../project-folders.ts';
import type { ConfigFile } from '../types.ts';
import type { AdoptionPlace } from './adoption-place.ts';

const GIT_MS = 5_000;

/**
 * A file of a project that lies in a git work tree and that git does not ignore, tracked or not yet.
 * Where git cannot tell, the file counts as shared.
 */
export function isSharedByGit(
  { scope, path }: Pick<ConfigFile, 'scope' | 'path'>,
  env: AdoptionPlace['env'],
): boolean {
  if (scope !== 'project') return false;
  const folder = realPath(dirname(path));
  return repositoryOf(folder) !== undefined && !isIgnored(folder, basename(path), env);
}

/** Git does not call a tracked file ignored, whatever .gitignore says. */
function isIgnored(folder: string, name: string, env: AdoptionPlace['env']): boolean {
  // GIT_DIR and its like would ask another repository; a watcher is a program that the repository names.
  const own = Object.entries(env).filter(([key]) => !key.startsWith('GIT_'));
  // A relative folder of PATH would be one of the project.
  const path = (env['PATH'] ?? '').split(delimiter).filter(isAbsolute).join(delimiter);
  const words = ['-c', 'core.fsmonitor=false', 'check-ignore', '--quiet', '--', name];
  try {
    execFileSync('git', words, {
      cwd: folder,
      env: { ...Object.fromEntries(own), PATH: path },
      stdio: 'ignore',
      timeout: GIT_MS,
      killSignal: 'SIGKILL',
    });
    return true;
  } catch {
    return false;
  }
}
