// The ledger of a fleet: served by `sub ledgerd`, and asked by the commands that a person has.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { isObject } from '@subluminal/contracts';
import { NODE, SUB } from '../stdio/ways.ts';
import { ownCpuMs } from './cpu.mjs';
import { keepUntilEnd } from './processes.ts';

export interface Recorded {
  readonly calls: number;
  /** Calls that have a start, a decision and an end. */
  readonly whole: number;
  readonly runs: number;
  /** Runs that have all of their calls. */
  readonly runsWhole: number;
}

export interface Verified {
  readonly exitCode: number | null;
  readonly events: number;
}

export interface ServedLedger {
  /** What it has used so far. */
  cpuMs(): number;
  stop(): Promise<void>;
}

const PAGE = 10_000;
const OUTPUT_BYTES_MAX = 256 * 1024 * 1024;

/** Serves until it is told to stop. */
export async function serveLedger(env: NodeJS.ProcessEnv): Promise<ServedLedger> {
  const child = keepUntilEnd(
    spawn(NODE, [SUB, 'ledgerd', '--foreground'], { env, stdio: ['ignore', 'pipe', 'pipe'] }),
    'ledger',
  );
  await firstLine(child);
  return {
    cpuMs: () => (child.pid === undefined ? 0 : ownCpuMs(child.pid)),
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** It says so when it serves, on whichever output. */
function firstLine(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    for (const input of [child.stdout, child.stderr]) {
      if (input !== null) createInterface({ input }).on('line', () => resolve());
    }
    child.once('exit', (code) => reject(new Error(`ledgerd ended: ${code}`)));
  });
}

export function recorded(env: NodeJS.ProcessEnv, callsPerRun: number): Recorded {
  const perRun = new Map<string, number>();
  let [calls, whole] = [0, 0];
  for (let after = ''; ; ) {
    const page = query(env, ['--limit', String(PAGE), ...(after === '' ? [] : ['--after', after])]);
    for (const call of listIn(page, 'calls')) {
      calls++;
      if (textIn(call, 'decision') === 'ALLOW' && textIn(call, 'status') === 'OK') whole++;
      const run = textIn(call, 'run_id');
      perRun.set(run, (perRun.get(run) ?? 0) + 1);
    }
    after = textIn(page, 'next');
    if (after === '') break;
  }
  const runs = listIn(query(env, ['--runs', '--limit', String(PAGE)]), 'runs');
  const runsWhole = runs.filter(
    (run) =>
      textIn(run, 'status') === 'SUCCEEDED' && perRun.get(textIn(run, 'run_id')) === callsPerRun,
  );
  return { calls, whole, runs: runs.length, runsWhole: runsWhole.length };
}

export function verify(env: NodeJS.ProcessEnv): Verified {
  const { status, stdout } = sub(env, ['ledger', 'verify', '--deep', '--json']);
  const events: unknown = field(parsed(stdout), 'events');
  return { exitCode: status, events: typeof events === 'number' ? events : Number.NaN };
}

function query(env: NodeJS.ProcessEnv, args: readonly string[]): unknown {
  return parsed(sub(env, ['query', '--json', ...args]).stdout);
}

function sub(env: NodeJS.ProcessEnv, args: readonly string[]) {
  const options = { env, encoding: 'utf8', maxBuffer: OUTPUT_BYTES_MAX } as const;
  return spawnSync(NODE, [SUB, ...args], options);
}

function parsed(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return value;
}

function field(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

function listIn(value: unknown, name: string): readonly unknown[] {
  const list = field(value, name);
  return Array.isArray(list) ? list : [];
}

function textIn(value: unknown, name: string): string {
  const text = field(value, name);
  return typeof text === 'string' ? text : '';
}
