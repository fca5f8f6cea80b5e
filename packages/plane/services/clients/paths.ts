// Where platforms keep the files of a user.
import { isAbsolute, join, resolve } from 'node:path';
import type { ConfigFile, Place, Scope } from './types.ts';

/** `~/.config`, unless the user has moved it; a relative path there counts as none (XDG). */
export function configHome({ env, userHome }: Place): string {
  const moved = env['XDG_CONFIG_HOME'] ?? '';
  return isAbsolute(moved) ? moved : join(userHome, '.config');
}

/** Where programs built on Electron keep what is theirs. */
export function applicationData(place: Place): string {
  return place.platform === 'darwin'
    ? join(place.userHome, 'Library', 'Application Support')
    : configHome(place);
}

/** The folder that a variable names, or the usual one. */
export function movable({ env, project }: Place, name: string, usual: string): string {
  const moved = env[name] ?? '';
  return moved === '' ? usual : resolve(project, moved);
}

/**
 * Makes the entries of a list of files, all of one client and one format. In the home of the user, a
 * file of the project may be that of the user: then it is the user's, once.
 */
export function listed(
  { client, format }: Pick<ConfigFile, 'client' | 'format'>,
  files: readonly (readonly [Scope, string])[],
): readonly ConfigFile[] {
  return files
    .filter(([, path], at) => files.findIndex((one) => one[1] === path) === at)
    .map(([scope, path]) => ({ client, scope, path, format }));
}
