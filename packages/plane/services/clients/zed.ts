import { join } from 'node:path';
import { isObject } from '@subluminal/contracts';
import { createClient, type UngovernableEntry } from './create-client.ts';
import { configHome } from './project-folders.ts';
import type { ClientPlace, ValuePath } from './types.ts';

/** Settings for one channel or one system alone: Zed lays them over the others. */
const OVERRIDES: readonly string[] = [
  ...['dev', 'nightly', 'preview', 'stable'],
  ...['linux', 'macos', 'windows'],
];
const SERVERS = 'context_servers';

export const zed = createClient({
  id: 'zed',
  title: 'Zed',
  aliases: ['zed-editor'],
  builtInTools: ['terminal', 'edit_file', 'fetch'],
  hasWindow: true,
  commands: ['zed', 'zeditor', 'zed-editor'],
  apps: ['zed', 'zed preview', 'zed nightly'],
  format: 'jsonc',
  userFiles: (place) => [join(folderOf(place), 'settings.json')],
  projectFiles: ['.zed/settings.json'],
  folders: (place) => [folderOf(place)],
  inside: [[SERVERS], ...OVERRIDES.map((key) => [key, SERVERS]), ['profiles']],
  containers: () => [{ path: [SERVERS] }],
  strays: (root) => [
    ...OVERRIDES.flatMap((key) => straysIn(root[key], [key])),
    ...straysOfProfiles(root['profiles']),
  ],
});

/** A profile has its settings in it, or below `settings`. */
function straysOfProfiles(profiles: unknown): readonly UngovernableEntry[] {
  if (!isObject(profiles)) return [];
  return Object.entries(profiles).flatMap(([name, profile]) => [
    ...straysIn(profile, ['profiles', name]),
    ...straysIn(isObject(profile) ? profile['settings'] : undefined, [
      'profiles',
      name,
      'settings',
    ]),
  ]);
}

function straysIn(holder: unknown, path: ValuePath): readonly UngovernableEntry[] {
  const servers = isObject(holder) ? holder[SERVERS] : undefined;
  if (!isObject(servers)) return [];
  return Object.entries(servers).map(([name, value]) => ({
    name,
    path: [...path, SERVERS, name],
    value,
    obstacle: `it stands under \`${path[0]}\` of settings.json, which is left alone; move it to \`${SERVERS}\``,
  }));
}

/** On macOS, Zed asks for no variable. */
function folderOf(place: ClientPlace): string {
  const folder = place.platform === 'darwin' ? join(place.userHome, '.config') : configHome(place);
  return join(folder, 'zed');
}
