import { describe, expect, it } from 'vitest';
import { chartParts, gatewaySpending, rangeOf, timesOf } from './spending.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.parse('2026-11-18T09:30:00Z');

function row(bucket: string, name: string, micros: number) {
  return {
    bucket,
    dim_value: name,
    dim_name: null,
    cost_micros: micros,
    cost_cents: 0,
    input_tokens: 10,
    output_tokens: 1,
    n_requests: 2,
    n_failed: 1,
  };
}

describe('what was spent', () => {
  it('covers whole days in UTC, today included', () => {
    const times = timesOf(rangeOf('7d'), NOW_MS);
    expect(new Date(times.fromMs).toISOString()).toBe('2026-11-12T00:00:00.000Z');
    expect(times.toMs - times.fromMs).toBe(7 * DAY_MS);
    expect(rangeOf('no such range')).toEqual(rangeOf('7d'));
  });

  it('gives every name a value for each bucket of a gateway, the dearest first', () => {
    const times = timesOf(rangeOf('7d'), NOW_MS);
    const rows = [row('2026-11-12', 'a', 5), row('2026-11-18', 'a', 1), row('2026-11-18', 'b', 9)];
    const spending = gatewaySpending([...rows, row('2026-11-01', 'b', 100)], times);
    expect(spending.lines.map(({ name, costMicros }) => [name, costMicros])).toEqual([
      ['b', 109],
      ['a', 6],
    ]);
    // What lies outside of the range has no bar.
    expect(spending.lines.map(({ costMicrosByTime }) => costMicrosByTime)).toEqual([
      [0, 0, 0, 0, 0, 0, 9],
      [5, 0, 0, 0, 0, 0, 1],
    ]);
    expect(spending.total).toMatchObject({ costMicros: 115, calls: 8, failed: 4, tokensIn: 40 });
  });

  it('draws the six dearest apart and all others as one', () => {
    const times = timesOf(rangeOf('24h'), NOW_MS);
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', ''];
    const rows = names.map((name, at) => row('2026-11-18T09:00:00Z', name, 80 - 10 * at));
    const parts = chartParts(gatewaySpending(rows, times), 'No team');
    expect(parts.map(({ label }) => label)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'Others']);
    expect(parts.map(({ values }) => values.at(-1))).toEqual([80, 70, 60, 50, 40, 30, 30]);
    expect(new Set(parts.map(({ color }) => color)).size).toBe(7);
    const [nameless] = chartParts(gatewaySpending(rows.slice(-1), times), 'No team');
    expect(nameless?.label).toBe('No team');
  });
});
