// Runs that were killed: the daemon closes them as LOST, and leaves alone what still lives.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { bundled } from '../bundled.ts';
import { endBearing, noneBearing } from '../contract/proc.ts';
import { askSub } from './ask-sub.ts';
import { type Ended, ensureBuilt, ROOT, SUB, subEnvironment } from './sub.ts';

const TRIES_MAX = 100;

let folder: string;
beforeAll(ensureBuilt);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sub-lost-'));
  mkdirSync(join(folder, 'home'));
});
afterEach(() => {
  endBearing([folder]);
  rmSync(folder, { recursive: true, force: true });
});

const env = () => ({ HOME: join(folder, 'home'), SUB_HOME: join(folder, 'home', 'sub') });
const sub = (...args: readonly string[]): Promise<Ended> =>
  askSub(args, { cwd: folder, env: env() });

interface Listed {
  readonly runs: readonly {
    readonly run_id: string;
    readonly agent_id: string;
    readonly status: string | null;
    readonly calls: { readonly total: number };
  }[];
}

/** The runs of the ledger, once they are as wanted. */
async function runsThat(are: (runs: Listed['runs']) => boolean): Promise<Listed['runs']> {
  for (let tried = 0; tried < TRIES_MAX; tried++) {
    const { stdout } = await sub('query', '--runs', '--json');
    // While there is no ledger yet, it is an error that is told.
    const { runs = [] } = JSON.parse(stdout || '{}') as Partial<Listed>;
    if (are(runs)) return runs;
  }
  throw new Error('the runs did not become so');
}

/** A client that hangs in a call, under `sub run` or by itself, and the mark of all its processes. */
function startHanging(name: string, isHosted: boolean) {
  const mark = `SUB_TEST_MARK=${randomUUID()}`;
  const server = [process.execPath, `${ROOT}test/e2e/small-server.mjs`];
  const plan = { shim: [process.execPath, SUB, 'shim'], servers: { files: server } };
  const agent = [bundled(`${ROOT}test/e2e/session-agent.mjs`), JSON.stringify(plan)];
  const host = [SUB, 'run', '--agent-id', name, '--', process.execPath];
  const [, value = ''] = mark.split('=');
  const child: ChildProcess = spawn(process.execPath, [...(isHosted ? host : []), ...agent], {
    cwd: folder,
    env: subEnvironment({ ...env(), SUB_TEST_MARK: value, SUB_AGENT_ID: name }),
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const orders = [{ do: 'open' }, { do: 'call', tool: 'echo' }, { do: 'call', tool: 'hang' }];
  for (const order of orders) {
    child.stdin?.write(`${JSON.stringify({ server: 'files', ...order })}\n`);
  }
  return mark;
}

test.skipIf(process.platform !== 'linux')(
  'killed runs, and their calls, are LOST at the next look; living ones are not',
  async () => {
    const doomed = [startHanging('hosted', true), startHanging('alone', false)];
    startHanging('alive', true);
    await runsThat((runs) => runs.filter(({ calls }) => calls.total === 2).length === 3);
    const { pid } = JSON.parse((await sub('ledgerd', '--status', '--json')).stdout) as {
      readonly pid: number;
    };
    process.kill(pid, 'SIGKILL');
    endBearing(doomed);
    await noneBearing(doomed);

    const before = await sub('doctor');
    expect(before.stdout).toMatch(/! run-files .*files of 2 killed runs/);

    expect((await sub('ledgerd')).code).toBe(0);
    const runs = await runsThat(
      (all) => all.filter(({ status }) => status === 'LOST').length === 2,
    );
    const statuses = runs.map(({ agent_id, status }) => [agent_id, status] as const);
    expect(Object.fromEntries(statuses)).toEqual({ hosted: 'LOST', alone: 'LOST', alive: null });
    const { stdout } = await sub('query', '--status', 'LOST', '--json');
    const { calls } = JSON.parse(stdout) as { calls: readonly { tool_name: string }[] };
    expect(calls.map(({ tool_name }) => tool_name)).toEqual(['hang', 'hang']);
    const pending = JSON.parse((await sub('query', '--status', 'PENDING', '--json')).stdout) as {
      calls: readonly unknown[];
    };
    expect(pending.calls).toHaveLength(1);

    const after = await sub('doctor');
    expect(after.stdout).toMatch(/! runs .*2 runs and 2 calls were lost in the last 7 days/);
    expect(after.stdout).toContain('sub query --runs --status LOST');
    expect(after.stdout).toMatch(/✔ run-files/);
    expect(await sub('ledger', 'verify')).toMatchObject({ code: 0 });
  },
);
