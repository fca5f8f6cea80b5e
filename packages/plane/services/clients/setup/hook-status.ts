// What of a client's own tools is governed, and by which hooks.
import { isFailure, isObject } from '@subluminal/contracts';
import { closedToOthers, readRegularFile, realFile } from '../../../os/index.ts';
import { isSince, versionOf } from '../hooks/client-version.ts';
import { type FoundHook, findHooks } from '../hooks/edit-hooks.ts';
import { hookCommand, readHookCommand } from '../hooks/hook-command.ts';
import { hooksOf } from '../hooks/registry.ts';
import type { ClientHooks, HookFile } from '../hooks/types.ts';
import { CLIENTS, type Client, type ClientId } from '../index.ts';
import { type AdoptionPlace, clientPlace } from '../inspect/adoption-place.ts';
import { isSameLauncher, type OwnCall, ownProgram } from '../inspect/own-program.ts';
import { type SandboxStatus, sandboxStatus } from '../sandbox/plan-sandbox.ts';
import { documentIn, readDocument } from '../text/document.ts';
import { closedPrograms } from './shared-hooks.ts';
import { trustState } from './trust-hooks.ts';

export interface HookStatus {
  readonly client: ClientId;
  readonly title: string;
  /**
   * `installed`: in its settings. `faulty`: there, but some of them are not called. `session`: only by
   * `sub run` and `sub wrap`. `absent`: it takes them from its settings alone, and has none of ours there.
   * `none`: it has none.
   */
  readonly state: 'installed' | 'faulty' | 'session' | 'absent' | 'none';
  /** The files that they stand in. */
  readonly paths: readonly string[];
  readonly isManaged: boolean;
  /** Of the client, where its files tell. */
  readonly version: string | undefined;
  /** What is wrong with them; whole sentences. */
  readonly problems: readonly string[];
  /** What they do not hold against; whole sentences. */
  readonly limits: readonly string[];
  /** What a policy has put into the client's own sandbox. */
  readonly sandbox: SandboxStatus | undefined;
}

interface HookStatusOptions extends AdoptionPlace {
  readonly own: OwnCall;
}

/** Of every client that is found here and has tools of its own. */
export function hookStatus(options: HookStatusOptions): readonly HookStatus[] {
  const place = clientPlace(options);
  return CLIENTS.filter((client) => client.builtInTools.length > 0 && client.detect(place)).map(
    (client) => statusOf(client, options),
  );
}

function statusOf(client: Client, options: HookStatusOptions): HookStatus {
  const { id, title } = client;
  const hooks = hooksOf(id);
  const sandbox = sandboxStatus(id, options);
  const none = {
    paths: [],
    isManaged: false,
    version: undefined,
    problems: [],
    limits: [],
    sandbox,
  };
  if (hooks === undefined) return { client: id, title, state: 'none', ...none };
  const place = clientPlace(options);
  const { env, project: cwd } = options;
  const { program, packageName } = hooks;
  const version = versionOf({ command: [program], packageName, env, cwd, mayAsk: false });
  const user = lookInto(hooks.userFile(place), hooks, options);
  const managedFile = hooks.managedFile?.(place);
  const managed = managedFile && lookInto(managedFile, hooksOf(id, true) ?? hooks, options);
  const looks = [user, managed].flatMap((one) => one ?? []);
  const files = looks.filter(({ found }) => found.length > 0);
  if (files.length === 0) {
    const state = hooks.session === undefined ? 'absent' : 'session';
    const problems = looks.flatMap((one) => one.problems);
    return { client: id, title, state, ...none, version, problems };
  }
  const isManaged = (managed?.found.length ?? 0) > 0;
  const forAll = isManaged && managed ? forOthers(managed) : { problems: [], limits: [] };
  const ofUser = isManaged ? [] : [...switchedOff(hooks, options), ...untrusted(id, options)];
  const problems = [...looks.flatMap((one) => one.problems), ...ofUser, ...forAll.problems];
  return {
    client: id,
    title,
    state: problems.length === 0 ? 'installed' : 'faulty',
    paths: files.map(({ path }) => path),
    isManaged,
    version,
    problems,
    limits: [...failures(hooks, version), ...limitsOf(hooks, isManaged), ...forAll.limits],
    sandbox,
  };
}

/** An agent that may not read the settings of the machine goes on without them. */
function forOthers({ path, found }: HookLook): Pick<HookStatus, 'problems' | 'limits'> {
  const closed = closedToOthers(path);
  const who = 'agents of other users do not find the hooks there';
  const words = new Set(found.flatMap(({ program }) => program));
  return {
    problems: closed === undefined ? [] : [`${closed} is closed to others: ${who} (${path}).`],
    limits: closedPrograms([...words]),
  };
}

