import { describe, expect, test } from 'vitest';
import {
  environmentWarnings,
  goalLine,
  leastLine,
  type Measurement,
  measure,
  measureAsync,
  percentile,
  readBenchOptions,
  report,
  UsageError,
} from './measure.ts';

/** A clock that only the contestants and its own reading move. */
function fakeClock() {
  let nowNs = 0;
  return {
    clock: () => {
      nowNs += 10;
      return nowNs;
    },
    spend: (ns: number) => {
      nowNs += ns;
    },
  };
}

describe('percentile', () => {
  const sorted = Float64Array.from({ length: 100 }, (_, index) => index + 1);

  test.each([
    [0, 1],
    [50, 50],
    [99, 99],
    [100, 100],
  ])('at %d of 1…100 is %d', (percent, expected) => {
    expect(percentile(sorted, percent)).toBe(expected);
  });

  test('of one sample is that sample', () => {
    expect(percentile(Float64Array.of(7), 99)).toBe(7);
  });
});

describe('measure', () => {
  test('times single calls when the clock can show them', () => {
    const { clock, spend } = fakeClock();
    const contestants = [
      { name: 'floor', run: () => spend(1_000) },
      { name: 'ours', run: () => spend(3_000) },
    ];
    const { resolutionNs, timings } = measure(contestants, { samples: 50, warmup: 0, clock });
    expect(resolutionNs).toBe(10);
    expect(timings.map(({ name, batch, p50Ns }) => [name, batch, p50Ns])).toEqual([
      ['floor', 1, 1_010],
      ['ours', 1, 3_010],
    ]);
  });

  test('puts calls that are too short into batches', () => {
    const { clock, spend } = fakeClock();
    const [timing] = measure([{ name: 'short', run: () => spend(3) }], {
      samples: 10,
      warmup: 0,
      clock,
    }).timings;
    // 64 calls of 3 ns and one reading of 10 ns are the first to reach 20 steps of 10 ns.
    expect(timing?.batch).toBe(64);
    expect(timing?.p50Ns).toBeCloseTo((64 * 3 + 10) / 64);
  });

  test('shows rare slow calls in the 99th percentile only', () => {
    const { clock, spend } = fakeClock();
    const run = (index: number) => spend(index % 50 === 49 ? 9_000 : 1_000);
    const [timing] = measure([{ name: 'a', run }], { samples: 500, warmup: 0, clock }).timings;
    expect(timing?.p50Ns).toBe(1_010);
    expect(timing?.p99Ns).toBe(9_010);
  });

  test('lets the contestants take turns at going first', () => {
    const order: string[] = [];
    const { clock, spend } = fakeClock();
    const contestant = (name: string) => ({
      name,
      run: () => {
        order.push(name);
        spend(1_000);
      },
    });
    measure([contestant('a'), contestant('b')], { samples: 4, warmup: 0, clock });
    expect(order.slice(-8).join('')).toBe('abbaabba');
  });

  test('measures calls that wait, one at a time', async () => {
    const { clock, spend } = fakeClock();
    const run = async () => spend(2_000);
    const { timings } = await measureAsync([{ name: 'a', run }], { samples: 5, warmup: 1, clock });
    expect(timings.map(({ p50Ns, samples }) => [p50Ns, samples])).toEqual([[2_010, 5]]);
  });
});

describe('report', () => {
  const timing = (name: string, p50Ns: number, p99Ns: number) => ({
    name,
    samples: 10,
    batch: 1,
    minNs: p50Ns,
    p50Ns,
    p99Ns,
    maxNs: p99Ns,
    meanNs: p50Ns,
  });
  const measurement: Measurement = {
    resolutionNs: 41.7,
    timings: [timing('bare loop', 2_000, 4_000), timing('decide', 5_000, 250_000)],
  };

  test('shows each contestant beside the floor', () => {
    const text = report(measurement, { title: 'policy', floor: 'bare loop', json: false });
    expect(text).toBe(
      [
        'policy',
        '             p50 µs  p99 µs  p50 ×  p99 ×  calls/sample',
        '  bare loop    2.00    4.00   1.00   1.00             1',
        '  decide       5.00     250   2.50  62.50             1',
        '10 samples each, taken in turns; × is against "bare loop"; the clock shows steps of 42 ns',
        '',
      ].join('\n'),
    );
  });

  test('gives the same as one line of JSON', () => {
    const text = report(measurement, { title: 'policy', floor: 'bare loop', json: true });
    expect(text.trimEnd()).not.toContain('\n');
    expect(JSON.parse(text)).toMatchObject({
      title: 'policy',
      floor: 'bare loop',
      timings: [{ name: 'bare loop' }, { name: 'decide', p50Ratio: 2.5, p99Ratio: 62.5 }],
    });
  });

  test('refuses a floor that did not run', () => {
    expect(() => report(measurement, { title: '', floor: 'none', json: false })).toThrow(/none/);
  });
});

describe('readBenchOptions', () => {
  test('reads what every benchmark takes', () => {
    expect(readBenchOptions([])).toEqual({ json: false, samples: 10_000 });
    expect(readBenchOptions(['--json', '--samples', '50'])).toEqual({ json: true, samples: 50 });
  });

  test.each([['--samples=0'], ['--samples=x'], ['--fast']])('refuses %s', (arg) => {
    expect(() => readBenchOptions([arg])).toThrow(UsageError);
  });
});

test('warns of an environment that slows down every start', () => {
  expect(environmentWarnings({ NODE_EXTRA_CA_CERTS: 'ca.pem' })).toHaveLength(1);
  expect(environmentWarnings({})).toEqual([]);
});

test('says whether a goal was met', () => {
  expect(goalLine('p99 in µs', 19.96, 20)).toBe('  goal met     p99 in µs: 20.0, at most 20\n');
  expect(goalLine('p99 in µs', 20.4, 20)).toBe('  goal MISSED  p99 in µs: 20.4, at most 20\n');
  expect(leastLine('×', 0.251, 0.25)).toBe('  goal met     ×: 0.251, at least 0.25\n');
  expect(leastLine('×', 0.2, 0.25)).toBe('  goal MISSED  ×: 0.200, at least 0.25\n');
});
