import { afterAll, beforeAll, expect, it } from 'vitest';
import { type DemoGateway, startDemoGateway } from './demo-gateway.ts';

type Row = { readonly [name: string]: unknown };

let demo: DemoGateway;
beforeAll(async () => {
  demo = await startDemoGateway();
});
afterAll(() => demo.close());

async function asked(path: string, body?: object): Promise<{ readonly [name: string]: Row[] }> {
  const answer = await fetch(`${demo.url}/api/v1/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${demo.keys.platform_admin}`,
      'content-type': 'application/json',
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return (await answer.json()) as { readonly [name: string]: Row[] };
}

it('the demo gateway has weeks of cost in every dimension', async () => {
  const dims = ['team', 'user', 'repo', 'model', 'provider', 'task_type', 'policy_rule'];
  for (const dim of dims) {
    const { rows = [] } = await asked(`cost/summary?dim=${dim}`);
    expect(rows.length, dim).toBeGreaterThan(2);
  }
  const days = (await asked('cost/summary?dim=team&group_by=day'))['rows'] ?? [];
  expect(new Set(days.map(({ bucket }) => bucket)).size).toBeGreaterThan(20);
});

it('the demo gateway has a budget near its cap, with a reserved part', async () => {
  const [nearest] = (await asked('budgets'))['budgets'] ?? [];
  expect(nearest).toMatchObject({
    key: 'payments',
    name: 'Payments',
    is_soft_hit: true,
    is_hard_hit: false,
  });
  expect(Number(nearest?.['reserved_micros'])).toBeGreaterThanOrEqual(21_000_000);
});

it('the demo gateway has turns with a fallback, a loss and a refusal, and one that waits', async () => {
  const { routing = [], costs = [] } = await asked(`audit/${demo.traces.fellBack}`);
  expect(routing.map(({ member, error }) => [(member as Row)['model'], error !== null])).toEqual([
    ['claude-sonnet-4-6', true],
    ['gpt-5.5', false],
  ]);
  expect(costs).toHaveLength(2);
  const degraded = (await asked(`audit/${demo.traces.degraded}`))['routing'] ?? [];
  expect(degraded).toMatchObject([{ degraded_features: ['cache_control'] }]);
  const { items = [] } = await asked('audit/search?event_type=turn_blocked');
  expect(items).toMatchObject([{ user_id: 'margaret', rule_ids: ['P-SEC-001'] }]);
  const { approvals = [] } = await asked('approvals?state=pending');
  expect(approvals).toMatchObject([{ requestor: 'linus', team_id: 'payments' }]);
  await asked(`approvals/${String(approvals[0]?.['id'])}/approve`, {});
  expect((await demo.waiting)?.status).toBe(200);
});

it('the demo gateway has people, an open invite and a webhook that answers', async () => {
  const names = ((await asked('admin/users'))['users'] ?? []).map(({ user_id }) => user_id);
  expect(names).toEqual(['ada', 'grace', 'linus', 'margaret']);
  expect((await asked('admin/invites'))['invites']).toMatchObject([{ user_id: 'alan' }]);
  expect((await asked('webhooks'))['webhooks']).toMatchObject([{ id: 'alerts' }]);
  expect(await asked('webhooks/alerts/test', {})).toMatchObject({ delivered: true });
});
