// The parts of a governed session: an agent, a server, and everything between them.
import { isUtf8 } from 'node:buffer';
import type { Producer, Profile, Transport as TransportName } from '@subluminal/contracts';
import { identityOf, type Snapshot } from '@subluminal/core/policy';
import type { Redactor } from '@subluminal/core/scan';
import {
  type HubAnswer,
  type HubQuestion,
  Session,
  type SessionConfig,
} from '@subluminal/core/session';
import { callIds, sha256, sha256Bytes } from '../../os/crypto/index.ts';
import type { ShimAccount } from '../../stores/identity/index.ts';
import type { PolicyFiles } from '../../stores/policy/follow-policy.ts';
import type { BatchingSink } from '../sink/index.ts';
import { decodeBytes } from '../transports/stdio/index.ts';
import type { Transport } from '../transports/types.ts';
import { type Begun, Counter, hooksOf, TimedSession } from './counts.ts';
import type { Recorder } from './events.ts';
import type { GatesLifecycle } from './gates-lifecycle.ts';
import type { HubLink } from './hub.ts';
import type { LazyApprovals } from './lazy-approvals.ts';
import type { Log, LogLevel } from './log.ts';
import type { LookAlikes } from './look-alikes.ts';

/** One secret that the server was to get; never its value. */
export interface Injection {
  readonly inject_as: string;
  readonly secret_ref: string;
  readonly source: 'env' | 'file' | 'keychain' | 'vault';
  readonly success: boolean;
  readonly server_name: string;
}

/** The part that this shim has in its run. */
interface RunMembership {
  /** Whether it records the start of the run. */
  readonly tellsStart: boolean;
  /** Whether another session of the run has recorded the policy with this hash whole; from now on, one has. */
  readonly hasWritten?: (policyHash: string) => boolean;
  /** Leaves the run. The account of all its shims when this one has to record the end. */
  readonly leave: (own: ShimAccount) => ShimAccount | undefined;
}

/** What a session needs of the hub of its run, wherever that runs. */
export type SessionHub = Pick<
  HubLink,
  'isThere' | 'start' | 'ask' | 'observe' | 'result' | 'terminate' | 'leave'
> & {
  /** Whether the hub leases calls to sessions; one in this process decides at once. */
  readonly leases?: boolean;
  /** Returns what is left of all leases. */
  readonly giveBack?: () => void;
  /** Whether Cedar decides at the hub, too. */
  readonly asksCedar?: boolean;
  /** Answers at once, where it can: a hub in the same process. */
  readonly askNow?: (questions: readonly HubQuestion[]) => readonly HubAnswer[] | undefined;
};

export interface SessionParts {
  readonly serverName: string;
  /** How its calls are recorded to have come; `mcp_stdio` unless given. */
  readonly transport?: TransportName;
  readonly snapshot: Snapshot;
  /** The files of the policy, and their state before they were read. */
  readonly policyFiles: PolicyFiles;
  readonly policyReload: 'any' | 'tighten' | 'off';
  readonly profile: Profile;
  readonly producer: Producer;
  readonly membership: RunMembership;
  readonly sink: BatchingSink;
  readonly hub: SessionHub | undefined;
  readonly people: LazyApprovals;
  readonly guarding: GatesLifecycle;
  /** What its agent knows of its calls. */
  readonly brief?: SessionConfig['brief'];
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

export interface GovernedSession {
  readonly parts: SessionParts;
  readonly session: Session;
  readonly recorder: Recorder;
  readonly log: Log;
  readonly counter: Counter;
  readonly agent: Transport;
  /** Undefined until the server runs. */
  server: Transport | undefined;
  readonly lookAlikes: LookAlikes;
  readonly now: () => number;
  readonly startedAt: number;
  /** The policy in force. */
  snapshot: Snapshot;
  stop: (exitCode: number) => void;
  terminated: boolean;
  /** All that is known of the session is recorded. */
  hasRecordedEnd: boolean;
}

/** The session and its counter. */
export function sessionOf(
  parts: SessionParts,
  log: Log,
): Pick<GovernedSession, 'session' | 'counter'> {
  const counter = new Counter();
  const begun: Begun = { atMs: 0 };
  const hooks = hooksOf({ parts, counter, log }, begun);
  const config = { ...configOf(parts), ...hooks, hubNeeds: parts.guarding };
  const session = log.isOn('info') ? new TimedSession(config, begun) : new Session(config);
  return { counter, session };
}

function configOf(parts: SessionParts): SessionConfig {
  const { limits } = parts;
  const identity = identityOf(parts.producer);
  return {
    serverName: parts.serverName,
    ...(parts.transport !== undefined && { transport: parts.transport }),
    profile: parts.profile,
    snapshot: parts.snapshot,
    identity,
    callId: callIds(),
    sha256,
    sha256Bytes,
    isUtf8,
    utf8Bytes: (text) => Buffer.byteLength(text),
    decode: decodeBytes,
    encode: (text) => Buffer.from(text),
    redact: parts.redact,
    isClean: parts.isClean,
    hub: parts.hub !== undefined,
    leases: parts.hub?.leases === true,
    approver: parts.people.approver,
    guard: parts.guarding.guard,
    brief: parts.brief,
    limits: { previewBytesMax: limits.previewBytesMax, orphanMs: limits.orphanMs },
  };
}
