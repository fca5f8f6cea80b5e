// `npm run bench -- shim`: what `sub shim` costs beside a direct connection and beside a bare relay
// in Node, which is the least that any process in the middle costs. All take turns in one run.
import { goalLine, leastLine, readBenchOptions, table, UsageError } from './measure.ts';
import { mcpProxyWay } from './stdio/mcp-proxy.ts';
import {
  type Figures,
  firstCalls,
  flood,
  footprint,
  type Latency,
  large,
  latency,
  startUp,
  TOGETHER,
  WINDOW_CALLS,
} from './stdio/sections.ts';
import { isBuilt, openPlace, type Place, type Way, type WayName, waysOf } from './stdio/ways.ts';

interface Goal {
  readonly what: string;
  readonly value: number;
  readonly atMost?: number;
  readonly atLeast?: number;
}

interface Section {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly goals: readonly Goal[];
}

const SAMPLES = 5_000;
const FIRST_CALLS = 500;
const MEGABYTE = 1_000_000;
/** Beside the bare relay, with a policy, content gates and pins on. */
const GOALS = { first: 3, warm: 2.2, calls: 0.2, startUp: 1.25, pssMb: 16 };
const LARGE_GOALS = [
  { messageBytes: MEGABYTE, rounds: 40, atMost: 1.7 },
  { messageBytes: 10 * MEGABYTE, rounds: 15, atMost: 1.6 },
];

function of<T>(figures: Figures<T>, name: WayName): T {
  const figure = figures.get(name);
  if (figure === undefined) throw new Error(`nothing was measured of ${name}`);
  return figure;
}

function latencySection(
  figures: Figures<Latency>,
  {
    title,
    goal,
    atMost,
  }: { readonly title: string; readonly goal: string; readonly atMost: number },
): Section {
  const direct = of(figures, 'direct');
  const added = (name: WayName) => {
    const { p50Us, p99Us } = of(figures, name);
    return { p50Us: p50Us - direct.p50Us, p99Us: p99Us - direct.p99Us };
  };
  const [relay, shim] = [added('relay'), added('shim')];
  return {
    title,
    head: ['', 'p50 µs', 'p99 µs', 'added p50', 'added p99', 'p50 ×', 'p99 ×'],
    rows: [...figures].map(([name, { p50Us, p99Us }]) => [
      name,
      p50Us.toFixed(0),
      p99Us.toFixed(0),
      ...(name === 'direct'
        ? ['', '', '', '']
        : [
            added(name).p50Us.toFixed(0),
            added(name).p99Us.toFixed(0),
            (added(name).p50Us / relay.p50Us).toFixed(2),
            (added(name).p99Us / relay.p99Us).toFixed(2),
          ]),
    ]),
    goals: [{ what: `${goal}: × relay`, value: shim.p50Us / relay.p50Us, atMost }],
  };
}

async function firstSection(ways: readonly Way[], sessions: number): Promise<Section> {
  return latencySection(await firstCalls(ways, { sessions, calls: FIRST_CALLS }), {
    title: `the first ${FIRST_CALLS} calls of a session, 1 KB, one after the other, ${sessions} sessions`,
    goal: 'added latency of first calls, p50',
    atMost: GOALS.first,
  });
}

async function warmSection(ways: readonly Way[], samples: number): Promise<Section> {
  return latencySection(await latency(ways, samples), {
    title: `warm calls, 1 KB, one after the other, ${samples} of each`,
    goal: 'added latency of warm calls, p50',
    atMost: GOALS.warm,
  });
}

async function floodSection(
  ways: readonly Way[],
  load: { readonly messageBytes: number; readonly rounds: number; readonly calls: number },
): Promise<Section> {
  const figures = await flood(ways, load);
  const relay = of(figures, 'relay');
  const size = `${load.messageBytes / 1_024} KB`;
  return {
    title: `throughput, ${size}, ${WINDOW_CALLS} calls open at a time, median of ${load.rounds} × ${load.calls}`,
    head: ['', 'calls/s', '× relay'],
    rows: [...figures].map(([name, value]) => [name, value.toFixed(0), (value / relay).toFixed(3)]),
    goals: [
      {
        what: `governed calls/s, ${size}: × relay`,
        value: of(figures, 'shim') / relay,
        atLeast: GOALS.calls,
      },
    ],
  };
}

async function largeSection(
  ways: readonly Way[],
  load: { readonly messageBytes: number; readonly rounds: number; readonly atMost: number },
): Promise<Section> {
  const figures = await large(ways, load);
  const relay = of(figures, 'relay');
  const size = `${load.messageBytes / MEGABYTE} MB`;
  return {
    title: `${size} there and back, median of ${load.rounds}`,
    head: ['', 'ms', '× relay', 'peak MB'],
    rows: [...figures].map(([name, { ms, peakMb }]) => [
      name,
      ms.toFixed(1),
      (ms / relay.ms).toFixed(2),
      name === 'direct' ? '' : peakMb.toFixed(0),
    ]),
    goals: [
      {
        what: `${size} message: × relay`,
        value: of(figures, 'shim').ms / relay.ms,
        atMost: load.atMost,
      },
    ],
  };
}

async function startUpSection(ways: readonly Way[], rounds: number): Promise<Section> {
  const figures = await startUp(ways, rounds);
  const relay = of(figures, 'relay');
  return {
    title: `start-up, to the answer to initialize, median of ${rounds}`,
    head: ['', 'ms', '× relay'],
    rows: [...figures].map(([name, ms]) => [name, ms.toFixed(1), (ms / relay).toFixed(2)]),
    goals: [
      { what: 'start-up: × relay', value: of(figures, 'shim') / relay, atMost: GOALS.startUp },
    ],
  };
}

