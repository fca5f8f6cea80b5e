// `npm run bench -- gateway`: turns of 86 KB through the engine, beside a bare passthrough on node:http and beside
// no one in between. All take turns within one run; CPU is that of the process in between alone.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Pool } from 'undici';
import { goalLine, percentile, readBenchOptions, table } from './measure.ts';

const ROUNDS = 12;
const WARMUP_ROUNDS = 3;
const REQUESTS_PER_ROUND = 400;
const PARALLEL = 16;
const BODY_BYTES = 86 * 1024;
/** CPU of one wire end to end, beside the floor. */
const CPU_GOAL_MAX = 1.6;
const KINDS = ['stream', 'whole'] as const;
type Kind = (typeof KINDS)[number];

const FOLDER = join(import.meta.dirname, 'gateway');
const RUN = join(import.meta.dirname, '..', 'tools', 'run.mjs');

interface Lane {
  readonly name: string;
  readonly process: ChildProcess;
  readonly pool: Pool;
  readonly results: { readonly [K in Kind]: Result };
}

interface Result {
  cpuMicros: number;
  wallMs: number;
  requests: number;
  readonly latenciesMs: number[];
}

interface ServerTold {
  readonly url: string;
  readonly cpuMicros: number;
  readonly rssBytes: number;
}

async function told(child: ChildProcess): Promise<ServerTold> {
  const [message] = (await once(child, 'message')) as [ServerTold];
  return message;
}

async function start(name: string, args: readonly string[]): Promise<{ lane: Lane; url: string }> {
  const [script = '', ...rest] = args;
  const child = fork(script, rest, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const { url } = await told(child);
  const pool = new Pool(url, { connections: PARALLEL });
  const empty = (): Result => ({ cpuMicros: 0, wallMs: 0, requests: 0, latenciesMs: [] });
  return {
    lane: { name, process: child, pool, results: { stream: empty(), whole: empty() } },
    url,
  };
}

/** As large as the first turn of a coding agent: a system prompt, tools, a conversation. */
function bodyOf(kind: Kind): Buffer {
  const words = 'The quick brown fox "jumps" over\\n the lazy dog, and reads src/main.ts. ';
  const tools = Array.from({ length: 24 }, (_, index) => ({
    name: `tool_${index}`,
    description: words.repeat(12),
    input_schema: { type: 'object', properties: { path: { type: 'string', description: words } } },
  }));
  const system = [{ type: 'text', text: words.repeat(300), cache_control: { type: 'ephemeral' } }];
  const head = { model: 'claude-of-the-client', max_tokens: 64_000, stream: kind === 'stream' };
  const make = (length: number) =>
    Buffer.from(
      JSON.stringify({
        ...head,
        system,
        tools,
        messages: [{ role: 'user', content: [{ type: 'text', text: 'x'.repeat(length) }] }],
      }),
    );
  return make(Math.max(0, BODY_BYTES - make(0).length));
}

async function cpuOf({ process: child }: Lane): Promise<number> {
  const answer = told(child);
  child.send('cpu');
  return (await answer).cpuMicros;
}

async function round(lane: Lane, kind: Kind, body: Buffer): Promise<Result> {
  const latenciesMs: number[] = [];
  let left = REQUESTS_PER_ROUND;
  const before = await cpuOf(lane);
  const startMs = performance.now();
  const worker = async (): Promise<void> => {
    while (left-- > 0) {
      const sentMs = performance.now();
      const headers = { 'content-type': 'application/json', 'x-api-key': 'key-of-the-client' };
      const answer = await lane.pool.request({ path: `/${kind}`, method: 'POST', headers, body });
      const text = await answer.body.text();
      if (answer.statusCode !== 200 || text.length < 1_000) throw new Error(text.slice(0, 200));
      latenciesMs.push(performance.now() - sentMs);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  const wallMs = performance.now() - startMs;
  const cpuMicros = (await cpuOf(lane)) - before;
  return { cpuMicros, wallMs, requests: latenciesMs.length, latenciesMs };
}

function add(sum: Result, part: Result): void {
  sum.cpuMicros += part.cpuMicros;
  sum.wallMs += part.wallMs;
  sum.requests += part.requests;
  sum.latenciesMs.push(...part.latenciesMs);
}

function summary({ cpuMicros, wallMs, requests, latenciesMs }: Result) {
  const sorted = Float64Array.from(latenciesMs).toSorted();
  return {
    cpuMicros: cpuMicros / requests,
    perSecond: (requests / wallMs) * 1_000,
    p50Ms: percentile(sorted, 50),
    p99Ms: percentile(sorted, 99),
  };
}

function report(lanes: readonly Lane[], json: boolean): string {
  const rows = KINDS.flatMap((kind) =>
    lanes.map(({ name, results }) => ({ kind, name, ...summary(results[kind]) })),
  );
  if (json) return `${JSON.stringify({ bench: 'gateway', rows })}\n`;
  const lines = rows.map((row) => [
    row.kind,
    row.name,
    row.cpuMicros.toFixed(0),
    row.perSecond.toFixed(0),
    row.p50Ms.toFixed(2),
    row.p99Ms.toFixed(2),
  ]);
  const head = ['answer', 'in between', 'CPU µs/turn', 'turns/s', 'p50 ms', 'p99 ms'];
  const goals = KINDS.map((kind) => {
    const cpu = (name: string) =>
      rows.find((row) => row.kind === kind && row.name === name)?.cpuMicros ?? Number.NaN;
    return goalLine(
      `${kind}: CPU of the engine, × floor`,
      cpu('engine') / cpu('floor'),
      CPU_GOAL_MAX,
    );
  });
  return `${table([head, ...lines])}\n${goals.join('')}`;
}

export async function run(args: readonly string[]): Promise<void> {
  const { json, samples } = readBenchOptions(args, ROUNDS);
  const direct = await start('direct', [join(FOLDER, 'upstream.mjs')]);
  const floor = await start('floor', [join(FOLDER, 'floor.mjs'), direct.url]);
  const engine = await start('engine', [RUN, join(FOLDER, 'engine.ts'), direct.url]);
  const lanes = [direct.lane, floor.lane, engine.lane];
  try {
    for (let count = -WARMUP_ROUNDS; count < samples; count++) {
      for (const kind of KINDS) {
        const body = bodyOf(kind);
        for (const lane of lanes) {
          const part = await round(lane, kind, body);
          if (count >= 0) add(lane.results[kind], part);
        }
      }
    }
    process.stdout.write(report(lanes, json));
  } finally {
    for (const lane of lanes) {
      await lane.pool.destroy();
      lane.process.disconnect();
    }
  }
}
