import { join } from 'node:path';
import { geminiHome } from '../gemini-cli.ts';
import type { ClientPlace } from '../types.ts';
import { GROUPED } from './grouped-items.ts';
import type { ClientHooks, HookItem } from './types.ts';

const CLIENT = 'gemini-cli';
/** An approval may take a while: the policy ends it, not the client. */
const HELD_MS = 86_400_000;
const SHORT_MS = 600_000;

const EVENTS: { readonly [event: string]: { readonly matcher?: '.*'; readonly timeout: number } } =
  {
    SessionStart: { timeout: SHORT_MS },
    BeforeAgent: { timeout: HELD_MS },
    BeforeTool: { matcher: '.*', timeout: HELD_MS },
    AfterTool: { matcher: '.*', timeout: SHORT_MS },
    SessionEnd: { timeout: SHORT_MS },
  };

/** Gemini CLI shows it in place of the command, and disables hooks by it. */
const NAME = 'subluminal';

function items(command: string): { readonly [event: string]: HookItem } {
  return Object.fromEntries(
    Object.entries(EVENTS).map(([event, { timeout, ...matcher }]) => {
      return [event, { ...matcher, hooks: [{ type: 'command', name: NAME, command, timeout }] }];
    }),
  );
}

const PROJECT_FILES = ['.gemini/settings.json'];

function userPath(place: ClientPlace): string {
  return join(geminiHome(place), 'settings.json');
}

export const geminiHooks: ClientHooks = {
  client: CLIENT,
  settings: { ...GROUPED, items },
  isTried: true,
  program: 'gemini',
  packageName: '@google/gemini-cli',
  hookName: NAME,
  // Its servers stand in the same file, and have a record of their own.
  userFile: (place) => ({ client: CLIENT, path: userPath(place), format: 'jsonc', part: 'hooks' }),
  projectFiles: PROJECT_FILES,
  settingsFiles: (place) => [
    userPath(place),
    ...PROJECT_FILES.map((name) => join(place.project, name)),
  ],
  limits: [
    'A project that you trust can switch them off (`hooksConfig` in its .gemini/settings.json).',
    'In a folder that you have not trusted it calls no hooks, and starts no servers by a command.',
    'When somebody ends the shell that a hook runs in, the tool runs: only what was recorded shows it afterwards.',
  ],
};
