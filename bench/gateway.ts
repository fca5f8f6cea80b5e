// `npm run bench -- gateway`: turns of 86 KB through the gateway and through its engine alone, beside a bare
// passthrough on node:http and beside no one in between. All take turns within one run; CPU is that of the process in
// between alone. `--long` looks at the memory after many turns instead. Portkey's gateway takes part where it is
// installed: npm install --no-save @portkey-ai/gateway
import { join } from 'node:path';
import { KINDS } from './gateway/conversation.ts';
import { addResult, Lane, type LaneSettings, summaryOf } from './gateway/lane.ts';
import { goalLine, readBenchOptions, table } from './measure.ts';

const ROUNDS = 12;
const WARMUP_ROUNDS = 4;
const REQUESTS_PER_ROUND = 400;
/** CPU of one wire end to end, beside the floor. */
const CPU_GOAL_MAX = 1.6;
const MEMORY_AT = [1_000, 5_000, 20_000, 50_000];
const MEGABYTE = 2 ** 20;

const FOLDER = join(import.meta.dirname, 'gateway');
const RUN = join(import.meta.dirname, '..', 'tools', 'run.mjs');

function settings(name: string, upstreamUrl = ''): LaneSettings {
  switch (name) {
    case 'engine':
      return { name, script: RUN, args: [join(FOLDER, 'engine.ts'), upstreamUrl] };
    case 'gateway':
      return { name, script: RUN, args: [join(FOLDER, 'whole-gateway.ts'), upstreamUrl] };
    case 'portkey':
      return {
        name,
        script: join(FOLDER, 'portkey.mjs'),
        args: [],
        headers: {
          authorization: 'Bearer key-of-the-client',
          'x-portkey-provider': 'anthropic',
          'x-portkey-custom-host': `${upstreamUrl}/v1`,
        },
      };
    default:
      return { name, script: join(FOLDER, `${name}.mjs`), args: [upstreamUrl] };
  }
}

function hasPortkey(): boolean {
  try {
    return import.meta.resolve('@portkey-ai/gateway/package.json') !== '';
  } catch {
    return false;
  }
}

function report(lanes: readonly Lane[], json: boolean): string {
  const rows = KINDS.flatMap((kind) =>
    lanes.map(({ name, results }) => ({ kind, name, ...summaryOf(results[kind]) })),
  );
  if (json) return `${JSON.stringify({ bench: 'gateway', rows })}\n`;
  const rowOf = (kind: string, name: string) =>
    rows.find((row) => row.kind === kind && row.name === name) ?? rows[0];
  const lines = rows.map((row) => {
    const direct = rowOf(row.kind, 'upstream');
    const floor = rowOf(row.kind, 'floor');
    return [
      row.kind,
      row.name,
      row.cpuMicros.toFixed(0),
      (row.cpuMicros / (floor?.cpuMicros ?? Number.NaN)).toFixed(2),
      row.perSecond.toFixed(0),
      row.p50Ms.toFixed(2),
      (row.p50Ms - (direct?.p50Ms ?? Number.NaN)).toFixed(2),
      row.p99Ms.toFixed(2),
      (row.p99Ms - (direct?.p99Ms ?? Number.NaN)).toFixed(2),
    ];
  });
  const head = ['answer', 'in between', 'CPU µs/turn', '× floor', 'turns/s'];
  const times = ['p50 ms', 'added', 'p99 ms', 'added'];
  const goals = KINDS.map((kind) => {
    const cpu = (name: string) => rowOf(kind, name)?.cpuMicros ?? Number.NaN;
    const what = `${kind}: CPU of the gateway, × floor`;
    return goalLine(what, cpu('gateway') / cpu('floor'), CPU_GOAL_MAX);
  });
  return `${table([[...head, ...times], ...lines])}\n${goals.join('')}`;
}

async function compare(lanes: readonly Lane[], rounds: number): Promise<void> {
  for (let count = -WARMUP_ROUNDS; count < rounds; count++) {
    for (const kind of KINDS) {
      for (const lane of lanes) {
        const part = await lane.round(kind, REQUESTS_PER_ROUND);
        if (count >= 0) addResult(lane.results[kind], part);
      }
    }
  }
}

/** The resident memory of each after so many turns, half of them streamed. */
async function memory(lanes: readonly Lane[]): Promise<string> {
  const rows: string[][] = [['turns', ...lanes.map(({ name }) => `${name}, MB`)]];
  const row = async (turns: number) => {
    const sizes = await Promise.all(lanes.map((lane) => lane.usage()));
    rows.push([String(turns), ...sizes.map(({ rssBytes }) => (rssBytes / MEGABYTE).toFixed(0))]);
  };
  await row(0);
  let done = 0;
  for (const turns of MEMORY_AT) {
    for (const lane of lanes) {
      for (const kind of KINDS) await lane.round(kind, (turns - done) / KINDS.length);
    }
    done = turns;
    await row(turns);
  }
  return table(rows);
}

export async function run(args: readonly string[]): Promise<void> {
  const isLong = args.includes('--long');
  const { json, samples } = readBenchOptions(
    args.filter((arg) => arg !== '--long'),
    ROUNDS,
  );
  const lanes: Lane[] = [];
  try {
    const direct = await Lane.start(settings('upstream'));
    lanes.push(direct);
    const names = ['floor', 'engine', 'gateway', ...(hasPortkey() ? ['portkey'] : [])];
    for (const name of names) lanes.push(await Lane.start(settings(name, direct.url)));
    if (isLong) {
      process.stdout.write(await memory(lanes.slice(1)));
      return;
    }
    await compare(lanes, samples);
    process.stdout.write(report(lanes, json));
  } finally {
    for (const lane of lanes) await lane.stop();
  }
}
