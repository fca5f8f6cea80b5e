// Many agents at once: all of them started and ready first, then all of them calling.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { isObject } from '@subluminal/contracts';
import type { Command } from '../stdio/connection.ts';
import { NODE, POLICY, SERVER, SUB } from '../stdio/ways.ts';
import { endedCpuMs, ownCpuMs } from './cpu.mjs';
import { keepUntilEnd } from './processes.ts';

/** CPU time in milliseconds, by the kind of process. */
export type CpuMs = { readonly [K in Kind]: number };
export type Kind = 'run' | 'shim' | 'server' | 'agent';

/** What all agents together have used until they were ready, for their calls, and after the last of these. */
export interface FleetCpu {
  readonly start: CpuMs;
  readonly calls: CpuMs;
  readonly end: CpuMs;
}

export interface FleetTimes {
  /** From the first start until all were ready. */
  readonly readyMs: number;
  /** From the first call until the last process was gone. */
  readonly callsMs: number;
  readonly answered: number;
  /** Agents that did not end with exit code 0. */
  readonly failed: number;
  readonly cpu: FleetCpu;
}

interface Agent {
  readonly child: ChildProcess;
  readonly ready: Promise<unknown>;
  readonly end: Promise<AgentEnd>;
}

interface AgentEnd {
  readonly exitCode: number | null;
  readonly words: AgentWords;
}

/** What an agent says, and the CPU time that each kind of process had used then. */
interface AgentWords {
  answered: number;
  ready: CpuMs;
  called: CpuMs;
  ended: CpuMs;
}

const AGENT = fileURLToPath(new URL('agent.mjs', import.meta.url));
const RUN = [
  'run',
  '--quiet',
  '--client',
  'custom',
  '--agent-id',
  'fleet',
  '--policy',
  POLICY,
  '--',
];
const NO_CPU: CpuMs = { run: 0, shim: 0, server: 0, agent: 0 };

/** An agent with its server behind it. */
export function directAgent(calls: number, env: NodeJS.ProcessEnv): Command {
  return { file: NODE, args: [AGENT, String(calls), NODE, SERVER], env };
}

/** The same agent in a run, its server behind a shim. */
export function governedAgent(calls: number, env: NodeJS.ProcessEnv): Command {
  const server = [NODE, SUB, 'shim', '--server-name', 'echo', '--', NODE, SERVER];
  return { file: NODE, args: [SUB, ...RUN, NODE, AGENT, String(calls), ...server], env };
}

export async function runFleet(command: Command, agents: number): Promise<FleetTimes> {
  const beforeMs = endedCpuMs(process.pid);
  const startMs = performance.now();
  const fleet = Array.from({ length: agents }, () => startAgent(command));
  await Promise.all(fleet.map(({ ready }) => ready));
  const goMs = performance.now();
  for (const { child } of fleet) child.stdin?.end('go\n');
  const ends = await Promise.all(fleet.map(({ end }) => end));
  const endMs = performance.now();
  const words = ends.map((end) => end.words);
  return {
    readyMs: goMs - startMs,
    callsMs: endMs - goMs,
    answered: words.reduce((sum, { answered }) => sum + answered, 0),
    failed: ends.filter(({ exitCode }) => exitCode !== 0).length,
    cpu: fleetCpu(words, endedCpuMs(process.pid) - beforeMs),
  };
}

function startAgent({ file, args, env }: Command): Agent {
  const child = keepUntilEnd(
    spawn(file, args, { env, stdio: ['pipe', 'pipe', 'inherit'] }),
    'agent',
  );
  const words: AgentWords = { answered: 0, ready: NO_CPU, called: NO_CPU, ended: NO_CPU };
  let tellReady: (value: unknown) => void = () => {};
  const ready = new Promise((resolve) => {
    tellReady = resolve;
  });
  child.stdin.on('error', () => {});
  createInterface({ input: child.stdout }).on('line', (line) => {
    const run = child.pid === undefined || args[0] === AGENT ? 0 : ownCpuMs(child.pid);
    if (hear(line, words, run) === 'ready') tellReady(undefined);
  });
  const end = new Promise<AgentEnd>((resolve) => {
    child.on('close', (exitCode) => {
      // One that could not start must not keep the others waiting.
      tellReady(undefined);
      resolve({ exitCode, words });
    });
  });
  return { child, ready, end };
}

/** Keeps what an agent says; gives the word. */
function hear(line: string, words: AgentWords, run: number): string | undefined {
  const said: unknown = JSON.parse(line);
  if (!isObject(said) || !isObject(said['cpuMs'])) return undefined;
  const { agent, shim, server } = said['cpuMs'];
  const cpu = { run, agent: Number(agent), shim: Number(shim), server: Number(server) };
  const { word, refused } = said;
  if (word === 'ready' || word === 'called' || word === 'ended') words[word] = cpu;
  if (word === 'ended' && refused === 0) words.answered = Number(said['answered']);
  return typeof word === 'string' ? word : undefined;
}

/** `all`: of everything that has ended, which tells what the processes at the top used last. */
function fleetCpu(words: readonly AgentWords[], all: number): FleetCpu {
  const at = (word: 'ready' | 'called' | 'ended') =>
    words.map((one) => one[word]).reduce(added, NO_CPU);
  const [start, called, ended] = [at('ready'), at('called'), at('ended')];
  const run = all - ended.agent - ended.shim - ended.server;
  return { start, calls: less(called, start), end: less({ ...ended, run }, called) };
}

function added(one: CpuMs, other: CpuMs): CpuMs {
  return {
    run: one.run + other.run,
    shim: one.shim + other.shim,
    server: one.server + other.server,
    agent: one.agent + other.agent,
  };
}

function less(one: CpuMs, other: CpuMs): CpuMs {
  return {
    run: one.run - other.run,
    shim: one.shim - other.shim,
    server: one.server - other.server,
    agent: one.agent - other.agent,
  };
}
