// `sub shim`: stands between an agent and one MCP server on stdio.
import { isUtf8 } from 'node:buffer';
import { eventWriter, type PolicyRef, type Producer, type Profile } from '@subluminal/contracts';
import type { Snapshot } from '@subluminal/core/policy';
import { type Command, createSession, type Session } from '@subluminal/core/session';
import { uuidv7 } from 'uuidv7';
import { sha256 } from '../../crypto/index.ts';
import type { PromptSink } from '../../sink/index.ts';
import {
  type ChunkWriter,
  createWriter,
  openAgentEnds,
  type RunningServer,
  readChunks,
  type SpawnResult,
  type Supervisor,
  supervise,
} from '../../stdio/index.ts';
import { createRecorder, type Recorder } from './events.ts';
import { asBuffer, createLane } from './lane.ts';
import { createLog, type Log } from './log.ts';
import { watchPolicy } from './policy.ts';

interface ShimParts {
  readonly serverName: string;
  readonly spawned: SpawnResult;
  readonly snapshot: Snapshot;
  readonly policyPath: string | null;
  readonly profile: Profile;
  readonly producer: Producer;
  /** Whether this shim tells when the run begins and ends. */
  readonly tellsRun: boolean;
  readonly sink: PromptSink;
  readonly redact: (text: string) => string;
  readonly limits: {
    readonly inspectBytesMax: number;
    readonly messageBytesMax: number;
    readonly previewBytesMax: number;
    readonly orphanMs: number;
    readonly graceMs: number;
    readonly termMs: number;
  };
}

/** What the parts of a running shim share. */
interface Shim {
  readonly parts: ShimParts;
  readonly session: Session;
  readonly recorder: Recorder;
  readonly log: Log;
  readonly toAgent: ChunkWriter;
  readonly now: () => number;
  readonly startedAt: number;
  stop: (exitCode: number) => void;
  terminated: boolean;
}

const TICK_MS = 1_000;
const FLUSH_MS = 5_000;
const DRAIN_MS = 2_000;
const TERMINATED_EXIT = 3;

/** Runs until the agent, the server or a signal ends it; gives the exit code. */
async function runShim(parts: ShimParts): Promise<number> {
  const { input, output } = openAgentEnds();
  const now = monotonic();
  const log = createLog(parts.serverName, now);
  const recorder = createRecorder(eventWriter(parts.producer, parts.limits), parts.sink, (text) =>
    log.warn(text),
  );
  let broken = (): void => {};
  const shim: Shim = {
    parts,
    session: sessionOf(parts),
    recorder,
    log,
    toAgent: createWriter(output, { onBroken: () => broken() }),
    now,
    startedAt: now(),
    stop: () => {},
    terminated: false,
  };
  recordStart(shim);
  const watch = watchPolicyOf(shim);
  const ticking = setInterval(() => carryOut(shim, shim.session.tick(now())), TICK_MS);
  ticking.unref();
  const { spawned } = parts;
  const exitCode =
    spawned.kind === 'started'
      ? await serve(shim, spawned.server, { input, onBroken: (act) => (broken = act) })
      : await refuseAll(shim, spawned.message, { input, onBroken: (act) => (broken = act) });
  clearInterval(ticking);
  watch?.stop();
  carryOut(shim, shim.session.agentClosed(now()));
  await shim.toAgent.close(DRAIN_MS);
  recordEnd(shim, exitCode);
  await parts.sink.close(FLUSH_MS);
  return exitCode;
}

interface AgentSide {
  readonly input: ReturnType<typeof openAgentEnds>['input'];
  readonly onBroken: (act: () => void) => void;
}

/** The usual case: bytes flow both ways until somebody leaves. */
async function serve(shim: Shim, server: RunningServer, agent: AgentSide): Promise<number> {
  const { parts, session, toAgent, now } = shim;
  const toServer = createWriter(server.stdin);
  const outs = { agent: toAgent, server: toServer };
  const { graceMs, termMs, ...limits } = parts.limits;
  const supervisor = supervise({ server, graceMs, termMs, closeInput: () => toServer.end() });
  agent.onBroken(() => supervisor.stop({ kind: 'output_closed' }));
  shim.stop = (exitCode) => supervisor.stop({ kind: 'asked', exitCode });
  const act = (command: Command) => perform(shim, command);
  const settled = () => parts.sink.push();
  const shared = { session, outs, limits, now, act, settled };
  const up = createLane({ from: 'agent', ...shared });
  const down = createLane({ from: 'server', ...shared });
  const fromAgent = readChunks(agent.input, {
    chunk: (chunk) => up.feed(chunk),
    end: () => {
      up.end();
      supervisor.stop({ kind: 'input_closed' });
    },
  });
  const fromServer = readChunks(server.stdout, {
    chunk: (chunk) => down.feed(chunk),
    end: () => {
      down.end();
      carryOut(shim, session.serverExited(exitOf(server), now()));
    },
  });
  toServer.holds(fromAgent);
  // Refusals go to the agent too, so a full agent holds its own requests back as well.
  toAgent.holds(fromServer, fromAgent);
  return finished(shim, { supervisor, server, stop: () => fromAgent.stop() });
}

