// From a command line to a running shim: configuration, identity, policy and server, side by side.
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { isFailure, type Producer, type Profile } from '@subluminal/contracts';
import { uuidv7 } from 'uuidv7';
import type { ShimStart } from '../services/clients/inspect/loose-entries.ts';
import { ledgerStarter } from '../services/daemon/ledger-starter.ts';
import {
  type GatesLifecycle,
  type GatesLifecycleOptions,
  openGates,
} from '../services/governor/gates-lifecycle.ts';
import { identityOf, type ShimParts } from '../services/governor/governed-session.ts';
import type { HubReach } from '../services/governor/hub.ts';
import { LazyApprovals } from '../services/governor/lazy-approvals.ts';
import { type StartedPolicy, startPolicy } from '../services/governor/policy-start.ts';
import { runShim } from '../services/governor/shim.ts';
import { finderOptions } from '../services/self-protection/finder-options.ts';
import { fileSink, ledgerSink, offSink, type PromptSink } from '../services/sink/index.ts';
import { type SpawnResult, spawnServer } from '../services/transports/stdio/index.ts';
import {
  type Config,
  ensurePrivateFolder,
  formatConfigProblem,
  type LoadResult,
  loadConfig,
  secretSettings,
  userHome,
} from '../stores/config/index.ts';
import { type Identified, identify } from '../stores/identity/index.ts';
import { hasPolicy } from '../stores/policy/untrusted-alone.ts';
import { withAgentFile } from '../stores/runs/agent-file.ts';
import { RUN_ENV_VARS, TOKEN_VAR } from '../stores/runs/env-vars.ts';
import {
  formatSecretFailure,
  type ResolvedSecrets,
  resolveBindings,
} from '../stores/vault/index.ts';
import { loadRedactor } from '../stores/vault/load-redactor.ts';

export interface ShimOptions {
  readonly serverName: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: { readonly [name: string]: string | undefined };
  readonly cwd: string;
  /** What the command line gave, by the names of the flags. */
  readonly flags: { readonly [flag: string]: string | undefined };
  /** The same as it was typed, for comparing it with what `sub import` writes. */
  readonly started: ShimStart;
}

type Started =
  | { readonly ok: true; readonly exitCode: number }
  | { readonly ok: false; readonly message: string };

const SERVER_NAME_LENGTH_MAX = 256;
/** What is said to the shim alone: a server has no business with the run, the hub or the ledger. */
const OURS: ReadonlySet<string> = new Set([...RUN_ENV_VARS, TOKEN_VAR]);

/** Runs a shim to its end. A fault before the first byte is returned, not thrown. */
export async function startShim(given: ShimOptions): Promise<Started> {
  const { env, problem: unknownRun, warning } = await runOf(given);
  if (warning !== undefined) warn(warning);
  const options = { ...given, env };
  const { serverName, cwd, flags } = options;
  if (serverName.length > SERVER_NAME_LENGTH_MAX) {
    return refused(`a server name has at most ${SERVER_NAME_LENGTH_MAX} characters`);
  }
  const loaded = await loadConfig({ env, flags, cwd });
  if (!loaded.ok) return refused(loaded.problems.map(formatConfigProblem).join('\n'));
  const { config, paths } = loaded;
  for (const text of loaded.warnings) warn(text);
  const folders = [paths.home, paths.run, paths.spool].map(ensurePrivateFolder);
  const problem = folders.find((one) => one !== undefined);
  const { profile } = config;
  if (problem !== undefined && profile === 'production')
    return refused(formatConfigProblem(problem));
  if (unknownRun !== undefined && profile === 'production') return refused(unknownRun);
  if (unknownRun !== undefined) warn(unknownRun);
  const parts = await gather(options, loaded);
  return typeof parts === 'string' ? refused(parts) : { ok: true, exitCode: await run(parts, env) };
}

interface Told {
  readonly env: ShimOptions['env'];
  /** The run may have a policy that we do not have. */
  readonly problem?: string;
  readonly warning?: string;
}

/** Clients may start their servers with almost no environment; the run is found all the same. */
async function runOf({ env, flags }: ShimOptions): Promise<Told> {
  const id = flags['wrap'];
  if (id === undefined) return withAgentFile(env);
  const { withWrapFile } = await import('../stores/runs/session-env.ts');
  const wrapped = await withWrapFile(env, id);
  return wrapped.isLive ? wrapped : { ...wrapped, ...withAgentFile(wrapped.env) };
}

type Loaded = Extract<LoadResult, { readonly ok: true }>;
type Gathered = Omit<ShimParts, 'tellsRun'> & { readonly identified: Identified };

/** The first shim of a run tells of its start, the last one of its end; a host does both itself. */
function run({ identified, ...parts }: Gathered, env: ShimOptions['env']): Promise<number> {
  const { runOrigin, leave } = identified;
  const isHosted = runOrigin === 'given' && env['SUB_RUN_HOSTED'] === '1';
  let hasBegun = false;
  const running = runShim({
    ...parts,
    get tellsRun() {
      if (isHosted) return false;
      return hasBegun ? leave() : runOrigin !== 'joined';
    },
  });
  // What `runShim` does before it first waits is its beginning.
  hasBegun = true;
  return running.finally(leave);
}

