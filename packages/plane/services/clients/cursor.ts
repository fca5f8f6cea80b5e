import { join } from 'node:path';
import { createClient } from './create-client.ts';
import { configFiles } from './project-folders.ts';

export const cursor = createClient({
  id: 'cursor',
  title: 'Cursor',
  aliases: [],
  hasWindow: true,
  expands: ['env'],
  expandsWorkspace: true,
  commands: ['cursor', 'cursor-agent'],
  apps: ['cursor'],
  files: ({ userHome, project }) =>
    configFiles({ client: 'cursor', format: 'jsonc' }, [
      ['user', join(userHome, '.cursor', 'mcp.json')],
      ['project', join(project, '.cursor', 'mcp.json')],
    ]),
  folders: ({ userHome }) => [join(userHome, '.cursor')],
  inside: [['mcpServers']],
  containers: () => [{ path: ['mcpServers'] }],
});
