// Timing side by side: all contestants take turns within one run, so that their ratios hold on a
// noisy machine even where the absolute figures don't.
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';

/** Nanoseconds from any fixed start. */
export type Clock = () => number;

export interface Contestant {
  readonly name: string;
  /** One call; `index` counts up, to pick the next input. What it returns is kept from the optimiser. */
  readonly run: (index: number) => unknown;
}

export interface AsyncContestant {
  readonly name: string;
  readonly run: (index: number) => Promise<unknown>;
}

export interface MeasureOptions {
  readonly samples?: number;
  /** Calls per contestant before anything counts. */
  readonly warmup?: number;
  readonly clock?: Clock;
  /** A pause before each sample, in which what another contestant left for later is done. */
  readonly restMs?: number;
}

export interface Timing {
  readonly name: string;
  readonly samples: number;
  /** Calls per sample: 1 means that the percentiles are those of single calls. */
  readonly batch: number;
  readonly minNs: number;
  readonly p50Ns: number;
  readonly p99Ns: number;
  readonly maxNs: number;
  readonly meanNs: number;
}

export interface Measurement {
  /** The smallest step the clock can show, its own cost included. */
  readonly resolutionNs: number;
  readonly timings: readonly Timing[];
}

export interface ReportOptions {
  readonly title: string;
  /** The contestant that all others are compared with. */
  readonly floor: string;
  readonly json: boolean;
}

export interface BenchOptions {
  readonly json: boolean;
  readonly samples: number;
}

interface Lane {
  readonly name: string;
  readonly run: (index: number) => unknown;
  readonly batch: number;
  readonly samplesNs: Float64Array;
  index: number;
}

const SAMPLES = 10_000;
const SAMPLES_MAX = 10_000_000;
const WARMUP = 2_000;
const BATCH_MAX = 1 << 20;
// A sample as long as this many steps of the clock is off by at most 5 %.
const STEPS_MIN = 20;
const CALIBRATIONS = 15;
// Enough for the engine to compile the clock itself.
const CLOCK_READINGS = 20_000;

const systemClock: Clock = () => performance.now() * 1e6;

/** Where results go, so that no call is optimised away. */
const sink: { last: unknown } = { last: undefined };

/** Times synchronous calls; calls too short for the clock are timed in batches. */
export function measure(
  contestants: readonly Contestant[],
  options: MeasureOptions = {},
): Measurement {
  const { samples = SAMPLES, warmup = WARMUP, clock = systemClock } = options;
  const resolutionNs = clockResolution(clock);
  const lanes = contestants.map(({ name, run }): Lane => {
    for (let index = 0; index < warmup; index++) sink.last = run(index);
    const batch = calibrate(run, clock, resolutionNs);
    return { name, run, batch, samplesNs: new Float64Array(samples), index: 0 };
  });
  for (let round = 0; round < samples; round++) {
    for (const lane of inTurn(lanes, round)) {
      lane.samplesNs[round] = timeBatch(lane, clock) / lane.batch;
    }
  }
  return { resolutionNs, timings: lanes.map(summarize) };
}

/** Times calls that wait for something, one at a time. */
export async function measureAsync(
  contestants: readonly AsyncContestant[],
  options: MeasureOptions = {},
): Promise<Measurement> {
  const { samples = SAMPLES, warmup = WARMUP, clock = systemClock, restMs = 0 } = options;
  const lanes = contestants.map(({ name }) => ({
    name,
    batch: 1,
    samplesNs: new Float64Array(samples),
  }));
  for (const { run } of contestants) {
    for (let index = 0; index < warmup; index++) sink.last = await run(index);
  }
  const pairs = contestants.map((contestant, at) => ({ ...contestant, lane: lanes[at] }));
  for (let round = 0; round < samples; round++) {
    for (const { run, lane } of inTurn(pairs, round)) {
      if (restMs > 0) await setTimeout(restMs);
      const startNs = clock();
      sink.last = await run(round);
      if (lane !== undefined) lane.samplesNs[round] = clock() - startNs;
    }
  }
  return { resolutionNs: clockResolution(clock), timings: lanes.map(summarize) };
}

/** Whoever goes first pays for the caches, so each round begins with another. */
function inTurn<T>(all: readonly T[], round: number): readonly T[] {
  const first = all.length === 0 ? 0 : round % all.length;
  return [...all.slice(first), ...all.slice(0, first)];
}

function timeBatch(lane: Lane, clock: Clock): number {
  const { run, batch } = lane;
  const first = lane.index;
  lane.index += batch;
  const startNs = clock();
  for (let at = 0; at < batch; at++) sink.last = run(first + at);
  return clock() - startNs;
}

function calibrate(run: Contestant['run'], clock: Clock, resolutionNs: number): number {
  for (let batch = 1; batch < BATCH_MAX; batch *= 2) {
    const lane = { name: '', run, batch, samplesNs: new Float64Array(0), index: 0 };
    const times = Float64Array.from({ length: CALIBRATIONS }, () => timeBatch(lane, clock));
    if (percentile(times.toSorted(), 50) >= STEPS_MIN * resolutionNs) return batch;
  }
  return BATCH_MAX;
}

