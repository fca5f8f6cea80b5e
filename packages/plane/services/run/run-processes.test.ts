import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterEach, describe, expect, test } from 'vitest';
import { processesOf, signalAll } from './run-processes.ts';

const started: ChildProcess[] = [];
afterEach(() => {
  // With all that it has started: each leads a group of its own.
  for (const { pid, exitCode, signalCode } of started.splice(0)) {
    if (pid !== undefined && exitCode === null && signalCode === null)
      process.kill(-pid, 'SIGKILL');
  }
});

/** A process that has started when it has said so. */
async function start(
  words: readonly string[],
  env: { readonly [name: string]: string } = {},
): Promise<number> {
  const [command = '', ...args] = words;
  const child = spawn(command, args, {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  started.push(child);
  if (child.stdout !== null) await once(child.stdout, 'data');
  return child.pid ?? 0;
}

const UP = 'process.stdout.write("up"); setInterval(() => {}, 1000)';
const node = [process.execPath, '-e', UP];

describe.runIf(process.platform === 'linux')('the processes of a run', () => {
  test('are the agent, processes with its mark, and their children', async () => {
    const endpoint = `unix:/x/${randomUUID()}`;
    const plain = await start(node);
    const marked = await start(node, { SUB_GOVERNANCE_ENDPOINT: endpoint });
    const other = await start(node, { SUB_GOVERNANCE_ENDPOINT: `${endpoint}0` });
    const { agents, shims } = processesOf({ endpoint, agentPid: plain });
    expect(new Set(agents)).toEqual(new Set([plain, marked]));
    expect(agents).not.toContain(other);
    expect(shims).toEqual([]);
  });

  test('have shims apart, with their servers, and none of another run', async () => {
    const endpoint = `unix:/x/${randomUUID()}`;
    const shim = [process.execPath, '-e', UP, '/x/sub.mjs', 'shim'];
    const own = await start(shim, { SUB_GOVERNANCE_ENDPOINT: endpoint });
    await start(shim, { SUB_GOVERNANCE_ENDPOINT: 'unix:/x/other' });
    await start(node, { SUB_GOVERNANCE_ENDPOINT: endpoint, SUB_SHIM_ID: 'of-the-shim' });
    expect(processesOf({ endpoint, agentPid: 0 })).toEqual({ agents: [], shims: [own] });
  });

  test('include shims without a mark, but not those below another run', async () => {
    const endpoint = `unix:/x/${randomUUID()}`;
    const shim = [process.execPath, ['-e', UP, '/x/sub.mjs', 'shim']];
    const launch = `const { spawn } = require('node:child_process');
      spawn(...${JSON.stringify(shim)}, { env: {} }).stdout.on('data', () => process.stdout.write('up'));`;
    const agent = [process.execPath, '-e', launch];
    const own = await start(agent, { SUB_GOVERNANCE_ENDPOINT: endpoint });
    const other = await start(agent, { SUB_GOVERNANCE_ENDPOINT: 'unix:/x/other' });
    const below = (pid: number) => processesOf({ endpoint, agentPid: pid }).shims;
    const [bare = 0, ...more] = below(own);
    expect(more).toEqual([]);
    // The agent of the other run is taken for ours here, what it has started is not.
    expect(below(other)).toEqual([bare]);
  });

  test('end when they are signalled; one that is gone is no failure', async () => {
    const endpoint = `unix:/x/${randomUUID()}`;
    const pid = await start(node, { SUB_GOVERNANCE_ENDPOINT: endpoint });
    const [child] = started;
    signalAll([pid, 2 ** 22 + 1], 'SIGTERM');
    if (child !== undefined) await once(child, 'exit');
    expect(processesOf({ endpoint, agentPid: pid })).toEqual({ agents: [], shims: [] });
  });
});
