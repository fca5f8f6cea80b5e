// Reads one server of a config of any client: what it starts, and where that stands.
import { definedFields, isObject } from '@subluminal/contracts';
import { hasAddress, isRemoteType, REMOTE_KEYS, readRemote } from './remote-entries.ts';
import { readShimCommand } from './shim-command.ts';
import type { RemoteKeys, ServerEntry, ValuePath } from './types.ts';
import { variablesIn } from './variables.ts';

export type JsonObject = { readonly [name: string]: unknown };

/** Where servers stand in a document, by name. */
export interface ServerContainer {
  readonly path: ValuePath;
  readonly project?: string;
  /** Names that the client keeps switched off. */
  readonly off?: ReadonlySet<string>;
  /** How the client writes a server with an address, if not as most do. */
  readonly remoteKeys?: RemoteKeys;
}

export function readEntry(
  name: string,
  value: unknown,
  { path, project, off, remoteKeys = REMOTE_KEYS }: ServerContainer,
): ServerEntry {
  const own: ValuePath = [...path, name];
  const server = isObject(value) ? value : {};
  const { command, args, env, at } = commandIn(server, own);
  const started =
    typeof command === 'string' ? readShimCommand(command, isTexts(args) ? args : []) : undefined;
  const isByAddress = remoteKeys.winsOverCommand === true && hasAddress(server);
  const barred =
    typeof command === 'string' && !isByAddress
      ? (obstacleIn(name, env) ??
        conflictingType(server, command) ??
        (started && obstacleBehind(started.serverOnly ?? [], env)))
      : undefined;
  const transport = isByAddress
    ? 'remote'
    : transportOf(server, { command, args, obstacle: barred });
  const read = transport === 'remote' ? readRemote(server, own, remoteKeys) : undefined;
  const obstacle =
    transport === 'remote'
      ? (obstacleIn(name, undefined) ?? (typeof read === 'string' ? read : undefined))
      : barred;
  const serverOnly = transport === 'remote' ? [] : serverOnlyIn(env);
  return {
    name,
    ...definedFields({ project, obstacle }),
    path: own,
    transport,
    ...(typeof read === 'object' && obstacle === undefined && { remote: read }),
    isDisabled:
      server['disabled'] === true || server['enabled'] === false || off?.has(name) === true,
    at,
    command: typeof command === 'string' ? command : undefined,
    args: isTexts(args) ? args : undefined,
    // A shim that its own entry can switch off governs nothing.
    governed: obstacle === undefined && transport !== 'remote' ? started : undefined,
    ...(serverOnly.length > 0 && { serverOnly }),
    ...(typeof server['envFile'] === 'string' && { hasEnvFile: true as const }),
    ...(hasPath(env) && { hasOwnPath: true as const }),
    variables:
      typeof read === 'object'
        ? variablesIn(read.url, server[remoteKeys.headers])
        : variablesIn(command, args, server['env'], server['cwd']),
  };
}

type StartedCommand = { readonly [part in 'command' | 'args' | 'env']: unknown };

