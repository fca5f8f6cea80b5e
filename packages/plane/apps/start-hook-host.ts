// `sub hook-host`: answers the hooks of one agent that no `sub run` has started, and has the hub that its shims share
// with them, in the run of those shims. It ends with the agent, or a while after its last session and shim.
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { eventWriter, type Failure, isFailure, type Producer } from '@subluminal/contracts';
import { sha256 } from '../os/crypto/index.ts';
import {
  createPrivateFile,
  ensurePrivateFolder,
  errorText,
  isAnswered,
  isProcessAlive,
  monotonicClock,
  processEnvironment,
  type System,
  takeLock,
  thisSystem,
} from '../os/index.ts';
import { Recorder } from '../services/governor/events.ts';
import { startPolicy } from '../services/governor/policy-start.ts';
import { openEventSink } from '../services/governor/session-settings.ts';
import { hostSocketsOf } from '../services/hooks/find-host.ts';
import { HookSenders } from '../services/hooks/hook-senders.ts';
import { type HostHooks, openHostHooks } from '../services/hooks/host-hooks.ts';
import { openRunDesk, type RunDesk, type RunDeskOptions } from '../services/hooks/run-desk.ts';
import { type Judge, openHub, type RunningHub } from '../services/hub/index.ts';
import { openRunCedar } from '../services/run/cedar.ts';
import { unlikeWords } from '../services/run/terms.ts';
import type { BatchingSink } from '../services/sink/index.ts';
import {
  formatConfigFailure,
  type LoadResult,
  loadConfig,
  mayAnswerElsewhere,
} from '../stores/config/index.ts';
import { filePrefix, type Identified, identify } from '../stores/identity/index.ts';
import { policyFailureText } from '../stores/policy/watch-policy.ts';
import { withAgentFile } from '../stores/runs/agent-file.ts';
import { dropStaleSockets } from '../stores/runs/hub-socket.ts';
import { sharedSettings } from '../stores/runs/shared-settings.ts';

export interface HookHostOptions {
  /** The process of the agent. */
  readonly agent: { readonly pid: number; readonly start: string };
  readonly env: { readonly [name: string]: string | undefined };
  /** Where the agent works: the policy of its project is looked for there. */
  readonly cwd: string;
  /** The file of the policy in place of that one. Hooks bring their own. */
  readonly policy?: string | undefined;
  /** Hooks are listened for, by this process or by another one. */
  readonly onReady: () => void;
  /** How long it waits for hooks, or for another session; the default is for people. */
  readonly lingerMs?: number;
}

const LINGER_MS = 30_000;
const LOOK_MS = 1_000;
/** Less than a hook waits for its host. */
const LOCK_MS = 20_000;
const FLUSH_MS = 5_000;
/** Only a program that makes shims up would report more. */
const UNLIKE_MAX = 100;
const LOST =
  'the process that decided about the hooks of this agent was lost; what it had not answered was refused';

/** Until the agent has ended; a text says why it cannot serve. */
export async function startHookHost(options: HookHostOptions): Promise<string | undefined> {
  const { agent, cwd, onReady } = options;
  const system: System = { ...thisSystem(), ppid: agent.pid };
  if (!isProcessAlive(agent, system)) return 'the agent has ended';
  // No settings from the environment of the agent: an agent can start another one with looser ones.
  const { env, problem } = withAgentFile(options.env, system);
  if (problem !== undefined) return problem;
  const flags = flagsOf(options);
  const loaded = await loadConfig({ env, flags, cwd });
  if (!loaded.ok) return loaded.problems.map(formatConfigFailure).join('\n');
  const { paths } = loaded;
  const sockets = hostSocketsOf(paths.run, agent);
  for (const folder of [paths.home, paths.run, paths.spool, dirname(sockets.socketPath)]) {
    const unsafe = ensurePrivateFolder(folder);
    if (unsafe !== undefined) return `${unsafe.message} ${unsafe.fix}`;
  }
  const name = `hook-host-${agent.pid}`;
  const lock = await takeLock({ folder: paths.run, name }, LOCK_MS);
  if (lock.kind === 'held') return `another process (${lock.pid}) is starting it`;
  let host: HookHost | string | undefined;
  try {
    if (await isAnswered(sockets.socketPath)) {
      onReady();
      return undefined;
    }
    host = await openHost({ ...options, env }, { loaded, system, ...sockets });
  } finally {
    lock.release();
  }
  if (typeof host === 'string') return host;
  onReady();
  // Those of hosts that were killed.
  dropStaleSockets(paths.run, Date.now()).catch(() => undefined);
  await host.whenOver();
  await host.close();
  return undefined;
}

