// A config that came with a project may be a link to anywhere: what somebody else has put into a
// repository must not make us change a file that is none of the project's. Configs of the user may
// lead where they like, to a repository of dotfiles for one.
import { basename, dirname, isAbsolute, relative, sep } from 'node:path';
import { realPath, repositoryOf } from './project.ts';
import type { ConfigFile, ConfigProblem } from './types.ts';

const FOLDERS: ReadonlySet<string> = new Set(['.vscode', '.cursor', '.codex', '.zed']);

/** Why this config is left alone; undefined where nothing is wrong with it. */
export function leadsOut({ path, scope }: ConfigFile, target: string): ConfigProblem | undefined {
  if (scope !== 'project') return undefined;
  const folder = dirname(path);
  const project = realPath(FOLDERS.has(basename(folder)) ? dirname(folder) : folder);
  const top = repositoryOf(project) ?? project;
  const way = relative(top, target);
  if (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)) return undefined;
  return {
    kind: 'problem',
    path,
    message: `${path} belongs to a project, but is a link that leads out of it: to ${target}.`,
    fix: `Put a file in its place. If you want that other file changed, name it: --config-path ${JSON.stringify(target)}`,
  };
}
