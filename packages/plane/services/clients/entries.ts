// One server of a config, whatever the client: what it starts, and where that stands.
import { isObject } from '@subluminal/contracts';
import { governedOf } from './govern.ts';
import { obstacleBehind, obstacleIn, serverOnlyIn } from './obstacles.ts';
import type { ServerEntry, ValuePath } from './types.ts';
import { variablesIn } from './variables.ts';

export type JsonObject = { readonly [name: string]: unknown };

/** Where servers stand in a document, by name. */
export interface Container {
  readonly path: ValuePath;
  readonly project?: string;
  /** Names that the client keeps switched off. */
  readonly off?: ReadonlySet<string>;
}

const REMOTE_TYPES: ReadonlySet<string> = new Set([
  'http',
  'sse',
  'streamable-http',
  'streamable_http',
  'streamableHttp',
  'ws',
  'websocket',
]);
const ADDRESS_KEYS: readonly string[] = ['url', 'serverUrl', 'httpUrl'];

export function entryOf(
  name: string,
  value: unknown,
  { path, project, off }: Container,
): ServerEntry {
  const own: ValuePath = [...path, name];
  const server = isObject(value) ? value : {};
  const { command, args, env, at } = commandIn(server, own);
  const started =
    typeof command === 'string' ? governedOf(command, isTexts(args) ? args : []) : undefined;
  const obstacle =
    typeof command === 'string'
      ? (obstacleIn(name, env) ??
        muddled(server, command) ??
        (started && obstacleBehind(started.serverOnly ?? [], env)))
      : undefined;
  const serverOnly = serverOnlyIn(env);
  return {
    name,
    ...(project === undefined ? {} : { project }),
    path: own,
    transport: transportOf(server, { command, args, obstacle }),
    ...(obstacle !== undefined && { obstacle }),
    isDisabled:
      server['disabled'] === true || server['enabled'] === false || off?.has(name) === true,
    at,
    command: typeof command === 'string' ? command : undefined,
    args: isTexts(args) ? args : undefined,
    // A shim that its own entry can switch off governs nothing.
    governed: obstacle === undefined ? started : undefined,
    ...(serverOnly.length > 0 && { serverOnly }),
    ...(typeof server['envFile'] === 'string' && { hasEnvFile: true as const }),
    ...(hasPath(env) && { hasOwnPath: true as const }),
    variables: variablesIn(command, args, server['env'], server['cwd']),
  };
}

interface Started {
  readonly command: unknown;
  readonly args: unknown;
  readonly env: unknown;
}

/** Older settings of Zed keep both in an object of their own: `{ command: { path, args } }`. */
function commandIn(server: JsonObject, own: ValuePath): Started & Pick<ServerEntry, 'at'> {
  const { command, args, env } = server;
  if (!isObject(command)) {
    return { command, args, env, at: { command: [...own, 'command'], args: [...own, 'args'] } };
  }
  const inner: ValuePath = [...own, 'command'];
  return {
    command: command['path'],
    args: command['args'],
    env: { ...(isObject(env) ? env : {}), ...(isObject(command['env']) ? command['env'] : {}) },
    at: { command: [...inner, 'path'], args: [...inner, 'args'] },
  };
}

function hasPath(env: unknown): boolean {
  return isObject(env) && Object.keys(env).some((name) => name.toUpperCase() === 'PATH');
}

/** Which of the two counts, clients don't agree on: some start the command. */
function muddled(server: JsonObject, command: string): string | undefined {
  if (command === '' || !isRemoteType(server) || hasAddress(server)) return undefined;
  return 'its type is that of an address, but it has a command and no address';
}

function isRemoteType({ type }: JsonObject): boolean {
  return typeof type === 'string' && REMOTE_TYPES.has(type);
}

function hasAddress(server: JsonObject): boolean {
  return ADDRESS_KEYS.some((key) => typeof server[key] === 'string');
}

/** Unknown is what we can't put a shim in front of, and don't know how the client reaches. */
function transportOf(
  server: JsonObject,
  { command, args, obstacle }: Omit<Started, 'env'> & { readonly obstacle: string | undefined },
): ServerEntry['transport'] {
  const isCommand = typeof command === 'string' && command !== '';
  if (isRemoteType(server) && !(isCommand && !hasAddress(server))) return 'remote';
  if (isCommand) {
    const isClear = obstacle === undefined && (args === undefined || isTexts(args));
    return isClear ? 'stdio' : 'unknown';
  }
  return hasAddress(server) ? 'remote' : 'unknown';
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}
