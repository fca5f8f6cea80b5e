import { type Dirent, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isObject } from '@subluminal/contracts';
import { flagValues } from './command-line-flags.ts';
import { createClient, type UngovernableEntry } from './create-client.ts';
import type { JsonObject } from './entries.ts';
import { applicationData } from './project-folders.ts';
import type { ClientPlace } from './types.ts';

const PRODUCTS: readonly string[] = ['Code', 'Code - Insiders'];
const NAMES: readonly string[] = ['settings.json', 'mcp.json'];
const PROFILES_MAX = 64;

export const vscode = createClient({
  id: 'vscode',
  title: 'VS Code',
  aliases: ['code', 'vs-code'],
  builtInTools: ['terminal', 'edits', 'fetch'],
  hasWindow: true,
  expands: ['env', 'input'],
  expandsWorkspace: true,
  commands: ['code', 'code-insiders'],
  apps: ['visual studio code', 'visual studio code - insiders'],
  format: 'jsonc',
  userFiles: (place) =>
    userFolders(place).flatMap((folder) => NAMES.map((name) => join(folder, name))),
  projectFiles: NAMES.map((name) => `.vscode/${name}`),
  serversBeside: (words) => (flagValues(words, ['--add-mcp']).length === 0 ? [] : ['--add-mcp']),
  folders: productFolders,
  inside: [['servers'], ['mcp'], ['mcp.servers']],
  // The settings were the place of servers before there was a file for them, and are still read.
  containers: (_root, { path }) =>
    basename(path) === 'settings.json'
      ? [{ path: ['mcp', 'servers'] }, { path: ['mcp.servers'] }]
      : [{ path: ['servers'] }],
  strays: (root, { path }) => (basename(path) === 'settings.json' ? dottedIn(root) : []),
});

const DOTTED = /^mcp\.servers\.(.+)$/s;
const MOVE_IT =
  'it stands under a dotted key of settings.json, which is left alone; move it to mcp.json';

/** VS Code takes `"mcp.servers.x": …` apart at the dots, and `"mcp": { "servers.x": … }` too. */
function dottedIn(root: JsonObject): readonly UngovernableEntry[] {
  const mcp = root['mcp'];
  const keys = [
    ...Object.entries(root).map(([key, value]) => ({ full: key, path: [key], value })),
    ...(isObject(mcp) ? Object.entries(mcp) : []).map(([key, value]) => {
      return { full: `mcp.${key}`, path: ['mcp', key], value };
    }),
  ];
  const strays = new Map<string, UngovernableEntry>();
  for (const { full, path, value } of keys) {
    const [, rest] = DOTTED.exec(full) ?? [];
    if (rest === undefined) continue;
    // Down to `mcp.servers.x.command`.
    const end = isObject(value) ? -1 : rest.lastIndexOf('.');
    const name = end === -1 ? rest : rest.slice(0, end);
    const part = end === -1 ? value : { [rest.slice(end + 1)]: value };
    const known = strays.get(name)?.value;
    const whole = isObject(known) && isObject(part) ? { ...known, ...part } : part;
    strays.set(name, { name, path, value: whole, obstacle: MOVE_IT });
  }
  return [...strays.values()];
}

function productFolders(place: ClientPlace): readonly string[] {
  return PRODUCTS.map((product) => join(applicationData(place), product));
}

/** The default profile, and those that the user has made. */
function userFolders(place: ClientPlace): readonly string[] {
  return productFolders(place).flatMap((product) => {
    const folder = join(product, 'User');
    return [folder, ...profilesIn(join(folder, 'profiles'))];
  });
}

function profilesIn(folder: string): readonly string[] {
  let found: readonly Dirent[] = [];
  try {
    found = readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
  return found
    .filter((one) => one.isDirectory())
    .map(({ name }) => join(folder, name))
    .toSorted()
    .slice(0, PROFILES_MAX);
}
