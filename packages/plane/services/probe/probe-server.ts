// Looks at a server as its shim would start or reach it: found by its name or given, with its secrets, and
// without the variables for shims.
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { createRedactor, type SecretValue } from '@subluminal/core/scan';
import type { Upstream } from '../../os/upstream/index.ts';
import {
  type LoadResult,
  loadConfig,
  secretSettings,
  userHome,
} from '../../stores/config/index.ts';
import { RUN_ENV_VARS, TOKEN_VAR } from '../../stores/runs/env-vars.ts';
import { type ResolvedSecrets, resolveBindings } from '../../stores/vault/index.ts';
import { connectRemote, type RemoteStart, readRemote } from '../remote-server/index.ts';
import { LINE_BYTES_MAX, type ServerListing } from './conversation.ts';
import { findServer } from './find-server.ts';
import { introspect, type ServerTask } from './introspect.ts';
import { introspectRemote } from './introspect-remote.ts';

export interface ProbeOptions {
  readonly server: string;
  /** Only this client's config; by its id or another word for it. */
  readonly client?: string | undefined;
  /** Instead of what a client would start. */
  readonly command?: readonly string[] | undefined;
  /** The same for a server that is reached by an address. */
  readonly remote?: RemoteStart | undefined;
  /** Connections for it, where not all addresses may be reached; it stays open. */
  readonly upstream?: Upstream | undefined;
  readonly env: { readonly [name: string]: string | undefined };
  /** An absolute path: the folder of the project. */
  readonly cwd: string;
  readonly timeoutMs: number;
  /** Of `sub`. */
  readonly version: string;
}

interface ProbeFailure extends Failure {
  /** The end of the server's standard error, its secrets taken out. */
  readonly said?: string;
}

export type ProbeResult =
  | {
      readonly kind: 'seen';
      readonly seen: ServerListing;
      /** Where its command was found; null when it was given. */
      readonly foundIn: { readonly client: string; readonly path: string } | null;
      readonly transport: 'stdio' | 'http' | 'sse';
    }
  | { readonly kind: 'interrupted'; readonly exitCode: number }
  | ProbeFailure;

/** More time helps only one that runs. */
const FIXES = {
  start: 'Correct its command, or give another one behind `--`.',
  ended: 'Run its command by hand, and look at what it says.',
  talk: 'Run its command by hand, or give it more time with --timeout.',
  remote:
    'Log in with `sub auth login` where it asks for that, correct its address or its headers, or give it more time with --timeout.',
} as const;

type ProbeConfig = Extract<LoadResult, { readonly ok: true }>;

const OURS: ReadonlySet<string> = new Set([...RUN_ENV_VARS, TOKEN_VAR]);

export async function probeServer(options: ProbeOptions): Promise<ProbeResult> {
  const { server, env, cwd } = options;
  const loaded = await loadConfig({ env, cwd });
  if (!loaded.ok) {
    return firstOf(loaded.problems.map(({ where, ...problem }) => ({ ...problem, what: where })));
  }
  const start = startFor(options, loaded);
  if (isFailure(start)) return start;
  const secrets = await secretsFor(server, start, loaded);
  if (secrets.problems.length > 0) {
    return firstOf(
      secrets.problems.map(({ secretRef, injectAs, code, message, fix }) => {
        const what = `secret \`${secretRef}\` for ${injectAs}`;
        return { code, what, message: message.replace(/\.$/, ''), fix };
      }),
    );
  }
  const { remote, transport, foundIn } = start;
  const known = { server, secrets, loaded, options };
  const { looked, values } = await (remote === undefined
    ? lookAtCommand(start.task, known)
    : lookAtAddress(remote, known));
  if (looked.kind === 'interrupted' || looked.kind === 'failure') return looked;
  if (looked.kind === 'failed') {
    const fix = FIXES[looked.stage];
    const { plain } = createRedactor({ extra: [], values });
    const said = plain(looked.said, { truncated: true });
    const message = `\`${server}\` ${plain(looked.why)}.`;
    return { ...failure('SUB_SERVER_LOOK', message, fix), said };
  }
  // What it shows would be written to a manifest, or to the pins.
  if (shows(looked.seen, values)) {
    const message = `\`${server}\` shows a secret that it was given, in its tools or instructions.`;
    return failure('SUB_SERVER_LOOK', message, 'Do not use this server; change the secret.');
  }
  return { kind: 'seen', seen: looked.seen, foundIn, transport };
}

interface LookContext {
  readonly server: string;
  readonly secrets: ResolvedSecrets;
  readonly loaded: ProbeConfig;
  readonly options: ProbeOptions;
}

