import { join } from 'node:path';
import { createClient } from './create-client.ts';
import { applicationData } from './project-folders.ts';
import type { ClientPlace } from './types.ts';

export const claudeDesktop = createClient({
  id: 'claude-desktop',
  title: 'Claude Desktop',
  aliases: ['claude-app'],
  builtInTools: ['web search', 'connectors', 'extensions'],
  hasWindow: true,
  commands: ['claude-desktop'],
  apps: ['claude'],
  eventName: 'claude',
  format: 'json',
  userFiles: (place) => [join(folderOf(place), 'claude_desktop_config.json')],
  folders: (place) => [folderOf(place)],
  inside: [['mcpServers']],
  containers: () => [{ path: ['mcpServers'] }],
});

function folderOf(place: ClientPlace): string {
  return join(applicationData(place), 'Claude');
}
