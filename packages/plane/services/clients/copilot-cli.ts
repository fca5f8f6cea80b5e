import { join, resolve } from 'node:path';
import { flagValues } from './command-line-flags.ts';
import { createClient } from './create-client.ts';
import { folderFromVariable, foldersInRepository } from './project-folders.ts';
import { REMOTE_KEYS } from './remote-entries.ts';
import type { ClientPlace, CommandLine } from './types.ts';

export const copilotCli = createClient({
  id: 'copilot-cli',
  title: 'Copilot CLI',
  aliases: ['copilot', 'github-copilot'],
  builtInTools: ['bash', 'edit', 'create', 'web_fetch'],
  expands: ['plain', 'bare'],
  remoteKeys: { ...REMOTE_KEYS, addresses: ['url'] },
  commands: ['copilot'],
  packages: ['@github/copilot'],
  format: 'jsonc',
  userFiles: (place) => [join(copilotHome(place), 'mcp-config.json')],
  // Read only in folders that the user trusts.
  projectFiles: ['.github/mcp.json', '.mcp.json'],
  sharedFiles: ['.mcp.json'],
  projectsAbove: ({ project }) => foldersInRepository(project),
  serversBeside: serversOnLine,
  folders: (place) => [copilotHome(place)],
  inside: [['mcpServers']],
  containers: () => [{ path: ['mcpServers'] }],
});

export function copilotHome(place: ClientPlace): string {
  return folderFromVariable(place, 'COPILOT_HOME', join(place.userHome, '.copilot'));
}

function serversOnLine(
  words: readonly string[],
  { place, governed }: CommandLine,
): readonly string[] {
  const known = new Set(governed.map((path) => resolve(path)));
  const configs = flagValues(words, ['--additional-mcp-config'])
    .filter((value) => !known.has(resolve(place.project, value.replace(/^@/, ''))))
    // Not a path: the config itself, which may hold secrets.
    .map((value) => `--additional-mcp-config ${value.startsWith('@') ? value : '{…}'}`);
  const plugins = flagValues(words, ['--plugin-dir']).map((folder) => `--plugin-dir ${folder}`);
  return [...configs, ...plugins];
}
