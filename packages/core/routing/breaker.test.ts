import fc from 'fast-check';
import { expect, test } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import {
  BREAKER_PAUSE_MS,
  type BreakerState,
  breakerAdmits,
  breakerEnded,
  breakerPhase,
  CLOSED_BREAKER,
} from './breaker.ts';

const START_MS = 1_800_000_000_000;

/** `.` is a success and `x` a failure; the calls come `everyMs` after each other. */
function after(calls: string, everyMs = 10): BreakerState {
  let state = CLOSED_BREAKER;
  for (const [index, call] of [...calls].entries()) {
    state = breakerEnded(state, call === 'x' ? 'failure' : 'success', START_MS + index * everyMs);
  }
  return state;
}

test.each([
  ['nine failures', 'xxxxxxxxx', 10, 'closed'],
  ['ten failures in a row', 'xxxxxxxxxx', 10, 'open'],
  ['ten failures in a row, each in another minute', 'xxxxxxxxxx', 61_000, 'open'],
  ['a success among them', 'xxxxx.xxxx', 61_000, 'closed'],
  ['half of ten', '.x.x.x.x.x', 10, 'closed'],
  ['more than half of ten', '.x.x.x.xxx', 10, 'open'],
  ['more than half of nine', '.x.x.xxxx', 10, 'closed'],
  ['more than half, but not within a minute', '.x.x.x.xxx', 7_000, 'closed'],
  ['a good minute before a bad one', `${'.'.repeat(20)}.x.x.x.xxx`, 10, 'closed'],
])('a breaker after %s', (_, calls, everyMs, kind) => {
  expect(after(calls, everyMs).kind).toBe(kind);
});

const OPEN: BreakerState = { kind: 'open', openedMs: START_MS };
const DUE_MS = START_MS + BREAKER_PAUSE_MS;

test('an open breaker lets nothing pass for 30 seconds, and then one probe', () => {
  verifies('R-P1.2');
  expect(breakerAdmits(OPEN, DUE_MS - 1)).toBeUndefined();
  expect(breakerPhase(OPEN, DUE_MS)).toBe('half_open');
  const probing = breakerAdmits(OPEN, DUE_MS) ?? CLOSED_BREAKER;
  expect(probing).toEqual({ ...OPEN, probeMs: DUE_MS });
  expect(breakerAdmits(probing, DUE_MS + 1)).toBeUndefined();
});

test('a probe that goes well closes the breaker, one that fails starts the pause again', () => {
  const probing = { ...OPEN, probeMs: DUE_MS };
  expect(breakerEnded(probing, 'success', DUE_MS + 5)).toBe(CLOSED_BREAKER);
  expect(breakerEnded(probing, 'failure', DUE_MS + 5)).toEqual({
    kind: 'open',
    openedMs: DUE_MS + 5,
  });
});

test('a failure from before the breaker opened does not lengthen the pause', () => {
  expect(breakerEnded(OPEN, 'failure', START_MS + 9_000)).toBe(OPEN);
});

test('a probe that never ends does not keep the breaker open for ever', () => {
  const probing = { ...OPEN, probeMs: DUE_MS };
  expect(breakerPhase(probing, DUE_MS + 599_999)).toBe('open');
  expect(breakerPhase(probing, DUE_MS + 600_000)).toBe('half_open');
});

test('a closed breaker lets everything pass', () => {
  expect(breakerAdmits(CLOSED_BREAKER, START_MS)).toBe(CLOSED_BREAKER);
});

test('whatever happens, also a clock that goes back, the state stays small and the breaker heals', () => {
  const step = fc.record({
    isFailure: fc.boolean(),
    byMs: fc.integer({ min: -100_000, max: 100_000 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      let state = CLOSED_BREAKER;
      let nowMs = START_MS;
      for (const { isFailure, byMs } of steps) {
        nowMs += byMs;
        state = breakerAdmits(state, nowMs) ?? state;
        state = breakerEnded(state, isFailure ? 'failure' : 'success', nowMs);
        expect(state.kind === 'open' || state.seconds.length <= 60).toBe(true);
      }
      const laterMs = nowMs + 20_000_000;
      const admitted = breakerAdmits(state, laterMs);
      expect(admitted && breakerEnded(admitted, 'success', laterMs).kind).toBe('closed');
    }),
  );
});
