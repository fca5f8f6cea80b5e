// What is measured of each way, always in turns: a noisy moment then falls on all of them.
import { percentile } from '../measure.ts';
import type { Connection } from './connection.ts';
import { peakKb, pssKb } from './memory.ts';
import { Requests } from './requests.ts';
import type { Way, WayName } from './ways.ts';

export type Figures<T> = ReadonlyMap<WayName, T>;

export interface Latency {
  readonly p50Us: number;
  readonly p99Us: number;
}

export interface Transfer {
  readonly ms: number;
  /** The most memory that the process in the middle ever had. */
  readonly peakMb: number;
}

interface FloodOptions {
  readonly messageBytes: number;
  readonly rounds: number;
  readonly calls: number;
}

export const WINDOW_CALLS = 64;
/** Answered requests are overwritten; twice the window leaves room. */
const SLOTS = 2 * WINDOW_CALLS;
const LATENCY_BYTES = 1_024;
const LATENCY_WARMUP_MAX = 1_000;

export const TOGETHER = 10;
const TOGETHER_CALLS = 100;

/** Whoever goes first pays for the caches, so each round begins with another. */
function inTurn<T>(all: readonly T[], round: number): readonly T[] {
  const first = round % Math.max(1, all.length);
  return [...all.slice(first), ...all.slice(0, first)];
}

/** One connection per way for as long as `use` lasts. */
async function withOpen<T>(
  ways: readonly Way[],
  use: (open: readonly Opened[]) => Promise<T>,
): Promise<T> {
  const open = ways.map((way) => ({ name: way.name, connection: way.open() }));
  try {
    for (const { connection } of open) {
      await connection.initialize();
      await connection.warmUp();
    }
    return await use(open);
  } finally {
    await Promise.all(open.map(({ connection }) => connection.close()));
  }
}

interface Opened {
  readonly name: WayName;
  readonly connection: Connection;
}

async function timedMs(act: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await act();
  return performance.now() - start;
}

/** One call after the other: the time to its answer. */
export function latency(ways: readonly Way[], samples: number): Promise<Figures<Latency>> {
  return withOpen(ways, async (open) => {
    const lanes = open.map((one) => ({
      ...one,
      requests: new Requests(LATENCY_BYTES, 2),
      samplesUs: new Float64Array(samples),
    }));
    for (const { connection, requests } of lanes) {
      const warmup = Math.min(samples, LATENCY_WARMUP_MAX);
      for (let at = 0; at < warmup; at++) await connection.call(requests);
    }
    for (let round = 0; round < samples; round++) {
      for (const { connection, requests, samplesUs } of inTurn(lanes, round)) {
        samplesUs[round] = (await timedMs(() => connection.call(requests))) * 1_000;
      }
    }
    return figures(lanes, ({ samplesUs }) => percentilesOf(samplesUs));
  });
}

/** The first calls of sessions that have just begun, one after the other: the median time to an answer. */
export async function firstCalls(
  ways: readonly Way[],
  { sessions, calls }: { readonly sessions: number; readonly calls: number },
): Promise<Figures<Latency>> {
  const samplesUs = new Map(ways.map(({ name }) => [name, [] as number[]]));
  for (let session = 0; session < sessions; session++) {
    await withOpen(inTurn(ways, session), async (open) => {
      const requests = new Requests(LATENCY_BYTES, 2);
      for (let at = 0; at < calls; at++) {
        for (const { name, connection } of inTurn(open, at)) {
          const tookMs = await timedMs(() => connection.call(requests));
          samplesUs.get(name)?.push(tookMs * 1_000);
        }
      }
    });
  }
  return new Map([...samplesUs].map(([name, all]) => [name, percentilesOf(all)]));
}

function percentilesOf(samplesUs: ArrayLike<number>): Latency {
  const sorted = Float64Array.from(samplesUs).toSorted();
  return { p50Us: percentile(sorted, 50), p99Us: percentile(sorted, 99) };
}

/** Calls per second with a window of them open; the median of all rounds. */
export function flood(ways: readonly Way[], options: FloodOptions): Promise<Figures<number>> {
  const { messageBytes, rounds, calls } = options;
  return withOpen(ways, async (open) => {
    const lanes = open.map((one) => ({
      ...one,
      requests: new Requests(messageBytes, SLOTS),
      perSecond: new Float64Array(rounds),
    }));
    for (const { connection, requests } of lanes) {
      await connection.flood(requests, { calls, windowCalls: WINDOW_CALLS });
    }
    for (let round = 0; round < rounds; round++) {
      for (const { connection, requests, perSecond } of inTurn(lanes, round)) {
        const load = { calls, windowCalls: WINDOW_CALLS };
        perSecond[round] =
          calls / ((await timedMs(() => connection.flood(requests, load))) / 1_000);
      }
    }
    return figures(lanes, ({ perSecond }) => percentile(perSecond.toSorted(), 50));
  });
}

/** Large calls, there and back; the median time, and the memory it took. */
export function large(
  ways: readonly Way[],
  { messageBytes, rounds }: { readonly messageBytes: number; readonly rounds: number },
): Promise<Figures<Transfer>> {
  return withOpen(ways, async (open) => {
    const lanes = open.map((one) => ({
      ...one,
      requests: new Requests(messageBytes, 1),
      samplesMs: new Float64Array(rounds),
    }));
    for (const { connection, requests } of lanes) await connection.call(requests);
    for (let round = 0; round < rounds; round++) {
      for (const { connection, requests, samplesMs } of inTurn(lanes, round)) {
        samplesMs[round] = await timedMs(() => connection.call(requests));
      }
    }
    return figures(lanes, ({ samplesMs, connection }) => ({
      ms: percentile(samplesMs.toSorted(), 50),
      peakMb: peakKb(connection.pid) / 1_024,
    }));
  });
}

/** From the start of the process to the answer to `initialize`; the median. */
export async function startUp(ways: readonly Way[], rounds: number): Promise<Figures<number>> {
  const lanes = ways.map((way) => ({
    way,
    name: way.name,
    samplesMs: new Float64Array(rounds),
  }));
  for (let round = -1; round < rounds; round++) {
    for (const { way, samplesMs } of inTurn(lanes, Math.max(0, round))) {
      let connection: Connection | undefined;
      const tookMs = await timedMs(() => {
        connection = way.open();
        return connection.initialize();
      });
      // The first of each brings the files into memory.
      if (round >= 0) samplesMs[round] = tookMs;
      await connection?.close();
    }
  }
  return figures(lanes, ({ samplesMs }) => percentile(samplesMs.toSorted(), 50));
}

/** Ten of a way at once, after a few calls: the memory of one, what is shared counted by parts. */
export async function footprint(ways: readonly Way[]): Promise<Figures<number>> {
  const found = new Map<WayName, number>();
  for (const way of ways) {
    const ten = Array.from({ length: TOGETHER }, () => way);
    const totalKb = await withOpen(ten, async (open) => {
      const requests = new Requests(LATENCY_BYTES, 2);
      for (let at = 0; at < TOGETHER_CALLS; at++) {
        for (const { connection } of open) await connection.call(requests);
      }
      return open.reduce((sum, { connection }) => sum + pssKb(connection.pid), 0);
    });
    found.set(way.name, totalKb / TOGETHER / 1_024);
  }
  return found;
}

function figures<L extends { readonly name: WayName }, T>(
  lanes: readonly L[],
  figure: (lane: L) => T,
): Figures<T> {
  return new Map(lanes.map((lane) => [lane.name, figure(lane)]));
}
