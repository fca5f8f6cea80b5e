// The life of a connection to a server: events in, the next state and wishes out. Whoever holds the
// connection carries the wishes out, and tells what came of them as further events.
import { inWords } from './manifest/quantities.ts';
import type { BreakerSettings } from './manifest/types.ts';

export type Phase =
  | 'registered'
  | 'connecting'
  | 'introspecting'
  | 'active'
  | 'circuit_broken'
  | 'disconnected';

export interface ConnectionState {
  readonly phase: Phase;
  /** Errors since the last success, oldest first; never more than the threshold. */
  readonly errorsAtMs: readonly number[];
  /** Only while the circuit is broken. */
  readonly recovery: Recovery | undefined;
  /** Where the jitter comes from next; a 32-bit number. */
  readonly seed: number;
}

interface Recovery {
  /** How often a probe has failed since the circuit broke. */
  readonly attempt: number;
  readonly probeAtMs: number;
  readonly isProbing: boolean;
  readonly succeeded: number;
}

export type ConnectionEvent =
  | { readonly kind: 'connect' }
  | { readonly kind: 'connected' }
  /** The server cannot be reached; `isFinal` when trying again is of no use. */
  | { readonly kind: 'connect_failed'; readonly isFinal?: boolean }
  | {
      readonly kind: 'introspected';
      /** In the manifest, but not offered. */
      readonly missing: readonly string[];
      /** Offered, but not in the manifest. */
      readonly extra: readonly string[];
    }
  | { readonly kind: 'call_ended'; readonly ok: boolean; readonly latencyMs: number }
  | { readonly kind: 'probe_ended'; readonly ok: boolean; readonly latencyMs: number }
  /** The connection broke off. */
  | { readonly kind: 'lost' }
  /** Time went by; sent when a `wake` is due. */
  | { readonly kind: 'tick' }
  | { readonly kind: 'disconnect' };

export type Wish =
  | { readonly kind: 'connect' }
  /** Ask for `initialize` and the tools, and compare them with the manifest. */
  | { readonly kind: 'introspect' }
  | { readonly kind: 'probe' }
  | { readonly kind: 'wake'; readonly atMs: number }
  /** Answer every open call with a clean error. */
  | { readonly kind: 'fail_pending'; readonly reason_code: 'SERVER_UNAVAILABLE' }
  | { readonly kind: 'close' }
  | { readonly kind: 'tell_agent' | 'tell_user'; readonly what: 'unavailable' | 'available' }
  | { readonly kind: 'mark_unavailable'; readonly tools: readonly string[] }
  | { readonly kind: 'warn_unlisted'; readonly tools: readonly string[] };

export interface Moved {
  readonly state: ConnectionState;
  readonly wishes: readonly Wish[];
}

interface At {
  readonly settings: BreakerSettings;
  readonly nowMs: number;
}

/** A server whose manifest was approved, and that nobody has connected to. */
export function registered(seed: number): ConnectionState {
  return { phase: 'registered', errorsAtMs: [], recovery: undefined, seed: seed >>> 0 };
}

/** One step. An event that does not fit the phase is late news, and changes nothing. */
export function moveConnection(state: ConnectionState, event: ConnectionEvent, at: At): Moved {
  if (event.kind === 'disconnect') return disconnected(state);
  switch (state.phase) {
    case 'registered':
    case 'disconnected':
      return event.kind === 'connect' ? connecting(state) : { state, wishes: [] };
    case 'connecting':
      return whileConnecting(state, event, at);
    case 'introspecting':
      return whileIntrospecting(state, event, at);
    case 'active':
      return whileActive(state, event, at);
    case 'circuit_broken':
      return whileBroken(state, event, at);
  }
}

function connecting(state: ConnectionState): Moved {
  const next = { ...state, phase: 'connecting', errorsAtMs: [], recovery: undefined } as const;
  return { state: next, wishes: [{ kind: 'connect' }] };
}

function disconnected(state: ConnectionState): Moved {
  if (state.phase === 'disconnected') return { state, wishes: [] };
  const next = { ...state, phase: 'disconnected', errorsAtMs: [], recovery: undefined } as const;
  const failed = { kind: 'fail_pending', reason_code: 'SERVER_UNAVAILABLE' } as const;
  return { state: next, wishes: [failed, { kind: 'close' }] };
}

function whileConnecting(state: ConnectionState, event: ConnectionEvent, at: At): Moved {
  if (event.kind === 'connected') {
    return { state: { ...state, phase: 'introspecting' }, wishes: [{ kind: 'introspect' }] };
  }
  if (event.kind === 'lost') return tripped(state, at);
  if (event.kind !== 'connect_failed') return { state, wishes: [] };
  return event.isFinal === true ? disconnected(state) : tripped(state, at);
}

function whileIntrospecting(state: ConnectionState, event: ConnectionEvent, at: At): Moved {
  if (event.kind === 'lost' || event.kind === 'connect_failed') return tripped(state, at);
  if (event.kind !== 'introspected') return { state, wishes: [] };
  const wishes: Wish[] = [];
  if (event.extra.length > 0) wishes.push({ kind: 'warn_unlisted', tools: event.extra });
  if (event.missing.length > 0) wishes.push({ kind: 'mark_unavailable', tools: event.missing });
  return { state: { ...state, phase: 'active' }, wishes };
}

