// A server behind `sub serve`: what is made once for all of its sessions, and the way to it that each session has alone.
import { type Failure, isFailure, type Producer } from '@subluminal/contracts';
import type { SecretValue } from '@subluminal/core/scan';
import type { ServerExit } from '@subluminal/core/session';
import { secretSettings, userHome } from '../../../stores/config/index.ts';
import { RUN_ENV_VARS, TOKEN_VAR } from '../../../stores/runs/env-vars.ts';
import {
  formatSecretFailure,
  type ResolvedSecrets,
  resolveBindings,
} from '../../../stores/vault/index.ts';
import {
  type GrowingRedactor,
  growingRedactor,
  loadRedactor,
} from '../../../stores/vault/load-redactor.ts';
import type { SessionParts } from '../../governor/governed-session.ts';
import type { LoadedSettings } from '../../governor/session-settings.ts';
import type { EraMemory } from '../../transports/bridge/index.ts';
import {
  openServer,
  type RunningServer,
  spawnServer,
  supervise,
} from '../../transports/stdio/index.ts';
import type { ServerEnd } from '../../transports/types.ts';
import type { Principal } from '../auth/types.ts';
import type { CommandServer, ServerEntry } from '../config/serve-config.ts';
import { RemoteWay, remoteHeaders } from './remote-way.ts';

export interface ServerSurroundings {
  readonly env: { readonly [name: string]: string | undefined };
  readonly loaded: LoadedSettings;
  readonly limits: SessionParts['limits'];
  readonly warn: (text: string) => void;
  /** Which variables of `env` processes inherit, besides those that are meant for them; all unless given. */
  readonly inherits?: (name: string) => boolean;
  /** The stderr of processes is dropped. */
  readonly isQuiet?: boolean;
}

export interface ServerCaller {
  readonly producer: Producer;
  readonly principal: Principal;
  /** The token that the principal has shown last in its session. */
  readonly token: () => string | undefined;
  /** Hears every token that is used for this caller, so that it can be redacted. */
  readonly onToken: (token: SecretValue) => void;
}

export interface ServedServer {
  readonly entry: ServerEntry;
  readonly secrets: ResolvedSecrets;
  /** All that is kept from agents and records. */
  readonly secretValues: readonly SecretValue[];
  /** Takes secrets out of what one session records. */
  readonly redaction: () => GrowingRedactor;
  /** The environment that its processes get. */
  readonly env: { readonly [name: string]: string };
  readonly eras: EraMemory;
  /** A way of one session to it; a text says why there is none. */
  connect(caller: ServerCaller): Promise<ServerEnd | string>;
  /** What its sessions have shared. */
  close(): Promise<void>;
}

/** The business of this process alone. */
const OURS: ReadonlySet<string> = new Set([...RUN_ENV_VARS, TOKEN_VAR]);
/** Pipes that a grandchild holds open do not keep a dead server alive for longer. */
const CLOSED_MS = 1_000;

/** Makes a server ready; a text says what it lacks, and a failure concerns all servers. */
export async function prepareServer(
  entry: ServerEntry,
  around: ServerSurroundings,
): Promise<ServedServer | string | Failure> {
  const { loaded, warn } = around;
  const { config } = loaded;
  const secrets = await secretsOf(entry, around);
  const problems = secrets.problems.map(formatSecretFailure);
  const headers = entry.kind === 'remote' ? remoteHeaders(entry, secrets) : undefined;
  // A header without its secret says nothing more than the secret does.
  const lacking = problems.join(' ');
  if (isFailure(headers)) return lacking === '' ? `${headers.message} [${headers.code}]` : lacking;
  if (lacking !== '' && config.profile === 'production') return lacking;
  for (const problem of problems) warn(problem);
  const values = [...secrets.secretValues(), ...(headers?.secrets ?? [])];
  const patterns = config['redact.extra_patterns'];
  const redactor = await loadRedactor(patterns, values);
  if (isFailure(redactor)) return redactor;
  const newRedaction = () => growingRedactor(redactor, { patterns, values });
  const shared = newRedaction();
  // Where each caller has tokens of its own, there may be more than one redactor can know.
  const isByCaller = entry.kind === 'remote' && entry.login === 'caller';
  const meant = new Set(secrets.injected.map(({ inject_as }) => inject_as));
  for (const name of Object.keys(entry.kind === 'command' ? entry.env : {})) meant.add(name);
  const isKept = (name: string): boolean =>
    !OURS.has(name) && (meant.has(name) || around.inherits?.(name) !== false);
  const kept = Object.entries(secrets.serverEnv()).flatMap(([name, value]) =>
    isKept(name) && value !== undefined ? [[name, value] as const] : [],
  );
  const env = Object.fromEntries(kept);
  const made = {
    entry,
    secrets,
    secretValues: values,
    redaction: isByCaller ? newRedaction : () => shared,
    env,
    eras: { isLegacy: false },
  };
  if (entry.kind === 'command') {
    const connect = ({ producer }: ServerCaller) => spawned(entry, { ...around, env, producer });
    return { ...made, connect, close: () => Promise.resolve() };
  }
  const way = new RemoteWay(entry, { ...around, onToken: shared.add }, headers?.headers ?? []);
  return { ...made, connect: async (caller) => way.connect(caller), close: () => way.close() };
}

function secretsOf(
  entry: ServerEntry,
  { env, loaded }: ServerSurroundings,
): Promise<ResolvedSecrets> {
  const { servers, paths, config } = loaded;
  const isCommand = entry.kind === 'command';
  return resolveBindings({
    serverName: entry.name,
    ...(isCommand ? { command: entry.command, cwd: entry.cwd } : { url: entry.url }),
    servers,
    env: isCommand ? { ...env, ...entry.env } : env,
    home: paths.home,
    userHome: userHome(env),
    settings: secretSettings(config),
  });
}

/** A process of its own for a session, which ends with it. */
async function spawned(
  { command: [command = '', ...args], cwd }: CommandServer,
  around: Pick<ServerSurroundings, 'limits' | 'isQuiet'> & {
    readonly env: { readonly [name: string]: string };
    readonly producer: Producer;
  },
): Promise<ServerEnd | string> {
  const { limits, env, producer, isQuiet } = around;
  const { graceMs, termMs, ...frames } = limits;
  const { shim_id: shimId } = producer.source;
  const times = { graceMs, termMs };
  const started = await spawnServer({ command, args, env, cwd, shimId, isQuiet, times });
  if (started.kind === 'failed') return started.message;
  const { server } = started;
  const transport = openServer(server, frames);
  const closeInput = (): void => transport.end();
  const supervisor = supervise({ server, ...times, closeInput, isOneOfMany: true });
  return {
    transport,
    gone: exitOf(server),
    close: async () => {
      supervisor.stop({ kind: 'asked', exitCode: 0 });
      await supervisor.done;
    },
  };
}

/** After the last of its output, where that ends soon. */
function exitOf({ child }: RunningServer): Promise<ServerExit> {
  return new Promise((resolve) => {
    const settle = (): void => {
      const { exitCode: code, signalCode: signal } = child;
      resolve({
        started: true,
        ...(code !== null && { code }),
        ...(signal !== null && { signal }),
      });
    };
    const exited = (): void => void setTimeout(settle, CLOSED_MS).unref();
    if (child.exitCode !== null || child.signalCode !== null) exited();
    child.once('exit', exited);
    child.once('close', settle);
  });
}
