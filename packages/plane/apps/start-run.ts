// `sub run`: hosts the hub of a run, starts the agent under it, and tells how it ended.
import {
  type EventWriter,
  eventWriter,
  type Failure,
  failure,
  isFailure,
  type ShimSummary,
  type TerminateRequest,
} from '@subluminal/contracts';
import type { Snapshot } from '@subluminal/core/policy';
import { sha256 } from '../os/crypto/index.ts';
import { ensurePrivateFolder, monotonicClock } from '../os/index.ts';
import type { HookedAgent } from '../services/hooks/run-hooks.ts';
import {
  type Judge,
  openHub,
  type RunningHub,
  type RunTerms,
  type UnlikeShim,
} from '../services/hub/index.ts';
import {
  AgentKeeper,
  listenForSignals,
  locateCommand,
  notStarted,
  type Signals,
  startAgent,
} from '../services/run/agent.ts';
import { openRunCedar } from '../services/run/cedar.ts';
import { FileFollower } from '../services/run/event-lines.ts';
import { agentEnv, identifyRun, type RunIdentity } from '../services/run/identity.ts';
import type {
  AgentEnd,
  AgentLaunch,
  AgentStartFailure,
  RunOptions,
  RunResult,
} from '../services/run/options.ts';
import {
  dropOldFiles,
  keepPolicy,
  type PolicyCopy,
  type RunFiles,
  snapshotOf,
  writeRunDown,
} from '../services/run/run-files.ts';
import { shimsLeave } from '../services/run/run-processes.ts';
import { unlikeWords } from '../services/run/terms.ts';
import {
  openTrace,
  prepareBundle,
  sinkOfRun,
  type Trace,
  wakeLedger,
} from '../services/run/trace.ts';
import { dropStaleSockets, type HubSocket, hubSocket } from '../stores/runs/hub-socket.ts';
import { sharedSettings } from '../stores/runs/shared-settings.ts';

/** What the parts of a running run share. */
interface Run {
  readonly options: RunOptions;
  readonly identity: RunIdentity;
  readonly snapshot: Snapshot;
  readonly hub: RunningHub;
  readonly terminations: Terminations;
  readonly unlike: UnlikeShims;
  readonly trace: Trace;
  readonly signals: Signals;
  readonly writer: EventWriter;
  readonly startedMs: number;
  /** What the agent's hooks did not tell, or told too late. */
  readonly notes: string[];
}

/** A policy may end the run before the agent has started. */
interface Terminations {
  request: TerminateRequest | undefined;
  act: () => void;
}

/** Shims that are looser than the run. */
interface UnlikeShims {
  readonly shims: UnlikeShim[];
  act: (one: UnlikeShim) => void;
}

/** Only a program that makes shims up would report more. */
const UNLIKE_MAX = 100;

/** On top of what a shim gives its server: reading, flushing and saying goodbye. */
const GOODBYE_MS = 1_000;

/** Runs the agent to its end. What keeps it from starting is returned, and leaves nothing behind. */
export async function startRun(options: RunOptions): Promise<RunResult> {
  const [command = ''] = options.command;
  const located = locateCommand(command, options);
  if (located !== 'found') return notStarted(command, located);
  for (const folder of [options.paths.home, options.paths.run, options.paths.spool]) {
    const unsafe = ensurePrivateFolder(folder);
    if (unsafe !== undefined) return unsafe;
  }
  const signals = listenForSignals();
  const startedMs = performance.now();
  const [identity, snapshot] = await Promise.all([identifyRun(options), snapshotOf(options)]);
  for (const warning of identity.warnings) options.tell(warning);
  const terminations: Terminations = { request: undefined, act: () => {} };
  const socket = hubSocket(options.paths.run, identity.producer.run_id);
  try {
    const listen = options.listen ?? socket;
    const cedar = await openRunCedar(options);
    if (isFailure(cedar)) return cedar;
    const unlike: UnlikeShims = { shims: [], act: () => {} };
    const parts = { options, terminations, unlike };
    const hub = await openRunHub(identity, { ...parts, listen, judge: cedar?.judge });
    if (isFailure(hub)) {
      await cedar?.close();
      return hub;
    }
    try {
      const trace = openRunTrace(options, identity);
      if (isFailure(trace)) return trace;
      const writer = eventWriter(identity.producer);
      const begun = { identity, snapshot, hub, trace, signals, writer, startedMs };
      const run = { ...parts, ...begun, notes: [] };
      unlike.act = (one) => recordHealth(run, 'degraded', unlikeWords(one));
      cedar?.recordTo((status, reason) => recordHealth(run, status, reason));
      return await hostRun(run).finally(() => trace.release());
    } finally {
      await hub.close();
      await cedar?.close();
    }
  } finally {
    socket.release();
  }
}

interface HubParts extends Pick<Run, 'options' | 'terminations' | 'unlike'> {
  readonly listen: HubSocket | NonNullable<RunOptions['listen']>;
  readonly judge: Judge | undefined;
}

