import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import {
  type CircuitState,
  callEnded,
  callPassed,
  closedCircuit,
  mayPass,
  retryAdvice,
} from './circuit-breaker.ts';
import type { BreakerSettings } from './manifest/types.ts';

const SETTINGS: BreakerSettings = {
  errorThreshold: 5,
  errorWindowMs: 60_000,
  latencyThresholdMs: 30_000,
  recoveryTimeoutMs: 120_000,
  recoveryProbes: 3,
  maxRecoveryBackoffMs: 900_000,
};
const CLOSED = closedCircuit(1);
const at = (nowMs: number) => ({ settings: SETTINGS, nowMs });
const FAILED = { callId: 'c', isError: true, tookMs: 5 };
const DONE = { callId: 'c', isError: false, tookMs: 5 };

type Timed = readonly [nowMs: number, ended: typeof FAILED];

function play(start: CircuitState, script: readonly Timed[]): CircuitState {
  return script.reduce((state, [nowMs, ended]) => callEnded(state, ended, at(nowMs)), start);
}

/** A probe that goes out and ends at the same moment. */
function probed(state: CircuitState, nowMs: number, isError: boolean): CircuitState {
  const passed = callPassed(state, 'probe', at(nowMs));
  return callEnded(passed, { callId: 'probe', isError, tookMs: 5 }, at(nowMs));
}

const times = (count: number, timed: Timed): Timed[] => Array.from({ length: count }, () => timed);
const OPEN = play(CLOSED, times(5, [0, FAILED]));
const dueMs = OPEN.pause?.probeAtMs ?? 0;

describe('the circuit breaker', () => {
  it('opens after so many errors in a row, and calls get a clean answer', () => {
    verifies('ST-8.11');
    const four = play(CLOSED, times(4, [0, FAILED]));
    expect(mayPass(four, 'a', at(0))).toBe(true);
    expect(mayPass(OPEN, 'a', at(0))).toBe(false);
    expect(retryAdvice(OPEN, 0)).toMatchObject({ retryAfterMs: dueMs });
    expect(retryAdvice(OPEN, 0).hint).toContain('temporarily unavailable');
  });

  it('counts slow answers as errors, and forgets errors after a success and after the window', () => {
    verifies('ST-8.11');
    const slow = { ...DONE, tookMs: 30_001 };
    expect(play(CLOSED, times(5, [0, slow])).pause).toBeDefined();
    const four = times(4, [0, FAILED]);
    expect(play(CLOSED, [...four, [1, DONE], [2, FAILED]]).pause).toBeUndefined();
    expect(play(CLOSED, [...four, [59_999, FAILED]]).pause).toBeDefined();
    expect(play(CLOSED, [...four, [60_000, FAILED]]).pause).toBeUndefined();
  });

  it('lets one probe through at a time when it is due', () => {
    verifies('ST-8.11');
    expect(dueMs).toBeGreaterThanOrEqual(120_000);
    expect(mayPass(OPEN, 'a', at(dueMs - 1))).toBe(false);
    expect(mayPass(OPEN, 'a', at(dueMs))).toBe(true);
    const probing = callPassed(OPEN, 'a', at(dueMs));
    expect(mayPass(probing, 'a', at(dueMs))).toBe(true);
    expect(mayPass(probing, 'b', at(dueMs))).toBe(false);
    expect(mayPass(probing, 'b', at(dueMs + SETTINGS.latencyThresholdMs + 1))).toBe(true);
  });

  it('counts a probe without an answer as failed', () => {
    const probing = callPassed(OPEN, 'a', at(dueMs));
    const laterMs = dueMs + SETTINGS.latencyThresholdMs + 1;
    expect(callPassed(probing, 'b', at(laterMs)).pause).toMatchObject({ attempt: 1 });
  });

  it('closes after enough healthy probes', () => {
    verifies('ST-8.11');
    const twice = probed(probed(OPEN, dueMs, false), dueMs, false);
    expect(twice.pause).toMatchObject({ succeeded: 2 });
    expect(probed(twice, dueMs, false).pause).toBeUndefined();
  });

  it('ignores the end of a call that is not the probe while it is open', () => {
    expect(play(OPEN, [[dueMs, DONE]])).toEqual(OPEN);
  });

  it('waits twice as long after each failed probe, up to the maximum', () => {
    verifies('ST-8.11');
    let state = OPEN;
    const waitsMs: number[] = [];
    for (let attempt = 0; attempt < 8; attempt++) {
      const nowMs = state.pause?.probeAtMs ?? 0;
      state = probed(state, nowMs, true);
      waitsMs.push((state.pause?.probeAtMs ?? 0) - nowMs);
    }
    for (const [attempt, waitMs] of waitsMs.entries()) {
      const wantedMs = Math.min(120_000 * 2 ** (attempt + 1), 720_000);
      expect(waitMs).toBeGreaterThanOrEqual(wantedMs);
      expect(waitMs).toBeLessThanOrEqual(Math.min(wantedMs * 1.25, 900_000));
    }
    expect(new Set(waitsMs.slice(-3)).size).toBe(3);
  });

  it('keeps fewer errors than the threshold, and never plans a probe for the past', () => {
    const step = fc.record({
      stepMs: fc.nat(200_000),
      callId: fc.constantFrom('a', 'b', 'c'),
      isError: fc.boolean(),
      tookMs: fc.nat(60_000),
      ends: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.integer(), fc.array(step, { maxLength: 60 }), (seed, script) => {
        let state = closedCircuit(seed);
        let nowMs = 0;
        for (const { stepMs, ends, ...call } of script) {
          nowMs += stepMs;
          const before = state;
          state = ends
            ? callEnded(state, call, at(nowMs))
            : callPassed(state, call.callId, at(nowMs));
          const { probeAtMs } = state.pause ?? {};
          const isPast = probeAtMs !== before.pause?.probeAtMs && (probeAtMs ?? nowMs + 1) <= nowMs;
          expect(isPast).toBe(false);
          expect(state.errorsAtMs.length).toBeLessThan(SETTINGS.errorThreshold);
        }
      }),
    );
  });
});
