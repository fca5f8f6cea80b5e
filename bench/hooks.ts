// `npm run bench -- hooks`: what the hooks of one use of a client's own tool cost, with the starter policy and events
// to the ledger, beside hooks of the same kind that decide nothing. All take turns within one run.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { commandLane, emptyHook, governedHook, httpLane } from './hooks/hook-lanes.ts';
import {
  goalLine,
  type Measurement,
  measureAsync,
  readBenchOptions,
  report,
  UsageError,
} from './measure.ts';
import { isBuilt, openPlace } from './stdio/ways.ts';

const SAMPLES = 2_000;
const WARMUP = 200;
const COMMAND_SAMPLES_MAX = 100;
const COMMAND_WARMUP = 3;
/** Beside an empty hook of the same kind. */
const GOAL_MAX = 1.5;
const [EMPTY, SUB, SHELL] = ['empty hook', 'sub', 'sh -c :'] as const;

function ratio({ timings }: Measurement): number {
  const [empty, sub] = [EMPTY, SUB].map((wanted) => timings.find(({ name }) => name === wanted));
  return (sub?.p50Ns ?? Number.NaN) / (empty?.p50Ns ?? Number.NaN);
}

export async function run(args: readonly string[]): Promise<void> {
  const { json, samples } = readBenchOptions(args, SAMPLES);
  if (!isBuilt()) throw new UsageError('Build it first: npm run build');
  const place = await openPlace();
  const at = { env: place.env, cwd: join(place.home, 'project') };
  mkdirSync(join(at.cwd, 'src'), { recursive: true });
  const [empty, sub] = [await emptyHook(at), await governedHook(at)];
  try {
    const http = await measureAsync([httpLane(EMPTY, empty, at), httpLane(SUB, sub, at)], {
      samples,
      warmup: WARMUP,
    });
    const command = await measureAsync(
      [
        commandLane(EMPTY, empty.command, at),
        commandLane(SUB, sub.command, at),
        commandLane(SHELL, ':', at),
      ],
      { samples: Math.min(samples, COMMAND_SAMPLES_MAX), warmup: COMMAND_WARMUP },
    );
    for (const [kind, measured] of [
      ['http', http],
      ['command', command],
    ] as const) {
      const title = `hooks of kind ${kind}: before and after one use of a tool`;
      process.stdout.write(report(measured, { title, floor: EMPTY, json }));
      if (!json) process.stdout.write(goalLine(`× of an empty hook`, ratio(measured), GOAL_MAX));
    }
  } finally {
    await Promise.all([empty.stop(), sub.stop()]);
    await place.close();
  }
}
