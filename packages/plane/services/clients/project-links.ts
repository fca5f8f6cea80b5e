// Configs that belong to a project. Such a config may be a link to anywhere, and a repository must not
// make us change a file outside of the project. Configs of the user may be links to anywhere, such as
// a repository of dotfiles.
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { failure } from '@subluminal/contracts';
import { realPath, repositoryOf } from './project-folders.ts';
import { clientOf } from './registry.ts';
import type { ConfigFailure, ConfigFile } from './types.ts';

/** The project that a config belongs to, by its path alone; undefined for a config of the user. */
export function projectOfFile({
  client,
  path,
}: Pick<ConfigFile, 'client' | 'path'>): string | undefined {
  const name = clientOf(client).projectFiles.find((one) => path.endsWith(`${sep}${one}`));
  return name === undefined ? undefined : resolve(path.slice(0, -name.length));
}

/** Why this config is left alone; undefined where nothing is wrong with it. */
export function linkOutOfProject(file: ConfigFile, target: string): ConfigFailure | undefined {
  const { path, scope } = file;
  if (scope !== 'project') return undefined;
  const project = realPath(projectOfFile(file) ?? dirname(path));
  const way = relative(repositoryOf(project) ?? project, target);
  if (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)) return undefined;
  const message = `${path} belongs to a project, but is a link that leads out of it: to ${target}.`;
  const fix = `Put a file in its place. If you want that other file changed, name it: --config-path ${JSON.stringify(target)}`;
  return { ...failure('SUB_CLIENT_CONFIG', message, fix), path };
}
