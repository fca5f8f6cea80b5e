// `sub shim`: stands between an agent and one MCP server on stdio.
import { eventWriter, POLICY_HELD_BACK } from '@subluminal/contracts';
import type { Guard, ServerExit } from '@subluminal/core/session';
import { monotonicClock } from '../../os/monotonic-clock.ts';
import { followPolicy, POLICY_BROKEN } from '../../stores/policy/follow-policy.ts';
import {
  onSignal,
  openAgent,
  openServer,
  type RunningServer,
  supervise,
} from '../transports/stdio/index.ts';
import type { Transport } from '../transports/types.ts';
import { speedUpWhenBusy } from './busy.ts';
import { Recorder } from './events.ts';
import { governBoth, runCommands, TERMINATED_EXIT } from './govern.ts';
import { type Shim, type ShimParts, sessionOf } from './governed-session.ts';
import { createLog, type Log } from './log.ts';
import { joinLookAlikes } from './look-alikes.ts';
import { recordEnd, recordHealth, recordPolicy, recordStart, watchHealth } from './record.ts';

const TICK_MS = 1_000;
/** Clients kill a server that takes longer than a few seconds to end. */
const FLUSH_MS = 1_500;
const DRAIN_MS = 2_000;
/**
 * A client that has sent a signal kills this process soon: Claude Code after 500 ms. A server that takes
 * longer than this is not waited for with the record of the session.
 */
const RECORD_MS = 200;
/** A server that closes its output and lives for longer than this is reported as running. */
const EXIT_MS = 250;

/** Runs until the agent, the server or a signal ends it; gives the exit code. */
export async function runShim(parts: ShimParts): Promise<number> {
  const now = monotonicClock();
  const { serverName, profile, logLevel: level } = parts;
  const log = createLog({ serverName, profile, level, now });
  const recorder = recorderFor(parts, log);
  const agent = openAgent(parts.limits);
  const shim: Shim = {
    parts,
    ...sessionOf(parts, log),
    recorder,
    log,
    agent,
    server: undefined,
    lookAlikes: joinLookAlikes((text, facts) => log.warn(text, { ...facts })),
    now,
    startedAt: now(),
    parent: process.ppid,
    snapshot: parts.snapshot,
    stop: () => {},
    terminated: false,
    isBusy: false,
    hasRecordedEnd: false,
  };
  recordStart(shim);
  const watch = watchPolicyOf(shim);
  const health = watchHealth(shim);
  parts.people.start({
    now,
    record: (body) => recorder.record('approval', body),
    answer: (callId, answer) => runCommands(shim, shim.session.approval(callId, answer, now())),
    waited: (waitedMs) => shim.counter.waited(waitedMs),
  });
  parts.guarding.start({
    use: (guard) => useGuard(shim, guard),
    warn: (text) => log.warn(text),
    degraded: (reason) => recordHealth(shim, 'degraded', reason),
  });
  const ticking = setInterval(() => tick(shim), TICK_MS);
  ticking.unref();
  const { spawned } = parts;
  parts.hub?.start({
    snapshot: () => shim.snapshot,
    summary: () => shim.session.summary(),
    counts: () => shim.counter.counts(profile),
    onShutdown: () => shim.stop(0),
  });
  const { exitCode, hasFailed } =
    spawned.kind === 'started'
      ? await serve(shim, spawned.server)
      : { exitCode: await refuseAll(shim, spawned.message), hasFailed: true };
  clearInterval(ticking);
  watch?.stop();
  health.stop();
  parts.guarding.stop();
  runCommands(shim, shim.session.agentClosed(now()));
  parts.people.close();
  await agent.close(DRAIN_MS);
  endOnce(shim, hasFailed);
  await parts.guarding.flush();
  // Tell the hub last: a process that waits for this shim may then read all of its events.
  await parts.sink.close(FLUSH_MS);
  await parts.hub?.leave(shim.session.summary());
  return exitCode;
}

/** Records the end of the session, and of the run when no other shim is in it. */
function endOnce(shim: Shim, hasFailed: boolean): void {
  if (shim.hasRecordedEnd) return;
  shim.hasRecordedEnd = true;
  recordEnd(shim, hasFailed);
  shim.recorder.settle();
  shim.parts.sink.push();
}

/** After a signal: at once when no call waits for its answer, because Codex kills its servers right away. */
function endSoon(shim: Shim): void {
  if (shim.session.openRequests('agent') === 0) return endOnce(shim, false);
  const end = (): void => {
    runCommands(shim, shim.session.agentClosed(shim.now()));
    endOnce(shim, false);
  };
  setTimeout(end, RECORD_MS).unref();
}

function recorderFor({ producer, limits, sink }: ShimParts, log: Log): Recorder {
  const utf8Bytes = (text: string) => Buffer.byteLength(text);
  const writer = eventWriter(producer, { ...limits, utf8Bytes });
  return new Recorder(writer, sink, (text) => log.warn(text));
}

