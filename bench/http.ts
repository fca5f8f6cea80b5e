// `npm run bench -- http`: tool calls through `sub serve` with the starter policy, beside a bare reverse proxy on
// node:http and beside no one in between. All take turns within one run; CPU is that of the process in between alone.
// Then the memory that open sessions take.
import { join } from 'node:path';
import { type Comparison, comparisonText, takeTurns } from './gateway/compare-lanes.ts';
import { ERAS, HttpLane, type HttpLaneSettings } from './http/lane.ts';
import { readBenchOptions } from './measure.ts';

const ROUNDS = 12;
const WARMUP_ROUNDS = 4;
const CALLS_PER_ROUND = 1_000;
/** CPU of a call beside the bare proxy. */
const CPU_GOAL_MAX = 2;
const SESSIONS = 1_000;
const IDLE_MS = 10_000;
const MEGABYTE = 2 ** 20;

const FOLDER = join(import.meta.dirname, 'http');
const RUN = join(import.meta.dirname, '..', 'tools', 'run.mjs');

function settings(name: string, upstreamUrl = ''): HttpLaneSettings {
  switch (name) {
    case 'sub serve':
      return { name, script: RUN, args: [join(FOLDER, 'whole-serve.ts'), upstreamUrl] };
    case 'bare proxy':
      return {
        name,
        script: join(FOLDER, '..', 'gateway', 'floor.mjs'),
        args: [upstreamUrl],
      };
    default:
      return { name, script: join(FOLDER, 'mcp-upstream.mjs'), args: [] };
  }
}

const COMPARISON: Comparison<(typeof ERAS)[number]> = {
  bench: 'http',
  kinds: ERAS,
  words: { kind: 'era', request: 'call' },
  names: { own: 'sub serve', floor: 'bare proxy', direct: 'direct' },
  cpuGoalMax: CPU_GOAL_MAX,
};

/** What open sessions take while nobody calls. */
async function sessions(lane: HttpLane): Promise<string> {
  const before = await lane.usage();
  await lane.openSessions(SESSIONS);
  const opened = await lane.usage();
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  const idle = await lane.usage();
  const added = (idle.rssBytes - before.rssBytes) / MEGABYTE;
  const kilobytes = ((added * 1_024) / SESSIONS).toFixed(0);
  const openMicros = (opened.cpuMicros - before.cpuMicros) / SESSIONS;
  const idlePercent = ((idle.cpuMicros - opened.cpuMicros) / (IDLE_MS * 1_000)) * 100;
  return `${SESSIONS} open sessions: ${(idle.rssBytes / MEGABYTE).toFixed(0)} MB in all, ${kilobytes} KB each; CPU ${openMicros.toFixed(0)} µs to open one, ${idlePercent.toFixed(1)} % of a core while idle\n`;
}

export async function run(args: readonly string[]): Promise<void> {
  const { json, samples } = readBenchOptions(args, ROUNDS);
  const lanes: HttpLane[] = [];
  try {
    const direct = await HttpLane.start(settings('direct'));
    lanes.push(direct);
    for (const name of ['bare proxy', 'sub serve']) {
      lanes.push(await HttpLane.start(settings(name, direct.url)));
    }
    const rounds = { warmup: WARMUP_ROUNDS, counted: samples, requests: CALLS_PER_ROUND };
    await takeTurns(lanes, ERAS, rounds);
    process.stdout.write(comparisonText(lanes, COMPARISON, json));
    if (json) return;
    // In a process of its own: the memory of the one above has room left from its calls.
    const fresh = await HttpLane.start(settings('sub serve', direct.url));
    lanes.push(fresh);
    process.stdout.write(await sessions(fresh));
  } finally {
    for (const lane of lanes) await lane.stop();
  }
}