async function lookAtCommand(task: ServerTask, { secrets, options }: LookContext) {
  const kept = Object.entries(secrets.serverEnv()).filter(([name]) => !OURS.has(name));
  const { timeoutMs, version } = options;
  const looked = await introspect({ ...task, env: Object.fromEntries(kept), timeoutMs, version });
  return { looked, values: secrets.secretValues() };
}

/** What speaks HTTP is loaded only for a server that needs it. */
async function lookAtAddress(start: RemoteStart, context: LookContext) {
  const { server, secrets, loaded, options } = context;
  const { timeoutMs, version } = options;
  const values = [...secrets.secretValues()];
  const remote = readRemote(start, secrets);
  if (isFailure(remote)) {
    const { code, message, fix } = remote;
    return { looked: failure(code, `\`${server}\`: ${message}`, fix), values };
  }
  values.push(...remote.secrets);
  const end = await connectRemote(remote, {
    ...loaded,
    serverName: server,
    env: secrets.serverEnv(),
    limits: {
      inspectBytesMax: LINE_BYTES_MAX,
      messageBytesMax: LINE_BYTES_MAX,
      orphanMs: timeoutMs,
    },
    upstream: options.upstream,
    onToken: (token) => void values.push(token),
    warn: () => undefined,
  });
  const seen = await introspectRemote(end, { timeoutMs, version });
  if ('why' in seen) {
    const stage = 'remote' as const;
    return { looked: { kind: 'failed' as const, why: seen.why, stage, said: '' }, values };
  }
  const { warning } = remote;
  const notes = warning === undefined ? seen.notes : [...seen.notes, `${warning}.`];
  return { looked: { kind: 'seen' as const, seen: { ...seen, notes } }, values };
}

/** The first thing that is wrong, with its own code and fix. */
function firstOf([first, ...rest]: readonly (Omit<Failure, 'kind'> & { what: string })[]): Failure {
  if (first === undefined) throw new Error('what failed has a problem');
  const { code, what, message, fix } = first;
  const more = rest.length === 0 ? '' : ` (${rest.length} more: see \`sub doctor\`.)`;
  return failure(code, `${what}: ${message}.`, `${fix}${more}`);
}

interface ProbeStart {
  readonly task: ServerTask;
  /** In place of a command. */
  readonly remote?: RemoteStart;
  readonly transport: Extract<ProbeResult, { kind: 'seen' }>['transport'];
  readonly foundIn: Extract<ProbeResult, { kind: 'seen' }>['foundIn'];
}

function startFor(options: ProbeOptions, { paths }: ProbeConfig): ProbeStart | Failure {
  const { server, client, command = [], remote: given, env, cwd } = options;
  const [program, ...args] = command;
  if (given !== undefined) {
    const task = { command: '', args: [], env, cwd };
    return { task, remote: given, foundIn: null, transport: transportOf(given) };
  }
  if (program !== undefined) {
    return { task: { command: program, args, env, cwd }, foundIn: null, transport: 'stdio' };
  }
  const found = findServer({ server, client, place: { env, project: cwd, paths } });
  if (isFailure(found)) return found;
  const [own = '', ...rest] = found.words;
  const task = { command: own, args: rest, env: { ...env, ...found.env }, cwd: found.cwd };
  const { remote } = found;
  const foundIn = { client: found.client, path: found.path };
  if (remote === undefined) return { task, foundIn, transport: 'stdio' };
  return { task, remote, foundIn, transport: transportOf(remote) };
}

function transportOf({ transport }: RemoteStart): 'sse' | 'http' {
  return transport === 'sse' ? 'sse' : 'http';
}

function secretsFor(
  serverName: string,
  { task: { command, args, env, cwd }, remote }: ProbeStart,
  { servers, paths, config }: ProbeConfig,
): Promise<ResolvedSecrets> {
  return resolveBindings({
    serverName,
    ...(remote === undefined ? { command: [command, ...args] } : { url: remote.url }),
    ...(cwd !== undefined && { cwd }),
    servers,
    env,
    home: paths.home,
    userHome: userHome(env),
    settings: secretSettings(config),
  });
}

/** Whether the server's listing holds one of its secrets, in any encoding. */
function shows(seen: ServerListing, values: readonly SecretValue[]): boolean {
  if (values.length === 0) return false;
  const text = JSON.stringify(seen);
  const known = createRedactor({ extra: [], values: [] });
  const all = createRedactor({ extra: [], values });
  return all.plain(text) !== known.plain(text);
}
