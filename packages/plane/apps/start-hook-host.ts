// `sub hook-host`: answers the hooks of one agent that no `sub run` has started. It is the counterpart of a shim: the
// same settings, policy and run as the shims of that agent. It ends with the agent, or a while after its last session.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { eventWriter, isFailure } from '@subluminal/contracts';
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
import { hostSocketOf } from '../services/hooks/find-host.ts';
import { openRunHooks, type RunHooks } from '../services/hooks/run-hooks.ts';
import { Hub } from '../services/hub/index.ts';
import { openRunCedar } from '../services/run/cedar.ts';
import type { BatchingSink } from '../services/sink/index.ts';
import {
  formatConfigFailure,
  type LoadResult,
  loadConfig,
  mayAnswerElsewhere,
} from '../stores/config/index.ts';
import { filePrefix, type Identified, identify, shimServers } from '../stores/identity/index.ts';
import { policyFailureText } from '../stores/policy/watch-policy.ts';
import { withAgentFile } from '../stores/runs/agent-file.ts';

export interface HookHostOptions {
  /** The process of the agent. */
  readonly agent: { readonly pid: number; readonly start: string };
  readonly env: { readonly [name: string]: string | undefined };
  /** Where the agent works: the policy of its project is looked for there. */
  readonly cwd: string;
  /** The file of the policy in place of that one. */
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
  for (const folder of [paths.home, paths.run, paths.spool]) {
    const unsafe = ensurePrivateFolder(folder);
    if (unsafe !== undefined) return `${unsafe.message} ${unsafe.fix}`;
  }
  const socketPath = hostSocketOf(paths.run, agent);
  const name = `hook-host-${agent.pid}`;
  const lock = await takeLock({ folder: paths.run, name }, LOCK_MS);
  if (lock.kind === 'held') return `another process (${lock.pid}) is starting it`;
  let host: HookHost | string | undefined;
  try {
    if (await isAnswered(socketPath)) {
      onReady();
      return undefined;
    }
    host = await openHost({ ...options, env }, { loaded, system, socketPath });
  } finally {
    lock.release();
  }
  if (typeof host === 'string') return host;
  onReady();
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
}

async function openHost(options: HookHostOptions, place: HostPlace): Promise<HookHost | string> {
  const { env, cwd, agent } = options;
  const { loaded, system, socketPath } = place;
  const { config, paths } = loaded;
  const warn = (): void => {};
  const policy = await startPolicy({ env, cwd, flags: flagsOf(options) }, loaded, warn);
  if (isFailure(policy)) return policyFailureText(policy);
  const sink = openEventSink(env, loaded, warn);
  if (typeof sink === 'string') return sink;
  const cedar = await openRunCedar({ config, tell: warn });
  if (isFailure(cedar)) return `${cedar.message} ${cedar.fix}`;
  const identified = identifyHost(options, place);
  if (typeof identified === 'string') return identified;
  const mark = join(paths.run, `${filePrefix(agent)}hooks.json`);
  const marked = makeMark(mark);
  if (typeof marked !== 'boolean') {
    identified.leave();
    identified.release();
    return marked;
  }
  const { producer } = identified;
  const recorder = new Recorder(eventWriter(producer), sink, warn);
  const startedMs = Date.now();
  const degraded = (reason: string): void => {
    const uptime_ms = Math.max(0, Date.now() - startedMs);
    recorder.record('shim_health', { health: { status: 'degraded', reason, uptime_ms } });
    sink.push();
  };
  const { run_id: runId } = producer;
  const judge = cedar?.judge;
  const hub = new Hub({ runId, nowMs: monotonicClock(), sha256, ...(judge && { judge }) });
  const { snapshot, files: policyFiles } = policy;
  const hooks = await openRunHooks({
    producer,
    hub,
    sink,
    snapshot,
    policyFiles,
    config,
    paths,
    env,
    socketPath,
    takesPosts: false,
    trustsPrompts: true,
    hasChannel: mayAnswerElsewhere(loaded),
    shimServers: () => shimServers(paths.run, agent, system),
    warn,
    degraded,
  });
  if (isFailure(hooks)) {
    if (marked) rmSync(mark, { force: true });
    identified.leave();
    identified.release();
    return `${hooks.message} ${hooks.fix}`;
  }
  if (identified.runOrigin === 'created' || identified.runOrigin === 'alone') {
    const { document, ref } = snapshot;
    const started_at = new Date().toISOString();
    recorder.record('run_start', { run: { started_at, mode: document.mode, policy: ref } });
  }
  if (!marked) degraded(LOST);
  sink.push();
  const unmark = (): void => rmSync(mark, { force: true });
  const release = async (): Promise<void> => cedar?.close();
  const begun = { hooks, identified, recorder, sink, system, startedMs };
  return new HookHost(options, { ...begun, unmark, release });
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
  readonly hooks: RunHooks;
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
    const { hooks, system } = this.#parts;
    let idleSinceMs = performance.now();
    return new Promise((resolve) => {
      const finish = (): void => {
        clearInterval(timer);
        for (const signal of SIGNALS) process.off(signal, finish);
        resolve();
      };
      const timer = setInterval(() => {
        if (!isProcessAlive(agent, system)) return finish();
        if (hooks.desk.sessions > 0) idleSinceMs = performance.now();
        else if (performance.now() - idleSinceMs >= lingerMs) finish();
      }, LOOK_MS);
      for (const signal of SIGNALS) process.on(signal, finish);
    });
  }

  /** Ends all sessions, and the run when no shim is left in it. */
  async close(): Promise<void> {
    const { hooks, identified, recorder, sink, startedMs, unmark, release } = this.#parts;
    // While its socket is there: the next hook starts another host behind it.
    unmark();
    const summary = await hooks.end();
    const isTerminated = hooks.isTerminated();
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
