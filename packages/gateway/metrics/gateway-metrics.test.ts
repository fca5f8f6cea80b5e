import { expect, it } from 'vitest';
import { GatewayMetrics } from './index.ts';

const TURN = {
  wire: 'anthropic_messages',
  decision: 'route',
  outcome: 'ok',
  provider: 'anthropic',
  model: 'claude-sonnet',
  pool: 'standard',
  latencyMs: 1_500,
  firstByteMs: 300,
  inputTokens: 1_000,
  outputTokens: 50,
  cacheReadTokens: 7,
  cacheCreateTokens: 0,
  costMicros: 2_500_000,
};

it('counts turns, tokens, cost and time', async () => {
  const metrics = new GatewayMetrics();
  metrics.turnEnded(TURN);
  metrics.turnEnded(TURN);
  metrics.upstreamFailed('hosted', 'upstream_5xx');
  metrics.budgetHit('team_month', 'hard');
  metrics.webhookEnded('budget_hard', 'delivered');
  metrics.reloaded('rejected');
  metrics.watch('approvals_pending', 'Approvals that wait.', async () => 3);
  const text = await metrics.text();
  const model = 'provider="anthropic",model="claude-sonnet"';
  for (const line of [
    'turns_total{wire="anthropic_messages",decision="route",outcome="ok",pool="standard"} 2',
    `tokens_total{kind="input",${model}} 2000`,
    `tokens_total{kind="cache_read",${model}} 14`,
    `cost_dollars_total{${model}} 5`,
    'turn_duration_seconds_sum{wire="anthropic_messages"} 3',
    'upstream_errors_total{endpoint="hosted",class="upstream_5xx"} 1',
    'budget_events_total{scope="team_month",event="hard"} 1',
    'webhook_deliveries_total{event="budget_hard",outcome="delivered"} 1',
    'config_reloads_total{outcome="rejected"} 1',
    'approvals_pending 3',
  ]) {
    expect(text).toContain(`subluminal_gateway_${line}\n`);
  }
  expect(text).not.toContain('kind="cache_create"');
});

it('has at most so many values of a label that comes from outside', async () => {
  const metrics = new GatewayMetrics();
  for (let n = 0; n < 5_000; n++)
    metrics.turnEnded({ ...TURN, model: `made-up-${n}`, pool: `p${n}` });
  const lines = (await metrics.text()).split('\n');
  expect(lines.filter((line) => line.includes('tokens_total{kind="input"'))).toHaveLength(201);
  expect(
    lines.find(
      (line) => line.includes('tokens_total{kind="input"') && line.includes('model="other"'),
    ),
  ).toMatch(/ 4800000$/);
  expect(lines.filter((line) => line.startsWith('subluminal_gateway_turns_total{'))).toHaveLength(
    201,
  );
});
