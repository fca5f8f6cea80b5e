// `npm run bench -- wrap`: how long `sub wrap` keeps an agent waiting, and how long a config takes to
// be rewritten, each beside the same without us.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clientOf } from '@subluminal/plane/clients';
import { applyImport, type ImportOptions, planImport } from '@subluminal/plane/clients/setup';
import { goalLine, percentile, readBenchOptions, table, UsageError } from './measure.ts';
import { cleanEnv, isBuilt, NODE, SERVER, SUB } from './stdio/ways.ts';

interface Bench {
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  readonly config: string;
}

const SAMPLES = 20;
const WARMUP = 2;
const SERVERS = 10;
const PROJECTS = 200;
const LAUNCH_GOAL_MS = 400;
const REWRITE_GOAL_MS = 50;
/** Says that it is there, and ends. */
const AGENT = ['/bin/sh', '-c', 'echo up'] as const;

/** As Claude Code keeps it after some months: much that is none of our business. */
function configText(): string {
  const mcpServers: { [name: string]: object } = {};
  for (let index = 0; index < SERVERS; index++) {
    const args = [SERVER, `--number=${index}`];
    mcpServers[`server-${index}`] = { type: 'stdio', command: NODE, args, env: { LEVEL: 'info' } };
  }
  const history = Array.from({ length: 10 }, () => ({ display: 'x'.repeat(80) }));
  const projects: { [path: string]: object } = {};
  for (let index = 0; index < PROJECTS; index++) {
    projects[`/srv/project-${index}`] = { allowedTools: [], history };
  }
  return `${JSON.stringify({ numStartups: 512, mcpServers, projects }, null, 2)}\n`;
}

