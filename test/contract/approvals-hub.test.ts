// Held calls that count for the whole run: the hub decides them again, and everything around them
// may end and begin anew meanwhile.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Event } from '@subluminal/contracts';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { runAgent } from '../e2e/run-agent.ts';
import { ended, ensureBuilt, startSub } from '../e2e/sub.ts';
import { verifies } from '../requirements.ts';
import { approvingAt, asking } from './approving.ts';
import { hangUp, startServed } from './driver.ts';
import { realHub, socketPath } from './hubs.ts';
import { nextJson } from './lines.ts';
import { answer, bundle, call } from './messages.ts';
import { endBearing, isRunning, until } from './proc.ts';

beforeAll(ensureBuilt);

const TWO_CALLS = `
  - rule_id: few
    kind: budget
    enabled: true
    severity: warn
    match: {}
    effect: { budget: { scope: run, limit_calls: 2, on_exceed: BLOCK } }
`;
/** Two calls for the whole run; those of `pay` wait for a person too. */
const SHARED = asking(600_000, TWO_CALLS);
/** A gate of the shim asks a person, and the hub leases the two calls. */
const LEASED = `${bundle(TWO_CALLS)}content: { outbound: { personal: ask } }\n`;
const SSN = ['536', '90', '4399'].join('-');
const REFUSED = (id: number, reason_code: string) => ({
  id,
  error: { code: -32081, data: { subluminal: { reason_code } } },
});

describe('a held call that counts for the run', () => {
  it('passes when it is approved, and counts once', async () => {
    verifies('F-016');
    const { env, hub, joined, metrics } = await realHub();
    const rig = await startServed({ policy: SHARED, env });
    const people = approvingAt(rig.folder);
    rig.say(call(1, 'pay'));
    const { request } = await people.pending();
    await people.sub('approvals', 'approve', request.id);
    expect(String(await rig.server.heard.next())).toBe(call(1, 'pay'));
    await rig.server.write(answer(1));
    expect(String(await rig.heard.next())).toBe(answer(1));
    rig.say(call(2, 'free') + call(3, 'pay'));
    expect(String(await rig.server.heard.next())).toBe(call(2, 'free'));
    // Nobody is asked about what the budget refuses anyway.
    expect(await nextJson(rig.heard)).toMatchObject(REFUSED(3, 'BUDGET_EXCEEDED'));
    await rig.server.write(answer(2));
    await rig.heard.next();
    // The shim shows that it lives, and goes when it is told to.
    await joined();
    hub.shutdown();
    rig.say(call(4, 'free'));
    await rig.server.heard.rest();
    expect(await rig.exit).toEqual({ code: 0, signal: null });
    expect(await metrics()).toContain(
      'subluminal_approval_latency_seconds_count{server_id="puppet"} 1',
    );
  });

  it('does not count when it is rejected', async () => {
    const { env } = await realHub();
    const rig = await startServed({ policy: SHARED, env });
    const people = approvingAt(rig.folder);
    rig.say(call(1, 'pay'));
    const { request } = await people.pending();
    await people.sub('approvals', 'reject', request.id);
    expect(await nextJson(rig.heard)).toMatchObject(REFUSED(1, 'APPROVAL_REJECTED'));
    rig.say(call(2, 'free') + call(3, 'free') + call(4, 'free'));
    expect(await nextJson(rig.heard)).toMatchObject(REFUSED(4, 'BUDGET_EXCEEDED'));
    rig.shim.kill('SIGKILL');
  });

  it('passes by a grant, which the hub hears of', async () => {
    const { env } = await realHub();
    const rig = await startServed({ policy: SHARED, env });
    const people = approvingAt(rig.folder);
    rig.say(call(1, 'pay'));
    const { request } = await people.pending();
    await people.sub('approvals', 'approve', request.id, '--run');
    await rig.server.heard.next();
    rig.say(call(2, 'pay'));
    expect(String(await rig.server.heard.next())).toBe(call(2, 'pay'));
    rig.say(call(3, 'pay'));
    expect(await nextJson(rig.heard)).toMatchObject(REFUSED(3, 'BUDGET_EXCEEDED'));
    rig.shim.kill('SIGKILL');
  });

  it.each([
    ['decides it', SHARED],
    ['has leased it', LEASED],
  ])('survives a restart of the hub that %s', async (_, policy) => {
    const path = socketPath();
    const first = await realHub(path);
    const rig = await startServed({ policy, env: first.env });
    const people = approvingAt(rig.folder);
    const paying = call(1, 'pay', `{"to":"SSN ${SSN}"}`);
    rig.say(paying);
    const { request } = await people.pending();
    await first.hub.close();
    await realHub(path);
    await people.sub('approvals', 'approve', request.id);
    expect(String(await rig.server.heard.next())).toBe(paying);
    await rig.server.write(answer(1));
    expect(await hangUp(rig)).toMatchObject({ rest: [answer(1)] });
  });

  it('is refused when the hub is gone by then', async () => {
    const { env, hub } = await realHub();
    const rig = await startServed({ policy: SHARED, env });
    const people = approvingAt(rig.folder);
    rig.say(call(1, 'pay'));
    const { request } = await people.pending();
    await hub.close();
    await people.sub('approvals', 'approve', request.id);
    const refused = await nextJson(rig.heard);
    expect(refused).toMatchObject({ id: 1, error: {} });
    rig.shim.kill('SIGKILL');
  });
});

it('under `sub run` it survives the ledger, is answered once, and is on record', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sub-held-'));
  onTestFinished(() => {
    endBearing([folder]);
    rmSync(folder, { recursive: true, force: true });
  });
  const people = approvingAt(folder);
  writeFileSync(join(folder, 'policy.yaml'), SHARED.replace('"pay"', '"get-sum"'));
  const calls = [['a', 'get-sum', { a: 2, b: 3 }]] as const;
  const agent = ['--', ...runAgent({ servers: ['a', 'b'], calls })];
  const env = { HOME: folder, SUB_HOME: people.home, SUB_RUN_ID: '' };
  await people.sub('ledgerd');
  const run = startSub(['run', '--policy', 'policy.yaml', ...agent], { cwd: folder, env });
  run.stdin?.end();
  const over = ended(run);
  const { request } = await people.pending();
  const status = await people.sub('ledgerd', '--status', '--json');
  const { pid } = JSON.parse(status.stdout) as { readonly pid: number };
  process.kill(pid, 'SIGKILL');
  await until(() => (isRunning(pid) ? undefined : true), 'the ledger to end');
  expect(await people.sub('ledgerd')).toMatchObject({ code: 0 });
  await people.sub('approvals', 'approve', request.id);
  const { code, stdout } = await over;
  expect(code).toBe(0);
  expect(stdout).toContain('agent: ["ok"]');
  await people.sub('export', 'run', 'last', '--out', 'trace');
  const lines = readFileSync(join(folder, 'trace', 'events.jsonl'), 'utf8')
    .trim()
    .split('\n');
  const events = lines.map((line) => JSON.parse(line) as Event);
  const approvals = events.flatMap((event) => (event.type === 'approval' ? [event] : []));
  expect(approvals.map(({ approval }) => approval)).toMatchObject([
    { id: request.id, rule_id: 'ask', state: 'asked' },
    { id: request.id, rule_id: 'ask', state: 'approved', channel: 'terminal' },
  ]);
  expect(approvals[1]?.approval.by).toBeTruthy();
  expect(events.filter(({ type }) => type === 'tool_call_end')).toHaveLength(1);
  await people.sub('ledgerd', '--stop');
});