/** Older settings of Zed keep both in an object of their own: `{ command: { path, args } }`. */
function commandIn(server: JsonObject, own: ValuePath): StartedCommand & Pick<ServerEntry, 'at'> {
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

/** Clients do not agree on which of the two counts: some start the command. */
function conflictingType(server: JsonObject, command: string): string | undefined {
  if (command === '' || !isRemoteType(server) || hasAddress(server)) return undefined;
  return 'its type is that of an address, but it has a command and no address';
}

/** Unknown: no shim can stand in front of it, and we do not know how the client reaches it. */
function transportOf(
  server: JsonObject,
  {
    command,
    args,
    obstacle,
  }: Omit<StartedCommand, 'env'> & { readonly obstacle: string | undefined },
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

// Obstacles: why a shim cannot stand in front of a server, or cannot be trusted there.

/** What a shim takes; it would refuse to start under a name that is longer. */
const NAME_LENGTH_MAX = 256;
/** The environment of an entry is that of its shim too: these would change or replace the shim. */
const HAZARDS: readonly RegExp[] = [
  /^(?:SUB_.*|HOME|USERPROFILE|LD_.*|DYLD_.*|NAPI_RS_.*)$/,
  // What the runtime of the shim loads, writes or believes.
  /^NODE_(?:OPTIONS|PATH|EXTRA_CA_CERTS|TLS_.*|USE_ENV_PROXY|USE_SYSTEM_CA|DEBUG|DEBUG_NATIVE|V8_COVERAGE|COMPILE_CACHE|REDIRECT_WARNINGS|REPL_EXTERNAL_MODULE|PRESERVE_SYMLINKS.*|CHANNEL_.*|UNIQUE_ID)$/,
  /^(?:OPENSSL_(?:CONF|MODULES|ENGINES)|SSL_CERT_.*|HOSTALIASES|LOCALDOMAIN|RES_OPTIONS)$/,
  // Where it asks for secrets, and whose token it sends there.
  /^(?:VAULT_.*|OP_CONNECT_.*)$/,
];
/** Who acts, as the policy knows it: what CI systems and clusters tell their jobs. */
const IDENTITY: readonly RegExp[] = [
  /^(?:CI|CI_(?:JOB_ID|PROJECT_PATH|MERGE_REQUEST_SOURCE_BRANCH_NAME|COMMIT_REF_NAME))$/,
  /^GITHUB_(?:ACTIONS|RUN_ID|REPOSITORY|HEAD_REF|REF_NAME|ACTOR)$/,
  /^(?:GITLAB_(?:CI|USER_LOGIN)|CIRCLECI|CIRCLE_(?:WORKFLOW_JOB_ID|BUILD_NUM|REPOSITORY_URL|BRANCH|TAG|USERNAME))$/,
  /^BUILDKITE(?:_(?:JOB_ID|REPO|BRANCH|BUILD_CREATOR))?$/,
  /^(?:JENKINS_URL|BUILD_(?:TAG|ID|USER_ID)|GIT_(?:URL|BRANCH)|CHANGE_(?:BRANCH|AUTHOR)|BRANCH_NAME)$/,
  /^(?:TF_BUILD|SYSTEM_(?:JOBID|PULLREQUEST_SOURCEBRANCH)|BUILD_(?:BUILDID|REPOSITORY_NAME|SOURCEBRANCH|REQUESTEDFOR))$/,
  /^BITBUCKET_(?:BUILD_NUMBER|STEP_UUID|REPO_FULL_NAME|BRANCH|TAG|STEP_TRIGGERER_UUID)$/,
  /^TRAVIS(?:_(?:JOB_ID|REPO_SLUG|PULL_REQUEST_BRANCH|BRANCH))?$/,
  /^(?:KUBERNETES_SERVICE_HOST|POD_NAME|HOSTNAME)$/,
];
/** Options that people do set, and that load no code. */
const HARMLESS_OPTIONS =
  /^(?:--(?:max-old-space-size|max-semi-space-size|stack-trace-limit)=\d+|--(?:no-warnings|no-deprecation|trace-warnings|enable-source-maps))(?:\s+|$)/;

/**
 * The variables of an entry that would tell its shim who acts. A shim that gets their names with
 * `--server-env` hands them to the server alone.
 */
export function serverOnlyIn(env: unknown): readonly string[] {
  const names = isObject(env) ? Object.keys(env) : [];
  return names.filter((name) => IDENTITY.some((one) => one.test(name.toUpperCase()))).toSorted();
}

/** Words without a full stop; undefined when there is no obstacle. */
export function obstacleIn(name: string, env: unknown): string | undefined {
  if (name === '') return 'it has no name';
  if (name.length > NAME_LENGTH_MAX) return 'its name is too long';
  // Clients expand variables in arguments: it would run under another name than policies know.
  if (/\$[\w{]/.test(name) || name.includes('\0')) return 'its name cannot be handed on';
  const names = isObject(env) ? Object.keys(env).filter((one) => isHazard(one, env[one])) : [];
  if (names.length === 0) return undefined;
  const first = names[0] ?? '';
  return `its env sets ${names.join(', ')}, which would act on the shim: if the server needs that, let its command set it (\`env ${first}=VALUE COMMAND\`, or a script)`;
}

function isHazard(name: string, value: unknown): boolean {
  const upper = name.toUpperCase();
  if (!HAZARDS.some((one) => one.test(upper))) return false;
  return name !== 'NODE_OPTIONS' || typeof value !== 'string' || !areHarmless(value);
}

function areHarmless(options: string): boolean {
  let rest = options.trim();
  while (rest !== '') {
    const [word] = HARMLESS_OPTIONS.exec(rest) ?? [];
    if (word === undefined) return false;
    rest = rest.slice(word.length);
  }
  return true;
}

/** The same, for an entry whose shim knows these variables by `--server-env`. */
export function obstacleBehind(known: readonly string[], env: unknown): string | undefined {
  const names = serverOnlyIn(env).filter((name) => !known.includes(name));
  if (names.length === 0) return undefined;
  return `its env sets ${names.join(', ')}, which would tell its shim who acts: \`sub import\` makes ${names.length === 1 ? 'that' : 'those'} the server's alone`;
}
