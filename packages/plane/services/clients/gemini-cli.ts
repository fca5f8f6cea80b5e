import { join } from 'node:path';
import { isObject } from '@subluminal/contracts';
import { createClient, type UngovernableEntry } from './create-client.ts';
import type { JsonObject } from './entries.ts';
import { folderFromVariable } from './project-folders.ts';
import { REMOTE_KEYS } from './remote-entries.ts';
import type { ClientPlace } from './types.ts';

export const geminiCli = createClient({
  id: 'gemini-cli',
  title: 'Gemini CLI',
  aliases: ['gemini'],
  builtInTools: ['run_shell_command', 'write_file', 'replace', 'web_fetch'],
  expands: ['plain', 'bare'],
  remoteKeys: { ...REMOTE_KEYS, addresses: ['url', 'httpUrl'], winsOverCommand: true },
  commands: ['gemini'],
  packages: ['@google/gemini-cli'],
  format: 'jsonc',
  userFiles: (place) => [join(geminiHome(place), 'settings.json')],
  // Read only in folders that the user trusts.
  projectFiles: ['.gemini/settings.json'],
  folders: (place) => [geminiHome(place)],
  inside: [['mcpServers'], ['mcp']],
  containers: (root) => [{ path: ['mcpServers'], off: excludedIn(root) }],
  strays: serverCommand,
});

/** The variable names what stands in the place of HOME. */
export function geminiHome(place: ClientPlace): string {
  return join(folderFromVariable(place, 'GEMINI_CLI_HOME', place.userHome), '.gemini');
}

function excludedIn({ mcp }: JsonObject): ReadonlySet<string> {
  const excluded: unknown = isObject(mcp) ? mcp['excluded'] : undefined;
  const names: readonly unknown[] = Array.isArray(excluded) ? excluded : [];
  return new Set(names.filter((name) => typeof name === 'string'));
}

/** A server without a name, by the whole command line. */
function serverCommand({ mcp }: JsonObject): readonly UngovernableEntry[] {
  const command: unknown = isObject(mcp) ? mcp['serverCommand'] : undefined;
  if (typeof command !== 'string' || command === '') return [];
  const obstacle = 'it is a whole command line, which is left alone; move it to `mcpServers`';
  const path = ['mcp', 'serverCommand'];
  return [{ name: 'mcp.serverCommand', path, value: { command }, obstacle }];
}