function flagsOf({ policy }: HookHostOptions): { readonly policy?: string } {
  return policy === undefined ? {} : { policy };
}

type Loaded = Extract<LoadResult, { readonly ok: true }>;

interface HostPlace {
  readonly loaded: Loaded;
  readonly system: System;
  readonly socketPath: string;
  readonly hubPath: string;
}

/** What a host has opened before it listens, last things first to close. */
type Opened = (() => unknown)[];

async function openHost(options: HookHostOptions, place: HostPlace): Promise<HookHost | string> {
  const opened: Opened = [];
  const host = await openParts(options, place, opened);
  if (typeof host === 'string') for (const close of opened.toReversed()) await close();
  return host;
}

async function openParts(
  options: HookHostOptions,
  place: HostPlace,
  opened: Opened,
): Promise<HookHost | string> {
  const { env, agent } = options;
  const { loaded, system, socketPath } = place;
  const { config, paths } = loaded;
  const policy = await startPolicy({ ...options, flags: flagsOf(options) }, loaded, unheard);
  if (isFailure(policy)) return policyFailureText(policy);
  const sink = openEventSink(env, loaded, unheard);
  if (typeof sink === 'string') return sink;
  opened.push(() => sink.close(FLUSH_MS));
  const cedar = await openRunCedar({ config, tell: unheard });
  if (isFailure(cedar)) return `${cedar.message} ${cedar.fix}`;
  opened.push(() => cedar?.close());
  const identified = identifyHost(options, place);
  if (typeof identified === 'string') return identified;
  const { producer } = identified;
  opened.push(
    () => identified.release(),
    () => identified.leave(),
  );
  const mark = join(paths.run, `${filePrefix(agent)}hooks.json`);
  const marked = makeMark(mark);
  if (typeof marked === 'string') return marked;
  const unmark = (): void => rmSync(mark, { force: true });
  // The mark of a host that was lost stays until the loss is on record.
  if (marked) opened.push(unmark);
  const startedMs = Date.now();
  const recorder = new Recorder(eventWriter(producer), sink, unheard);
  const degraded = (reason: string): void => {
    const uptime_ms = Math.max(0, Date.now() - startedMs);
    recorder.record('shim_health', { health: { status: 'degraded', reason, uptime_ms } });
    sink.push();
  };
  const hub = await openHostHub(place, { producer, judge: cedar?.judge, degraded });
  if (isFailure(hub)) return `${hub.message} ${hub.fix}`;
  opened.push(() => hub.close());
  const senders = new HookSenders({ root: options.agent.pid, isClient: true, degraded });
  const told = { producer, hub, sink, degraded, senders };
  const hooks = await openHostHooks({
    socketPath,
    senders,
    openDesk: ({ cwd = options.cwd, policy: named }) =>
      openDesk({ ...options, cwd, policy: named }, told),
  });
  if (isFailure(hooks)) return `${hooks.message} ${hooks.fix}`;
  if (identified.runOrigin === 'created' || identified.runOrigin === 'alone') {
    const { document, ref } = policy.snapshot;
    const started_at = new Date().toISOString();
    recorder.record('run_start', { run: { started_at, mode: document.mode, policy: ref } });
  }
  if (!marked) degraded(LOST);
  sink.push();
  const release = async (): Promise<void> => cedar?.close();
  const begun = { hooks, hub, identified, recorder, sink, system, startedMs };
  return new HookHost(options, { ...begun, unmark, release });
}

/** Nobody reads what a process in the background prints. */
const unheard = (): void => {};

interface HubFacts {
  readonly producer: Producer;
  readonly judge: Judge | undefined;
  readonly degraded: (reason: string) => void;
}

/** The shims of the agent have no other settings than this host. */
function openHostHub(
  { loaded, hubPath }: HostPlace,
  { producer, judge, degraded }: HubFacts,
): Promise<RunningHub | Failure> {
  const { config, paths } = loaded;
  const { profile, 'policy.reload': policy_reload } = config;
  let unlike = 0;
  return openHub({
    runId: producer.run_id,
    listen: { kind: 'unix', path: hubPath },
    nowMs: monotonicClock(),
    sha256,
    inspectBytesMax: config['limits.max_inspect_bytes'],
    terms: { profile, policy_reload, settings: sharedSettings(config, paths.home) },
    ...(judge && { judge }),
    onUnlike: (one) => {
      if (++unlike <= UNLIKE_MAX) degraded(unlikeWords(one));
    },
  });
}