/** A file that tells the shims of the run can be changed; what the hub of the run says cannot. */
function termsOf(options: RunOptions, runId: string): RunTerms {
  const { snapshot, config, paths } = options;
  const { profile, 'policy.reload': policy_reload } = config;
  const told = { ...config, 'events.sink': sinkOfRun(options, runId) };
  const terms = { profile, policy_reload, settings: sharedSettings(told, paths.home) };
  return snapshot === null ? terms : { ...terms, policy_hash: snapshot.ref.policy_hash };
}

function openRunHub(
  { producer }: RunIdentity,
  { options, listen, terminations, unlike, judge }: HubParts,
): Promise<RunningHub | Failure> {
  return openHub({
    runId: producer.run_id,
    listen: 'port' in listen ? { kind: 'tcp', ...listen } : { kind: 'unix', path: listen.path },
    nowMs: monotonicClock(),
    sha256,
    inspectBytesMax: options.config['limits.max_inspect_bytes'],
    terms: termsOf(options, producer.run_id),
    ...(judge !== undefined && { judge }),
    onTerminate: (request) => {
      terminations.request = request;
      terminations.act();
    },
    onUnlike: (one) => {
      if (unlike.shims.length >= UNLIKE_MAX) return;
      unlike.shims.push(one);
      unlike.act(one);
    },
  });
}

function openRunTrace(options: RunOptions, { producer }: RunIdentity): Trace | Failure {
  const { bundle } = options;
  const problem = bundle === undefined ? undefined : prepareBundle(bundle.dir, bundle.force);
  return problem ?? openTrace(options, producer.run_id);
}

/** Keeps the policy as it is now for as long as the run lasts. */
async function hostRun(run: Run): Promise<RunResult> {
  const policy = keepPolicy(run.options, run.identity.producer.run_id);
  if (isFailure(policy)) return policy;
  return hostAgent(run, policy).finally(() => policy.remove());
}

async function hostAgent(run: Run, policy: PolicyCopy): Promise<RunResult> {
  const { options, identity, trace, hub } = run;
  const { producer } = identity;
  const { endpoint } = hub;
  const { eventsPath } = trace;
  const socket = hubSocket(options.paths.run, `hooks ${producer.run_id}`);
  const wish = { producer, endpoint, eventsPath, policy: policy.env, hooksSocket: socket.path };
  const env = agentEnv(options, wish);
  const files = writeRunDown(options, env);
  if (isFailure(files)) return files;
  const { session, models } = options;
  let hooks: HookedAgent | undefined;
  try {
    const problem =
      (await session?.begin({ runId: producer.run_id, env })) ?? (await recordStart(run));
    if (problem !== undefined) return problem;
    const hooked = await beginHooks(run, env, socket.path);
    if (isFailure(hooked)) return hooked;
    hooks = hooked;
    const start = await beginModels(run, hooked);
    if (isFailure(start)) return start;
    const { file } = trace;
    const { follow } = options.events;
    const follower = file && follow && new FileFollower(file.path, file.fromByte, follow);
    const agent = await runAgent(run, start, files);
    // Before the run is accounted for, which may take a while: a person waits for the files.
    await session?.end();
    const counted = [await hooks.end(), await models?.end()];
    const isHooked = options.hooks !== undefined || hooks.hasHeard();
    const result = await endRun(run, agent, { counted, isHooked });
    await follower?.finish();
    return result;
  } finally {
    await session?.end();
    await hooks?.end();
    await models?.end();
    socket.release();
    files.remove();
  }
}

/** What decides about the agent's own tools and its turns, as its shims do about their servers. */
function toldOf(run: Run) {
  const { options, identity, hub, trace, snapshot } = run;
  const { policySources: sources, policyHashes: hashes, paths } = options;
  const { producer } = identity;
  // Without a mark, the first look reads the files.
  const policyFiles = { sources, home: paths.home, mark: '', hashes, loosening: undefined };
  const degraded = (reason: string) => recordHealth(run, 'degraded', reason);
  return { producer, hub, sink: trace.sink, snapshot, policyFiles, degraded };
}

/** How the agent is started: with its model calls pointed at the model plane, where there is one. */
async function beginModels(run: Run, start: AgentLaunch): Promise<AgentLaunch | Failure> {
  const { models } = run.options;
  const { env, command } = start;
  return models === undefined ? start : models.begin({ ...toldOf(run), env, command });
}

/** How the agent is started so that its hooks come here. */
async function beginHooks(
  run: Run,
  env: NodeJS.ProcessEnv,
  socketPath: string,
): Promise<HookedAgent | Failure> {
  const { options, notes } = run;
  const { hooks, hasChannel = false, tell: warn } = options;
  const told = toldOf(run);
  const degraded = (reason: string): void => {
    notes.push(reason);
    told.degraded(reason);
  };
  const { hookAgent } = await import('../services/hooks/run-hooks.ts');
  return hookAgent(hooks, { ...options, ...told, hasChannel, env, warn, degraded, socketPath });
}

interface AgentAccount {
  /** What hooks and the model plane counted. */
  readonly counted: readonly (ShimSummary | undefined)[];
  readonly isHooked: boolean;
}