async function footprintSection(ways: readonly Way[]): Promise<Section> {
  const figures = await footprint(ways.filter(({ name }) => name !== 'direct'));
  return {
    title: `memory of one when ${TOGETHER} run (PSS, the shim's guard included)`,
    head: ['', 'MB'],
    rows: [...figures].map(([name, mb]) => [name, mb.toFixed(1)]),
    goals: [{ what: 'PSS per shim, MB', value: of(figures, 'shim'), atMost: GOALS.pssMb }],
  };
}

/** What others have measured us against: not interleaved with the shim, but with the same relay. */
async function orientation(place: Place, samples: number): Promise<Section | string> {
  const proxy = mcpProxyWay(place);
  if (proxy === undefined) return 'mcp-proxy: skipped, it is not installed and cannot be.';
  const ways = [...waysOf(place).filter(({ name }) => name !== 'shim'), proxy];
  try {
    const took = await latency(ways, Math.max(50, Math.round(samples / 10)));
    const calls = await flood(ways, { messageBytes: 1_024, rounds: 3, calls: 2_000 });
    const sent = await large(ways, { messageBytes: 10 * MEGABYTE, rounds: 3 });
    const started = await startUp(ways, 5);
    const pssMb = await footprint(ways);
    const direct = of(took, 'direct').p50Us;
    return {
      title: 'for orientation: mcp-proxy from the registry, over HTTP, fewer rounds',
      head: ['', 'added p50 µs', 'calls/s, 1 KB', '10 MB, ms', 'start-up, ms', 'PSS, MB'],
      rows: ways.map(({ name }) => [
        name,
        name === 'direct' ? '' : (of(took, name).p50Us - direct).toFixed(0),
        of(calls, name).toFixed(0),
        of(sent, name).ms.toFixed(0),
        of(started, name).toFixed(0),
        name === 'direct' ? '' : of(pssMb, name).toFixed(1),
      ]),
      goals: [],
    };
  } catch (cause) {
    return `mcp-proxy: skipped (${cause instanceof Error ? cause.message : String(cause)}).`;
  }
}

function show(section: Section, json: boolean): void {
  if (json) {
    const machine = { node: process.version, platform: `${process.platform}-${process.arch}` };
    process.stdout.write(`${JSON.stringify({ ...section, ...machine })}\n`);
    return;
  }
  const { title, head, rows, goals } = section;
  const lines = goals.map(({ what, value, atMost, atLeast }) =>
    atLeast === undefined
      ? goalLine(what, value, atMost ?? Number.NaN)
      : leastLine(what, value, atLeast),
  );
  process.stdout.write(`${title}\n${table([head, ...rows])}${lines.join('')}`);
}

/** The name of each section, for `--only`. */
const SECTIONS = ['first', 'warm', 'flood', 'large', 'start-up', 'memory', 'others'] as const;
type SectionName = (typeof SECTIONS)[number];

/** The sections that are wanted, and the other options. */
function readSections(args: readonly string[]): {
  readonly only: ReadonlySet<SectionName>;
  readonly rest: readonly string[];
} {
  const at = args.indexOf('--only');
  if (at === -1) return { only: new Set(SECTIONS), rest: args };
  const names = (args[at + 1] ?? '').split(',');
  const only = names.map((name) => {
    const known = SECTIONS.find((section) => section === name);
    if (known === undefined) throw new UsageError(`--only takes some of ${SECTIONS.join(', ')}`);
    return known;
  });
  return { only: new Set(only), rest: args.toSpliced(at, 2) };
}

function sectionsOf(
  ways: readonly Way[],
  samples: number,
): readonly { readonly name: SectionName; readonly measure: () => Promise<Section> }[] {
  const rounds = (at: number) => Math.max(3, Math.round((at * samples) / SAMPLES));
  const calls = { rounds: rounds(15), calls: 20_000 };
  return [
    { name: 'first', measure: () => firstSection(ways, rounds(10)) },
    { name: 'warm', measure: () => warmSection(ways, samples) },
    { name: 'flood', measure: () => floodSection(ways, { messageBytes: 1_024, ...calls }) },
    {
      name: 'flood',
      measure: () => floodSection(ways, { messageBytes: 10_240, ...calls, calls: 5_000 }),
    },
    ...LARGE_GOALS.map((load) => ({
      name: 'large' as const,
      measure: () => largeSection(ways, { ...load, rounds: rounds(load.rounds) }),
    })),
    { name: 'start-up', measure: () => startUpSection(ways, rounds(31)) },
    { name: 'memory', measure: () => footprintSection(ways) },
  ];
}

/** `--samples` is the number of calls for latency; the other rounds follow from it. */
export async function run(args: readonly string[]): Promise<number> {
  const { only, rest } = readSections(args);
  const { json, samples } = readBenchOptions(rest, SAMPLES);
  if (process.platform !== 'linux') throw new UsageError('this bench reads /proc: it needs Linux');
  if (!isBuilt()) throw new UsageError('`sub` is not built: run `npm run build` first');
  const place = await openPlace();
  let events = 0;
  try {
    const ways = waysOf(place);
    for (const section of sectionsOf(ways, samples)) {
      if (only.has(section.name)) show(await section.measure(), json);
    }
    if (only.has('others')) {
      const other = await orientation(place, samples);
      if (typeof other !== 'string') show(other, json);
      else if (!json) process.stdout.write(`${other}\n`);
    }
  } finally {
    events = await place.close();
  }
  if (!json) {
    process.stdout.write(
      `The shim's policy is bench/stdio/policy.yaml; its ${events} events went to a ledger that confirms and discards them, in a process of its own.\n`,
    );
  }
  return 0;
}
