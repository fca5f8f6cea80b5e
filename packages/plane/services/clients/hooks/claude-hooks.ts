import { join } from 'node:path';
import { type Failure, isFailure, isObject } from '@subluminal/contracts';
import { flagValues } from '../command-line-flags.ts';
import { folderFromVariable, repositoryOf } from '../project-folders.ts';
import type { ClientPlace } from '../types.ts';
import {
  answererIn,
  httpHooks,
  listOf,
  readSettings,
  type SettingsObject,
} from './claude-settings.ts';
import { isSince } from './client-version.ts';
import { GROUPED } from './grouped-items.ts';
import { hookCommand } from './hook-command.ts';
import { dropped, endOfProgram } from './hooked-line.ts';
import { managedFiles } from './managed-files.ts';
import type { ClientHooks, HookedLine, HookedStart, HookItem } from './types.ts';

const CLIENT = 'claude-code';
/** `onFailure` is there since then; before, a hook over HTTP that fails lets the tool run. */
const HTTP_SINCE = '2.1.295';
const HOOK_TOKEN = 'SUB_HOOK_TOKEN';
/** An approval may take a while: the policy ends it, not the client. */
const HELD_SECONDS = 86_400;
const SECONDS = 600;
/** Events, and whether they have a matcher: without one, all of them are meant. */
const EVENTS: { readonly [event: string]: { readonly matcher?: '*'; readonly timeout: number } } = {
  SessionStart: { timeout: SECONDS },
  UserPromptSubmit: { timeout: HELD_SECONDS },
  UserPromptExpansion: { timeout: SECONDS },
  InstructionsLoaded: { timeout: SECONDS },
  PreToolUse: { matcher: '*', timeout: HELD_SECONDS },
  PostToolUse: { matcher: '*', timeout: SECONDS },
  PostToolUseFailure: { matcher: '*', timeout: SECONDS },
  // The only way to hold back what a tool that failed has told.
  PostToolBatch: { timeout: SECONDS },
  ConfigChange: { timeout: SECONDS },
  SessionEnd: { timeout: SECONDS },
};

function items(command: string): { readonly [event: string]: HookItem } {
  return itemsBy(() => ({ type: 'command', command }));
}

function itemsBy(handler: (event: string) => object): { readonly [event: string]: HookItem } {
  return Object.fromEntries(
    Object.entries(EVENTS).map(([event, { timeout, ...matcher }]) => {
      // A version that does not know `onFailure` leaves it alone.
      const hook = { ...handler(event), timeout, onFailure: 'block' };
      return [event, { ...matcher, hooks: [hook] }];
    }),
  );
}

function folderOf(place: ClientPlace): string {
  return folderFromVariable(place, 'CLAUDE_CONFIG_DIR', join(place.userHome, '.claude'));
}

function managedPath({ platform }: ClientPlace): string {
  return managedFiles(platform)[CLIENT];
}

const PROJECT_FILES = ['.claude/settings.json', '.claude/settings.local.json'];

function settingsFiles(place: ClientPlace): readonly string[] {
  const folders = [place.project, repositoryOf(place.project) ?? place.project];
  const ofProjects = folders.flatMap((folder) => PROJECT_FILES.map((name) => join(folder, name)));
  const own = join(folderOf(place), 'settings.json');
  return [...new Set([own, ...ofProjects, managedPath(place)])];
}

export const claudeHooks: ClientHooks = {
  client: CLIENT,
  settings: { ...GROUPED, items },
  isTried: true,
  program: 'claude',
  packageName: '@anthropic-ai/claude-code',
  blocksSince: HTTP_SINCE,
  userFile: (place) => ({
    client: CLIENT,
    path: join(folderOf(place), 'settings.json'),
    format: 'json',
  }),
  managedFile: (place) => ({ client: CLIENT, path: managedPath(place), format: 'json' }),
  // Such a command runs without a hook.
  managedBeside: { disableSkillShellExecution: true },
  projectFiles: PROJECT_FILES,
  settingsFiles,
  answererIn,
  limits: [
    'A project can switch hooks of the user off (`disableAllHooks` in its .claude/settings.json): `sub run` and --managed hold against that.',
    '`claude --bare`, `--safe-mode` and CLAUDE_CODE_SIMPLE drop them without a word.',
    'Shell commands inside a skill or a slash command run without a hook, unless `disableSkillShellExecution` is set.',
  ],
  lastingLimits: [
    'What the instructions of a folder include later on (`@path` in its CLAUDE.md) reaches the model, and is on record only.',
  ],
  session,
};

