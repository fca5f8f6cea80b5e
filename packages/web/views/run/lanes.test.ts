import type { ApiCall } from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import { callLanes } from './lanes.ts';
import { offsetText } from './offset-text.ts';
import { timeAxis } from './time-axis.ts';

const SECOND = 1_000;
const HOUR = 3_600_000;

function call(made: Partial<ApiCall> & { readonly id: number }): ApiCall {
  const known = {
    kind: 'tool_call',
    call_id: `c${made.id}`,
    server_name: 'files',
    tool_name: 'read',
    args_hash: String(made.id),
    decision: 'ALLOW',
    status: 'OK',
    latency_ms: 10,
    created_at_ms: made.id * SECOND,
    ...made,
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- What lanes look at is there.
  return known as unknown as ApiCall;
}

const lanesOf = (calls: readonly ApiCall[], waits = new Map()) =>
  callLanes({ calls, waits, nowMs: 100 * SECOND });

describe('the lanes of a run', () => {
  it('are one for the model, and one for each server as they were first called', () => {
    const { lanes } = lanesOf([
      call({ id: 1, server_name: 'git', decision: 'BLOCK' }),
      call({ id: 2 }),
      call({ id: 3, kind: 'turn' }),
      call({ id: 4, server_name: 'git' }),
    ]);
    expect(lanes.map(({ kind, name, calls, refused }) => [kind, name, calls, refused])).toEqual([
      ['model', '', 1, 0],
      ['server', 'git', 2, 1],
      ['server', 'files', 1, 0],
    ]);
  });

  it('put calls at the same time below each other', () => {
    const { bars, lanes } = lanesOf([
      call({ id: 1, latency_ms: 5 * SECOND }),
      call({ id: 2, latency_ms: 1 }),
      call({ id: 3, latency_ms: 1 }),
      call({ id: 9 }),
    ]);
    expect(bars.map(({ row }) => row)).toEqual([0, 1, 1, 0]);
    expect(lanes[0]?.rows).toBe(2);
  });

  it('count a call with the same arguments as one that is made again', () => {
    const { bars } = lanesOf([
      call({ id: 1, args_hash: 'same' }),
      call({ id: 2 }),
      call({ id: 3, args_hash: 'same' }),
      call({ id: 4, args_hash: 'same', tool_name: 'write' }),
      call({ id: 5, args_hash: 'same' }),
    ]);
    expect(bars.map(({ retries }) => retries)).toEqual([0, 0, 1, 0, 2]);
    expect(bars[4]?.retryOf).toBe(bars[2]);
  });

  it('let a call that waits for a person go on until now', () => {
    const wait = { fromMs: 1_500, toMs: 100 * SECOND };
    const waiting = call({ id: 1, decision: null, status: null, latency_ms: null });
    const { bars } = lanesOf([waiting], new Map([['c1', wait]]));
    expect(bars[0]).toMatchObject({ decision: 'ASK', toMs: 100 * SECOND, wait });
  });
});

describe('the axis of a timeline', () => {
  const busy = [0, 1, 2, 3].map((at) => ({ fromMs: at * SECOND, toMs: at * SECOND + 500 }));
  const later = { fromMs: HOUR, toMs: HOUR + SECOND };
  const whole = { fromMs: 0, toMs: HOUR + SECOND };

  it('folds a long idle time, and finds the way back', () => {
    const axis = timeAxis(whole, [later, ...busy], true);
    expect(axis.folds).toMatchObject([{ fromMs: 3_500, toMs: HOUR }]);
    expect(axis.length).toBeLessThan(10 * SECOND);
    for (const atMs of [0, 250, 3_400, HOUR / 2, HOUR + 500]) {
      expect(axis.moment(axis.place(atMs))).toBeCloseTo(atMs, 3);
    }
    expect(axis.place(2 * HOUR)).toBe(axis.length);
  });

  it('folds nothing where calls come evenly, or where it shall not', () => {
    expect(timeAxis({ fromMs: 0, toMs: 3_500 }, busy, true).folds).toEqual([]);
    expect(timeAxis(whole, [...busy, later], false).length).toBe(HOUR + SECOND);
  });
});

it('the offset of a call is a time of a stopwatch', () => {
  expect([4_912, 65_000, 4_400_123].map((ms) => offsetText(ms))).toEqual([
    '+0:04.912',
    '+1:05.000',
    '+1:13:20.123',
  ]);
  expect(offsetText(4_400_000, true)).toBe('+1:13:20');
});