/** Until the agent has said its first word; then until all is over, which does not count. */
async function launchedMs(command: readonly string[], { env }: Bench): Promise<number> {
  const [file = '', ...args] = command;
  const startMs = performance.now();
  const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  await once(child.stdout, 'data');
  const tookMs = performance.now() - startMs;
  child.stdout.resume();
  const code = await ended;
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${String(code)}`);
  return tookMs;
}

interface Way {
  readonly name: string;
  /** Does it once, and tells how many milliseconds that took. */
  readonly once: () => Promise<number>;
}

interface Took {
  readonly name: string;
  readonly p50Ms: number;
  readonly maxMs: number;
}

async function inTurns(ways: readonly Way[], samples: number): Promise<readonly Took[]> {
  const lanes = ways.map((way) => ({ ...way, tookMs: new Float64Array(samples) }));
  for (let round = -WARMUP; round < samples; round++) {
    for (const lane of lanes) {
      const tookMs = await lane.once();
      if (round >= 0) lane.tookMs[round] = tookMs;
    }
  }
  return lanes.map(({ name, tookMs }) => {
    const sorted = tookMs.toSorted();
    return { name, p50Ms: percentile(sorted, 50), maxMs: percentile(sorted, 100) };
  });
}

function launches(bench: Bench): readonly Way[] {
  const { config } = bench;
  const wrap = ['wrap', '--quiet', '--agent-type', 'custom', '--config-path', config, '--'];
  const commands: readonly (readonly [string, readonly string[]])[] = [
    ['bare', AGENT],
    ['by a bare Node', [NODE, '-e', nodeLauncher()]],
    ['sub run', [NODE, SUB, 'run', '--quiet', '--', ...AGENT]],
    ['sub wrap', [NODE, SUB, ...wrap, ...AGENT]],
  ];
  return commands.map(([name, command]) => ({ name, once: () => launchedMs(command, bench) }));
}

function nodeLauncher(): string {
  const [file, ...args] = AGENT;
  return `require('child_process').spawn(${JSON.stringify(file)}, ${JSON.stringify(args)}, { stdio: 'inherit' })`;
}

function importOptions({ home, env, config }: Bench): ImportOptions {
  const sub = join(home, '.subluminal');
  return {
    env,
    project: home,
    paths: {
      home: sub,
      config: join(sub, 'config.toml'),
      backups: join(sub, 'backups'),
      run: join(sub, 'run'),
    },
    client: clientOf('custom'),
    configPath: config,
    servers: [],
    own: { runtime: NODE, script: SUB },
    redactPatterns: [],
  };
}

/** What it takes at least to change a file safely: a copy, a draft, both on the disk, a rename. */
function replaceBare({ config }: Bench): void {
  const text = readFileSync(config, 'utf8');
  for (const path of [`${config}.copy`, `${config}.draft`]) {
    const fd = openSync(path, 'w', 0o600);
    try {
      writeFileSync(fd, text);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  }
  renameSync(`${config}.draft`, config);
}

function rewrites(bench: Bench): readonly Way[] {
  const { config } = bench;
  const fresh = readFileSync(config, 'utf8');
  let number = 512;
  const options = importOptions(bench);
  const rewrite = async () => {
    const plan = await planImport(options);
    if (plan.kind !== 'plan') throw new Error(plan.message);
    const results = plan.files.map((file) => applyImport(file, options));
    if (results.some(({ kind }) => kind !== 'applied')) throw new Error('it was not applied');
  };
  const timed = (name: string, work: () => unknown): Way => ({
    name,
    once: async () => {
      // Another text each time: what was read of the last one must not help.
      writeFileSync(config, fresh.replace('512', String(++number)));
      rmSync(options.paths.backups, { recursive: true, force: true });
      const startMs = performance.now();
      await work();
      return performance.now() - startMs;
    },
  });
  return [
    timed('a copy and a rename, on the disk', () => replaceBare(bench)),
    timed('plan, back up, rewrite', rewrite),
  ];
}

export async function run(args: readonly string[]): Promise<number> {
  const { json, samples } = readBenchOptions(args, SAMPLES);
  if (!isBuilt()) throw new UsageError('`sub` is not built: run `npm run build` first');
  const home = mkdtempSync(join(tmpdir(), 'sub-wrap-'));
  try {
    const bench = {
      home,
      env: { ...cleanEnv(home), SUB_EVENTS: 'off' },
      config: join(home, 'mcp.json'),
    };
    mkdirSync(join(home, '.subluminal'), { mode: 0o700 });
    const text = configText();
    writeFileSync(bench.config, text);
    const launched = await inTurns(launches(bench), samples);
    if (readFileSync(bench.config, 'utf8') !== text)
      throw new Error('sub wrap left its edits behind');
    const rewritten = await inTurns(rewrites(bench), samples);
    report({ launched, rewritten, json, kilobytes: Math.round(text.length / 1_024) });
    return 0;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

interface Report {
  readonly launched: readonly Took[];
  readonly rewritten: readonly Took[];
  readonly json: boolean;
  readonly kilobytes: number;
}

function report({ launched, rewritten, json, kilobytes }: Report): void {
  if (json) {
    process.stdout.write(`${JSON.stringify({ title: 'wrap', launched, rewritten })}\n`);
    return;
  }
  process.stdout.write(
    [
      `until the agent runs; a config of ${kilobytes} KB with ${SERVERS} servers\n`,
      rowsOf(launched),
      goalLine('sub wrap, p50, ms', launched.at(-1)?.p50Ms ?? Number.NaN, LAUNCH_GOAL_MS),
      'until the config is rewritten\n',
      rowsOf(rewritten),
      goalLine('rewrite, p50, ms', rewritten.at(-1)?.p50Ms ?? Number.NaN, REWRITE_GOAL_MS),
    ].join(''),
  );
}

function rowsOf(all: readonly Took[]): string {
  const floorMs = all[0]?.p50Ms ?? Number.NaN;
  const rows = all.map(({ name, p50Ms, maxMs }) => [
    name,
    ...[p50Ms, maxMs, p50Ms - floorMs].map((ms) => ms.toFixed(1)),
  ]);
  return table([['', 'p50, ms', 'max, ms', 'added, ms'], ...rows]);
}