/** What they do not hold against, in the settings of the user or of the machine. */
export function limitsOf(
  { limits, lastingLimits = [] }: ClientHooks,
  isManaged: boolean,
): readonly string[] {
  return [...(isManaged ? [] : limits), ...lastingLimits];
}

/** What happens when a hook itself fails. */
function failures({ blocksSince }: ClientHooks, version: string | undefined): readonly string[] {
  if (blocksSince === undefined) return [];
  if (version !== undefined && isSince(version, blocksSince)) return [];
  const which =
    version === undefined ? `A version before ${blocksSince}` : `This version, ${version},`;
  return [`${which} runs the tool when the shell of a hook is killed or exceeds its time.`];
}

interface HookLook {
  readonly path: string;
  readonly found: readonly FoundHook[];
  readonly problems: readonly string[];
}

const BYTES_MAX = 33_554_432;

function lookInto(
  { path, format }: HookFile,
  hooks: ClientHooks,
  { own }: HookStatusOptions,
): HookLook | undefined {
  const text = textAt(path);
  if (text === undefined) return undefined;
  const read = text.trim() === '' ? undefined : readDocument(text, format, [['hooks']]);
  if (read?.kind === 'broken') {
    const { line, column, message } = read;
    const why = `is broken at line ${line}, column ${column}: ${message}`;
    return { path, found: [], problems: [`${path} ${why} The hooks in it are not known.`] };
  }
  const found = read === undefined ? [] : findHooks(read.document, hooks);
  if (found.length === 0) return { path, found, problems: [] };
  const events = found.map(({ event }) => event);
  const missing = Object.keys(hooks.settings.items('')).filter((one) => !events.includes(one));
  const twice = [...new Set(events.filter((one, at) => events.indexOf(one) !== at))];
  const lacking = Object.entries(hooks.settings.beside)
    .filter(([key, value]) => read?.document.valueAt([key]) !== value)
    .map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  const programs = [...new Set(found.map(({ program }) => program.join(' ')))];
  return {
    path,
    found,
    problems: [
      ...(missing.length === 0 ? [] : [`${path} has no hook of ours for ${missing.join(', ')}.`]),
      ...(lacking.length === 0 ? [] : [`${path} lacks ${lacking.join(', ')}.`]),
      ...(twice.length === 0 ? [] : [`${path} has more than one for ${twice.join(', ')}.`]),
      ...programs.flatMap((program) => programProblems(program, { path, found, own })),
    ],
  };
}

function programProblems(
  program: string,
  { path, found, own }: Omit<HookLook, 'problems'> & { readonly own: OwnCall },
): readonly string[] {
  const words = found.find((one) => one.program.join(' ') === program)?.program ?? [];
  const gone = words.find((word) => realFile(word) === undefined);
  if (gone !== undefined) {
    return [`The hooks in ${path} start ${gone}, which is gone: they refuse everything.`];
  }
  const ours = ownProgram(own);
  if (ours.kind === 'failure') return [];
  const expected = readHookCommand(hookCommand('any', { program: ours.words, homes: {} }));
  if (isSameLauncher(expected?.program.join(' '), program)) return [];
  return [`The hooks in ${path} start another sub (${program}).`];
}

function textAt(path: string): string | undefined {
  const read = readRegularFile(path, { bytesMax: BYTES_MAX });
  return read.kind === 'read' ? read.bytes.toString('utf8') : undefined;
}

/** By a file that the client reads here. */
function switchedOff(hooks: ClientHooks, options: HookStatusOptions): readonly string[] {
  return hooks.settingsFiles(clientPlace(options)).flatMap((path) => {
    const text = textAt(path);
    const format = path.endsWith('.toml') ? 'toml' : 'jsonc';
    const value = text === undefined ? undefined : documentIn(text, format)?.value;
    if (!isObject(value)) return [];
    if (value['disableAllHooks'] === true)
      return [`${path} has disableAllHooks: no hook is called.`];
    const { features, hooksConfig } = value;
    const isOff =
      (isObject(features) && features['hooks'] === false) ||
      (isObject(hooksConfig) && hooksConfig['enabled'] === false);
    if (isOff) return [`${path} switches the feature hooks off: no hook is called.`];
    const disabled: unknown = isObject(hooksConfig) ? hooksConfig['disabled'] : undefined;
    const isOurs = Array.isArray(disabled) && disabled.includes(hooks.hookName);
    return isOurs ? [`${path} has ours among those that are disabled: they are not called.`] : [];
  });
}

function untrusted(id: ClientId, options: HookStatusOptions): readonly string[] {
  const state = id === 'codex' ? trustState(options) : undefined;
  if (state === undefined || isFailure(state) || state.untrusted.length === 0) return [];
  return [
    `Codex skips the hooks for ${state.untrusted.join(', ')}, because nobody has trusted them: review them in Codex by /hooks, or run \`sub import codex --trust-hooks\`.`,
  ];
}