function whileActive(state: ConnectionState, event: ConnectionEvent, at: At): Moved {
  if (event.kind === 'lost') return tripped(state, at);
  if (event.kind !== 'call_ended') return { state, wishes: [] };
  if (isHealthy(event, at)) return { state: { ...state, errorsAtMs: [] }, wishes: [] };
  const { errorThreshold, errorWindowMs } = at.settings;
  // A time from before the clock went back counts as now.
  const young = state.errorsAtMs
    .map((time) => Math.min(time, at.nowMs))
    .filter((time) => at.nowMs - time < errorWindowMs);
  const errorsAtMs = [...young, at.nowMs].slice(-errorThreshold);
  const next = { ...state, errorsAtMs };
  return errorsAtMs.length >= errorThreshold ? tripped(next, at) : { state: next, wishes: [] };
}

/** Too slow is as bad as failed. */
function isHealthy(
  { ok, latencyMs }: { readonly ok: boolean; readonly latencyMs: number },
  { settings }: At,
): boolean {
  return ok && latencyMs <= settings.latencyThresholdMs;
}

function tripped(state: ConnectionState, at: At): Moved {
  const waiting = waitingFor(state, 0, at);
  return {
    state: waiting.state,
    wishes: [
      { kind: 'fail_pending', reason_code: 'SERVER_UNAVAILABLE' },
      { kind: 'tell_agent', what: 'unavailable' },
      { kind: 'tell_user', what: 'unavailable' },
      ...waiting.wishes,
    ],
  };
}

function waitingFor(state: ConnectionState, attempt: number, at: At): Moved {
  const { waitMs, seed } = backoff(at.settings, attempt, state.seed);
  const probeAtMs = at.nowMs + waitMs;
  const recovery = { attempt, probeAtMs, isProbing: false, succeeded: 0 };
  const next = { phase: 'circuit_broken', errorsAtMs: [], recovery, seed } as const;
  return { state: next, wishes: [{ kind: 'wake', atMs: probeAtMs }] };
}

function whileBroken(state: ConnectionState, event: ConnectionEvent, at: At): Moved {
  const { recovery } = state;
  if (recovery === undefined) throw new Error('a broken circuit without its recovery');
  if (event.kind === 'tick') {
    if (recovery.isProbing || at.nowMs < recovery.probeAtMs) return { state, wishes: [] };
    return probing(state, recovery);
  }
  if (!recovery.isProbing) return { state, wishes: [] };
  if (event.kind === 'lost') return waitingFor(state, recovery.attempt + 1, at);
  if (event.kind !== 'probe_ended') return { state, wishes: [] };
  if (!isHealthy(event, at)) return waitingFor(state, recovery.attempt + 1, at);
  const succeeded = recovery.succeeded + 1;
  if (succeeded < at.settings.recoveryProbes) return probing(state, { ...recovery, succeeded });
  return {
    // What the server offers may have changed while it was away.
    state: { ...state, phase: 'introspecting', errorsAtMs: [], recovery: undefined },
    wishes: [
      { kind: 'introspect' },
      { kind: 'tell_agent', what: 'available' },
      { kind: 'tell_user', what: 'available' },
    ],
  };
}

function probing(state: ConnectionState, recovery: Recovery): Moved {
  return {
    state: { ...state, recovery: { ...recovery, isProbing: true } },
    wishes: [{ kind: 'probe' }],
  };
}

const DOUBLINGS_MAX = 30;
const JITTER = 0.2;

/** Twice as long after each failure, never beyond the maximum, spread over the last fifth. */
function backoff(settings: BreakerSettings, attempt: number, seed: number) {
  const { recoveryTimeoutMs, maxRecoveryBackoffMs } = settings;
  const grown = recoveryTimeoutMs * 2 ** Math.min(attempt, DOUBLINGS_MAX);
  const longestMs = Math.min(grown / (1 - JITTER), maxRecoveryBackoffMs);
  const { fraction, next } = random(seed);
  const waitMs = Math.round(longestMs * (1 - JITTER + JITTER * fraction));
  return { waitMs, seed: next };
}

/** Mulberry32: the same seed gives the same waits, so that a run can be replayed. */
function random(seed: number): { readonly fraction: number; readonly next: number } {
  const next = (seed + 0x6d2b79f5) >>> 0;
  let mixed = Math.imul(next ^ (next >>> 15), next | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return { fraction: ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32, next };
}

export type Route =
  | { readonly kind: 'route' }
  | {
      readonly kind: 'refuse';
      readonly reason_code: 'SERVER_UNAVAILABLE';
      readonly hint: string;
      readonly retryAfterMs: number | undefined;
    };

/** Whether a call may go to the server now. */
export function routeCall({ phase, recovery }: ConnectionState, nowMs: number): Route {
  if (phase === 'active') return { kind: 'route' };
  const refused = { kind: 'refuse', reason_code: 'SERVER_UNAVAILABLE' } as const;
  if (phase === 'disconnected' || phase === 'registered') {
    const hint = 'The server is not connected; go on without its tools.';
    return { ...refused, hint, retryAfterMs: undefined };
  }
  const waitMs = Math.max(0, (recovery?.probeAtMs ?? nowMs) - nowMs);
  const when = waitMs === 0 ? 'in a moment' : `in ${inWords(waitMs)}`;
  const hint = `The server is temporarily unavailable; go on without it, or try again ${when}.`;
  return { ...refused, hint, retryAfterMs: waitMs };
}