const SETTINGS = '--settings';

function session(start: HookedStart): HookedLine | Failure {
  const { command, place } = start;
  const { env } = place;
  const end = endOfProgram(command);
  const [program, words] = [command.slice(0, end), command.slice(end)];
  const options = words.includes('--') ? words.slice(0, words.indexOf('--')) : words;
  const dropping = ['--bare', '--safe-mode'].find((flag) => options.includes(flag));
  if (dropping !== undefined) return dropped(`${dropping} makes Claude Code drop all hooks.`);
  if (env['CLAUDE_CODE_SIMPLE']) {
    return dropped('CLAUDE_CODE_SIMPLE is set: Claude Code drops all hooks then.');
  }
  const given = flagValues(options, [SETTINGS]).at(-1);
  const theirs = given === undefined ? {} : readSettings(given, place.project);
  if (isFailure(theirs)) return theirs;
  if (theirs['disableAllHooks'] === true) {
    return dropped('--settings has disableAllHooks.');
  }
  const settings = merged(theirs, start);
  // The last one counts, and alone.
  const line = [...program, SETTINGS, JSON.stringify(settings), ...withoutSettings(words)];
  return { command: line, env: { ...env, [HOOK_TOKEN]: start.http.token } };
}

function withoutSettings(words: readonly string[]): readonly string[] {
  const end = words.includes('--') ? words.indexOf('--') : words.length;
  const options = words
    .slice(0, end)
    .filter((word, at) => word !== SETTINGS && words[at - 1] !== SETTINGS)
    .filter((word) => !word.startsWith(`${SETTINGS}=`));
  return [...options, ...words.slice(end)];
}

const LOOPBACK = '127.0.0.1,localhost';

/** What was given stays, as far as it does not take the hooks away again. */
function merged(theirs: SettingsObject, start: HookedStart): SettingsObject {
  const own = itemsBy(handlerFor(start));
  const hooks = { ...objectAt(theirs, 'hooks') };
  for (const [event, item] of Object.entries(own)) hooks[event] = [...listAt(hooks, event), item];
  const beside = httpHooks(settingsFiles(start.place), theirs);
  const env = objectAt(theirs, 'env');
  return {
    ...theirs,
    disableAllHooks: false,
    // Such a command runs without a hook.
    disableSkillShellExecution: true,
    allowedHttpHookUrls: [...listAt(theirs, 'allowedHttpHookUrls'), ...beside.urls, start.http.url],
    httpHookAllowedEnvVars: [
      ...listAt(theirs, 'httpHookAllowedEnvVars'),
      ...beside.variables,
      HOOK_TOKEN,
    ],
    env: {
      ...env,
      NO_PROXY: joined(env['NO_PROXY'] ?? start.place.env['NO_PROXY']),
      no_proxy: joined(env['no_proxy'] ?? start.place.env['no_proxy']),
      CLAUDE_CODE_SIMPLE: '',
    },
    hooks,
  };
}

function joined(hosts: unknown): string {
  return typeof hosts === 'string' && hosts !== '' ? `${hosts},${LOOPBACK}` : LOOPBACK;
}

function handlerFor({ http, socket, call, version }: HookedStart): (event: string) => object {
  const hook = { type: 'command', command: hookCommand(CLIENT, call, socket) };
  if (version === undefined || !isSince(version, HTTP_SINCE)) return () => hook;
  const headers = { Authorization: `Bearer $${HOOK_TOKEN}` };
  const post = { type: 'http', url: http.url, headers, allowedEnvVars: [HOOK_TOKEN] };
  // Claude Code skips SessionStart over HTTP.
  return (event) => (event === 'SessionStart' ? hook : post);
}

function objectAt(settings: SettingsObject, key: string): { [name: string]: unknown } {
  const value = settings[key];
  return isObject(value) ? { ...value } : {};
}

function listAt(settings: SettingsObject, key: string): readonly unknown[] {
  return listOf(settings[key]);
}
