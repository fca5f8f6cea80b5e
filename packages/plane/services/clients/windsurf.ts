import { join } from 'node:path';
import { createClient } from './create-client.ts';
import { REMOTE_KEYS } from './remote-entries.ts';
import type { ClientPlace } from './types.ts';

/** The second is its preview. */
const PRODUCTS: readonly string[] = ['windsurf', 'windsurf-next'];

export const windsurf = createClient({
  id: 'windsurf',
  title: 'Windsurf',
  aliases: [],
  builtInTools: ['terminal', 'edits', 'web search'],
  hasWindow: true,
  expands: ['env'],
  remoteKeys: { ...REMOTE_KEYS, addresses: ['serverUrl', 'url'] },
  commands: PRODUCTS,
  apps: ['windsurf', 'windsurf - next'],
  format: 'jsonc',
  userFiles: (place) => foldersOf(place).map((folder) => join(folder, 'mcp_config.json')),
  folders: foldersOf,
  inside: [['mcpServers']],
  containers: () => [{ path: ['mcpServers'] }],
});

function foldersOf({ userHome }: ClientPlace): readonly string[] {
  return PRODUCTS.map((product) => join(userHome, '.codeium', product));
}
