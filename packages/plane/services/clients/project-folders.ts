// Which folders belong to the project that a client is started in.

import { existsSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { readRegularFile } from '../../os/index.ts';
import type { ClientPlace, ServerEntry } from './types.ts';

const DEPTH_MAX = 128;
const POINTER_BYTES_MAX = 4_096;
const POINTER = /^gitdir: (.+)\/\.git\/worktrees\/[^/\n]+\s*$/;

/** The folders above this one, the outermost first, without the root of the file system. */
export function foldersAbove(folder: string): readonly string[] {
  const above: string[] = [];
  for (let at = dirname(folder); dirname(at) !== at && above.length < DEPTH_MAX; at = dirname(at)) {
    above.unshift(at);
  }
  return above;
}

/** The top of the repository that a folder is in. */
export function repositoryOf(folder: string): string | undefined {
  return [...foldersAbove(folder), folder].findLast((one) => existsSync(join(one, '.git')));
}

/** Those above a folder, from the top of its repository on. */
export function foldersInRepository(folder: string): readonly string[] {
  const project = realPath(folder);
  const above = foldersAbove(project);
  const top = above.indexOf(repositoryOf(project) ?? '');
  return top === -1 ? [] : above.slice(top);
}

/**
 * The paths under which Claude Code may keep the settings of a folder: today the top of its repository,
 * that of the main checkout for further worktrees, and formerly the folder itself.
 */
export function projectKeys(folder: string): ReadonlySet<string> {
  const real = realPath(folder);
  const top = repositoryOf(real);
  const main = top === undefined ? undefined : mainCheckoutOf(top);
  return new Set([folder, real, top ?? real, main ?? real]);
}

/** Whether an entry counts when its client is started in this folder. */
export function isForProject(folder: string): (entry: Pick<ServerEntry, 'project'>) => boolean {
  const keys = projectKeys(folder);
  return ({ project }) => project === undefined || keys.has(project);
}

/** In a further worktree, `.git` is a file that says where the repository is. */
function mainCheckoutOf(top: string): string | undefined {
  const read = readRegularFile(join(top, '.git'), { bytesMax: POINTER_BYTES_MAX });
  if (read.kind !== 'read') return undefined;
  const [, main] = POINTER.exec(read.bytes.toString('utf8')) ?? [];
  return main === undefined ? undefined : resolve(top, main);
}

export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

// Where platforms keep the files of a user.

/** `~/.config`, unless the user has moved it; a relative path there counts as none (XDG). */
export function configHome({ env, userHome }: ClientPlace): string {
  const moved = env['XDG_CONFIG_HOME'] ?? '';
  return isAbsolute(moved) ? moved : join(userHome, '.config');
}

/** Where programs built on Electron keep their files. */
export function applicationData(place: ClientPlace): string {
  return place.platform === 'darwin'
    ? join(place.userHome, 'Library', 'Application Support')
    : configHome(place);
}

/** The folder that a variable names, or the usual one. */
export function folderFromVariable(
  { env, project }: ClientPlace,
  name: string,
  usual: string,
): string {
  const moved = env[name] ?? '';
  return moved === '' ? usual : resolve(project, moved);
}