async function finished(
  shim: Shim,
  running: { readonly supervisor: Supervisor; readonly server: RunningServer; stop(): void },
): Promise<number> {
  const outcome = await running.supervisor.done;
  running.stop();
  const { code, signal } = outcome.server;
  carryOut(shim, shim.session.serverExited({ started: true, code, signal }, shim.now()));
  if (outcome.left.length > 0) {
    shim.log.warn('processes of the server could not be ended', { pids: outcome.left });
  }
  return shim.terminated ? TERMINATED_EXIT : outcome.exitCode;
}

/** The server could not start: every request hears why, until the agent leaves. */
function refuseAll(shim: Shim, message: string, agent: AgentSide): Promise<number> {
  const { session, toAgent, now, parts } = shim;
  shim.log.warn('the server could not be started', { reason: message });
  carryOut(shim, session.serverExited({ started: false, message }, now()));
  const nowhere = createSinkhole();
  const lane = createLane({
    from: 'agent',
    session,
    outs: { agent: toAgent, server: nowhere },
    limits: parts.limits,
    now,
    act: (command) => perform(shim, command),
    settled: () => parts.sink.push(),
  });
  return new Promise((resolve) => {
    const reader = readChunks(agent.input, {
      chunk: (chunk) => lane.feed(chunk),
      end: () => resolve(1),
    });
    agent.onBroken(() => resolve(1));
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.once(signal, () => {
        reader.stop();
        resolve(1);
      });
    }
    toAgent.holds(reader);
  });
}

function createSinkhole(): ChunkWriter {
  return {
    write() {},
    holds() {},
    bufferedBytes: () => 0,
    end() {},
    close: () => Promise.resolve(true),
  };
}

function sessionOf(parts: ShimParts): Session {
  const { producer, limits } = parts;
  const { run_id, agent_id, client, env, principal, workload } = producer;
  const identity = {
    run_id,
    agent_id,
    client,
    env,
    ...(principal !== undefined && { principal }),
    ...(workload !== undefined && { workload: { ...workload } }),
  };
  return createSession({
    serverName: parts.serverName,
    profile: parts.profile,
    snapshot: parts.snapshot,
    identity,
    callId: uuidv7,
    sha256,
    isUtf8,
    decode,
    redact: parts.redact,
    limits: { previewBytesMax: limits.previewBytesMax, orphanMs: limits.orphanMs },
  });
}

function decode(bytes: Uint8Array, start: number, end: number): string {
  return asBuffer(bytes).toString('utf8', start, end);
}

/** Commands that come from time or from an end, not from a message. */
function carryOut(shim: Shim, commands: readonly Command[]): void {
  for (const command of commands) perform(shim, command);
  shim.parts.sink.push();
}

function perform(shim: Shim, command: Command): void {
  switch (command.do) {
    case 'answer':
      shim.toAgent.write(Buffer.from(command.text));
      return;
    case 'emit':
      shim.recorder.emit(command);
      return;
    case 'report': {
      const { detail, ...facts } = command.report;
      shim.log.warn(detail, facts);
      return;
    }
    case 'terminate':
      shim.terminated = true;
      shim.log.warn(command.message, { code: command.code });
      shim.stop(TERMINATED_EXIT);
      return;
    case 'hold':
      // Nobody can be asked yet: the call is refused at once instead of waiting for nothing.
      carryOut(shim, shim.session.approval(command.callId, 'unavailable', shim.now()));
      return;
    default:
  }
}

function watchPolicyOf(shim: Shim): { stop(): void } | undefined {
  const { policyPath: path, profile } = shim.parts;
  if (path === null) return undefined;
  let hash = shim.parts.snapshot.ref.policy_hash;
  return watchPolicy({
    path,
    profile,
    changed: (snapshot) => {
      if (snapshot.ref.policy_hash === hash) return;
      hash = snapshot.ref.policy_hash;
      carryOut(shim, shim.session.usePolicy(snapshot));
    },
    broken: (message) =>
      shim.log.warn('the policy is broken; the last good one stays', { message }),
  });
}

function recordStart({ parts, recorder }: Shim): void {
  const { snapshot } = parts;
  const policy: PolicyRef = snapshot.ref;
  if (parts.tellsRun) {
    const started_at = new Date().toISOString();
    recorder.record('run_start', { run: { started_at, mode: snapshot.document.mode, policy } });
  }
  recorder.record('policy_loaded', { policy, mode: snapshot.document.mode, reload: false });
  parts.sink.push();
}

function recordEnd(
  { parts, recorder, session, terminated, now, startedAt }: Shim,
  exitCode: number,
): void {
  if (!parts.tellsRun) return;
  const status = terminated ? 'TERMINATED' : exitCode === 0 ? 'SUCCEEDED' : 'FAILED';
  const duration_ms = Math.max(0, Math.round(now() - startedAt));
  recorder.record('run_end', {
    run: {
      ended_at: new Date().toISOString(),
      status,
      summary: { ...session.summary(), duration_ms },
    },
  });
}

function exitOf(server: RunningServer): { started: true; code?: number; signal?: string } {
  const { exitCode, signalCode } = server.child ?? {};
  return {
    started: true,
    ...(typeof exitCode === 'number' && { code: exitCode }),
    ...(typeof signalCode === 'string' && { signal: signalCode }),
  };
}

/** Milliseconds that never go back, starting from the time of the wall. */
function monotonic(): () => number {
  const offset = Date.now() - performance.now();
  return () => Math.floor(offset + performance.now());
}

export type { ShimParts };
export { runShim };
