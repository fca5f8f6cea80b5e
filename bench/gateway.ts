// `npm run bench -- gateway`: turns of 86 KB through the gateway and through its engine alone, beside a bare
// passthrough on node:http and beside no one in between. All take turns within one run; CPU is that of the process in
// between alone. `--long` looks at the memory after many turns instead. Portkey's gateway takes part where it is
// installed: npm install --no-save @portkey-ai/gateway
import { join } from 'node:path';
import { type Comparison, comparisonText, takeTurns } from './gateway/compare-lanes.ts';
import { KINDS } from './gateway/conversation.ts';
import { Lane, type LaneSettings } from './gateway/lane.ts';
import { readBenchOptions, table } from './measure.ts';

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

const COMPARISON: Comparison<(typeof KINDS)[number]> = {
  bench: 'gateway',
  kinds: KINDS,
  words: { kind: 'answer', request: 'turn' },
  names: { own: 'gateway', floor: 'floor', direct: 'upstream' },
  cpuGoalMax: CPU_GOAL_MAX,
};

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
    const rounds = { warmup: WARMUP_ROUNDS, counted: samples, requests: REQUESTS_PER_ROUND };
    await takeTurns(lanes, KINDS, rounds);
    process.stdout.write(comparisonText(lanes, COMPARISON, json));
  } finally {
    for (const lane of lanes) await lane.stop();
  }
}
