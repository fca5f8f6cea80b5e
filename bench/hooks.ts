// `npm run bench -- hooks`: what the hooks of one use of a client's own tool cost, with the starter policy and events
// to the ledger, beside hooks of the same kind that decide nothing. All take turns within one run: first the hooks
// alone, called as a client calls them, then whole uses of a tool by the real Claude Code.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { commandLane, emptyHook, governedHook, httpLane } from './hooks/hook-lanes.ts';
import { type ClientTiming, lanesOf, NO_HOOKS, timeClient } from './hooks/real-client.ts';
import {
  goalLine,
  type Measurement,
  measureAsync,
  readBenchOptions,
  report,
  table,
  UsageError,
} from './measure.ts';
import { isBuilt, openPlace } from './stdio/ways.ts';

const SAMPLES = 2_000;
const WARMUP = 200;
const COMMAND_SAMPLES_MAX = 100;
const COMMAND_WARMUP = 3;
const SESSIONS = 3;
/** The time that hooks add to a use, beside what empty hooks of the same kind add. */
const GOAL_MAX = 1.5;
/** As while the model thinks: what is left for after the answer is not in the way of the next use. */
const REST_MS = 3;
const [EMPTY, SUB, SHELL] = ['empty hook', 'sub', 'sh -c :'] as const;

export async function run(args: readonly string[]): Promise<void> {
  const { json, samples } = readBenchOptions(args, SAMPLES);
  if (!isBuilt()) throw new UsageError('Build it first: npm run build');
  const place = await openPlace();
  const at = { env: place.env, cwd: join(place.home, 'project') };
  mkdirSync(join(at.cwd, 'src'), { recursive: true });
  const [empty, sub] = [await emptyHook(at), await governedHook(at)];
  try {
    const http = [httpLane(EMPTY, empty, at), httpLane(SUB, sub, at)];
    tell('http', await measureAsync(http, { samples, warmup: WARMUP, restMs: REST_MS }), json);
    const commands = [
      commandLane(EMPTY, empty.command, at),
      commandLane(SUB, sub.command, at),
      commandLane(SHELL, ':', at),
    ];
    const few = { samples: Math.min(samples, COMMAND_SAMPLES_MAX), warmup: COMMAND_WARMUP };
    tell('command', await measureAsync(commands, few), json);
    const sessions = Math.min(samples, SESSIONS);
    const timings = await timeClient(lanesOf(empty, sub), sessions);
    process.stdout.write(json ? `${JSON.stringify(timings ?? [])}\n` : clientText(timings));
  } finally {
    await Promise.all([empty.stop(), sub.stop()]);
    await place.close();
  }
}

function tell(kind: string, measured: Measurement, json: boolean): void {
  const title = `hooks of kind ${kind}: the three of one use of a tool`;
  process.stdout.write(report(measured, { title, floor: EMPTY, json }));
}

/** The goal is for what the user of a client waits: the client takes its time for a hook as well. */
function clientText(timings: readonly ClientTiming[] | undefined): string {
  if (timings === undefined)
    return 'Claude Code is not installed: `npm run test:clients` does it\n';
  const p50 = (wanted: string): number =>
    timings.find(({ name }) => name === wanted)?.p50Ms ?? Number.NaN;
  const added = (name: string): number => p50(name) - p50(NO_HOOKS);
  const rows = timings.map(({ name, p50Ms }) => [name, p50Ms.toFixed(1), added(name).toFixed(1)]);
  const goals = ['http', 'command'].map((kind) =>
    goalLine(
      `${kind}, × of what an empty hook adds`,
      added(`${kind}, ${SUB}`) / added(`${kind}, ${EMPTY}`),
      GOAL_MAX,
    ),
  );
  const title = 'one use of a tool by Claude Code, from one request to its model to the next\n';
  return `${title}${table([['', 'p50 ms', 'added ms'], ...rows])}${goals.join('')}`;
}
