// Any other client, by the path of its config (`--config-path`).
import { createClient } from './create-client.ts';

const KEYS: readonly string[] = ['mcpServers', 'servers', 'context_servers', 'mcp_servers'];

export const custom = createClient({
  id: 'custom',
  title: 'the client',
  aliases: [],
  expands: ['plain', 'env', 'input'],
  commands: [],
  format: 'jsonc',
  userFiles: () => [],
  folders: () => [],
  inside: KEYS.map((key) => [key]),
  containers: () => KEYS.map((key) => ({ path: [key] })),
});
