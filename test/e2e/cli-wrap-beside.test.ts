// Who else uses a config while `sub wrap` has it rewritten: other clients, other containers.
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AdoptHome, ECHO, said, told } from './adopt-home.ts';
import { type Ended, ended, ensureBuilt, SUB } from './sub.ts';

let machine: AdoptHome;
beforeAll(ensureBuilt);
beforeEach(() => {
  machine = new AdoptHome();
});
afterEach(() => machine.end());

const TYPE = ['--agent-type', 'claude-code', '--events', 'off'];
const SUM = ['files', 'get-sum', { a: 1, b: 2 }] as const;
const DENY = `policy_id: e2e\nversion: "1"\nmode: guardrails\ndefaults: { decision_on_error: BLOCK }\nselectors: {}\nrules:\n  - rule_id: no-sums\n    kind: deny\n    enabled: true\n    severity: warn\n    match: { tool_name: { glob: ["get-sum"] } }\n    effect: { action: BLOCK, reason_code: NO_SUMS, message: No sums here. }\n`;

/** A session whose agent waits until it is told to end. */
async function session() {
  machine.write(join(machine.project, 'policy.yaml'), DENY);
  const config = machine.servers();
  const plan = { calls: [ECHO], linger: true };
  const child = machine.start(['wrap', ...TYPE, ...machine.agent(plan)]);
  const done = ended(child);
  await said(child, 'agent:');
  const end = (): Promise<Ended> => {
    child.kill('SIGTERM');
    return done;
  };
  return { config, end };
}

/** An agent that nobody has wrapped, on the same config. */
function beside(bare: boolean): Promise<Ended> {
  const [, node = '', script = '', plan = '{}'] = machine.agent({ calls: [SUM, ECHO], bare });
  const words = [script, JSON.stringify({ ...(JSON.parse(plan) as object), stderr: 'inherit' })];
  const env = { ...process.env, ...machine.env };
  const stdio = ['ignore', 'pipe', 'pipe'] as const;
  return ended(spawn(node, words, { cwd: machine.project, env, stdio: [...stdio] }));
}

describe('another client that reads the config meanwhile', () => {
  test.each([false, true])('is governed in a run of its own (hides SUB_*: %s)', async (bare) => {
    const { config, end } = await session();
    const { stdout, stderr } = await beside(bare);
    expect(told(stdout).outcomes).toEqual(['BLOCK', 'ok']);
    expect(stderr).toContain('in a run of its own');
    const done = await end();
    // The agent of the session has called once.
    expect(done.stderr).toContain(': 1 call, 0 refused');
    expect(machine.read()).toBe(config);
  });
});

/** A container sees neither the processes outside nor their numbers. */
const CONTAINER = 'exec unshare -r -p -f --mount-proc "$0" "$@"';
const hasContainers = spawnSync('sh', ['-c', CONTAINER, 'true']).status === 0;

describe.skipIf(!hasContainers)('another container with the same home', () => {
  function inside(...args: readonly string[]): Promise<Ended> {
    const words = ['-c', CONTAINER, process.execPath, SUB, ...args];
    const env = { ...process.env, ...machine.env };
    return ended(spawn('sh', words, { cwd: machine.project, env, stdio: 'pipe' }));
  }

  test('does not take a session that lives for a dead one', async () => {
    const { config, end } = await session();
    const rewritten = machine.read();
    expect(rewritten).not.toBe(config);
    const seen = await inside('query', '--limit', '1');
    expect(seen.stderr).toContain('in another container');
    const unwrapped = await inside('unwrap');
    expect(unwrapped.stderr).toContain('[SUB_INSIDE_RUN]');
    expect(unwrapped.stderr).toContain('If that container is gone');
    const wrapped = await inside('wrap', ...TYPE, '--', 'true');
    expect(wrapped.stderr).toContain('[SUB_CLIENT_LOCKED]');
    expect(machine.read()).toBe(rewritten);
    await end();
    expect(machine.read()).toBe(config);
  });
});
