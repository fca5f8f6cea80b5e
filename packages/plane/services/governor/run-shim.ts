// `sub shim`: stands between an agent on stdio and one MCP server.
import type { ServerExit } from '@subluminal/core/session';
import { monotonicClock } from '../../os/monotonic-clock.ts';
import { bridgeEras } from '../transports/bridge/index.ts';
import {
  onSignal,
  openAgent,
  openServer,
  type RunningServer,
  type SpawnResult,
  signalExit,
  supervise,
  watchParent,
} from '../transports/stdio/index.ts';
import type { ServerEnd, Transport } from '../transports/types.ts';
import { speedUpWhenBusy } from './busy.ts';
import { governBoth, runCommands, TERMINATED_EXIT } from './govern.ts';
import type { GovernedSession, SessionParts } from './governed-session.ts';
import { endOnce, openSession } from './open-session.ts';

/**
 * A client that has sent a signal kills this process soon: Claude Code after 500 ms. A server that takes
 * longer than this is not waited for with the record of the session.
 */
const RECORD_MS = 200;
/** A server that closes its output and lives for longer than this is reported as running. */
const EXIT_MS = 250;

/** The server of a shim: a process that was started or could not be, or one that is reached. */
export type ShimServer = SpawnResult | ServerEnd;

/** Runs until the agent, the server or a signal ends it; gives the exit code. */
export async function runShim(parts: SessionParts, server: ShimServer): Promise<number> {
  // When another process has adopted this one, the agent is gone.
  const parent = process.ppid;
  let isBusy = false;
  const { governed, close } = openSession(parts, {
    agent: openAgent(parts.limits),
    now: monotonicClock(),
    ticked: ({ session }) => {
      isBusy ||= speedUpWhenBusy(session.summary().calls_total);
    },
  });
  const { exitCode, hasFailed } = await serveAny(governed, server, parent);
  await close(hasFailed);
  return exitCode;
}

async function serveAny(
  governed: GovernedSession,
  server: ShimServer,
  parent: number,
): Promise<ShimEnd> {
  if ('transport' in server)
    return { exitCode: await serveRemote(governed, server), hasFailed: false };
  if (server.kind === 'started') return serve(governed, server.server, parent);
  return { exitCode: await refuseAll(governed, server.message), hasFailed: true };
}

/** A server that is no process: it is let go when the agent leaves, and never ends by itself. */
async function serveRemote(governed: GovernedSession, remote: ServerEnd): Promise<number> {
  const { inspectBytesMax } = governed.parts.limits;
  const note = (detail: string): void => governed.log.warn(detail);
  const transport = bridgeEras(remote.transport, { inspectBytesMax, note });
  governed.server = transport;
  const { exitCode, waitMs } = await new Promise<{ exitCode: number; waitMs: number }>(
    (resolve) => {
      const stop = (code: number) => resolve({ exitCode: code, waitMs: 0 });
      governed.stop = stop;
      onSignal((signal) => {
        endSoon(governed);
        stop(signalExit(signal));
      });
      watchParent(() => stop(0));
      governBoth(governed, transport, {
        // It may still read the answers to come.
        agent: () => resolve({ exitCode: 0, waitMs: governed.parts.limits.graceMs }),
        broken: () => stop(0),
        server: () => {},
      });
    },
  );
  if (waitMs > 0) await transport.close(waitMs);
  governed.agent.stop();
  await remote.close();
  governed.counter.serverState = 'exited';
  return governed.terminated ? TERMINATED_EXIT : exitCode;
}

/** After a signal: at once when no call waits for its answer, because Codex kills its servers right away. */
function endSoon(governed: GovernedSession): void {
  if (governed.session.openRequests('agent') === 0) return endOnce(governed, false);
  const end = (): void => {
    runCommands(governed, governed.session.agentClosed(governed.now()));
    endOnce(governed, false);
  };
  setTimeout(end, RECORD_MS).unref();
}

interface ShimEnd {
  readonly exitCode: number;
  /** The server ended by itself, and not well. */
  readonly hasFailed: boolean;
}

/** The usual case: messages flow both ways until a side leaves. */
async function serve(
  governed: GovernedSession,
  running: RunningServer,
  parent: number,
): Promise<ShimEnd> {
  const { graceMs, termMs, ...limits } = governed.parts.limits;
  const { inspectBytesMax } = limits;
  const note = (detail: string): void => governed.log.warn(detail);
  const server = bridgeEras(openServer(running, limits), { inspectBytesMax, note });
  const closeInput = () => server.end();
  const supervisor = supervise({
    server: running,
    graceMs,
    termMs,
    closeInput,
    onSignal: () => endSoon(governed),
  });
  governed.stop = (exitCode) => supervisor.stop({ kind: 'asked', exitCode });
  governed.server = server;
  governBoth(governed, server, {
    agent: () => supervisor.stop({ kind: 'input_closed' }),
    broken: () => supervisor.stop({ kind: 'output_closed' }),
    server: () => void exitOf(running).then((exit) => over(governed, exit, parent)),
  });
  const outcome = await supervisor.done;
  governed.agent.stop();
  const { code, signal } = outcome.server;
  over(governed, { started: true, code, signal }, parent);
  if (outcome.left.length > 0) {
    governed.log.warn('processes of the server could not be ended', { pids: outcome.left });
  }
  const exitCode = governed.terminated ? TERMINATED_EXIT : outcome.exitCode;
  const { kind } = outcome.reason;
  const isOwnEnd = kind === 'server_ended' || kind === 'server_closed_pipe';
  return { exitCode, hasFailed: isOwnEnd && exitCode !== 0 };
}

/** The server has ended. When the agent ended first, its calls were cancelled, not lost. */
function over(governed: GovernedSession, exit: ServerExit, parent: number): void {
  const { session, now } = governed;
  governed.counter.serverState = 'exited';
  if (process.ppid !== parent) runCommands(governed, session.agentClosed(now()));
  runCommands(governed, session.serverExited(exit, now()));
}

/** The server could not start: every request gets the reason, until the agent leaves. */
function refuseAll(governed: GovernedSession, message: string): Promise<number> {
  const { session, agent, now, parts } = governed;
  governed.counter.serverState = 'failed';
  governed.log.warn('the server could not be started', { reason: parts.redact(message) });
  runCommands(governed, session.serverExited({ started: false, message }, now()));
  return new Promise((resolve) => {
    const end = (): void => resolve(1);
    governBoth(governed, NOWHERE, { agent: end, broken: end, server: () => {} });
    governed.stop = (exitCode) => {
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
