import { join, resolve } from 'node:path';
import { isObject } from '@subluminal/contracts';
import { flagLists } from './command-line-flags.ts';
import { createClient } from './create-client.ts';
import type { JsonObject, ServerContainer } from './entries.ts';
import { readClaudeLogin } from './own-login.ts';
import { folderFromVariable, foldersAbove, realPath } from './project-folders.ts';
import { REMOTE_KEYS } from './remote-entries.ts';
import type { ClientPlace, CommandLine, ConfigFile, SwitchedOffServer } from './types.ts';

export const claudeCode = createClient({
  id: 'claude-code',
  title: 'Claude Code',
  aliases: ['claude'],
  builtInTools: ['Bash', 'Edit', 'Write', 'WebFetch'],
  expands: ['plain'],
  remoteKeys: { ...REMOTE_KEYS, login: { key: 'oauth', read: readClaudeLogin } },
  commands: ['claude', 'claude-code'],
  packages: ['@anthropic-ai/claude-code'],
  eventName: 'claude',
  format: 'json',
  userFiles: (place) => [
    join(folderFromVariable(place, 'CLAUDE_CONFIG_DIR', place.userHome), '.claude.json'),
  ],
  projectFiles: ['.mcp.json'],
  projectsAbove: ({ project }) => foldersAbove(realPath(project)),
  serversBeside: serversOnLine,
  folders: (place) => [folderOf(place)],
  copyFolders: (place) => ['backups', 'file-history'].map((name) => join(folderOf(place), name)),
  inside: [['mcpServers'], ['projects']],
  containers: (root, file) => [{ path: ['mcpServers'] }, ...projectContainers(root, file)],
  switchedOff: (root) =>
    projectsOf(root).flatMap(([project, settings]): readonly SwitchedOffServer[] =>
      [...offIn(settings)].map((name) => ({ project, name })),
    ),
});

function folderOf(place: ClientPlace): string {
  return folderFromVariable(place, 'CLAUDE_CONFIG_DIR', join(place.userHome, '.claude'));
}

/** The file of the user also holds servers that are for one project only. */
function projectContainers(root: JsonObject, { scope }: ConfigFile): readonly ServerContainer[] {
  if (scope !== 'user') return [];
  return projectsOf(root).map(([project, settings]) => ({
    path: ['projects', project, 'mcpServers'],
    project,
    off: offIn(settings),
  }));
}

function projectsOf({ projects }: JsonObject): readonly (readonly [string, JsonObject])[] {
  return isObject(projects)
    ? Object.entries(projects).flatMap(([path, one]) =>
        isObject(one) ? [[path, one] as const] : [],
      )
    : [];
}

/** By the menu of the client: the first is for its own servers, the second for `.mcp.json`. */
function offIn(settings: JsonObject): ReadonlySet<string> {
  const names = ['disabledMcpServers', 'disabledMcpjsonServers'].flatMap((key): unknown[] => {
    const list = settings[key];
    return Array.isArray(list) ? list : [];
  });
  return new Set(names.filter((name) => typeof name === 'string'));
}

function serversOnLine(
  words: readonly string[],
  { place, governed }: CommandLine,
): readonly string[] {
  const known = new Set(governed.map((path) => resolve(path)));
  const configs = flagLists(words, '--mcp-config')
    .filter((value) => !known.has(resolve(place.project, value)))
    // Not a path: the config itself, which may hold secrets.
    .map((value) => `--mcp-config ${/^\s*\{/.test(value) ? '{…}' : value}`);
  const isStrict = words.includes('--strict-mcp-config');
  return isStrict && configs.length > 0 ? [...configs, '--strict-mcp-config'] : configs;
}
