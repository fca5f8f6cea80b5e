// The circuit breaker of a server, driven by its own calls: too many failures pause it, and after a
// pause one call at a time tries whether it is well again.
import { inWords } from '../text/quantities.ts';
import type { BreakerSettings } from './manifest/types.ts';

export interface CircuitState {
  /** Errors since the last success, oldest first; never as many as the threshold. */
  readonly errorsAtMs: readonly number[];
  /** Only while the circuit is open, so that no call but a probe passes. */
  readonly pause: Pause | undefined;
  /** Where the jitter comes from next; a 32-bit number. */
  readonly seed: number;
}

interface Pause {
  /** How often a probe has failed since the circuit opened. */
  readonly attempt: number;
  readonly probeAtMs: number;
  readonly succeeded: number;
  /** The call that tries the server out. */
  readonly probe: { readonly callId: string; readonly sinceMs: number } | undefined;
}

interface BreakerMoment {
  readonly settings: BreakerSettings;
  readonly nowMs: number;
}

export interface EndedCall {
  readonly callId: string;
  readonly isError: boolean;
  readonly tookMs: number;
}

export function closedCircuit(seed: number): CircuitState {
  return { errorsAtMs: [], pause: undefined, seed: seed >>> 0 };
}

/** Whether a call may go out: always while the circuit is closed, else as the only probe when it is due. */
export function mayPass(
  { pause }: CircuitState,
  callId: string,
  { settings, nowMs }: BreakerMoment,
): boolean {
  if (pause === undefined) return true;
  if (nowMs < pause.probeAtMs) return false;
  const { probe } = pause;
  // A probe without an answer for that long has failed.
  const isOpen = probe !== undefined && nowMs - probe.sinceMs <= settings.latencyThresholdMs;
  return !isOpen || probe.callId === callId;
}

/** The call goes out; while the circuit is open it becomes the probe. */
export function callPassed(
  state: CircuitState,
  callId: string,
  moment: BreakerMoment,
): CircuitState {
  if (state.pause === undefined || !mayPass(state, callId, moment)) return state;
  const lost = state.pause.probe !== undefined && state.pause.probe.callId !== callId;
  const waiting = lost ? paused(state, state.pause.attempt + 1, moment) : state;
  if (waiting.pause === undefined || moment.nowMs < waiting.pause.probeAtMs) return waiting;
  return { ...waiting, pause: { ...waiting.pause, probe: { callId, sinceMs: moment.nowMs } } };
}

/** A call has its answer. */
export function callEnded(
  state: CircuitState,
  call: EndedCall,
  moment: BreakerMoment,
): CircuitState {
  const { settings, nowMs } = moment;
  const { pause } = state;
  // Too slow is as bad as failed.
  const isHealthy = !call.isError && call.tookMs <= settings.latencyThresholdMs;
  if (pause !== undefined) {
    if (pause.probe?.callId !== call.callId) return state;
    if (!isHealthy) return paused(state, pause.attempt + 1, moment);
    const succeeded = pause.succeeded + 1;
    const isBack = succeeded >= settings.recoveryProbes;
    return { ...state, pause: isBack ? undefined : { ...pause, succeeded, probe: undefined } };
  }
  if (isHealthy) return { ...state, errorsAtMs: [] };
  // A time from before the clock went back counts as now.
  const young = state.errorsAtMs
    .map((time) => Math.min(time, nowMs))
    .filter((time) => nowMs - time < settings.errorWindowMs);
  const errorsAtMs = [...young, nowMs];
  return errorsAtMs.length >= settings.errorThreshold
    ? paused(state, 0, moment)
    : { ...state, errorsAtMs };
}

const DOUBLINGS_MAX = 30;
const JITTER = 0.2;

/** Twice as long after each failure, never beyond the maximum, spread over the last fifth. */
function paused(
  { seed }: CircuitState,
  attempt: number,
  { settings, nowMs }: BreakerMoment,
): CircuitState {
  const grown = settings.recoveryTimeoutMs * 2 ** Math.min(attempt, DOUBLINGS_MAX);
  const longestMs = Math.min(grown / (1 - JITTER), settings.maxRecoveryBackoffMs);
  const { fraction, next } = random(seed);
  const probeAtMs = nowMs + Math.round(longestMs * (1 - JITTER + JITTER * fraction));
  const pause = { attempt, probeAtMs, succeeded: 0, probe: undefined };
  return { errorsAtMs: [], pause, seed: next };
}

/** Mulberry32: the same seed gives the same waits, so that a run can be replayed. */
function random(seed: number): { readonly fraction: number; readonly next: number } {
  const next = (seed + 0x6d2b79f5) >>> 0;
  let mixed = Math.imul(next ^ (next >>> 15), next | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return { fraction: ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32, next };
}

/** How long until a call may try again, and the advice for the agent. */
export function retryAdvice({ pause }: CircuitState, nowMs: number) {
  const retryAfterMs = Math.max(0, (pause?.probeAtMs ?? nowMs) - nowMs);
  const when = retryAfterMs === 0 ? 'in a moment' : `in ${inWords(retryAfterMs)}`;
  const hint = `The server is temporarily unavailable; go on without it, or try again ${when}.`;
  return { retryAfterMs, hint };
}
