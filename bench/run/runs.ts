// Runs under the built `sub run`, with servers behind shims that this process starts as an agent does.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Connection, PipeConnection } from '../stdio/connection.ts';
import { NODE, POLICY, SERVER, SUB } from '../stdio/ways.ts';

const AGENT = fileURLToPath(new URL('agent.mjs', import.meta.url));
const RUN = ['run', '--quiet', '--client', 'custom', '--agent-id', 'bench', '--policy', POLICY];

export interface OpenRun {
  /** The process of `sub run`, which has the hub. */
  readonly pid: number;
  readonly servers: readonly Connection[];
  close(): Promise<void>;
}

/** A run whose agent has so many servers, each behind a shim. */
export async function openRun(servers: number, env: NodeJS.ProcessEnv): Promise<OpenRun> {
  const run = spawn(NODE, [SUB, ...RUN, '--', NODE, AGENT], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const given = await environmentOf(run);
  const shims = Array.from({ length: servers }, (_, at) => {
    const args = [SUB, 'shim', '--server-name', `echo-${at}`, '--', NODE, SERVER];
    return new PipeConnection({ file: NODE, args, env: { ...given, SUB_LOG_LEVEL: 'error' } });
  });
  return {
    pid: run.pid ?? 0,
    servers: shims,
    async close() {
      await Promise.all(shims.map((shim) => shim.close()));
      const ended = once(run, 'exit');
      run.stdin?.end();
      await ended;
    },
  };
}

/** What the agent of the run has in its environment. */
async function environmentOf(run: ChildProcess): Promise<NodeJS.ProcessEnv> {
  if (run.stdout === null) throw new Error('a run has a stdout');
  for await (const line of createInterface({ input: run.stdout })) {
    return JSON.parse(line) as NodeJS.ProcessEnv;
  }
  throw new Error('`sub run` has ended before its agent began');
}
