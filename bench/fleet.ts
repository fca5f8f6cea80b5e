// `npm run bench -- fleet`: a hundred runs at once, two hundred governed calls each, into one ledger.
// Nothing may be lost, and the chain must hold; the time stands beside the same calls without us.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  directAgent,
  type FleetTimes,
  governedAgent,
  type Kind,
  runFleet,
} from './fleet/agents.ts';
import { type Recorded, recorded, serveLedger, type Verified, verify } from './fleet/ledger.ts';
import { interruptible } from './fleet/processes.ts';
import { readBenchOptions, table, UsageError } from './measure.ts';
import { cleanEnv, isBuilt } from './stdio/ways.ts';

interface Fleet {
  readonly runs: number;
  readonly callsPerRun: number;
  readonly direct: FleetTimes;
  readonly governed: FleetTimes;
  /** The CPU time of the ledger while the governed runs lasted. */
  readonly ledgerMs: number;
  readonly recorded: Recorded;
  readonly verified: Verified;
}

const RUNS = 100;
const RUNS_MAX = 1_000;
const CALLS = 200;

/** On a slow machine a run takes a few seconds of its own. */
const START_MS = 120_000;
const RUN_MS = 5_000;

function fleetOf(runs: number): Promise<Fleet> {
  const home = mkdtempSync(join(tmpdir(), 'sub-fleet-'));
  const cleanUp = () => rmSync(home, { recursive: true, force: true });
  return interruptible({ timeoutMs: START_MS + runs * RUN_MS, cleanUp }, () => fleetIn(home, runs));
}

async function fleetIn(home: string, runs: number): Promise<Fleet> {
  const env = cleanEnv(home);
  mkdirSync(join(home, '.subluminal'), { mode: 0o700 });
  const direct = await runFleet(directAgent(CALLS, env), runs);
  const ledger = await serveLedger(env);
  const idleMs = ledger.cpuMs();
  const governed = await runFleet(governedAgent(CALLS, env), runs);
  const ledgerMs = ledger.cpuMs() - idleMs;
  await ledger.stop();
  const found = recorded(env, CALLS);
  const counts = { runs, callsPerRun: CALLS, recorded: found, verified: verify(env) };
  return { ...counts, direct, governed, ledgerMs };
}

function verdict(isMet: boolean, what: string): string {
  return `  goal ${isMet ? 'met   ' : 'MISSED'}  ${what}\n`;
}

function checks(fleet: Fleet): readonly (readonly [isMet: boolean, what: string])[] {
  const { runs, callsPerRun, governed, recorded: found, verified } = fleet;
  const calls = runs * callsPerRun;
  return [
    [governed.failed === 0, `runs that failed: ${governed.failed}`],
    [governed.answered === calls, `calls answered: ${governed.answered} of ${calls}`],
    [found.calls === calls, `calls in the ledger: ${found.calls} of ${calls}`],
    [found.whole === calls, `with start, decision and end: ${found.whole} of ${calls}`],
    [
      found.runsWhole === runs,
      `runs with all their calls and their end: ${found.runsWhole} of ${runs}`,
    ],
    [
      verified.exitCode === 0,
      `sub ledger verify --deep: exit code ${verified.exitCode}, ${verified.events} events`,
    ],
  ];
}

function times(fleet: Fleet): string {
  const { direct, governed } = fleet;
  const total = ({ readyMs, callsMs }: FleetTimes) => readyMs + callsMs;
  const row = (name: string, of: FleetTimes) => [
    name,
    (of.readyMs / 1_000).toFixed(1),
    (of.callsMs / 1_000).toFixed(1),
    (total(of) / 1_000).toFixed(1),
    (total(of) / total(direct)).toFixed(1),
  ];
  const head = ['', 'until all are ready, s', 'calls and end, s', 'total, s', '× direct'];
  return table([head, row('direct', direct), row('sub run, sub shim', governed)]);
}

const KINDS: readonly (readonly [Kind, string])[] = [
  ['run', 'sub run'],
  ['shim', 'sub shim'],
  ['agent', 'agent'],
  ['server', 'server'],
];

/** Where the CPU time goes: a run pays for its start and end, and for each call. */
function cpuTimes({ runs, callsPerRun, direct, governed, ledgerMs }: Fleet): string {
  const head = ['CPU', 'start, ms/run', 'calls, µs/call', 'end, ms/run', 'in all, ms/run'];
  const row = (name: string, [start, calls, end]: readonly [number, number, number]) => [
    name,
    (start / runs).toFixed(1),
    ((calls * 1_000) / runs / callsPerRun).toFixed(0),
    (end / runs).toFixed(1),
    ((start + calls + end) / runs).toFixed(1),
  ];
  const phases = ({ cpu }: FleetTimes, kind: Kind) =>
    [cpu.start[kind], cpu.calls[kind], cpu.end[kind]] as const;
  return table([
    head,
    ...KINDS.map(([kind, name]) => row(name, phases(governed, kind))),
    ['sub ledgerd', '', '', '', (ledgerMs / runs).toFixed(1)],
    row('agent, direct', phases(direct, 'agent')),
    row('server, direct', phases(direct, 'server')),
  ]);
}

/** `--samples` is the number of runs. */
export async function run(args: readonly string[]): Promise<number> {
  const { json, samples: runs } = readBenchOptions(args, RUNS);
  if (runs > RUNS_MAX) throw new UsageError(`--samples takes at most ${RUNS_MAX} runs here`);
  if (!isBuilt()) throw new UsageError('`sub` is not built: run `npm run build` first');
  const fleet = await fleetOf(runs);
  const found = checks(fleet);
  if (json) {
    process.stdout.write(`${JSON.stringify({ title: 'fleet', ...fleet })}\n`);
  } else {
    const title = `${runs} runs at once, ${CALLS} calls each, one ledger (sub ledgerd)`;
    const lines = found.map(([isMet, what]) => verdict(isMet, what));
    process.stdout.write(`${title}\n${times(fleet)}${cpuTimes(fleet)}${lines.join('')}`);
  }
  // Lost calls are no matter of speed.
  return found.every(([isMet]) => isMet) ? 0 : 1;
}
