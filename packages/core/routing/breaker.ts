// The breaker of one endpoint and model: after too many failures nothing goes there for a while, and then one
// turn tries whether it is well again. The state is a value; time comes in.

export type BreakerState =
  | {
      readonly kind: 'closed';
      readonly failuresInRow: number;
      readonly seconds: readonly SecondCount[];
    }
  | {
      readonly kind: 'open';
      readonly openedMs: number;
      /** When the one probe started; none is under way when absent. */
      readonly probeMs?: number;
    };

/** How the calls of one second went. Seconds, not calls, so that the state stays small. */
interface SecondCount {
  readonly second: number;
  readonly calls: number;
  readonly failures: number;
}

export const CLOSED_BREAKER: BreakerState = { kind: 'closed', failuresInRow: 0, seconds: [] };

const FAILURES_IN_ROW_MAX = 10;
const WINDOW_SECONDS = 60;
const WINDOW_CALLS_MIN = 10;
const FAILURE_SHARE_MAX = 0.5;
export const BREAKER_PAUSE_MS = 30_000;
/** A probe that nobody reported on was lost; another may be sent. */
const PROBE_TIMEOUT_MS = 600_000;

/** `half_open`: the pause is over, and one turn may try. */
export type BreakerPhase = 'closed' | 'open' | 'half_open';

export function breakerPhase(state: BreakerState, nowMs: number): BreakerPhase {
  if (state.kind === 'closed') return 'closed';
  const { openedMs, probeMs } = state;
  // A time from before the clock went back counts as now.
  if (nowMs - Math.min(openedMs, nowMs) < BREAKER_PAUSE_MS) return 'open';
  const isProbing = probeMs !== undefined && nowMs - Math.min(probeMs, nowMs) < PROBE_TIMEOUT_MS;
  return isProbing ? 'open' : 'half_open';
}

/** A turn wants to go there. The state to keep when it may; undefined when it may not. */
export function breakerAdmits(state: BreakerState, nowMs: number): BreakerState | undefined {
  if (state.kind === 'closed') return state;
  return breakerPhase(state, nowMs) === 'half_open' ? { ...state, probeMs: nowMs } : undefined;
}

/** A turn that went there has ended. */
export function breakerEnded(
  state: BreakerState,
  outcome: 'success' | 'failure',
  nowMs: number,
): BreakerState {
  if (state.kind === 'open') {
    // A turn from before the breaker opened says nothing new, unless it went well.
    if (outcome === 'success') return CLOSED_BREAKER;
    return state.probeMs === undefined ? state : { kind: 'open', openedMs: nowMs };
  }
  const hasFailed = outcome === 'failure';
  const failuresInRow = hasFailed ? state.failuresInRow + 1 : 0;
  const seconds = counted(state.seconds, hasFailed, Math.floor(nowMs / 1_000));
  const isBroken = failuresInRow >= FAILURES_IN_ROW_MAX || isMostlyFailing(seconds);
  return isBroken ? { kind: 'open', openedMs: nowMs } : { kind: 'closed', failuresInRow, seconds };
}

function counted(
  seconds: readonly SecondCount[],
  hasFailed: boolean,
  second: number,
): readonly SecondCount[] {
  const young = seconds.filter(
    (one) => one.second > second - WINDOW_SECONDS && one.second <= second,
  );
  const last = young.at(-1);
  const isSame = last?.second === second;
  const now = isSame ? last : { second, calls: 0, failures: 0 };
  return [
    ...(isSame ? young.slice(0, -1) : young),
    { second, calls: now.calls + 1, failures: now.failures + (hasFailed ? 1 : 0) },
  ];
}

function isMostlyFailing(seconds: readonly SecondCount[]): boolean {
  const calls = seconds.reduce((sum, one) => sum + one.calls, 0);
  const failures = seconds.reduce((sum, one) => sum + one.failures, 0);
  return calls >= WINDOW_CALLS_MIN && failures / calls > FAILURE_SHARE_MAX;
}
