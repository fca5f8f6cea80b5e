// `npm run bench -- ledger`: fifty producers at once into `sub ledgerd`, as fast as it takes their events;
// then what the ledger takes on disk, its questions, `sub ledger verify`, and `sub ingest` of a file.
import { once } from 'node:events';
import { createWriteStream, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { openSqliteReader } from '@subluminal/plane/ledger';
import { bareInsertNs } from './ledger/bare-inserts.ts';
import {
  bytesOnDisk,
  Ledgerd,
  ledgerFile,
  type Sent,
  sendCalls,
  type Timed,
  timedSub,
} from './ledger/daemon.ts';
import { LineMaker, sources } from './ledger/lines.ts';
import { type Asked, askQueries } from './ledger/queries.ts';
import { goalLine, leastLine, readBenchOptions, table, UsageError } from './measure.ts';
import { cleanEnv, isBuilt } from './stdio/ways.ts';

const PRODUCERS = 50;
/** More than a minute of events. */
const CALLS = 1_000_000;
const BARE_CALLS_MAX = 30_000;
const FILE_CALLS_MAX = 50_000;
const GOALS = { eventsPerSecond: 25_000, bytesPerCall: 2_500, queryP99Ms: 100 };

interface Figures {
  readonly sent: Sent;
  readonly cpuMs: number;
  readonly bareNs: number;
  readonly bytes: number;
  readonly asked: readonly Asked[];
  readonly verify: Timed;
  readonly quick: Timed;
  readonly ingest: Timed;
  readonly ingestEvents: number;
}

async function measureLedger(calls: number): Promise<Figures> {
  const home = mkdtempSync(join(tmpdir(), 'sub-ledger-'));
  try {
    const env = cleanEnv(home);
    mkdirSync(join(home, '.subluminal'), { mode: 0o700 });
    const bareNs = await bareInsertNs(home, Math.min(calls, BARE_CALLS_MAX));
    const ledgerd = await Ledgerd.start(env);
    const socketPath = join(home, '.subluminal', 'run', 'ledger.sock');
    const sent = await sendCalls(socketPath, { producers: PRODUCERS, calls });
    const cpuMs = ledgerd.cpuMs();
    await ledgerd.stop();
    const file = ledgerFile(home);
    const bytes = bytesOnDisk(file);
    const reader = await openSqliteReader({ file });
    const asked = await askQueries(reader);
    await reader.close();
    const quick = timedSub(env, ['ledger', 'verify', '--quick']);
    const verify = timedSub(env, ['ledger', 'verify']);
    const { ingest, ingestEvents } = await ingestFile(home, Math.min(calls, FILE_CALLS_MAX));
    return { sent, cpuMs, bareNs, bytes, asked, quick, verify, ingest, ingestEvents };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Into a ledger of its own. */
async function ingestFile(
  folder: string,
  calls: number,
): Promise<Pick<Figures, 'ingest' | 'ingestEvents'>> {
  const home = join(folder, 'other');
  mkdirSync(join(home, '.subluminal'), { recursive: true, mode: 0o700 });
  const file = join(folder, 'events.jsonl');
  const out = createWriteStream(file);
  const maker = new LineMaker(sources(), 2);
  let ingestEvents = 0;
  for (let made = 0; made < calls; made++) {
    const lines = maker.call();
    ingestEvents += lines.length;
    if (!out.write(`${lines.join('\n')}\n`)) await once(out, 'drain');
  }
  out.end();
  await finished(out);
  return { ingest: timedSub(cleanEnv(home), ['ingest', file]), ingestEvents };
}

function perSecond(events: number, ms: number): number {
  return (events / ms) * 1_000;
}

function text(figures: Figures): string {
  const { sent, cpuMs, bareNs, bytes, asked, verify, quick, ingest, ingestEvents } = figures;
  const { calls, events, ms } = sent;
  const rate = (count: number, tookMs: number) => String(Math.round(perSecond(count, tookMs)));
  const micros = (count: number, tookMs: number) => ((tookMs / count) * 1_000).toFixed(1);
  const row = (name: string, count: number, tookMs: number) => [
    name,
    String(count),
    rate(count, tookMs),
    micros(count, tookMs),
  ];
  const speeds = [
    ['', 'events', 'events/s', 'us per event'],
    row('50 producers into sub ledgerd', events, ms),
    row('  of that, CPU of the daemon', events, cpuMs),
    row('bare SQLite inserts of such lines', events, (bareNs * events) / 1e6),
    row('sub ingest of a file', ingestEvents, ingest.ms),
    row('sub ledger verify --quick', events, quick.ms),
    row('sub ledger verify', events, verify.ms),
  ];
  const questions = [
    ['', 'times', 'p50 ms', 'p99 ms'],
    ...asked.map(({ name, times, p50Ms, p99Ms }) => [
      name,
      String(times),
      p50Ms.toFixed(1),
      p99Ms.toFixed(1),
    ]),
  ];
  const worst = Math.max(...asked.map(({ p99Ms }) => p99Ms));
  return [
    `${calls} calls, ${events} events of ${Math.round(sent.bytes / events)} characters\n`,
    table(speeds),
    table(questions),
    `  on disk: ${(bytes / 1e6).toFixed(0)} MB, ${Math.round(bytes / calls)} bytes per call; as JSON ${Math.round(sent.bytes / calls)}\n`,
    leastLine('events/s of 50 producers', perSecond(events, ms), GOALS.eventsPerSecond),
    goalLine('bytes on disk per call', bytes / calls, GOALS.bytesPerCall),
    goalLine('p99 of the slowest question, ms', worst, GOALS.queryP99Ms),
  ].join('');
}

/** `--samples` is the number of calls. */
export async function run(args: readonly string[]): Promise<void> {
  const { json, samples: calls } = readBenchOptions(args, CALLS);
  if (!isBuilt()) throw new UsageError('`sub` is not built: run `npm run build` first');
  const figures = await measureLedger(calls);
  if (json) process.stdout.write(`${JSON.stringify({ title: 'ledger', ...figures })}\n`);
  else process.stdout.write(text(figures));
}
