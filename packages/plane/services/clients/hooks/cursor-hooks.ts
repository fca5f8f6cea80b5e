import { join } from 'node:path';
import { isObject } from '@subluminal/contracts';
import type { ClientPlace } from '../types.ts';
import { managedFiles } from './managed-files.ts';
import type { ClientHooks, HookHandler, HookItem } from './types.ts';

const CLIENT = 'cursor';
/** What goes on before a tool runs is asked of the general event alone, so that no use is asked twice. */
const EVENTS = [
  'sessionStart',
  'beforeSubmitPrompt',
  'preToolUse',
  'postToolUse',
  'postToolUseFailure',
  'sessionEnd',
];
/** An approval may take a while: the policy ends it, not the client. */
const HELD_SECONDS = 86_400;

function items(command: string): { readonly [event: string]: HookItem } {
  const item = { command, timeout: HELD_SECONDS, failClosed: true };
  return Object.fromEntries(EVENTS.map((event) => [event, item]));
}

function handlersIn(item: unknown): readonly HookHandler[] {
  const command = isObject(item) ? item['command'] : undefined;
  return typeof command === 'string' ? [{ command, path: [] }] : [];
}

function managedPath({ platform }: ClientPlace): string {
  return managedFiles(platform)[CLIENT];
}

export const cursorHooks: ClientHooks = {
  client: CLIENT,
  settings: {
    items,
    handlersIn,
    beside: { version: 1 },
  },
  isTried: false,
  program: 'cursor-agent',
  packageName: '@cursor/agent',
  userFile: ({ userHome }) => ({
    client: CLIENT,
    path: join(userHome, '.cursor', 'hooks.json'),
    format: 'jsonc',
  }),
  projectFiles: ['.cursor/hooks.json'],
  managedFile: (place) => ({ client: CLIENT, path: managedPath(place), format: 'jsonc' }),
  settingsFiles: (place) => [
    ...[place.userHome, place.project].map((folder) => join(folder, '.cursor', 'hooks.json')),
    managedPath(place),
  ],
  limits: [],
  lastingLimits: [
    'Hooks of Cursor were only read in its documentation, and not tried: look at the first calls in `sub tail`.',
  ],
};
