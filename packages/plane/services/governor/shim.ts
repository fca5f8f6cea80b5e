// `sub shim`: stands between an agent and one MCP server on stdio.
import { eventWriter, POLICY_HELD_BACK } from '@subluminal/contracts';
import type { Snapshot } from '@subluminal/core/policy';
import type { Command, Guard, ServerExit } from '@subluminal/core/session';
import { mayLoosen, watchPolicy } from '../../stores/policy/policy.ts';
import {
  type ChunkReader,
  type ChunkWriter,
  createWriter,
  onSignal,
  openAgentEnds,
  type RunningServer,
  readChunks,
  type Supervisor,
  supervise,
} from '../transports/stdio/index.ts';
import { createAnswers } from './answers.ts';
import { speedUpWhenBusy } from './busy.ts';
import { createRecorder } from './events.ts';
import type { HubLink } from './hub.ts';
import { createLog } from './log.ts';
import { joinLookAlikes } from './look-alikes.ts';
import { recordEnd, recordHealth, recordPolicy, recordStart, watchHealth } from './record.ts';
import {
  perform,
  runCommands,
  type Shim,
  type ShimParts,
  sessionOf,
  TERMINATED_EXIT,
} from './run-commands.ts';
import { asBuffer, createStdioPump, type HubAsker, type StdioPump } from './stdio-pump.ts';

const TICK_MS = 1_000;
/** Clients kill a server that takes longer than a few seconds to end. */
const FLUSH_MS = 1_500;
const DRAIN_MS = 2_000;
/** Who closes the output and lives is told of as such. */
const EXIT_MS = 250;

