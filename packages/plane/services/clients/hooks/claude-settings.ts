// Settings of Claude Code as they are given on its command line, and the hooks in its files.
import { resolve } from 'node:path';
import { type Failure, failure, isObject } from '@subluminal/contracts';
import { readRegularFile } from '../../../os/index.ts';

export type SettingsObject = { readonly [key: string]: unknown };

const BYTES_MAX = 1_048_576;

/** `--settings` takes a file or the JSON itself. */
export function readSettings(value: string, cwd: string): SettingsObject | Failure {
  const isJson = value.trimStart().startsWith('{');
  const path = resolve(cwd, value);
  const text = isJson ? value : textOf(path);
  const settings = text === undefined ? undefined : parsed(text);
  if (settings !== undefined) return settings;
  const what = isJson ? 'the JSON behind --settings' : path;
  const message = `${what} cannot be read, so that hooks could be put beside it.`;
  return failure('SUB_CLIENT_HOOKS', message, 'Correct it, or leave --settings out.');
}

function textOf(path: string): string | undefined {
  const read = readRegularFile(path, { bytesMax: BYTES_MAX });
  return read.kind === 'read' ? read.bytes.toString('utf8') : undefined;
}

function parsed(text: string): SettingsObject | undefined {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The first file with hooks or plugins that may answer a question to the user; the first answer counts, also
 * against other hooks. A file that cannot be read may hold some.
 */
export function answererIn(paths: readonly string[]): string | undefined {
  return paths.find((path) => {
    const read = readRegularFile(path, { bytesMax: BYTES_MAX });
    if (read.kind === 'missing') return false;
    const settings = read.kind === 'read' ? parsed(read.bytes.toString('utf8')) : undefined;
    if (settings === undefined) return true;
    const { hooks, enabledPlugins } = settings;
    const hasHooks = isObject(hooks) && listOf(hooks['PermissionRequest']).length > 0;
    return hasHooks || (isObject(enabledPlugins) && Object.keys(enabledPlugins).length > 0);
  });
}

/** The addresses that the user's own hooks are sent to, and the variables that these get. */
export interface HttpHooks {
  readonly urls: readonly unknown[];
  readonly variables: readonly unknown[];
}

/**
 * We have to name the addresses that hooks may be sent to, or a project could leave ours out. Where the
 * user names none, all are allowed: then those of the other hooks are named as well, and go on.
 */
export function httpHooks(paths: readonly string[], given: SettingsObject): HttpHooks {
  const files = paths.map((path) => {
    const text = textOf(path);
    return (text === undefined ? undefined : parsed(text)) ?? {};
  });
  const all: readonly SettingsObject[] = [...files, given];
  const handlers = all.flatMap(handlersIn).filter((one) => one['type'] === 'http');
  const isNamed = (key: string) => all.some((one) => Array.isArray(one[key]));
  return {
    urls: isNamed('allowedHttpHookUrls') ? [] : handlers.map(({ url }) => url),
    variables: isNamed('httpHookAllowedEnvVars')
      ? []
      : handlers.flatMap((one) => listOf(one['allowedEnvVars'])),
  };
}

function handlersIn({ hooks }: SettingsObject): readonly SettingsObject[] {
  const events = isObject(hooks) ? Object.values(hooks) : [];
  return events
    .flatMap(listOf)
    .flatMap((group) => (isObject(group) ? listOf(group['hooks']) : []))
    .filter((one) => isObject(one));
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
