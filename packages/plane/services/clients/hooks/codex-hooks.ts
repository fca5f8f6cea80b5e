import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type Failure, isFailure } from '@subluminal/contracts';
import { folderFromVariable, repositoryOf } from '../project-folders.ts';
import { documentIn } from '../text/document.ts';
import type { ClientPlace } from '../types.ts';
import { GROUPED } from './grouped-items.ts';
import { hookCommand } from './hook-command.ts';
import { dropped, endOfProgram } from './hooked-line.ts';
import { inlineToml, tomlString } from './inline-toml.ts';
import { managedFiles } from './managed-files.ts';
import type { ClientHooks, HookedLine, HookedStart, HookItem } from './types.ts';

const CLIENT = 'codex';
/** An approval may take a while: the policy ends it, not the client. */
const HELD_SECONDS = 86_400;
const SECONDS = 600;
/** Codex takes no more for the last one. */
const END_SECONDS = 3;

interface CodexEvent {
  /** As the state of trust names it. */
  readonly label: string;
  readonly timeout: number;
  readonly matcher?: '*';
}

const EVENTS: { readonly [event: string]: CodexEvent } = {
  SessionStart: { label: 'session_start', matcher: '*', timeout: SECONDS },
  UserPromptSubmit: { label: 'user_prompt_submit', timeout: HELD_SECONDS },
  PreToolUse: { label: 'pre_tool_use', matcher: '*', timeout: HELD_SECONDS },
  PostToolUse: { label: 'post_tool_use', matcher: '*', timeout: SECONDS },
  SessionEnd: { label: 'session_end', matcher: '*', timeout: END_SECONDS },
};

function items(command: string): { readonly [event: string]: HookItem } {
  return Object.fromEntries(
    Object.entries(EVENTS).map(([event, { timeout, matcher }]) => {
      const hooks = [{ type: 'command', command, timeout }];
      return [event, matcher === undefined ? { hooks } : { matcher, hooks }];
    }),
  );
}

/** By what Codex knows a hook again; another command, time or matcher has another one. */
export function trustedHash(event: string, command: string): string {
  const { label, timeout, matcher } = EVENTS[event] ?? { label: event, timeout: SECONDS };
  const hooks = [{ async: false, command, timeout, type: 'command' }];
  const identity = { event_name: label, hooks, ...(matcher !== undefined && { matcher }) };
  return `sha256:${createHash('sha256').update(JSON.stringify(identity)).digest('hex')}`;
}

/** By the file, the event and the places in it. */
export function trustKey(
  source: string,
  event: string,
  [group, handler]: readonly [group: number, handler: number],
): string {
  return `${source}:${EVENTS[event]?.label ?? event}:${group}:${handler}`;
}

export function codexHome(place: ClientPlace): string {
  return folderFromVariable(place, 'CODEX_HOME', join(place.userHome, '.codex'));
}

const PROJECT_FILES = ['.codex/config.toml', '.codex/hooks.json'];

function settingsFiles(place: ClientPlace): readonly string[] {
  const projects = [place.project, repositoryOf(place.project) ?? place.project];
  const files = projects.flatMap((folder) => PROJECT_FILES.map((name) => join(folder, name)));
  const own = ['config.toml', 'hooks.json'].map((name) => join(codexHome(place), name));
  return [...new Set([...own, ...files, managedFiles(place.platform)[CLIENT]])];
}

/** A feature that is required here cannot be switched off anywhere else. */
function managedBlock(command: string): string {
  const groups = Object.entries(EVENTS).map(([event, { timeout, matcher }]) =>
    [
      `[[hooks.${event}]]`,
      ...(matcher === undefined ? [] : [`matcher = ${tomlString(matcher)}`]),
      `[[hooks.${event}.hooks]]`,
      'type = "command"',
      `command = ${tomlString(command)}`,
      `timeout = ${timeout}`,
    ].join('\n'),
  );
  return `\n[features]\nhooks = true\n${TERMINALS} = false\n\n${groups.join('\n\n')}\n`;
}

export const codexHooks: ClientHooks = {
  client: CLIENT,
  settings: { ...GROUPED, items },
  isTried: true,
  program: 'codex',
  packageName: '@openai/codex',
  userFile: (place) => ({
    client: CLIENT,
    path: join(codexHome(place), 'hooks.json'),
    format: 'json',
  }),
  managedFile: ({ platform }) => ({
    client: CLIENT,
    path: managedFiles(platform)[CLIENT],
    format: 'toml',
  }),
  managedBlock,
  projectFiles: PROJECT_FILES,
  settingsFiles,
  limits: [
    'Codex runs only hooks that you have trusted, and skips all others without a word, also in `codex exec`.',
    'A project that you trust can switch them off (`hooks = false` below `[features]`): `sub run` and --managed hold against that.',
    'What is typed into a command that runs already (`write_stdin`) reaches no hook, unless `unified_exec_tty = false` stands below `[features]` in config.toml: `sub run` and --managed see to that.',
  ],
  lastingLimits: [
    'When somebody ends the shell that a hook runs in, the tool runs: only what was recorded shows it afterwards.',
    'Of a command that goes on running, only the last part of its output comes to a hook.',
  ],
  session,
};