async function endRun(
  run: Run,
  agent: AgentEnd | AgentStartFailure,
  { counted, isHooked }: AgentAccount,
): Promise<RunResult> {
  const { options, identity, snapshot, trace, hub, writer, startedMs } = run;
  const { run_id: runId } = identity.producer;
  const { finishRun } = await import('../services/run/finish.ts');
  const { addedCounts } = await import('../services/run/account.ts');
  const totals = counted.reduce<ShimSummary>(
    (sum, one) => (one === undefined ? sum : addedCounts(sum, one)),
    hub.shims.summary(),
  );
  // A refused shim has no server, unless it reports calls all the same.
  const shims = hub.shims
    .list()
    .filter(({ unlike, state }) => unlike?.hasStarted !== false || state !== 'left');
  const unended = shims.filter(({ state }) => state !== 'left');
  const finished = await finishRun({
    options,
    runId,
    snapshot,
    trace,
    writer,
    heard: { totals, unended: unended.map(({ serverId }) => serverId) },
    agent: isFailure(agent) ? { code: agent.exitCode, signal: null, asked: null } : agent,
    startedMs,
    isTerminated: hub.terminated() !== null,
  });
  if (isFailure(agent)) return agent;
  const unlike = [...new Set(run.unlike.shims.map(unlikeWords))];
  const told = { ...finished, warnings: [...unlike, ...run.notes, ...finished.warnings] };
  const seen = { shims: shims.length, isHooked };
  return { kind: 'ended', runId, agent, trace: trace.place, ...seen, ...told };
}

/** Records the start of the run. A file that was asked for and cannot be written stops the agent. */
async function recordStart(run: Run): Promise<Failure | undefined> {
  const { options, identity, snapshot, trace, writer } = run;
  const { document, ref } = snapshot;
  const started_at = new Date().toISOString();
  const { parentRunId } = identity;
  const meta = {
    ...options.meta,
    ...(parentRunId !== undefined && { parent_run_id: parentRunId }),
  };
  const begun = {
    started_at,
    mode: document.mode,
    policy: ref,
    ...(Object.keys(meta).length > 0 && { meta }),
  };
  const isTaken = await trace.begin(writer.line('run_start', { run: begun }, started_at));
  if (isTaken || trace.file === undefined) return undefined;
  const message = `the events of the run cannot be written to ${trace.file.path}.`;
  return failure('SUB_FILE_WRITE', message, 'Free some space, or name another place.');
}

/** Records that what the hub decides by has changed. */
function recordHealth({ trace, writer, startedMs }: Run, status: Health, reason: string): void {
  const uptime_ms = Math.round(performance.now() - startedMs);
  const now = new Date().toISOString();
  const line = writer.line('shim_health', { health: { status, reason, uptime_ms } }, now);
  trace.sink.write({ line, kind: 'durable' });
  trace.sink.push();
}

type Health = 'ok' | 'degraded';

/** From the agent's start until it and its shims have ended. */
async function runAgent(
  run: Run,
  start: AgentLaunch,
  files: RunFiles,
): Promise<AgentEnd | AgentStartFailure> {
  const { options, hub, trace, signals } = run;
  const { config, cwd, isTerminal, paths } = options;
  const { env } = start;
  const [command = '', ...args] = start.command;
  const { endpoint } = hub;
  const child = await startAgent({ command, args, env, cwd });
  if (isFailure(child)) return child;
  const { pid = 0 } = child;
  const family = { endpoint, agentPid: pid };
  files.addAgent(pid);
  const graceMs = config['shutdown.grace_ms'];
  const keeper = new AgentKeeper({ child, family, signals, isTerminal, graceMs });
  endOnTermination(run, () => keeper.terminate());
  // The agent has started, and nothing waits for these.
  dropStaleSockets(paths.run, Date.now()).catch(() => undefined);
  dropOldFiles(options);
  loadEnd(trace).catch(() => undefined);
  if (trace.place.kind === 'ledger') wakeLedger(options).catch(() => undefined);
  const end = await keeper.done;
  const leaveMs = graceMs + config['shutdown.term_grace_ms'] + GOODBYE_MS;
  const haveLeft = await shimsLeave({ hub, family, leaveMs });
  if (!haveLeft) options.tell('a shim did not end with the agent, and was ended.');
  return end;
}

/** Loads the end of the run early: `sub` may be updated while the agent runs for days. */
async function loadEnd({ place }: Trace): Promise<void> {
  await Promise.all([
    import('../services/run/finish.ts'),
    import('../stores/policy/policy-file.ts'),
  ]);
  if (place.kind !== 'ledger') return;
  await Promise.all([import('../stores/ledger/index.ts'), import('../services/daemon/start.ts')]);
}

function endOnTermination({ terminations, options }: Run, end: () => void): void {
  const act = (): void => {
    const { request } = terminations;
    if (request === undefined) return;
    // The request does not say whether a rule or another program of the user made it.
    const who = request.server_id === undefined ? 'somebody' : `server ${request.server_id}`;
    options.tell(`the run ends, as ${who} asked: ${request.message} [${request.code}]`);
    end();
  };
  terminations.act = act;
  act();
}
