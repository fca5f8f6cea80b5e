// A governed session from its first message to its record: whatever carries the messages, and whatever
// process it lives in.
import { eventWriter, POLICY_HELD_BACK } from '@subluminal/contracts';
import type { Snapshot } from '@subluminal/core/policy';
import type { Guard } from '@subluminal/core/session';
import { followPolicy, POLICY_BROKEN } from '../../stores/policy/follow-policy.ts';
import type { Transport } from '../transports/types.ts';
import { Recorder } from './events.ts';
import { runCommands } from './govern.ts';
import { type GovernedSession, type SessionParts, sessionOf } from './governed-session.ts';
import { createLog, type Log } from './log.ts';
import { joinLookAlikes } from './look-alikes.ts';
import { recordEnd, recordHealth, recordPolicy, recordStart, watchHealth } from './record.ts';

const TICK_MS = 1_000;
/** Clients kill a server that takes longer than a few seconds to end. */
const FLUSH_MS = 1_500;
const DRAIN_MS = 2_000;

interface SessionOpening {
  readonly agent: Transport;
  readonly now: () => number;
  /** Called every second. */
  readonly ticked?: (governed: GovernedSession) => void;
}

export interface OpenedSession {
  readonly governed: GovernedSession;
  /** Ends it: open calls are cancelled, the record is written, and the hub is told. */
  readonly close: (hasFailed: boolean) => Promise<void>;
}

/** Opens a session. Its messages flow once `governBoth` has got the way to its server. */
export function openSession(parts: SessionParts, opening: SessionOpening): OpenedSession {
  const { agent, now } = opening;
  const { serverName, profile, logLevel: level } = parts;
  const log = createLog({ serverName, profile, level, now });
  const recorder = recorderFor(parts, log);
  const governed: GovernedSession = {
    parts,
    ...sessionOf(parts, log),
    recorder,
    log,
    agent,
    server: undefined,
    lookAlikes: joinLookAlikes((text, facts) => log.warn(text, { ...facts })),
    now,
    startedAt: now(),
    snapshot: parts.snapshot,
    stop: () => {},
    terminated: false,
    hasRecordedEnd: false,
  };
  recordStart(governed);
  const watch = watchPolicyOf(governed);
  const health = watchHealth(governed);
  startPeers(governed);
  const ticking = setInterval(() => tick(governed, opening), TICK_MS);
  ticking.unref();
  const close = async (hasFailed: boolean): Promise<void> => {
    clearInterval(ticking);
    watch?.stop();
    health.stop();
    parts.guarding.stop();
    runCommands(governed, governed.session.agentClosed(now()));
    parts.people.close();
    await agent.close(DRAIN_MS);
    endOnce(governed, hasFailed);
    await parts.guarding.flush();
    // Tell the hub last: whoever waits for this session may then read all of its events.
    await parts.sink.close(FLUSH_MS);
    await parts.hub?.leave(governed.session.summary());
  };
  return { governed, close };
}

/** People, gates and hub get their way into the session. */
function startPeers(governed: GovernedSession): void {
  const { parts, recorder, log, now } = governed;
  parts.people.start({
    now,
    record: (body) => recorder.record('approval', body),
    answer: (callId, answer) =>
      runCommands(governed, governed.session.approval(callId, answer, now())),
    waited: (waitedMs) => governed.counter.waited(waitedMs),
  });
  parts.guarding.start({
    use: (guard) => useGuard(governed, guard),
    warn: (text) => log.warn(text),
    degraded: (reason) => recordHealth(governed, 'degraded', reason),
  });
  parts.hub?.start({
    snapshot: () => governed.snapshot,
    summary: () => governed.session.summary(),
    counts: () => governed.counter.counts(parts.profile),
    onShutdown: () => governed.stop(0),
    giveUpLeases: (counters) => governed.session.giveUpLeases(now(), counters),
  });
}

/** Records the end of the session, and of the run when no other shim is in it. */
export function endOnce(governed: GovernedSession, hasFailed: boolean): void {
  if (governed.hasRecordedEnd) return;
  governed.hasRecordedEnd = true;
  recordEnd(governed, hasFailed);
  governed.recorder.settle();
  governed.parts.sink.push();
}

function recorderFor({ producer, limits, sink }: SessionParts, log: Log): Recorder {
  const utf8Bytes = (text: string) => Buffer.byteLength(text);
  const writer = eventWriter(producer, { ...limits, utf8Bytes });
  return new Recorder(writer, sink, (text) => log.warn(text));
}

/** Uses other gates, which may ask a person even if nobody was asked before. */
function useGuard(governed: GovernedSession, guard: Guard | undefined): void {
  const { people, guarding } = governed.parts;
  void people
    .prepare(governed.snapshot, guarding.mayAsk)
    .then(() => governed.session.useGuard(guard));
}

function tick(governed: GovernedSession, { ticked }: SessionOpening): void {
  // The answers of people come first: a timeout only ends calls without an answer.
  governed.parts.people.tick();
  runCommands(governed, governed.session.tick(governed.now()));
  ticked?.(governed);
}

function watchPolicyOf(governed: GovernedSession): { stop(): void } | undefined {
  const { policyFiles: files, policyReload: reload, profile } = governed.parts;
  if (files.loosening !== undefined) recordHealth(governed, 'degraded', POLICY_HELD_BACK);
  return followPolicy({
    files,
    reload,
    profile,
    current: () => governed.snapshot,
    use: (snapshot) => changePolicy(governed, snapshot),
    heldBack: (reason) => {
      governed.log.warn(reason);
      recordHealth(governed, 'degraded', POLICY_HELD_BACK);
    },
    broken: (reason) => {
      governed.log.warn(POLICY_BROKEN, { reason });
      // Not the reason itself, which may quote the file.
      recordHealth(governed, 'degraded', POLICY_BROKEN);
    },
  });
}

/** Puts another policy in force. */
export async function changePolicy(governed: GovernedSession, snapshot: Snapshot): Promise<void> {
  const { guarding, people } = governed.parts;
  await guarding.usePolicy(snapshot);
  await people.prepare(snapshot, guarding.mayAsk);
  // Counted by the policy that they were leased by.
  governed.parts.hub?.giveBack?.();
  governed.snapshot = snapshot;
  governed.session.usePolicy(snapshot);
  governed.session.useGuard(guarding.guard);
  recordPolicy(governed, snapshot, true);
  governed.parts.sink.push();
}