/** Decides by the policy that the first hook has found. */
async function openDesk(
  options: HookHostOptions,
  told: Pick<RunDeskOptions, 'producer' | 'hub' | 'sink' | 'degraded' | 'senders'>,
): Promise<RunDesk | string> {
  const { env, cwd } = options;
  const flags = flagsOf(options);
  const loaded = await loadConfig({ env, flags, cwd });
  if (!loaded.ok) return loaded.problems.map(formatConfigFailure).join('\n');
  const policy = await startPolicy({ env, cwd, flags }, loaded, unheard);
  if (isFailure(policy)) return policyFailureText(policy);
  const { snapshot, files: policyFiles } = policy;
  const { config, paths } = loaded;
  const hasChannel = mayAnswerElsewhere(loaded);
  const own = { snapshot, policyFiles, config, paths, env, hasChannel };
  return openRunDesk({ ...told, ...own, trustsPrompts: true, warn: unheard });
}

/** Whether it is the first host of its agent; or why nobody could tell later that there was one. */
function makeMark(path: string): boolean | string {
  try {
    return createPrivateFile(path, '{}\n', { isLasting: false }) === 'created';
  } catch (cause) {
    return `${path} cannot be written: ${errorText(cause)}. Free some space, or check the permissions.`;
  }
}

/** Who acts, and in which run, the agent's shims know from the environment that it was started with; so does this. */
function identifyHost(
  { env, cwd, agent }: HookHostOptions,
  { loaded, system }: HostPlace,
): Identified | string {
  const { config, paths } = loaded;
  const { profile } = config;
  const identified = identify({
    env: { ...processEnvironment(agent.pid, system), ...env },
    cwd,
    paths,
    nowMs: Date.now(),
    profile,
    isShim: true,
    system,
  });
  const { problem, leave, release } = identified;
  if (problem === undefined || profile !== 'production') return identified;
  leave();
  release();
  return problem;
}

interface HostParts {
  readonly hooks: HostHooks;
  readonly hub: RunningHub;
  readonly identified: Identified;
  readonly recorder: Recorder;
  readonly sink: BatchingSink;
  readonly system: System;
  readonly startedMs: number;
  /** Says that it was not lost. */
  readonly unmark: () => void;
  readonly release: () => Promise<void>;
}

class HookHost {
  readonly #options: HookHostOptions;
  readonly #parts: HostParts;

  constructor(options: HookHostOptions, parts: HostParts) {
    this.#options = options;
    this.#parts = parts;
  }

  /** Resolves when the agent is gone, when nobody needs it, or when it is told to end. */
  whenOver(): Promise<void> {
    const { agent, lingerMs = LINGER_MS } = this.#options;
    const { hooks, hub, system } = this.#parts;
    const isNeeded = () =>
      hooks.isNeeded() || hub.shims.list().some(({ state }) => state === 'live');
    let idleSinceMs = performance.now();
    return new Promise((resolve) => {
      const finish = (): void => {
        clearInterval(timer);
        for (const signal of SIGNALS) process.off(signal, finish);
        resolve();
      };
      const timer = setInterval(() => {
        if (!isProcessAlive(agent, system)) return finish();
        if (isNeeded()) idleSinceMs = performance.now();
        else if (performance.now() - idleSinceMs >= lingerMs) finish();
      }, LOOK_MS);
      for (const signal of SIGNALS) process.on(signal, finish);
    });
  }

  /** Ends all sessions, and the run when no shim is left in it. */
  async close(): Promise<void> {
    const { hooks, hub, identified, recorder, sink, startedMs, unmark, release } = this.#parts;
    // While its socket is there: the next hook starts another host behind it.
    unmark();
    const summary = await hooks.end();
    const isTerminated = hub.terminated() !== null;
    await hub.close();
    const account = identified.leave({ startedMs, hasFailed: false, isTerminated, summary });
    if (account !== undefined) {
      const ended_at = new Date().toISOString();
      const duration_ms = Math.max(0, Date.now() - account.startedMs);
      const status = account.isTerminated ? 'TERMINATED' : 'SUCCEEDED';
      const run = { ended_at, status, summary: { ...account.summary, duration_ms } } as const;
      recorder.record('run_end', { run });
    }
    recorder.settle();
    sink.push();
    await sink.close(FLUSH_MS);
    identified.release();
    await release();
  }
}

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
