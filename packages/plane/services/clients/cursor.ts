import { join } from 'node:path';
import { createClient } from './create-client.ts';

export const cursor = createClient({
  id: 'cursor',
  title: 'Cursor',
  aliases: [],
  builtInTools: ['terminal', 'edits', 'web search'],
  hasWindow: true,
  expands: ['env'],
  expandsWorkspace: true,
  commands: ['cursor', 'cursor-agent'],
  apps: ['cursor'],
  format: 'jsonc',
  userFiles: ({ userHome }) => [join(userHome, '.cursor', 'mcp.json')],
  projectFiles: ['.cursor/mcp.json'],
  folders: ({ userHome }) => [join(userHome, '.cursor')],
  inside: [['mcpServers']],
  containers: () => [{ path: ['mcpServers'] }],
});
