// `sub hook` without `sub run`: the first hook of an agent starts a process that decides for all of them.
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import { startAgent } from './hooked-agent.ts';
import { ensureBuilt } from './sub.ts';

const POLICY = `policy_id: p
version: "1.0.0"
mode: control
defaults: {decision_on_error: BLOCK}
selectors: {}
rules:
  - rule_id: few
    kind: budget
    enabled: true
    severity: warn
    match: {tool_name: {glob: [Bash]}}
    effect: {budget: {scope: run, limit_calls: 6, on_exceed: BLOCK}}
  - rule_id: ask
    kind: approval
    enabled: true
    severity: warn
    match: {tool_name: {glob: [Ask]}}
    effect: {approval: {wait: hold, timeout_ms: 600000}}
`;

beforeAll(() => ensureBuilt());

test('many hooks at once start one host, which counts for all of them', async () => {
  const { call, hosts, read, end, run } = startAgent({ policy: POLICY });
  const ends = await Promise.all(Array.from({ length: 8 }, (_, index) => call(`u${index}`)));
  const passed = ends.filter(({ code, stdout }) => code === 0 && stdout === '{}');
  expect(passed).toHaveLength(6);
  for (const { code, stderr } of ends.filter((one) => !passed.includes(one))) {
    expect([code, stderr]).toEqual([2, expect.stringContaining('budget') as unknown]);
  }
  // The others have seen that they are not needed.
  await vi.waitFor(() => expect(hosts()).toHaveLength(1), 20_000);
  await end();
  expect(new Set(read('tool_call_start').map(({ run_id }) => run_id)).size).toBe(1);
  expect(read('run_start')).toHaveLength(1);
  expect(read('run_end')).toMatchObject([{ run: { summary: { calls_total: 8 } } }]);
  expect(readdirSync(run).filter((name) => /sock|hooks/.test(name))).toEqual([]);
});

test('a host that is killed refuses what waits, and the next one says that it was lost', async () => {
  const { call, hosts, read, end } = startAgent({ policy: POLICY });
  expect((await call('u1')).code).toBe(0);
  const [host = 0] = hosts();
  const held = call('u2', 'Ask');
  await vi.waitFor(() => expect(read('approval')).toHaveLength(1), 20_000);
  process.kill(host, 'SIGKILL');
  expect(await held).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('refuses') as unknown,
  });
  expect((await call('u3')).code).toBe(0);
  const [next] = hosts();
  expect(next).not.toBe(host);
  await end();
  expect(new Set(read('tool_call_start').map(({ run_id }) => run_id)).size).toBe(1);
  expect(read('shim_health').map(({ health }) => health?.reason)).toEqual([
    expect.stringContaining('was lost'),
  ]);
  expect(read('run_start')).toHaveLength(1);
  expect(read('run_end')).toHaveLength(1);
});

test('a host without a usable policy lets nothing run', async () => {
  const { call, run } = startAgent({ policy: POLICY });
  writeFileSync(join(run, '..', 'policy.yaml'), 'rules: 7\n', { mode: 0o600 });
  expect(await call('u1')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('policy') as unknown,
  });
});

test('an agent that was started with other settings is governed all the same', async () => {
  const { call } = startAgent({
    policy: POLICY,
    variables: { SUB_PROFILE: 'development', SUB_POLICY: '/dev/null' },
  });
  for (let count = 0; count < 6; count++) expect((await call(`u${count}`)).code).toBe(0);
  expect((await call('u7')).code).toBe(2);
});

test('on a full disk everything is refused with a reason, and no host stays behind', async () => {
  const { call, hosts, end } = startAgent({
    policy: POLICY,
    before: "trap '' XFSZ; ulimit -f 0",
  });
  const { stdout, code } = await call('a');
  expect(code).toBe(2);
  expect(stdout).toContain('cannot be written');
  expect(stdout).not.toContain('..');
  await vi.waitFor(() => expect(hosts()).toEqual([]), 20_000);
  await end();
});
