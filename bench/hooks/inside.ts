// The hooks alone, called by the client of a run: `sub` answers nobody else. It stands in the place of Claude Code,
// with the settings that `sub run` gives to that.
import { type Measurement, measureAsync, report } from '../measure.ts';
import { commandLane, EMPTY, emptyHook, givenHook, httpLane, SUB_HOOK } from './hook-lanes.ts';

const WARMUP = 200;
/** As while the model thinks: what is left for after the answer is not in the way of the next use. */
const REST_MS = 3;
const COMMAND_SAMPLES_MAX = 100;
const COMMAND_WARMUP = 3;

const [samplesText, format, cwd = '', ...given] = process.argv.slice(2);
const samples = Number(samplesText);
const at = { env: process.env, cwd };
const sub = givenHook(given[given.indexOf('--settings') + 1] ?? 'null', process.env);
const empty = await emptyHook(at);

const http = [httpLane(EMPTY, empty, at), httpLane(SUB_HOOK, sub, at)];
tell('http', await measureAsync(http, { samples, warmup: WARMUP, restMs: REST_MS }));
const commands = [
  commandLane(EMPTY, empty.command, at),
  commandLane(SUB_HOOK, sub.command, at),
  commandLane('sh -c :', ':', at),
];
const few = { samples: Math.min(samples, COMMAND_SAMPLES_MAX), warmup: COMMAND_WARMUP };
tell('command', await measureAsync(commands, few));
await empty.stop();
// The connections of the lanes stay open.
process.exit();

function tell(kind: string, measured: Measurement): void {
  const title = `hooks of kind ${kind}: the three of one use of a tool`;
  process.stdout.write(report(measured, { title, floor: EMPTY, json: format === 'json' }));
}