function clockResolution(clock: Clock): number {
  let smallestNs = Number.POSITIVE_INFINITY;
  for (let round = 0; round < CLOCK_READINGS; round++) {
    const startNs = clock();
    let nowNs = clock();
    for (let tries = 0; nowNs === startNs && tries < 100_000; tries++) nowNs = clock();
    if (nowNs > startNs) smallestNs = Math.min(smallestNs, nowNs - startNs);
  }
  return smallestNs;
}

function summarize(lane: {
  readonly name: string;
  readonly batch: number;
  readonly samplesNs: Float64Array;
}): Timing {
  const sorted = lane.samplesNs.toSorted();
  const sum = sorted.reduce((total, sampleNs) => total + sampleNs, 0);
  return {
    name: lane.name,
    samples: sorted.length,
    batch: lane.batch,
    minNs: percentile(sorted, 0),
    p50Ns: percentile(sorted, 50),
    p99Ns: percentile(sorted, 99),
    maxNs: percentile(sorted, 100),
    meanNs: sum / sorted.length,
  };
}

/** Nearest rank over sorted samples: always a value that was really seen. */
export function percentile(sorted: Float64Array, percent: number): number {
  const rank = Math.ceil((percent / 100) * sorted.length);
  return sorted[Math.max(0, rank - 1)] ?? Number.NaN;
}

/** A table for people, or one line of JSON. */
export function report(measurement: Measurement, { title, floor, json }: ReportOptions): string {
  const base = measurement.timings.find(({ name }) => name === floor);
  if (base === undefined) throw new Error(`no contestant is called ${floor}`);
  const rows = measurement.timings.map((timing) => ({
    ...timing,
    p50Ratio: timing.p50Ns / base.p50Ns,
    p99Ratio: timing.p99Ns / base.p99Ns,
  }));
  const { resolutionNs } = measurement;
  if (json) {
    const machine = { node: process.version, platform: `${process.platform}-${process.arch}` };
    return `${JSON.stringify({ title, floor, resolutionNs, ...machine, timings: rows })}\n`;
  }
  const head = ['', 'p50 µs', 'p99 µs', 'p50 ×', 'p99 ×', 'calls/sample'];
  const cells = rows.map((row) => [
    row.name,
    micros(row.p50Ns),
    micros(row.p99Ns),
    row.p50Ratio.toFixed(2),
    row.p99Ratio.toFixed(2),
    String(row.batch),
  ]);
  const samples = measurement.timings[0]?.samples ?? 0;
  const note = `${samples} samples each, taken in turns; × is against "${floor}"; the clock shows steps of ${Math.round(resolutionNs)} ns`;
  return `${title}\n${table([head, ...cells])}${note}\n`;
}

/** Whether a figure is what was aimed at, so that nobody has to compare by eye. */
export function goalLine(what: string, value: number, goalMax: number): string {
  const verdict = value <= goalMax ? 'met   ' : 'MISSED';
  return `  goal ${verdict}  ${what}: ${figure(value)}, at most ${goalMax}\n`;
}

/** The same where more is better. */
export function leastLine(what: string, value: number, goalMin: number): string {
  const verdict = value >= goalMin ? 'met   ' : 'MISSED';
  return `  goal ${verdict}  ${what}: ${figure(value)}, at least ${goalMin}\n`;
}

function figure(value: number): string {
  return value >= 1_000 ? value.toFixed(0) : value.toPrecision(3);
}

function micros(ns: number): string {
  const value = ns / 1000;
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

/** The first column to the left, figures to the right. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const lines = rows.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return column === 0 ? cell.padEnd(width) : cell.padStart(width);
      })
      .join('  ')
      .trimEnd(),
  );
  return lines.map((line) => `  ${line}\n`).join('');
}

/** A wrong command line: the message is for the person who typed it. */
export class UsageError extends Error {}

/** The options that every benchmark takes. */
export function readBenchOptions(args: readonly string[], samples: number = SAMPLES): BenchOptions {
  const values = parseOptions(args);
  const wanted = Number(values.samples ?? samples);
  if (!Number.isSafeInteger(wanted) || wanted < 1 || wanted > SAMPLES_MAX) {
    throw new UsageError(`--samples takes a whole number from 1 to ${SAMPLES_MAX}`);
  }
  return { json: values.json ?? false, samples: wanted };
}

function parseOptions(args: readonly string[]) {
  const options = { json: { type: 'boolean' }, samples: { type: 'string' } } as const;
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** What in the environment would spoil the figures. */
export function environmentWarnings(env: NodeJS.ProcessEnv): readonly string[] {
  if ((env['NODE_EXTRA_CA_CERTS'] ?? '') === '') return [];
  return [
    'NODE_EXTRA_CA_CERTS is set: it adds about 50 ms to each start of Node 20. Unset it to measure starts.',
  ];
}
