// `npm run bench -- hooks`: what the hooks of one use of a client's own tool cost, with the starter policy and events
// to the ledger, beside hooks of the same kind that decide nothing. All take turns within one run: first the hooks
// alone, called as a client calls them, then whole uses of a tool by the real Claude Code.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EMPTY, emptyHook, SUB_HOOK } from './hooks/hook-lanes.ts';
import { type ClientTiming, lanesOf, NO_HOOKS, STARTER, timeClient } from './hooks/real-client.ts';
import { goalLine, readBenchOptions, table, UsageError } from './measure.ts';
import { isBuilt, NODE, openPlace, SUB } from './stdio/ways.ts';

const SAMPLES = 2_000;
const SESSIONS = 3;
/** The time that hooks add to a use, beside what empty hooks of the same kind add. */
const GOAL_MAX = 1.5;
const RUN_FILE = fileURLToPath(new URL('../tools/run.mjs', import.meta.url));
const INSIDE = fileURLToPath(new URL('hooks/inside.ts', import.meta.url));

export async function run(args: readonly string[]): Promise<void> {
  const { json, samples } = readBenchOptions(args, SAMPLES);
  if (!isBuilt()) throw new UsageError('Build it first: npm run build');
  const place = await openPlace();
  const at = { env: place.env, cwd: join(place.home, 'project') };
  mkdirSync(join(at.cwd, 'src'), { recursive: true });
  const empty = await emptyHook(at);
  try {
    await runInside(at, [String(samples), json ? 'json' : 'text', at.cwd]);
    const sessions = Math.min(samples, SESSIONS);
    const timings = await timeClient(lanesOf(empty, at.env), sessions);
    process.stdout.write(json ? `${JSON.stringify(timings ?? [])}\n` : clientText(timings));
  } finally {
    await empty.stop();
    await place.close();
  }
}

/** `sub run` as it is built, with the lanes in the place of the client. */
async function runInside(
  { env, cwd }: { readonly env: NodeJS.ProcessEnv; readonly cwd: string },
  args: readonly string[],
): Promise<void> {
  const client = join(cwd, 'claude');
  const lanes = [NODE, RUN_FILE, INSIDE, ...args].map((word) => `'${word}'`).join(' ');
  const text = `#!/bin/sh\n[ "$1" = --version ] && exec echo '2.1.325 (Claude Code)'\nexec ${lanes} "$@"\n`;
  writeFileSync(client, text, { mode: 0o755 });
  const command = [SUB, 'run', '--quiet', '--policy', STARTER, '--', client];
  const child = spawn(NODE, command, { env: { ...env, PWD: cwd }, stdio: 'inherit' });
  await once(child, 'exit');
  if (child.exitCode !== 0) throw new Error('the hooks could not be measured');
}

/** The goal is for what the user of a client waits: the client takes its time for a hook as well. */
function clientText(timings: readonly ClientTiming[] | undefined): string {
  if (timings === undefined)
    return 'Claude Code is not installed: `npm run test:clients` does it\n';
  const p50 = (wanted: string): number =>
    timings.find(({ name }) => name === wanted)?.p50Ms ?? Number.NaN;
  const added = (name: string): number => p50(name) - p50(NO_HOOKS);
  const rows = timings.map(({ name, p50Ms }) => [name, p50Ms.toFixed(1), added(name).toFixed(1)]);
  const goals = ['http', 'command'].map((kind) => {
    const floor = added(`${kind}, ${EMPTY}`);
    // On a machine that is busy with other things, hooks may seem to save time: then nothing is shown.
    const ratio = floor > 0 ? added(`${kind}, ${SUB_HOOK}`) / floor : Number.NaN;
    return goalLine(`${kind}, × of what an empty hook adds`, ratio, GOAL_MAX);
  });
  const title = 'one use of a tool by Claude Code, from one request to its model to the next\n';
  return `${title}${table([['', 'p50 ms', 'added ms'], ...rows])}${goals.join('')}`;
}
