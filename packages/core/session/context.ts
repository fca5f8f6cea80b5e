// What a session remembers. Only the functions of this folder change it.
import type { Decision, Era, EventDecision, PolicyRef } from '@subluminal/contracts';
import { type Decode, decodeText } from '../json/text.ts';
import { initialState } from '../policy/decide/state.ts';
import type { PolicyState, Snapshot } from '../policy/index.ts';
import type { HeldCall } from './approvals.ts';
import { failClosedGuard } from './fail-closed-guard.ts';
import type { Guard, Passage } from './guard.ts';
import { InputRounds } from './input-rounds.ts';
import type { LargeMessage } from './large.ts';
import { OpenRequests } from './pending.ts';
import {
  type Command,
  DEFAULT_LIMITS,
  type HubAnswer,
  type Redact,
  type Report,
  type ServerExit,
  type SessionConfig,
  type SessionLimits,
  type Side,
} from './types.ts';

export interface Counts {
  total: number;
  allowed: number;
  blocked: number;
  throttled: number;
  errors: number;
  spared: number;
  heldBack: number;
}

export interface Context {
  readonly config: SessionConfig;
  readonly limits: SessionLimits;
  readonly decode: Decode;
  readonly redact: Redact;
  readonly enforcing: boolean;
  snapshot: Snapshot;
  /** The gates beside the rules, if there are any. */
  guard: Guard | undefined;
  state: PolicyState;
  /** The protocol version that was negotiated, or that the agent last named. */
  version: string | undefined;
  /** Requests of the agent, and of the server. */
  readonly asked: { readonly [S in Side]: OpenRequests };
  readonly held: Map<string, HeldCall>;
  /** What the server has asked for in answers to calls. */
  readonly inputRounds: InputRounds;
  /** The last decision as events tell it: most calls get the very same one. */
  told:
    | { readonly decision: Decision; readonly policy: PolicyRef; readonly event: EventDecision }
    | undefined;
  /** Names of tools, and how events show them. */
  readonly names: Map<string, string>;
  /** When each breaker was last told of. */
  readonly tripped: Map<string, number>;
  readonly large: { [S in Side]: LargeMessage | undefined };
  readonly counts: Counts;
  exit: ServerExit | undefined;
  seq: number;
}

/** One message on its way: its bytes, the time, and what has been decided to do. */
export interface Step {
  readonly from: Side;
  readonly bytes: Uint8Array;
  readonly nowMs: number;
  readonly out: Command[];
  /** What lets this message pass. */
  readonly forward: Command;
  /** The size of a message whose bytes have gone by. */
  readonly bytesTotal?: number;
  /** What the hub said about the calls in this message. */
  readonly answers?: readonly HubAnswer[] | undefined;
  /** The hub has heard what this line of the server holds. */
  readonly heard?: boolean;
  /** It was too large to be seen; what its head got it refused for, if anything. */
  readonly unseen?: { readonly refused: Extract<Passage, { kind: 'refused' }> | undefined };
}

const MODERN_SINCE = '2026-07-28';
/** The one revision whose receivers take batches. */
const BATCH_VERSION = '2025-03-26';
const VERSION_DATE = /^\d{4}-\d{2}-\d{2}$/;
const SAMPLE_BYTES = 8;

export function contextOf(config: SessionConfig): Context {
  const limits = { ...DEFAULT_LIMITS, ...config.limits };
  const enforcing = config.profile === 'production';
  return {
    config,
    limits,
    decode: config.decode ?? decodeText,
    redact: config.redact ?? ((text) => text),
    enforcing,
    snapshot: config.snapshot,
    guard: failClosedGuard(config.guard, enforcing),
    state: config.state ?? initialState(config.snapshot),
    version: undefined,
    asked: { agent: new OpenRequests(limits), server: new OpenRequests(limits) },
    held: new Map(),
    inputRounds: new InputRounds(config.sha256),
    told: undefined,
    names: new Map(),
    tripped: new Map(),
    large: { agent: undefined, server: undefined },
    counts: { total: 0, allowed: 0, blocked: 0, throttled: 0, errors: 0, spared: 0, heldBack: 0 },
    exit: undefined,
    seq: 0,
  };
}

export function stepOf(from: Side, bytes: Uint8Array, nowMs: number): Step {
  const to = other(from);
  return { from, bytes, nowMs, out: [], forward: { do: 'forward', to } };
}

export function other(side: Side): Side {
  return side === 'agent' ? 'server' : 'agent';
}

export function eraOf(version: string | undefined): Era {
  if (version === undefined || !VERSION_DATE.test(version)) return 'legacy';
  return version >= MODERN_SINCE ? 'modern' : 'legacy';
}

export function takesBatches({ version }: Context): boolean {
  return version === BATCH_VERSION;
}

/** The size of a message: its newline is not part of it. */
export function sizeOf(bytes: Uint8Array): number {
  return bytes.at(-1) === 0x0a ? bytes.length - 1 : bytes.length;
}

/** Tells an operator what became of a message. */
export function report(
  step: Step,
  told: Omit<Report, 'from' | 'bytes' | 'sample'>,
  offset = -1,
): void {
  const { from, bytes, bytesTotal } = step;
  const sample = offset < 0 || bytes.length === 0 ? {} : { sample: hexAround(bytes, offset) };
  const size = bytesTotal ?? sizeOf(bytes);
  step.out.push({ do: 'report', report: { from, bytes: size, ...told, ...sample } });
}

function hexAround(bytes: Uint8Array, offset: number): string {
  const near = bytes.subarray(Math.max(0, offset - SAMPLE_BYTES), offset + SAMPLE_BYTES);
  return Array.from(near, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
