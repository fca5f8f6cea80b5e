// From a command line to a running shim: configuration, identity, policy and server, side by side.
import { type Failure, isFailure, type Producer } from '@subluminal/contracts';
import { identityOf } from '@subluminal/core/policy';
import type { Redactor } from '@subluminal/core/scan';
import type { ShimStart } from '../services/clients/inspect/loose-entries.ts';
import type { GatesLifecycleOptions } from '../services/governor/gates-lifecycle.ts';
import type { SessionParts } from '../services/governor/governed-session.ts';
import { LazyApprovals } from '../services/governor/lazy-approvals.ts';
import { type StartedPolicy, startPolicy } from '../services/governor/policy-start.ts';
import { awaitRunHub, callRunHub } from '../services/governor/run-hub.ts';
import { runShim, type ShimServer } from '../services/governor/run-shim.ts';
import {
  openEventSink,
  openServerGates,
  sessionLimits,
} from '../services/governor/session-settings.ts';
import { type AgentHub, agentHub } from '../services/hooks/agent-hub.ts';
import { connectRemote, type RemoteStart, readRemote } from '../services/remote-server/index.ts';
import { finderOptions } from '../services/self-protection/finder-options.ts';
import { type SpawnResult, spawnServer } from '../services/transports/stdio/index.ts';
import {
  type Config,
  ensurePrivateFolder,
  formatConfigFailure,
  type LoadResult,
  loadConfig,
  mayAnswerElsewhere,
  secretSettings,
  userHome,
} from '../stores/config/index.ts';
import { type Identified, identify } from '../stores/identity/index.ts';
import { hasPolicy } from '../stores/policy/untrusted-alone.ts';
import { policyFailureText } from '../stores/policy/watch-policy.ts';
import { withAgentFile } from '../stores/runs/agent-file.ts';
import { RUN_ENV_VARS, TOKEN_VAR } from '../stores/runs/env-vars.ts';
import {
  formatSecretFailure,
  type ResolvedSecrets,
  resolveBindings,
} from '../stores/vault/index.ts';
import { growingRedactor, loadRedactor } from '../stores/vault/load-redactor.ts';

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
  const parts = await gather(options, loaded, hub);
  return typeof parts === 'string' ? refused(parts) : { ok: true, exitCode: await run(parts) };
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
type GatheredParts = Omit<SessionParts, 'membership'> & {
  readonly identified: Identified;
  readonly server: ShimServer;
};

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

/** The first shim of a run tells of its start, the last one of its end; a host does both itself. */
async function run({ identified, server, ...parts }: GatheredParts): Promise<number> {
  const { runOrigin, leave } = identified;
  const tellsStart = runOrigin === 'created' || runOrigin === 'alone';
  try {
    return await runShim({ ...parts, membership: { tellsStart, leave } }, server);
  } finally {
    giveUpPlace(identified);
  }
}

/** Everything a shim is made of, the server last: a fault before it leaves nothing behind. */
async function gather(
  options: ShimOptions,
  loaded: LoadedConfig,
  hub: AgentHub | undefined,
): Promise<GatheredParts | string> {
  // It answers while all else gets ready.
  const reaching = callHub(options, loaded, hub);
  const parts = await gatherWith(reaching, options, loaded);
  if (typeof parts !== 'string') return parts;
  const reach = await reaching;
  if (typeof reach === 'object') reach.drop();
  return parts;
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

async function gatherWith(
  reaching: ReturnType<typeof callRunHub>,
  options: ShimOptions,
  loaded: LoadedConfig,
): Promise<GatheredParts | string> {
  const { serverName } = options;
  const { config, paths } = loaded;
  const { profile } = config;
  const heard = warningsLater();
  const policy = await startPolicy(options, loaded, heard.warn);
  if (isFailure(policy)) return [...heard.texts, policyFailureText(policy)].join('\n');
  const way = await wayToServer(options, loaded);
  if (typeof way === 'string') return way;
  const { redaction } = way;
  const sink = openEventSink(options.env, loaded, warn);
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
  const hasChannel = mayAnswerElsewhere(loaded);
  const people = new LazyApprovals({ home: paths.home, producer, warn, hasChannel });
  const { snapshot } = policy;
  const guarding = await openServerGates(loaded, warn, {
    serverName,
    snapshot,
    identity: identityOf(producer),
    hasHub: hub !== undefined,
    hasCedar: hub?.asksCedar === true || config['cedar.policies'] !== null,
    ...way.kept,
    redact: redaction.plain,
    ...byPolicy(options, loaded, policy),
  });
  if (typeof guarding === 'string') {
    giveUpPlace(identified);
    return guarding;
  }
  // The gates are loaded while the server starts.
  const preparing = guarding.prepare().then(() => people.prepare(snapshot, guarding.mayAsk));
  const [server] = await Promise.all([way.open(producer), preparing]);
  return {
    serverName,
    ...(options.remote !== undefined && { transport: 'mcp_http' as const }),
    identified,
    server,
    snapshot,
    policyFiles: policy.files,
    policyReload: config['policy.reload'],
    profile,
    producer,
    sink,
    hub,
    people,
    guarding,
    injected: way.injected,
    redact: redaction.plain,
    logLevel: config['log.level'],
    isClean: redaction.isClean,
    limits: sessionLimits(config),
  };
}

/** What the gates must know of the policy in force: that there is one, and what no call may name. */
function byPolicy(
  options: ShimOptions,
  { config, paths }: LoadedConfig,
  { snapshot, files }: StartedPolicy,
): Pick<GatesLifecycleOptions, 'hasPolicy' | 'protects'> {
  const policies = files.sources.map(({ path }) => path);
  const protects = finderOptions(options, { config, paths, policies });
  return { hasPolicy: hasPolicy(snapshot), protects };
}

interface WayToServer {
  readonly redaction: Pick<Redactor, 'plain' | 'isClean'>;
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
  const { config } = loaded;
  const secrets = await secretsFor(options, loaded);
  if (typeof secrets === 'string') return secrets;
  const { injected } = secrets;
  const remote = options.remote && readRemote(options.remote, secrets);
  if (isFailure(remote)) return failureText(remote);
  if (remote?.warning !== undefined) warn(remote.warning);
  const values = [...secrets.secretValues(), ...(remote?.secrets ?? [])];
  const patterns = config['redact.extra_patterns'];
  const redactor = await loadRedactor(patterns, values);
  if (isFailure(redactor)) return failureText(redactor);
  if (remote === undefined) {
    const open = (producer: Producer) => spawn(options, producer, secrets);
    return { redaction: redactor, kept: { secrets: values }, injected, open };
  }
  const redaction = growingRedactor(redactor, { patterns, values });
  const limits = sessionLimits(config);
  const open = () =>
    connectRemote(remote, { ...options, ...loaded, limits, warn, onToken: redaction.add });
  return { redaction, kept: { secrets: values, learned: redaction.learned }, injected, open };
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
  producer: Producer,
  secrets: ResolvedSecrets,
): Promise<SpawnResult> {
  const kept = Object.entries(secrets.serverEnv()).filter(([name]) => !OURS.has(name));
  const env = Object.fromEntries(kept);
  return spawnServer({ command, args, env, cwd, shimId: producer.source.shim_id });
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
