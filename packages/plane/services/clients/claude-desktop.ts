import { join } from 'node:path';
import { createClient } from './create-client.ts';
import { applicationData } from './project-folders.ts';
import { REMOTE_KEYS } from './remote-entries.ts';
import type { ClientPlace } from './types.ts';

export const claudeDesktop = createClient({
  id: 'claude-desktop',
  title: 'Claude Desktop',
  aliases: ['claude-app'],
  builtInTools: ['web search', 'connectors', 'extensions'],
  hasWindow: true,
  commands: ['claude-desktop'],
  apps: ['claude'],
  remoteKeys: {
    ...REMOTE_KEYS,
    unread:
      'Claude Desktop reads no address from this file: such servers are added as connectors, which sub does not see',
  },
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