/** Everything a shim is made of, the server last: a fault before it leaves nothing behind. */
async function gather(options: ShimOptions, loaded: Loaded): Promise<Gathered | string> {
  // It answers while all else gets ready.
  const reaching = hubOf(options, loaded.config);
  const parts = await gatherWith(reaching, options, loaded);
  if (typeof parts !== 'string') return parts;
  const reach = await reaching;
  if (typeof reach === 'object') reach.drop();
  return parts;
}

async function gatherWith(
  reaching: ReturnType<typeof hubOf>,
  options: ShimOptions,
  loaded: Loaded,
): Promise<Gathered | string> {
  const { serverName, env, cwd } = options;
  const { config, paths } = loaded;
  const { profile } = config;
  const heard = warningsLater();
  const policy = await startPolicy(options, loaded, heard.warn);
  if (!policy.ok) return [...heard.texts, policy.message].join('\n');
  const secrets = await secretsFor(options, loaded);
  if (typeof secrets === 'string') return secrets;
  const redaction = await loadRedactor(config['redact.extra_patterns'], secrets.secretValues());
  if (!redaction.ok) return redaction.message;
  const sink = sinkOf(options, loaded);
  if (typeof sink === 'string') return sink;
  const reach = await hubReached(reaching, options, loaded);
  if (typeof reach === 'string') return reach;
  heard.tell();
  // As late as can be: who takes part in a run and then does not start leaves it without its start.
  const serverOnly = options.flags['server-env']?.split(',') ?? [];
  const identified = identify({ env, serverOnly, cwd, paths, nowMs: Date.now(), profile });
  for (const warning of identified.warnings) warn(warning);
  const { producer, problem } = identified;
  if (problem !== undefined && profile === 'production') {
    identified.leave();
    return problem;
  }
  const hub = reach?.link(producer);
  if (hub === undefined && config['cedar.policies'] !== null) warn(unasked(config));
  const people = new LazyApprovals({ home: paths.home, producer, warn });
  const { snapshot } = policy;
  const guarding = await guardingOf(loaded, {
    serverName,
    snapshot,
    identity: identityOf(producer),
    hasHub: hub !== undefined,
    hasCedar: hub?.judges.cedar === true || config['cedar.policies'] !== null,
    secrets: secrets.secretValues(),
    redact: redaction.redact,
    ...byPolicy(options, loaded, policy),
  });
  if (typeof guarding === 'string') {
    identified.leave();
    return guarding;
  }
  // The gates are loaded while the server starts.
  const preparing = guarding.prepare().then(() => people.prepare(snapshot, guarding.mayAsk));
  const [spawned] = await Promise.all([spawn(options, producer, secrets), preparing]);
  return {
    serverName,
    identified,
    spawned,
    snapshot,
    policyFiles: policy.files,
    policyReload: config['policy.reload'],
    profile,
    producer,
    sink,
    hub,
    people,
    guarding,
    injected: secrets.injected,
    redact: redaction.redact,
    logLevel: config['log.level'],
    isClean: redaction.isClean,
    limits: limitsOf(config, profile),
  };
}

/** The hub, when it is known whether it is there; a text says why the server must not start. */
async function hubReached(
  reaching: ReturnType<typeof hubOf>,
  options: ShimOptions,
  { config, paths }: Loaded,
): ReturnType<typeof hubOf> {
  const reach = await reaching;
  if (typeof reach !== 'object') return reach;
  const { serverName, env, flags, started } = options;
  const { looseWithoutHub, unlikeRun } = await import('../services/run/terms.ts');
  const isWritten = async (): Promise<boolean> => {
    const { isWrittenStart } = await import('../services/clients/inspect/loose-entries.ts');
    return isWrittenStart(started, { env, paths });
  };
  const { words } = started;
  const told = { serverName, env, flags, words, config, home: paths.home, isWritten };
  const unreached = await reach.problem;
  if (unreached === undefined) {
    // The file that told of the run may have been changed: what its hub says holds.
    const unlike = await unlikeRun(reach.terms(), told);
    if (unlike === undefined) return reach;
    if (unlike.isRefused) {
      await reach.refuse(unlike.reason);
      return unlike.reason;
    }
    warn(unlike.reason);
    reach.tellUnlike(unlike.reason);
    return reach;
  }
  if (config.profile === 'production') return unreached;
  // The profile by which it would go on may be the word of a repository alone.
  const isHosted = env['SUB_RUN_HOSTED'] === '1';
  const loose = isHosted && flags['profile'] ? await looseWithoutHub(told) : undefined;
  if (loose !== undefined) return `${unreached}, and ${loose}`;
  warn(`${unreached}; we go on without it`);
  return reach;
}

