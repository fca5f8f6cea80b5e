// From a command line to a shim whose server runs: all that decides whether the server may start, and nothing else.
import { type Failure, isFailure, type Producer } from '@subluminal/contracts';
import type { Redactor, SecretValue } from '@subluminal/core/scan';
import type { ShimStart } from '../services/clients/inspect/loose-entries.ts';
import type { GatesLifecycleOptions } from '../services/governor/gates-lifecycle.ts';
import { readyPolicy } from '../services/governor/policy-start.ts';
import { awaitRunHub, callRunHub, folderOpenToOthers } from '../services/governor/run-hub.ts';
import type { ShimServer } from '../services/governor/run-shim.ts';
import { manifestFor } from '../services/governor/server-manifest.ts';
import { type AgentHub, agentHub } from '../services/hooks/agent-hub.ts';
import type { RemoteStart } from '../services/remote-server/index.ts';
import type { BatchingSink } from '../services/sink/index.ts';
import { type SpawnResult, spawnServer, supervise } from '../services/transports/stdio/index.ts';
import {
  type Config,
  ensurePrivateFolder,
  formatConfigFailure,
  type LoadResult,
  loadConfig,
  secretSettings,
  userHome,
} from '../stores/config/index.ts';
import { type Identified, identify } from '../stores/identity/index.ts';
import { policyFailureText } from '../stores/policy/watch-policy.ts';
import { withAgentFile } from '../stores/runs/agent-file.ts';
import { RUN_ENV_VARS, TOKEN_VAR } from '../stores/runs/env-vars.ts';
import {
  formatSecretFailure,
  type ResolvedSecrets,
  resolveBindings,
} from '../stores/vault/index.ts';

export interface ShimOptions {
  readonly serverName: string;
  /** What starts the server; empty for one that is reached by an address. */
  readonly command: string;
  readonly args: readonly string[];
  readonly remote?: RemoteStart | undefined;
  readonly env: { readonly [name: string]: string | undefined };
  readonly cwd: string;
  /** What the command line gave, by the names of the flags. */
  readonly flags: { readonly [flag: string]: string | undefined };
  /** The same as it was typed, for comparing it with what `sub import` writes. */
  readonly started: ShimStart;
}

type StartedShim =
  | { readonly ok: true; readonly exitCode: number }
  | { readonly ok: false; readonly message: string };

const SERVER_NAME_LENGTH_MAX = 256;
/** What is said to the shim alone: a server has no business with the run, the hub or the ledger. */
const OURS: ReadonlySet<string> = new Set([...RUN_ENV_VARS, TOKEN_VAR]);

/** Runs a shim to its end. A fault before the first byte is returned, not thrown. */
export async function startShim(given: ShimOptions): Promise<StartedShim> {
  const { env, problem: unknownRun, warning } = await runOf(given);
  if (warning !== undefined) warn(warning);
  const hub = unknownRun === undefined ? await agentHub({ ...given, env }) : undefined;
  if (hub !== undefined && hub.ignored.length > 0) warn(ignoredWords(hub));
  const options = { ...given, env: hub?.env ?? env };
  const { serverName, cwd, flags } = options;
  if (serverName.length > SERVER_NAME_LENGTH_MAX) {
    return refused(`a server name has at most ${SERVER_NAME_LENGTH_MAX} characters`);
  }
  const loaded = await loadConfig({ env: options.env, flags, cwd });
  if (!loaded.ok) return refused(loaded.problems.map(formatConfigFailure).join('\n'));
  const { config, paths } = loaded;
  for (const text of loaded.warnings) warn(text);
  const folders = [paths.home, paths.run, paths.spool].map(ensurePrivateFolder);
  const problem = folders.find((one) => one !== undefined);
  const { profile } = config;
  if (problem !== undefined && profile === 'production')
    return refused(`${problem.message} ${problem.fix} [${problem.code}]`);
  if (unknownRun !== undefined && profile === 'production') return refused(unknownRun);
  if (unknownRun !== undefined) warn(unknownRun);
  const ended = await run(options, loaded, hub);
  return typeof ended === 'string' ? refused(ended) : { ok: true, exitCode: ended };
}

interface RunEnvironment {
  readonly env: ShimOptions['env'];
  /** The run may have a policy that we do not have. */
  readonly problem?: string;
  readonly warning?: string;
}

/** Clients may start their servers with almost no environment; the run is found all the same. */
async function runOf({ env, flags }: ShimOptions): Promise<RunEnvironment> {
  const id = flags['wrap'];
  if (id === undefined) return withAgentFile(env);
  const { withWrapFile } = await import('../stores/runs/session-env.ts');
  const wrapped = await withWrapFile(env, id);
  return wrapped.isLive ? wrapped : { ...wrapped, ...withAgentFile(wrapped.env) };
}

type LoadedConfig = Extract<LoadResult, { readonly ok: true }>;

