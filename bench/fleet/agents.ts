// Many agents at once: all of them started and ready first, then all of them calling.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Command } from '../stdio/connection.ts';
import { NODE, SERVER, SUB } from '../stdio/ways.ts';

export interface FleetTimes {
  /** From the first start until all were ready. */
  readonly readyMs: number;
  /** From the first call until the last process was gone. */
  readonly callsMs: number;
  readonly answered: number;
  /** Agents that did not end with exit code 0. */
  readonly failed: number;
}

interface Agent {
  readonly child: ChildProcess;
  readonly ready: Promise<unknown>;
  readonly end: Promise<AgentEnd>;
}

interface AgentEnd {
  readonly exitCode: number | null;
  readonly answered: number;
}

const AGENT = fileURLToPath(new URL('agent.mjs', import.meta.url));
const POLICY = fileURLToPath(new URL('../stdio/policy.yaml', import.meta.url));
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
  const startMs = performance.now();
  const fleet = Array.from({ length: agents }, () => startAgent(command));
  await Promise.all(fleet.map(({ ready }) => ready));
  const goMs = performance.now();
  for (const { child } of fleet) child.stdin?.end('go\n');
  const ends = await Promise.all(fleet.map(({ end }) => end));
  return {
    readyMs: goMs - startMs,
    callsMs: performance.now() - goMs,
    answered: ends.reduce((sum, { answered }) => sum + answered, 0),
    failed: ends.filter(({ exitCode }) => exitCode !== 0).length,
  };
}

function startAgent({ file, args, env }: Command): Agent {
  const child = spawn(file, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  let answered = 0;
  let tellReady: (value: unknown) => void = () => {};
  const ready = new Promise((resolve) => {
    tellReady = resolve;
  });
  child.stdin.on('error', () => {});
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line === 'ready') tellReady(undefined);
    else answered = answeredIn(line);
  });
  const end = new Promise<AgentEnd>((resolve) => {
    child.on('close', (exitCode) => {
      // One that could not start must not keep the others waiting.
      tellReady(undefined);
      resolve({ exitCode, answered });
    });
  });
  return { child, ready, end };
}

function answeredIn(line: string): number {
  return Number(/^\{"answered":(\d+),"refused":0\}$/.exec(line)?.[1] ?? 0);
}