const SOURCE = '/<session-flags>/config.toml';

function session({ command, call, socket, place }: HookedStart): HookedLine | Failure {
  const end = endOfProgram(command);
  const line = splitLine(command.slice(end));
  const obstacle = obstacleIn(line);
  if (obstacle !== undefined) return obstacle;
  const text = hookCommand(CLIENT, call, socket);
  const flags: string[] = ['-c', 'features.hooks=true', '-c', `features.${TERMINALS}=false`];
  const state: { [key: string]: object } = {};
  const own = items(text);
  for (const event of new Set([...line.hooks.keys(), ...Object.keys(own)])) {
    const theirs = groupsOf(event, line.hooks.get(event));
    if (isFailure(theirs)) return theirs;
    const item = own[event];
    const groups = item === undefined ? theirs : [...theirs, item];
    flags.push('-c', `hooks.${event}=${inlineToml(groups)}`);
    if (item === undefined) continue;
    const key = trustKey(SOURCE, event, [theirs.length, 0]);
    // `enabled`, because the user's file may have an entry of the same key that says no.
    state[key] = { enabled: true, trusted_hash: trustedHash(event, text) };
  }
  flags.push('-c', `hooks.state=${inlineToml(state)}`);
  return { command: [...command.slice(0, end), ...flags, ...line.rest], env: place.env };
}

interface CodexLine {
  /** The groups that were given for single events, as they were written. */
  readonly hooks: ReadonlyMap<string, string>;
  /** Settings that would take the hooks away, as they were written. */
  readonly against: string | undefined;
  readonly rest: readonly string[];
}

/** Takes the settings of hooks out: of two for one event, only the last would count. */
function splitLine(words: readonly string[]): CodexLine {
  const hooks = new Map<string, string>();
  const rest: string[] = [];
  let against: string | undefined;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (word === '--') {
      rest.push(...words.slice(at));
      break;
    }
    const [option, inWord] = optionIn(word);
    const isApart = option !== undefined && inWord === undefined;
    const value = isApart ? (words[at + 1] ?? '') : (inWord ?? '');
    if (isApart) at += 1;
    const event = option === 'config' ? eventIn(value) : undefined;
    if (isAgainst(option, value)) against ??= isApart ? `${word} ${value}` : word;
    if (event === undefined) rest.push(word, ...(isApart ? [value] : []));
    else hooks.set(event, value.slice(value.indexOf('=') + 1).trim());
  }
  return { hooks, against, rest };
}

type CodexOption = 'config' | 'disable' | 'enable';

/** `-c`, `--config`, `--disable` and `--enable`, with the value where it stands in the same word. */
function optionIn(word: string): readonly [option?: CodexOption, value?: string] {
  if (word === '-c' || word === '--config') return ['config'];
  if (word === '--disable') return ['disable'];
  if (word === '--enable') return ['enable'];
  const [, disabled] = /^--disable=(.*)$/s.exec(word) ?? [];
  if (disabled !== undefined) return ['disable', disabled];
  const [, enabled] = /^--enable=(.*)$/s.exec(word) ?? [];
  if (enabled !== undefined) return ['enable', enabled];
  const [, value] = /^(?:--config=|-c=?)(.*)$/s.exec(word) ?? [];
  return value === undefined ? [] : ['config', value];
}

function keyOf(setting: string): readonly string[] {
  const [name = ''] = setting.split('=', 1);
  return name.split('.').map((part) => part.trim().replaceAll(/^["']|["']$/g, ''));
}

function eventIn(setting: string): string | undefined {
  const [first, event, ...more] = keyOf(setting);
  return first === 'hooks' && event !== undefined && more.length === 0 && event !== 'state'
    ? event
    : undefined;
}

/** What is typed into a command that runs calls no hook: so no command runs in a terminal, and its stdin is closed. */
const TERMINALS = 'unified_exec_tty';
const FEATURES: ReadonlySet<string> = new Set(['hooks', 'codex_hooks']);

/** Also whole tables, which would take the place of ours. */
function isAgainst(option: string | undefined, value: string): boolean {
  if (option === 'disable') return FEATURES.has(value.trim());
  if (option === 'enable') return value.trim() === TERMINALS;
  if (option !== 'config') return false;
  const [first = '', second] = keyOf(value);
  if (first === 'hooks') return eventIn(value) === undefined;
  if (first !== 'features') return false;
  if (second === TERMINALS) return !/=\s*false\s*$/.test(value);
  return second === undefined || (FEATURES.has(second) && !/=\s*true\s*$/.test(value));
}

function obstacleIn({ against }: CodexLine): Failure | undefined {
  return against === undefined
    ? undefined
    : dropped(`${against.slice(0, 200)} takes hooks of Codex away, or types past them.`);
}

/** The groups of one event, as they were given. */
function groupsOf(event: string, text: string | undefined): readonly unknown[] | Failure {
  if (text === undefined) return [];
  const groups = documentIn(`x = ${text}`, 'toml')?.valueAt(['x']);
  return Array.isArray(groups) && inlineToml(groups) !== undefined
    ? groups
    : dropped(`-c hooks.${event} cannot be read, so that ours could be put beside it.`);
}
