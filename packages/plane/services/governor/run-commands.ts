// What the parts of a running shim share, and how commands of its session are carried out.
import { isUtf8 } from 'node:buffer';
import type { Producer, Profile } from '@subluminal/contracts';
import type { Identity, Snapshot } from '@subluminal/core/policy';
import type { Redactor } from '@subluminal/core/scan';
import {
  type Command,
  createSession,
  type HubAnswer,
  type Question,
  type Session,
  type SessionConfig,
} from '@subluminal/core/session';
import { sha256, sha256Bytes } from '../../os/crypto/index.ts';
import type { PolicySource } from '../../stores/policy/sources.ts';
import type { PromptSink } from '../sink/index.ts';
import type { ChunkWriter, SpawnResult } from '../transports/stdio/index.ts';
import type { Answers } from './answers.ts';
import { callIds } from './call-ids.ts';
import { Counter } from './counts.ts';
import type { Recorder } from './events.ts';
import type { GatesLifecycle } from './gates-lifecycle.ts';
import type { HubLink } from './hub.ts';
import type { LazyApprovals } from './lazy-approvals.ts';
import type { Log, LogLevel } from './log.ts';
import type { LookAlikes } from './look-alikes.ts';
import { asBuffer } from './stdio-pump.ts';
import { type Begun, hooksOf, timed } from './watch.ts';

/** One secret that the server was to get; never its value. */
export interface Injection {
  readonly inject_as: string;
  readonly secret_ref: string;
  readonly source: 'env' | 'file' | 'keychain' | 'vault';
  readonly success: boolean;
  readonly server_name: string;
}

export interface PolicyFiles {
  readonly sources: readonly PolicySource[];
  /** The product's folder. */
  readonly home: string;
  readonly mark: string;
  /** The hashes of what is in force. */
  readonly hashes: readonly string[];
  /** What a changed file would have let pass when the shim began, had it been taken. */
  readonly loosening: string | undefined;
}

export interface ShimParts {
  readonly serverName: string;
  readonly spawned: SpawnResult;
  readonly snapshot: Snapshot;
  /** The files of the policy, and what they were like before they were read. */
  readonly policyFiles: PolicyFiles;
  readonly policyReload: 'any' | 'tighten' | 'off';
  readonly profile: Profile;
  readonly producer: Producer;
  /** Whether this shim tells when the run begins and ends. */
  readonly tellsRun: boolean;
  readonly sink: PromptSink;
  readonly hub: HubLink | undefined;
  readonly people: LazyApprovals;
  readonly guarding: GatesLifecycle;
  readonly injected: readonly Injection[];
  readonly redact: Redactor['plain'];
  readonly logLevel: LogLevel;
  readonly isClean: (bytes: Uint8Array, start: number, end: number) => boolean;
  readonly limits: {
    readonly inspectBytesMax: number;
    readonly messageBytesMax: number;
    readonly previewBytesMax: number;
    readonly orphanMs: number;
    readonly graceMs: number;
    readonly termMs: number;
  };
}

export interface Shim {
  readonly parts: ShimParts;
  readonly session: Session;
  readonly recorder: Recorder;
  readonly log: Log;
  readonly counter: Counter;
  readonly toAgent: ChunkWriter;
  readonly answers: Answers;
  readonly lookAlikes: LookAlikes;
  readonly now: () => number;
  readonly startedAt: number;
  /** The process that started this one; when it is another, the agent is gone. */
  readonly parent: number;
  /** The policy in force. */
  snapshot: Snapshot;
  stop: (exitCode: number) => void;
  /** Writes a held call to the server. */
  release: (bytes: Uint8Array) => void;
  terminated: boolean;
  /** It has had enough calls to be worth more memory. */
  isBusy: boolean;
}

export const TERMINATED_EXIT = 3;

/** The session, and what is counted of it. */
export function sessionOf(parts: ShimParts, log: Log): Pick<Shim, 'session' | 'counter'> {
  const counter = new Counter();
  const begun: Begun = { atMs: 0 };
  const { guarding } = parts;
  const session = createSession({
    ...configOf(parts),
    ...hooksOf({ parts, counter, log }, begun),
    // They change with the policy.
    get asksAlways() {
      return guarding.asksAlways;
    },
    get observes() {
      return guarding.observes;
    },
  });
  return { counter, session: log.isOn('info') ? timed(session, begun) : session };
}

/** Who acts, as policies know it. */
export function identityOf(producer: Producer): Identity {
  const { run_id, agent_id, client, env, principal, workload } = producer;
  return {
    run_id,
    agent_id,
    client,
    env,
    ...(principal !== undefined && { principal }),
    ...(workload !== undefined && { workload: { ...workload } }),
  };
}

function configOf(parts: ShimParts): SessionConfig {
  const { limits } = parts;
  const identity = identityOf(parts.producer);
  return {
    serverName: parts.serverName,
    profile: parts.profile,
    snapshot: parts.snapshot,
    identity,
    callId: callIds(),
    sha256,
    sha256Bytes,
    isUtf8,
    utf8Bytes: (text) => Buffer.byteLength(text),
    decode,
    redact: parts.redact,
    isClean: parts.isClean,
    hub: parts.hub !== undefined,
    approver: parts.people.approver,
    guard: parts.guarding.guard,
    limits: { previewBytesMax: limits.previewBytesMax, orphanMs: limits.orphanMs },
  };
}

function decode(bytes: Uint8Array, start: number, end: number): string {
  return asBuffer(bytes).toString('utf8', start, end);
}

/** Commands that come from time or from an end, not from a message. */
export function runCommands(shim: Shim, commands: readonly Command[]): void {
  for (const command of commands) perform(shim, command);
  shim.parts.sink.push();
}

export function perform(shim: Shim, command: Command): void {
  const { parts, log, recorder } = shim;
  switch (command.do) {
    case 'answer':
      if (command.to === 'server') shim.release(Buffer.from(command.text));
      else shim.answers.write(command.text);
      return;
    case 'emit':
      shim.lookAlikes.noticed(command);
      recorder.emit(command);
      return;
    case 'report': {
      // A sample of the bytes could hold a part of a secret.
      const { detail, sample: _, ...facts } = command.report;
      shim.counter.report(command.report);
      if (shim.lookAlikes.holds(command.report)) return;
      log.warn(detail, facts);
      return;
    }
    case 'result':
      parts.hub?.result(command.callId, command.result);
      return;
    case 'terminate': {
      const { code, message } = command;
      shim.terminated = true;
      log.warn(message, { code });
      parts.hub?.terminate({ code, message });
      shim.stop(TERMINATED_EXIT);
      return;
    }
    case 'hold':
      return parts.people.hold(command.callId, command.bytes);
    case 'release': {
      const bytes = parts.people.release(command.callId);
      if (bytes === undefined) throw new Error('a call that is not held was released');
      return shim.release(bytes);
    }
    case 'discard':
      return parts.people.discard(command.callId, command.why);
    case 'consult':
      return consult(shim, command.question);
    default:
  }
}

/** The hub decides again about a call that a person has approved. */
function consult(shim: Shim, question: Question): void {
  const { hub } = shim.parts;
  const callId = question.ref.call_id;
  const tell = (outcome: HubAnswer['outcome']): void =>
    runCommands(shim, shim.session.consulted({ callId, outcome }, shim.now()));
  if (hub === undefined) return tell(undefined);
  void hub.ask([question]).then(([answer]) => tell(answer?.outcome));
}
