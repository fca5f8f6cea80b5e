// `sub stats` with a gateway and without one.
import { beforeAll, expect, test } from 'vitest';
import { freePort } from '../free-port.ts';
import { loggedInHome, proxyHome, repositoryIn, turnFrom } from './proxy-home.ts';
import { ensureBuilt } from './sub.ts';

beforeAll(() => ensureBuilt());

interface Stats {
  readonly rows: readonly { readonly name: string }[];
}

test('a machine that is logged in asks its gateway; --local asks the ledger', async () => {
  const limits = 'teams: { platform: { monthly: { cap_usd: 0.01, on_exceeded: warn } } }\n';
  const machine = await loggedInHome({ files: { 'budgets.yaml': limits } });
  const args = ['proxy', 'start', '--port', await freePort(), '--json'];
  const { url } = JSON.parse((await machine.sub(args)).stdout) as { url: string };
  const payments = repositoryIn(machine.folder, 'payments', 'git@github.com:acme/payments.git');
  for (const folder of [payments, payments, machine.folder]) {
    expect((await turnFrom(folder, url)).status).toBe(200);
  }
  await machine.sub(['proxy', 'stop']);
  const stats = async (...more: string[]) => {
    const { stdout } = await machine.sub(['stats', ...more, '--from', '7d', '--json']);
    return JSON.parse(stdout) as Stats;
  };
  const all = { calls: 3, failed: 0, tokens_in: 3_000, tokens_out: 300, cost_micros: 13_500 };
  expect(await stats()).toMatchObject({
    gateway_url: machine.gateway.url,
    rows: [{ name: 'claude-sonnet-4-6', ...all }],
  });
  expect(await stats('--by', 'team')).toMatchObject({ rows: [{ name: 'platform', ...all }] });
  expect(await stats('--by', 'user')).toMatchObject({ rows: [{ name: 'ada', ...all }] });
  expect(await stats('--by', 'repo')).toMatchObject({
    rows: [{ name: 'payments', calls: 2, cost_micros: 9_000 }, { calls: 1 }],
  });
  expect((await stats('--by', 'task')).rows).not.toEqual([]);
  const text = await machine.sub(['stats', '--by', 'team']);
  expect(text).toMatchObject({ code: 0, stderr: '' });
  expect(text.stdout).toMatch(/^TEAM +CALLS .*\nplatform +3 +0 +3,000 +300 +\$0\.0135\n/);
  expect(text.stdout).toContain('! The budget team_month of platform');

  expect(await stats('--local', '--by', 'repo')).toMatchObject({
    rows: [{ name: payments, turns: 2, cost_micros: 9_000 }, { turns: 1 }],
  });
  expect((await stats('--by', 'run')).rows).toHaveLength(3);
  await machine.gateway.kill('SIGTERM');
  const away = await machine.sub(['stats']);
  expect(away).toMatchObject({ code: 2, stdout: '' });
  expect(away.stderr).toContain('SUB_GATEWAY_AWAY');
});

test.each(['team', 'task'])('without a gateway nobody knows the %s of a turn', async (by) => {
  const refused = await proxyHome().sub(['stats', '--by', by]);
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toMatch(/sub login.*\[SUB_GATEWAY_LOGIN\]/s);
});
