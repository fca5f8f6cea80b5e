import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from './create-client.ts';
import { foldersAbove, listed, movable, realPath, repositoryOf } from './project-folders.ts';

import type { Place, Scope } from './types.ts';

export const codex = createClient({
  id: 'codex',
  title: 'Codex CLI',
  aliases: ['codex-cli'],
  commands: ['codex'],
  packages: ['@openai/codex'],
  // Codex reads all but the first only in projects that the user trusts.
  files: (place) =>
    listed({ client: 'codex', format: 'toml' }, [
      ['user', join(homeOf(place), 'config.toml')],
      ...filesAbove(place),
      ['project', fileIn(place.project)],
    ]),
  folders: (place) => [homeOf(place)],
  inside: [['mcp_servers']],
  containers: () => [{ path: ['mcp_servers'] }],
});

/** Those between the top of the repository and the project count too, and the nearest wins. */
function filesAbove(place: Place): readonly (readonly [Scope, string])[] {
  const project = realPath(place.project);
  const top = repositoryOf(project);
  const above = foldersAbove(project);
  const from = top === undefined ? -1 : above.indexOf(top);
  const own = join(homeOf(place), 'config.toml');
  return (from === -1 ? [] : above.slice(from))
    .map(fileIn)
    .filter((path) => path !== own && existsSync(path))
    .map((path) => ['project', path]);
}

function fileIn(folder: string): string {
  return join(folder, '.codex', 'config.toml');
}

function homeOf(place: Place): string {
  return movable(place, 'CODEX_HOME', join(place.userHome, '.codex'));
}
