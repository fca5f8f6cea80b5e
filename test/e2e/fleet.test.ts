// Many runs at once on one home: nobody gets in another's way, and nothing is lost.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../requirements.ts';
import { ensureBuilt, ROOT, runSub, SUB } from './sub.ts';

const RUNS = 50;
const CALLS = 6;
const LIMIT = 4;
const AGENT = `${ROOT}test/e2e/fleet-agent.mjs`;
const STEADY = `${ROOT}test/contract/servers/steady.mjs`;
const POLICY = `
policy_id: fleet
version: "1"
mode: guardrails
defaults: { decision_on_error: BLOCK }
selectors: {}
rules:
  - rule_id: few
    kind: budget
    enabled: true
    severity: warn
    match: {}
    effect: { budget: { scope: run, limit_calls: ${LIMIT}, on_exceed: BLOCK } }
`;

interface RunRow {
  readonly status: string;
  readonly calls: { readonly total: number; readonly allowed: number; readonly blocked: number };
}

beforeAll(ensureBuilt);

it('fifty runs at once each get their own budget and their own record', async () => {
  verifies('T-H.1');
  const folder = mkdtempSync(join(tmpdir(), 'sub-fleet-'));
  const env = { HOME: folder, SUB_HOME: join(folder, 'home') };
  const sub = (...args: readonly string[]) => runSub(args, { cwd: folder, env });
  onTestFinished(async () => {
    await sub('ledgerd', '--stop');
    rmSync(folder, { recursive: true, force: true });
  });
  writeFileSync(join(folder, 'policy.yaml'), POLICY);
  expect((await sub('ledgerd')).code).toBe(0);
  const agent = [process.execPath, AGENT, SUB, STEADY, String(CALLS)];
  const runs = Array.from({ length: RUNS }, () =>
    sub('run', '--policy', 'policy.yaml', '--', ...agent),
  );
  for (const { code, stdout } of await Promise.all(runs)) {
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `${CALLS} answered, ${CALLS - LIMIT} refused\n`,
    });
  }
  const asked = await sub('query', '--runs', '--limit', '1000', '--json');
  const { runs: rows } = JSON.parse(asked.stdout) as { readonly runs: readonly RunRow[] };
  expect(rows).toHaveLength(RUNS);
  for (const { status, calls } of rows) {
    const counts = { total: CALLS, allowed: LIMIT, blocked: CALLS - LIMIT };
    expect({ status, calls }).toMatchObject({ status: 'SUCCEEDED', calls: counts });
  }
  expect(await sub('ledger', 'verify')).toMatchObject({ code: 0 });
}, 180_000);