/** Runs until the agent, the server or a signal ends it; gives the exit code. */
export async function runShim(parts: ShimParts): Promise<number> {
  const { input, output } = openAgentEnds();
  const now = monotonic();
  const { serverName, profile, logLevel: level } = parts;
  const log = createLog({ serverName, profile, level, now });
  const utf8Bytes = (text: string) => Buffer.byteLength(text);
  const writer = eventWriter(parts.producer, { ...parts.limits, utf8Bytes });
  const recorder = createRecorder(writer, parts.sink, (text) => log.warn(text));
  let broken = (): void => {};
  const toAgent = createWriter(output, { onBroken: () => broken() });
  const shim: Shim = {
    parts,
    ...sessionOf(parts, log),
    recorder,
    log,
    toAgent,
    answers: createAnswers(toAgent),
    lookAlikes: joinLookAlikes((text, facts) => log.warn(text, { ...facts })),
    now,
    startedAt: now(),
    parent: process.ppid,
    snapshot: parts.snapshot,
    stop: () => {},
    release: () => {},
    terminated: false,
    isBusy: false,
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
  const exitCode =
    spawned.kind === 'started'
      ? await serve(shim, spawned.server, { input, onBroken: (act) => (broken = act) })
      : await refuseAll(shim, spawned.message, { input, onBroken: (act) => (broken = act) });
  clearInterval(ticking);
  watch?.stop();
  health.stop();
  parts.guarding.stop();
  runCommands(shim, shim.session.agentClosed(now()));
  parts.people.close();
  await shim.toAgent.close(DRAIN_MS);
  recordEnd(shim, exitCode);
  recorder.settle();
  await parts.guarding.flush();
  // The hub hears last that all is on record: whoever waits for this shim may then read it.
  await parts.sink.close(FLUSH_MS);
  await parts.hub?.leave(shim.session.summary());
  return exitCode;
}

/** Other gates may want a person where nobody was asked before. */
function useGuard(shim: Shim, guard: Guard | undefined): void {
  const { people, guarding } = shim.parts;
  void people.prepare(shim.snapshot, guarding.mayAsk).then(() => shim.session.useGuard(guard));
}

function tick(shim: Shim): void {
  // First what people have said: time only ends what nobody has answered.
  shim.parts.people.tick();
  runCommands(shim, shim.session.tick(shim.now()));
  shim.isBusy ||= speedUpWhenBusy(shim.session.summary().calls_total);
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
  const shared = { session, outs, limits, now };
  const up = createStdioPump({
    from: 'agent',
    ...shared,
    act: (command) => perform(shim, command),
    settled: () => parts.sink.push(),
    streamed: () => releases.flush(),
    hub: askerOf(parts.hub, () => fromAgent),
  });
  const releases = createReleases(up, toServer);
  shim.release = (bytes) => releases.write(bytes);
  const down = createStdioPump({
    from: 'server',
    ...shared,
    act: (command) => performLater(shim, command),
    // Nobody waits for the record of an answer: the answer goes first.
    settled: () => parts.guarding.settled(),
    streamed: () => shim.answers.flush(),
    hub: askerOf(parts.hub, () => fromServer),
  });
  const fromAgent = readChunks(agent.input, {
    chunk: (chunk) => up.feed(chunk),
    end: () =>
      up.end(() => {
        runCommands(shim, session.inputEnded(now()));
        supervisor.stop({ kind: 'input_closed' });
      }),
  });
  const fromServer = readChunks(server.stdout, {
    chunk: (chunk) => down.feed(chunk),
    end: () => down.end(() => void exitOf(server).then((exit) => over(shim, exit))),
  });
  shim.answers.yieldTo(down, fromAgent);
  toServer.holds(fromAgent);
  // Refusals go to the agent too, so a full agent holds its own requests back as well.
  toAgent.holds(fromServer, fromAgent);
  return finished(shim, { supervisor, server, stop: () => fromAgent.stop() });
}

/** Held calls for the server. None may land inside of a long line that the agent is sending. */
function createReleases(line: StdioPump, toServer: ChunkWriter) {
  const waiting: Buffer[] = [];
  return {
    write(bytes: Uint8Array): void {
      if (line.isStreaming) waiting.push(asBuffer(bytes));
      else toServer.write(asBuffer(bytes));
    },
    flush(): void {
      for (const bytes of waiting.splice(0)) toServer.write(bytes);
    },
  };
}

/** As `perform`, for what the server causes. */
function performLater(shim: Shim, command: Command): void {
  if (command.do !== 'emit') return perform(shim, command);
  shim.lookAlikes.noticed(command);
  shim.recorder.defer(command);
}

function askerOf(link: HubLink | undefined, source: () => ChunkReader): HubAsker | undefined {
  if (link === undefined) return undefined;
  const hold = () => source().hold();
  const release = () => source().release();
  return {
    ask: (questions) => link.ask(questions),
    observe: (observations) => link.observe(observations),
    hold,
    release,
  };
}

async function finished(
  shim: Shim,
  running: { readonly supervisor: Supervisor; readonly server: RunningServer; stop(): void },
): Promise<number> {
  const outcome = await running.supervisor.done;
  running.stop();
  const { code, signal } = outcome.server;
  over(shim, { started: true, code, signal });
  shim.answers.flush();
  if (outcome.left.length > 0) {
    shim.log.warn('processes of the server could not be ended', { pids: outcome.left });
  }
  return shim.terminated ? TERMINATED_EXIT : outcome.exitCode;
}

/** Who went first? A call of an agent that is gone was given up, not lost. */
function over(shim: Shim, exit: ServerExit): void {
  const { session, now } = shim;
  shim.counter.serverState = 'exited';
  if (process.ppid !== shim.parent) runCommands(shim, session.agentClosed(now()));
  runCommands(shim, session.serverExited(exit, now()));
}

/** The server could not start: every request hears why, until the agent leaves. */
function refuseAll(shim: Shim, message: string, agent: AgentSide): Promise<number> {
  const { session, toAgent, now, parts } = shim;
  shim.counter.serverState = 'failed';
  shim.log.warn('the server could not be started', { reason: parts.redact(message) });
  runCommands(shim, session.serverExited({ started: false, message }, now()));
  const nowhere = createSinkhole();
  const lane = createStdioPump({
    from: 'agent',
    session,
    outs: { agent: toAgent, server: nowhere },
    limits: parts.limits,
    now,
    act: (command) => perform(shim, command),
    settled: () => parts.sink.push(),
    hub: askerOf(parts.hub, () => reader),
  });
  let reader: ChunkReader;
  return new Promise((resolve) => {
    reader = readChunks(agent.input, {
      chunk: (chunk) => lane.feed(chunk),
      end: () => resolve(1),
    });
    agent.onBroken(() => resolve(1));
    shim.stop = (exitCode) => {
      reader.stop();
      resolve(exitCode === 0 ? 1 : exitCode);
    };
    onSignal(() => {
      reader.stop();
      resolve(1);
    });
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

const BROKEN = 'the policy is broken; the last good one stays';

function watchPolicyOf(shim: Shim): { stop(): void } | undefined {
  const { policyFiles, policyReload, profile } = shim.parts;
  const { sources, home, mark, loosening: refused } = policyFiles;
  if (refused !== undefined) recordHealth(shim, 'degraded', POLICY_HELD_BACK);
  if (sources.length === 0 || policyReload === 'off') return undefined;
  let { hashes } = policyFiles;
  return watchPolicy({
    sources,
    home,
    mark,
    profile,
    changed: async (changed) => {
      const { snapshot } = changed;
      if (snapshot.ref.policy_hash === shim.snapshot.ref.policy_hash) return;
      // Files that were only touched: whether they are trusted now does not matter before the next start.
      if (changed.hashes.every((hash, index) => hash === hashes[index])) return;
      const isFree = policyReload === 'any' && mayLoosen(changed, hashes);
      const refusal = isFree ? undefined : await loosening(shim, snapshot);
      if (refusal !== undefined) {
        shim.log.warn(refusal);
        return recordHealth(shim, 'degraded', POLICY_HELD_BACK);
      }
      const { guarding, people } = shim.parts;
      await guarding.usePolicy(snapshot);
      await people.prepare(snapshot, guarding.mayAsk);
      ({ hashes } = changed);
      shim.snapshot = snapshot;
      shim.session.usePolicy(snapshot);
      shim.session.useGuard(guarding.guard);
      recordPolicy(shim, snapshot, true);
      shim.parts.sink.push();
    },
    broken: (reason) => {
      shim.log.warn(BROKEN, { reason });
      // Not the reason itself: it may quote the file.
      recordHealth(shim, 'degraded', BROKEN);
    },
  });
}

async function loosening(shim: Shim, snapshot: Snapshot): Promise<string | undefined> {
  const { firstLoosening } = await import('../../stores/policy/first-loosening.ts');
  const found = firstLoosening(shim.snapshot, snapshot);
  if (found === undefined) return undefined;
  return `the changed policy would let more pass (${found}); the last one stays until the next start`;
}

/** How the server went. Its output may end a moment before it does, or long before. */
function exitOf({ child }: RunningServer): Promise<ServerExit> {
  return new Promise((resolve) => {
    const tell = (): void => {
      clearTimeout(timer);
      const { exitCode: code, signalCode: signal } = child;
      resolve({
        started: true,
        ...(code !== null && { code }),
        ...(signal !== null && { signal }),
      });
    };
    const timer = setTimeout(tell, EXIT_MS);
    timer.unref();
    if (child.exitCode !== null || child.signalCode !== null) tell();
    else child.once('exit', tell);
  });
}

/** Milliseconds that never go back, starting from the time of the wall. */
function monotonic(): () => number {
  const offset = Date.now() - performance.now();
  return () => Math.floor(offset + performance.now());
}