/** Uses other gates, which may ask a person even if nobody was asked before. */
function useGuard(shim: Shim, guard: Guard | undefined): void {
  const { people, guarding } = shim.parts;
  void people.prepare(shim.snapshot, guarding.mayAsk).then(() => shim.session.useGuard(guard));
}

function tick(shim: Shim): void {
  // The answers of people come first: a timeout only ends calls without an answer.
  shim.parts.people.tick();
  runCommands(shim, shim.session.tick(shim.now()));
  shim.isBusy ||= speedUpWhenBusy(shim.session.summary().calls_total);
}

interface ShimEnd {
  readonly exitCode: number;
  /** The server ended by itself, and not well. */
  readonly hasFailed: boolean;
}

/** The usual case: messages flow both ways until a side leaves. */
async function serve(shim: Shim, running: RunningServer): Promise<ShimEnd> {
  const { graceMs, termMs, ...limits } = shim.parts.limits;
  const server = openServer(running, limits);
  const closeInput = () => server.end();
  const supervisor = supervise({
    server: running,
    graceMs,
    termMs,
    closeInput,
    onSignal: () => endSoon(shim),
  });
  shim.stop = (exitCode) => supervisor.stop({ kind: 'asked', exitCode });
  shim.server = server;
  governBoth(shim, server, {
    agent: () => supervisor.stop({ kind: 'input_closed' }),
    broken: () => supervisor.stop({ kind: 'output_closed' }),
    server: () => void exitOf(running).then((exit) => over(shim, exit)),
  });
  const outcome = await supervisor.done;
  shim.agent.stop();
  const { code, signal } = outcome.server;
  over(shim, { started: true, code, signal });
  if (outcome.left.length > 0) {
    shim.log.warn('processes of the server could not be ended', { pids: outcome.left });
  }
  const exitCode = shim.terminated ? TERMINATED_EXIT : outcome.exitCode;
  const { kind } = outcome.reason;
  const isOwnEnd = kind === 'server_ended' || kind === 'server_closed_pipe';
  return { exitCode, hasFailed: isOwnEnd && exitCode !== 0 };
}

/** The server has ended. When the agent ended first, its calls were cancelled, not lost. */
function over(shim: Shim, exit: ServerExit): void {
  const { session, now } = shim;
  shim.counter.serverState = 'exited';
  if (process.ppid !== shim.parent) runCommands(shim, session.agentClosed(now()));
  runCommands(shim, session.serverExited(exit, now()));
}

/** The server could not start: every request gets the reason, until the agent leaves. */
function refuseAll(shim: Shim, message: string): Promise<number> {
  const { session, agent, now, parts } = shim;
  shim.counter.serverState = 'failed';
  shim.log.warn('the server could not be started', { reason: parts.redact(message) });
  runCommands(shim, session.serverExited({ started: false, message }, now()));
  return new Promise((resolve) => {
    const end = (): void => resolve(1);
    governBoth(shim, NOWHERE, { agent: end, broken: end, server: () => {} });
    shim.stop = (exitCode) => {
      agent.stop();
      resolve(exitCode === 0 ? 1 : exitCode);
    };
    onSignal(() => {
      agent.stop();
      resolve(1);
    });
  });
}

/** The way to a server that never ran. */
const NOWHERE: Transport = {
  read() {},
  hold() {},
  release() {},
  stop() {},
  write() {},
  writePart() {},
  endParts() {},
  abortParts() {},
  holds() {},
  end() {},
  close: () => Promise.resolve(true),
};

function watchPolicyOf(shim: Shim): { stop(): void } | undefined {
  const { policyFiles: files, policyReload: reload, profile } = shim.parts;
  if (files.loosening !== undefined) recordHealth(shim, 'degraded', POLICY_HELD_BACK);
  return followPolicy({
    files,
    reload,
    profile,
    current: () => shim.snapshot,
    use: async (snapshot) => {
      const { guarding, people } = shim.parts;
      await guarding.usePolicy(snapshot);
      await people.prepare(snapshot, guarding.mayAsk);
      shim.snapshot = snapshot;
      shim.session.usePolicy(snapshot);
      shim.session.useGuard(guarding.guard);
      recordPolicy(shim, snapshot, true);
      shim.parts.sink.push();
    },
    heldBack: (reason) => {
      shim.log.warn(reason);
      recordHealth(shim, 'degraded', POLICY_HELD_BACK);
    },
    broken: (reason) => {
      shim.log.warn(POLICY_BROKEN, { reason });
      // Not the reason itself, which may quote the file.
      recordHealth(shim, 'degraded', POLICY_BROKEN);
    },
  });
}

/** How the server exited. Its output may end shortly before it does, or long before. */
function exitOf({ child }: RunningServer): Promise<ServerExit> {
  return new Promise((resolve) => {
    const settle = (): void => {
      clearTimeout(timer);
      const { exitCode: code, signalCode: signal } = child;
      resolve({
        started: true,
        ...(code !== null && { code }),
        ...(signal !== null && { signal }),
      });
    };
    const timer = setTimeout(settle, EXIT_MS);
    timer.unref();
    if (child.exitCode !== null || child.signalCode !== null) settle();
    else child.once('exit', settle);
  });
}
