import { join, resolve } from 'node:path';
import { type Failure, isObject } from '@subluminal/contracts';
import { readRegularFile } from '../../../os/index.ts';
import { launchFolderOf } from '../../../stores/runs/hub-socket.ts';
import { flagValues } from '../command-line-flags.ts';
import { copilotHome } from '../copilot-cli.ts';
import { repositoryOf } from '../project-folders.ts';
import { documentIn } from '../text/document.ts';
import type { ClientPlace } from '../types.ts';
import { hookCommand } from './hook-command.ts';
import { dropped, endOfProgram } from './hooked-line.ts';
import type { ClientHooks, HookedLine, HookedStart, HookHandler, HookItem } from './types.ts';

const CLIENT = 'copilot-cli';
/** An approval may take a while: the policy ends it, not the client. */
const HELD_SECONDS = 86_400;
const SECONDS = 600;

/** By these names alone the input says which event it is. */
const EVENTS: { readonly [event: string]: number } = {
  SessionStart: SECONDS,
  UserPromptSubmit: HELD_SECONDS,
  PreToolUse: HELD_SECONDS,
  PostToolUse: SECONDS,
  PostToolUseFailure: SECONDS,
  SessionEnd: SECONDS,
};

function items(command: string): { readonly [event: string]: HookItem } {
  return Object.fromEntries(
    Object.entries(EVENTS).map(([event, timeoutSec]) => {
      return [event, { type: 'command', bash: command, timeoutSec }];
    }),
  );
}

function handlersIn(item: unknown): readonly HookHandler[] {
  const command = isObject(item) ? item['bash'] : undefined;
  return typeof command === 'string' ? [{ command, path: [] }] : [];
}

const VERSION = { version: 1 };
const PROJECT_FILES = ['.github/copilot/settings.json', '.github/copilot/settings.local.json'];

function projectFiles(folder: string): readonly string[] {
  const folders = [repositoryOf(folder) ?? folder, folder];
  return [...new Set(folders.flatMap((one) => PROJECT_FILES.map((name) => join(one, name))))];
}

function userPath(place: ClientPlace): string {
  return join(copilotHome(place), 'hooks', 'subluminal.json');
}

export const copilotHooks: ClientHooks = {
  client: CLIENT,
  settings: { items, handlersIn, beside: VERSION },
  isTried: true,
  program: 'copilot',
  packageName: '@github/copilot',
  userFile: (place) => ({ client: CLIENT, path: userPath(place), format: 'json' }),
  projectFiles: PROJECT_FILES,
  settingsFiles: (place) => [
    userPath(place),
    ...['settings.json', 'config.json'].map((name) => join(copilotHome(place), name)),
    ...projectFiles(place.project),
  ],
  limits: [
    'A project that you trust can switch them off (`disableAllHooks` in its .github/copilot/settings.json); `sub run` does not start it then.',
    'A hook that exceeds its time of a day lets the tool run.',
    'What a tool that failed has told cannot be replaced.',
  ],
  session,
};

const BYTES_MAX = 1_048_576;

/** By a plugin that is there for this session alone. */
function session({ command, call, socket, place }: HookedStart): HookedLine | Failure {
  const end = endOfProgram(command);
  const words = command.slice(end);
  const folder = resolve(place.project, flagValues(words, ['-C']).at(-1) ?? '.');
  const against = projectFiles(folder).find(switchesOff);
  if (against !== undefined) return dropped(`${against} has disableAllHooks.`);
  const path = launchFolderOf(socket);
  const own = Object.entries(items(hookCommand(CLIENT, call, socket)));
  const hooks = Object.fromEntries(own.map(([event, item]) => [event, [item]]));
  const manifest = { name: 'subluminal', version: '1.0.0', hooks: 'hooks.json' };
  return {
    command: [...command.slice(0, end), '--plugin-dir', path, ...words],
    env: place.env,
    folder: {
      path,
      files: {
        'plugin.json': JSON.stringify(manifest),
        'hooks.json': JSON.stringify({ ...VERSION, hooks }),
      },
    },
  };
}

/** A file that is there and cannot be read may say so. */
function switchesOff(path: string): boolean {
  const read = readRegularFile(path, { bytesMax: BYTES_MAX });
  if (read.kind === 'missing') return false;
  const value = read.kind === 'read' ? documentIn(read.bytes.toString('utf8'), 'jsonc')?.value : 0;
  return !isObject(value) || value['disableAllHooks'] === true;
}