type Known = Omit<
  GatesLifecycleOptions,
  'home' | 'manifests' | 'pinsMode' | 'profile' | 'inspectBytesMax'
>;

/** What the gates must know of the policy in force: that there is one, and what no call may name. */
function byPolicy(
  options: ShimOptions,
  { config, paths }: Loaded,
  { snapshot, files }: StartedPolicy,
): Pick<GatesLifecycleOptions, 'hasPolicy' | 'protects'> {
  const policies = files.sources.map(({ path }) => path);
  const protects = finderOptions(options, { config, paths, policies });
  return { hasPolicy: hasPolicy(snapshot), protects };
}

/** The gates beside the rules; a text says why there are none, and the server must not start. */
async function guardingOf(
  { config, paths }: Loaded,
  known: Known,
): Promise<GatesLifecycle | string> {
  const { profile } = config;
  const opened = await openGates({
    ...known,
    home: paths.home,
    manifests: config['surface.manifests'],
    pinsMode: config['pins.mode'],
    profile,
    inspectBytesMax: config['limits.max_inspect_bytes'],
  });
  if (!opened.ok) return opened.message;
  if (opened.warning !== undefined) warn(opened.warning);
  return opened.guarding;
}

/** The secrets of this server; in production it does not start without one of them. */
async function secretsFor(
  { serverName, command, args, env, cwd }: ShimOptions,
  { servers, paths, config }: Loaded,
): Promise<ResolvedSecrets | string> {
  const secrets = await resolveBindings({
    serverName,
    command: [command, ...args],
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

async function hubOf(
  { serverName, env, flags }: ShimOptions,
  config: Config,
): Promise<HubReach | string | undefined> {
  const told = env['SUB_GOVERNANCE_ENDPOINT'];
  // An entry chooses no other hub for a run that has one.
  const isHosted = env['SUB_RUN_HOSTED'] === '1' && Boolean(told);
  const endpoint = isHosted ? told : flags['governance-endpoint'] || told;
  const { profile } = config;
  if (!endpoint) {
    if (env['SUB_RUN_HOSTED'] !== '1' || profile !== 'production') return undefined;
    return 'the run has a hub, but SUB_GOVERNANCE_ENDPOINT does not say where; let `sub run` start the agent';
  }
  const [, path] = /^unix:(.*)$/.exec(endpoint) ?? [];
  const problem = path === undefined ? undefined : openToOthers(path, config);
  if (problem !== undefined) return problem;
  const token = env[TOKEN_VAR];
  const readyMs = config['hub.ready_timeout_ms'];
  const { reachHub } = await import('../services/governor/hub.ts');
  const runId = env['SUB_RUN_ID'] ?? '';
  const reached = reachHub({ endpoint, token, serverName, runId, profile, readyMs, warn });
  return reached.ok ? reached.reach : reached.message;
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

const WRITABLE_BY_OTHERS = 0o022;

/** Whoever can write to its folder can put a socket of their own there, and read everything. */
function openToOthers(socketPath: string, { profile }: Config): string | undefined {
  const folder = dirname(socketPath);
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (stats === undefined || profile !== 'production') return undefined;
  const isOurs = stats.uid === process.getuid?.() || stats.uid === 0;
  if (isOurs && (stats.mode & WRITABLE_BY_OTHERS) === 0) return undefined;
  return `others can write to ${folder}, where the socket ${socketPath} is; use a folder of your own`;
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

function sinkOf({ env }: ShimOptions, loaded: Loaded): PromptSink | string {
  const { config, paths } = loaded;
  const target = config['events.sink'];
  switch (target.kind) {
    case 'off':
      return offSink();
    case 'file': {
      const sink = fileSink(target.path, { queueBytes: config['limits.queue_bytes'] });
      return isFailure(sink) ? `${sink.message} ${sink.fix}` : sink;
    }
    case 'ledger': {
      const problem = openToOthers(config['ledger.socket'], config);
      if (problem !== undefined) return problem;
      return ledgerSink({
        socketPath: config['ledger.socket'],
        spoolDir: paths.spool,
        // A name that the server does not know: it may reach the same socket.
        producer: uuidv7(),
        limits: { queueBytes: config['limits.queue_bytes'] },
        onNobody: ledgerStarter({ env, paths, config }, warn),
      });
    }
  }
}

function limitsOf(config: Config, profile: Profile): ShimParts['limits'] {
  const capped = profile === 'production';
  return {
    inspectBytesMax: config['limits.max_inspect_bytes'],
    messageBytesMax: capped ? config['limits.max_message_bytes'] : Number.POSITIVE_INFINITY,
    previewBytesMax: config['previews.enabled'] ? config['limits.max_preview_bytes'] : 0,
    orphanMs: config['limits.request_timeout_ms'],
    graceMs: config['shutdown.grace_ms'],
    termMs: config['shutdown.term_grace_ms'],
  };
}

function refused(message: string): Started {
  return { ok: false, message };
}