function identifyShim(
  { env, cwd, flags }: ShimOptions,
  { config, paths }: LoadedConfig,
): Identified {
  const serverOnly = flags['server-env']?.split(',') ?? [];
  const { profile } = config;
  const nowMs = Date.now();
  return identify({ env, serverOnly, cwd, paths, nowMs, profile, isShim: true });
}

/** For a shim that takes part in a run and then cannot start, or has recorded its end. */
function giveUpPlace({ leave, release }: Identified): void {
  leave();
  release();
}

/** Runs it; a text says why the server must not start. The server comes last: a fault before it leaves nothing behind. */
async function run(
  options: ShimOptions,
  loaded: LoadedConfig,
  hub: AgentHub | undefined,
): Promise<number | string> {
  // It answers while all else gets ready.
  const reaching = callHub(options, loaded, hub);
  const ended = await startServer(reaching, options, loaded);
  if (typeof ended !== 'string') return ended;
  const reach = await reaching;
  if (typeof reach === 'object') reach.drop();
  return ended;
}

/** The hub of the run, or of the agent's hooks. */
async function callHub(
  options: ShimOptions,
  { config }: LoadedConfig,
  hub: AgentHub | undefined,
): ReturnType<typeof callRunHub> {
  const why = await hub?.start();
  if (why === undefined) return callRunHub(options, config, warn);
  const problem = `the hub that this server shares with the hooks of its agent cannot be started: ${why} [SUB_HUB_DOWN]`;
  if (config.profile === 'production') return problem;
  warn(`${problem}; we go on without it`);
  return undefined;
}

function ignoredWords({ ignored }: AgentHub): string {
  return `an agent with hooks has its settings from config.toml, and these variables do not count: ${ignored.join(', ')}`;
}

/**
 * Reads all that decides whether the server may start, and starts it. What a session needs besides is loaded while
 * the server starts.
 */
async function startServer(
  reaching: ReturnType<typeof callRunHub>,
  options: ShimOptions,
  loaded: LoadedConfig,
): Promise<number | string> {
  const { config } = loaded;
  const { profile } = config;
  const heard = warningsLater();
  const policy = await readyPolicy(options, loaded, heard.warn);
  if (isFailure(policy)) return [...heard.texts, policyFailureText(policy)].join('\n');
  const way = await wayToServer(options, loaded);
  if (typeof way === 'string') return way;
  const sink = await sinkThatMayFail(options, loaded);
  if (typeof sink === 'string') return sink;
  const hub = await awaitRunHub(reaching, { ...options, ...loaded, warn });
  if (typeof hub === 'string') return hub;
  heard.tell();
  // As late as can be: who takes part in a run and then does not start leaves it without its start.
  const identified = identifyShim(options, loaded);
  for (const warning of identified.warnings) warn(warning);
  const { producer, problem } = identified;
  if (problem !== undefined && profile === 'production') {
    giveUpPlace(identified);
    return problem;
  }
  hub?.use(producer);
  if (hub === undefined && config['cedar.policies'] !== null) warn(unasked(config));
  const found = await manifestFor({
    folder: config['surface.manifests'],
    server: options.serverName,
    profile,
  });
  if (found.refusal !== undefined) {
    giveUpPlace(identified);
    return found.refusal;
  }
  if (found.warning !== undefined) warn(found.warning);
  const server = way.open(producer);
  const { manifest } = found;
  let ended: number | string | undefined;
  try {
    const { runStarted } = await import('./run-started-shim.ts');
    ended = await runStarted({
      options,
      loaded,
      policy,
      way,
      sink,
      hub,
      identified,
      manifest,
      server,
      warn,
    });
    return ended;
  } finally {
    if (typeof ended !== 'number') await endUngoverned(server);
    giveUpPlace(identified);
  }
}

/** A server that nobody governs must not run. */
async function endUngoverned(starting: Promise<ShimServer>): Promise<void> {
  const server = await starting;
  if ('transport' in server) await server.close();
  else if (server.kind === 'started') {
    // At once, and until nothing of it is left: one blow may miss what is forked meanwhile.
    const times = { graceMs: 0, termMs: 0, drainMs: 0 };
    const supervisor = supervise({ server: server.server, ...times, isOneOfMany: true });
    supervisor.stop({ kind: 'asked', exitCode: 1 });
    await supervisor.done;
  }
}

/** Where events go, if that may fail; the way to a ledger is opened while the server starts. */
async function sinkThatMayFail(
  { env }: ShimOptions,
  loaded: LoadedConfig,
): Promise<BatchingSink | string | undefined> {
  const { config } = loaded;
  if (config['events.sink'].kind === 'ledger') {
    return folderOpenToOthers(config['ledger.socket'], config);
  }
  const { openEventSink } = await import('../services/governor/session-settings.ts');
  return openEventSink(env, loaded, warn);
}

