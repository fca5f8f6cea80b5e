import { join } from 'node:path';
import { createClient } from './client.ts';
import { configHome, listed } from './paths.ts';
import type { Place } from './types.ts';

const zed = createClient({
  id: 'zed',
  title: 'Zed',
  aliases: ['zed-editor'],
  hasWindow: true,
  commands: ['zed', 'zeditor', 'zed-editor'],
  apps: ['zed', 'zed preview', 'zed nightly'],
  files: (place) =>
    listed({ client: 'zed', format: 'jsonc' }, [
      ['user', join(folderOf(place), 'settings.json')],
      ['project', join(place.project, '.zed', 'settings.json')],
    ]),
  folders: (place) => [folderOf(place)],
  inside: [['context_servers']],
  containers: () => [{ path: ['context_servers'] }],
});

/** On macOS, Zed asks for no variable. */
function folderOf(place: Place): string {
  const folder = place.platform === 'darwin' ? join(place.userHome, '.config') : configHome(place);
  return join(folder, 'zed');
}

export { zed };
