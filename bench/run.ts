// `npm run bench -- run`: what a call costs under `sub run`, beside the same shim without a run. The policy has
// a budget of run scope, which all servers of a run share. All take turns in one run of the bench.
import { ownCpuMs } from './fleet/cpu.mjs';
import { goalLine, percentile, readBenchOptions, table, UsageError } from './measure.ts';
import { openRun } from './run/runs.ts';
import type { Connection } from './stdio/connection.ts';
import { Requests } from './stdio/requests.ts';
import { isBuilt, openPlace, type Place, waysOf } from './stdio/ways.ts';

const SAMPLES = 1_500;
const FIRST_CALLS = 500;
const CALL_BYTES = 1_024;
const SERVERS = [1, 3, 10];
/** Beside the shim without a run. */
const GOAL = 1.3;

interface Lane {
  readonly name: string;
  readonly connections: readonly Connection[];
  /** The process of the hub, where there is one. */
  readonly hubPid: number | undefined;
  readonly requests: Requests;
  readonly firstUs: number[];
  readonly warmUs: number[];
  close(): Promise<void>;
}

/** In milliseconds. */
interface Cpu {
  readonly shim: number;
  readonly hub: number;
}

function laneOf(lane: Pick<Lane, 'name' | 'connections' | 'hubPid' | 'close'>): Lane {
  return { ...lane, requests: new Requests(CALL_BYTES, 2), firstUs: [], warmUs: [] };
}

async function openLanes(place: Place): Promise<readonly Lane[]> {
  const lanes: Lane[] = [];
  for (const way of waysOf(place).filter(({ name }) => name !== 'relay')) {
    const connection = way.open();
    const close = () => connection.close();
    lanes.push(laneOf({ name: way.name, connections: [connection], hubPid: undefined, close }));
  }
  for (const count of SERVERS) {
    const opened = await openRun(count, place.env);
    const { servers, pid } = opened;
    const close = () => opened.close();
    const name = `run, ${count} ${count === 1 ? 'server' : 'servers'}`;
    lanes.push(laneOf({ name, connections: servers, hubPid: pid, close }));
  }
  for (const connection of lanes.flatMap(({ connections }) => connections)) {
    await connection.initialize();
    await connection.warmUp();
  }
  return lanes;
}

async function measure(lanes: readonly Lane[], rounds: number, take: (lane: Lane) => number[]) {
  for (let round = 0; round < rounds; round++) {
    for (let at = 0; at < lanes.length; at++) {
      const lane = lanes[(at + round) % lanes.length];
      if (lane === undefined) continue;
      for (const connection of lane.connections) {
        const startMs = performance.now();
        await connection.call(lane.requests);
        take(lane).push((performance.now() - startMs) * 1_000);
      }
    }
  }
}

function cpuOf({ connections, hubPid }: Lane): Cpu {
  const shim = connections.reduce((sum, { pid }) => sum + ownCpuMs(pid), 0);
  return { shim, hub: hubPid === undefined ? 0 : ownCpuMs(hubPid) };
}

function p50(samplesUs: readonly number[]): number {
  return percentile(Float64Array.from(samplesUs).toSorted(), 50);
}

interface Part {
  readonly what: string;
  readonly take: (lane: Lane) => number[];
  readonly rounds: number;
}

interface Section {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly goals: readonly { readonly what: string; readonly value: number }[];
}

async function part(lanes: readonly Lane[], { what, take, rounds }: Part): Promise<Section> {
  const before = lanes.map(cpuOf);
  await measure(lanes, rounds, take);
  const after = lanes.map(cpuOf);
  const [direct, shim, ...runs] = lanes;
  if (direct === undefined || shim === undefined) throw new Error('a lane is missing');
  const added = (lane: Lane) => p50(take(lane)) - p50(take(direct));
  const ratio = (lane: Lane) => added(lane) / added(shim);
  const rows = lanes.map((lane, at) => {
    const calls = rounds * lane.connections.length;
    const cpu = (name: keyof Cpu) =>
      (((after[at]?.[name] ?? 0) - (before[at]?.[name] ?? 0)) * 1_000) / calls;
    const isDirect = lane === direct;
    return [
      lane.name,
      p50(take(lane)).toFixed(0),
      isDirect ? '' : added(lane).toFixed(0),
      isDirect ? '' : ratio(lane).toFixed(2),
      isDirect ? '' : cpu('shim').toFixed(0),
      lane.hubPid === undefined ? '' : cpu('hub').toFixed(0),
    ];
  });
  const head = ['', 'p50 µs', 'added p50', '× shim', 'CPU of shim, µs', 'CPU of hub, µs'];
  const goals = runs.map((lane) => ({ what: `${what}, ${lane.name}: × shim`, value: ratio(lane) }));
  return { title: `${what}, 1 KB, one after the other`, head, rows, goals };
}

function show(section: Section, json: boolean): void {
  const { title, head, rows, goals } = section;
  if (json) return void process.stdout.write(`${JSON.stringify(section)}\n`);
  const lines = goals.map(({ what, value }) => goalLine(what, value, GOAL));
  process.stdout.write(`${title}\n${table([head, ...rows])}${lines.join('')}`);
}

/** `--samples` is the number of warm calls to each server. */
export async function run(args: readonly string[]): Promise<number> {
  const { json, samples } = readBenchOptions(args, SAMPLES);
  if (process.platform !== 'linux') throw new UsageError('this bench reads /proc: it needs Linux');
  if (!isBuilt()) throw new UsageError('`sub` is not built: run `npm run build` first');
  const place = await openPlace();
  try {
    const lanes = await openLanes(place);
    try {
      const first = { what: `the first ${FIRST_CALLS} calls`, rounds: FIRST_CALLS };
      show(await part(lanes, { ...first, take: ({ firstUs }) => firstUs }), json);
      const warm = { what: 'warm calls', rounds: samples };
      show(await part(lanes, { ...warm, take: ({ warmUs }) => warmUs }), json);
    } finally {
      await Promise.all(lanes.map((lane) => lane.close()));
    }
  } finally {
    await place.close();
  }
  return 0;
}