export interface WayToServer {
  /** Undefined where nothing but known formats is redacted: that redactor cannot fail. */
  readonly redaction: Pick<Redactor, 'plain' | 'isClean'> | undefined;
  /** All secrets that go this way. */
  readonly kept: Pick<GatesLifecycleOptions, 'secrets' | 'learned'>;
  readonly injected: ResolvedSecrets['injected'];
  /** Starts the server, or reaches for it. */
  readonly open: (producer: Producer) => Promise<ShimServer>;
}

/** How the server is started or reached, and what must be redacted for that. */
async function wayToServer(
  options: ShimOptions,
  loaded: LoadedConfig,
): Promise<WayToServer | string> {
  const secrets = await secretsFor(options, loaded);
  if (typeof secrets === 'string') return secrets;
  if (options.remote !== undefined)
    return wayToRemote(options.remote, secrets, { options, loaded });
  const { injected } = secrets;
  const values = secrets.secretValues();
  const patterns = loaded.config['redact.extra_patterns'];
  const isPlain = values.length === 0 && patterns.length === 0;
  const redaction = isPlain ? undefined : await redactorOf(patterns, values);
  if (isFailure(redaction)) return failureText(redaction);
  const open = (producer: Producer) => spawn(options, loaded.config, { producer, secrets });
  return { redaction, kept: { secrets: values }, injected, open };
}

async function wayToRemote(
  start: RemoteStart,
  secrets: ResolvedSecrets,
  { options, loaded }: { readonly options: ShimOptions; readonly loaded: LoadedConfig },
): Promise<WayToServer | string> {
  const { connectRemote, readRemote } = await import('../services/remote-server/index.ts');
  const { growingRedactor } = await import('../stores/vault/load-redactor.ts');
  const { sessionLimits } = await import('../services/governor/session-settings.ts');
  const remote = readRemote(start, secrets);
  if (isFailure(remote)) return failureText(remote);
  if (remote.warning !== undefined) warn(remote.warning);
  const values = [...secrets.secretValues(), ...remote.secrets];
  const patterns = loaded.config['redact.extra_patterns'];
  const redactor = await redactorOf(patterns, values);
  if (isFailure(redactor)) return failureText(redactor);
  const redaction = growingRedactor(redactor, { patterns, values });
  const limits = sessionLimits(loaded.config);
  const open = () =>
    connectRemote(remote, { ...options, ...loaded, limits, warn, onToken: redaction.add });
  const { learned } = redaction;
  return { redaction, kept: { secrets: values, learned }, injected: secrets.injected, open };
}

async function redactorOf(
  patterns: readonly string[],
  values: readonly SecretValue[],
): Promise<Redactor | Failure> {
  const { loadRedactor } = await import('../stores/vault/load-redactor.ts');
  return loadRedactor(patterns, values);
}

function failureText({ message, fix, code }: Failure): string {
  return `${message} ${fix} [${code}]`;
}

/** The secrets of this server; in production it does not start without one of them. */
async function secretsFor(
  { serverName, command, args, env, cwd, remote }: ShimOptions,
  { servers, paths, config }: LoadedConfig,
): Promise<ResolvedSecrets | string> {
  const secrets = await resolveBindings({
    serverName,
    command: [command, ...args],
    ...(remote !== undefined && { url: remote.url }),
    cwd,
    servers,
    env,
    home: paths.home,
    userHome: userHome(env),
    settings: secretSettings(config),
  });
  const problems = secrets.problems.map(formatSecretFailure);
  if (problems.length > 0 && config.profile === 'production') return problems.join('\n');
  for (const problem of problems) warn(problem);
  return secrets;
}

/** Only the hub of a run asks Cedar policies. */
function unasked({ profile }: Config): string {
  const then = profile === 'production' ? 'no call will pass' : 'calls pass without them';
  return `Cedar policies are configured, but this server has no run that asks them, so ${then}: start the agent with \`sub run\` or \`sub wrap\``;
}

function spawn(
  { command, args, cwd }: ShimOptions,
  config: Config,
  { producer, secrets }: { readonly producer: Producer; readonly secrets: ResolvedSecrets },
): Promise<SpawnResult> {
  const times = {
    graceMs: config['shutdown.grace_ms'],
    termMs: config['shutdown.term_grace_ms'],
  };
  const kept = Object.entries(secrets.serverEnv()).filter(([name]) => !OURS.has(name));
  const env = Object.fromEntries(kept);
  return spawnServer({ command, args, env, cwd, shimId: producer.source.shim_id, times });
}

/** Warnings of a policy say what holds in a server that starts: whether it does is known later. */
function warningsLater() {
  const texts: string[] = [];
  const tell = (): void => {
    for (const text of texts) warn(text);
  };
  return { texts, warn: (text: string) => void texts.push(text), tell };
}

const warn = (text: string): boolean => process.stderr.write(`sub: ${text}\n`);

function refused(message: string): StartedShim {
  return { ok: false, message };
}
