import type { GatewayRole } from '@subluminal/contracts';
import { describe, expect, it } from 'vitest';
import {
  sampleAudit,
  sampleCost,
  sampleRecord,
  sampleRouting,
} from '../store/testing/sample-rows.ts';
import type { AuditRow } from '../store/types.ts';
import { LiveGateway, NOON_MS, TEAMS, TENANT } from './testing/live-gateway.ts';

const WHO: readonly (readonly [string, GatewayRole])[] = [
  ['ann', 'developer'],
  ['lead', 'team_admin'],
  ['root', 'platform_admin'],
];

/** One turn each of `ann`, `lead` (team core), `bob` (team web) and `eve` (no team), and a key for everyone. */
async function filled() {
  const gateway = await LiveGateway.open();
  const keys: { [userId: string]: string } = {};
  for (const [userId, role] of WHO) keys[userId] = await gateway.user(userId, role);
  keys['stray'] = await gateway.user('stray', 'team_admin');
  for (const userId of ['ann', 'lead', 'bob', 'eve']) {
    const who = { userId, teamId: TEAMS[userId] ?? 'unassigned', traceId: `trace-${userId}` };
    const cost = sampleCost({ ...who, sessionId: `session-${userId}`, repoId: `repo-${userId}` });
    await gateway.store.records.write(
      sampleRecord({
        audit: [sampleAudit(who), sampleAudit({ ...who, eventType: 'turn_end' })],
        costs: [cost, { ...cost, attemptNo: 2, isSuccess: false, errorClass: 'upstream_5xx' }],
        routing: [sampleRouting({ traceId: who.traceId, teamId: who.teamId })],
      }),
    );
  }
  const ask = (userId: string, path: string) => gateway.ask(path, { key: keys[userId] });
  return { gateway, ask };
}

const rowsOf = (json: unknown, name: string): { [field: string]: unknown }[] =>
  (json as { [name: string]: { [field: string]: unknown }[] })[name] ?? [];

describe('cost', () => {
  const at = '/api/v1/cost/summary?dim=user&from=2026-11-01&to=2026-12-01';

  it.each([
    ['ann', ['ann']],
    ['lead', ['ann', 'lead']],
    ['stray', []],
    ['root', ['ann', 'bob', 'eve', 'lead']],
  ])('of %s is that of %j', async (userId, expected) => {
    const { ask } = await filled();
    const rows = rowsOf((await ask(userId, at)).json, 'rows');
    expect(rows.map((row) => String(row['dim_value'])).toSorted()).toEqual(expected);
  });

  it('falls into hours, of a week at most', async () => {
    const { ask } = await filled();
    const hours = '/api/v1/cost/summary?dim=user&group_by=hour';
    const week = await ask('ann', `${hours}&from=2026-11-13&to=2026-11-20`);
    expect(rowsOf(week.json, 'rows')).toMatchObject([{ bucket: '2026-11-17T12:00:00Z' }]);
    const long = await ask('ann', `${hours}&from=2026-11-13&to=2026-11-20T00:01:00Z`);
    expect(long).toMatchObject({ status: 400, json: { error: { code: 'SUB_API_REQUEST' } } });
    expect((await ask('ann', hours)).status).toBe(200);
  });

  it('is summed in micro-dollars, with cents and failures beside it', async () => {
    const { ask } = await filled();
    expect((await ask('ann', `${at}&group_by=month`)).json).toEqual({
      rows: [
        {
          bucket: '2026-11-01',
          dim_value: 'ann',
          dim_name: null,
          cost_micros: 9_000,
          cost_cents: 1,
          input_tokens: 2_000,
          output_tokens: 200,
          n_requests: 2,
          n_failed: 1,
        },
      ],
    });
    expect((await ask('ann', `${at}&repo_id=repo-bob`)).json).toEqual({ rows: [] });
    const byTeam = await ask('lead', at.replace('dim=user', 'dim=team'));
    expect(byTeam.json).toMatchObject({ rows: [{ dim_value: 'core', dim_name: 'Core systems' }] });
  });

  it.each([
    ['ann', 'team_id=web', 403],
    ['ann', 'user_id=lead', 403],
    ['ann', 'team_id=core&user_id=ann', 200],
    ['lead', 'team_id=web', 403],
    ['lead', 'user_id=bob', 200],
    ['root', 'team_id=web', 200],
  ])('of %s with %s is answered with %i', async (userId, query, status) => {
    const { ask } = await filled();
    const answer = await ask(userId, `${at}&${query}`);
    expect(answer.status).toBe(status);
    // A team admin who asks for a user of another team gets nothing, not that user.
    expect(answer.text.includes('"bob"')).toBe(userId === 'root');
  });

  it.each([
    '',
    'dim=prompt',
    'dim=user&group_by=minute',
    'dim=user&from=yesterday',
    'dim=user&from=2026-11-01T99:99:99Z',
    'dim=user&dim=team',
    'dim=user&teamid=web',
  ])('is not asked for by %j', async (query) => {
    const { ask } = await filled();
    expect((await ask('root', `/api/v1/cost/summary?${query}`)).status).toBe(400);
  });

  it('is broken down by trace or session, for those who may see it', async () => {
    const { ask } = await filled();
    const path = '/api/v1/cost/breakdown';
    const own = await ask('ann', `${path}?trace_id=trace-ann`);
    expect(own.json).toMatchObject({ cost_micros: 9_000, cost_cents: 1 });
    expect(rowsOf(own.json, 'attempts').map((row) => row['attempt_no'])).toEqual([1, 2]);
    expect((await ask('ann', `${path}?session_id=session-ann`)).status).toBe(200);
    expect((await ask('ann', `${path}?trace_id=trace-bob`)).status).toBe(404);
    expect((await ask('lead', `${path}?session_id=session-bob`)).status).toBe(404);
    expect((await ask('root', `${path}?trace_id=trace-bob`)).status).toBe(200);
    expect((await ask('ann', path)).status).toBe(400);
    expect((await ask('ann', `${path}?trace_id=a&session_id=b`)).status).toBe(400);
  });
});

describe('routing', () => {
  it.each([
    ['ann', ['trace-ann']],
    ['lead', ['trace-ann', 'trace-lead']],
    ['stray', []],
    ['root', ['trace-ann', 'trace-bob', 'trace-eve', 'trace-lead']],
  ])('of %s is that of %j', async (userId, expected) => {
    const { ask } = await filled();
    const rows = rowsOf((await ask(userId, '/api/v1/routing/recent')).json, 'rows');
    expect(rows.map((row) => String(row['trace_id'])).toSorted()).toEqual(expected);
  });

  it('shows what a route could not carry', async () => {
    const { ask } = await filled();
    const { json } = await ask('root', '/api/v1/routing/recent?team_id=web&limit=1');
    expect(rowsOf(json, 'rows')).toMatchObject([
      { degraded_features: ['cache_control'], seed: 'abc123' },
    ]);
    expect((await ask('lead', '/api/v1/routing/recent?team_id=web')).status).toBe(403);
    expect((await ask('root', '/api/v1/routing/recent?limit=501')).status).toBe(400);
  });
});

describe('budgets', () => {
  it('show what is used and reserved of each limit', async () => {
    const { gateway, ask } = await filled();
    const limit = { capMicros: 1_000_000, softMicros: 800_000, onExceeded: 'refuse' } as const;
    await gateway.store.budgets.reserve({
      id: gateway.newId(),
      traceId: gateway.newId(),
      caller: { tenantId: TENANT, userId: 'ann', teamId: 'core', role: 'developer', keyId: 'k' },
      estimateMicros: 850_000,
      limits: [
        { ...limit, scope: 'team_month', key: 'core', period: '2026-11' },
        { ...limit, scope: 'user_day', key: 'ann', period: '2026-11-17' },
      ],
      nowMs: NOON_MS,
    });
    const state = {
      used_micros: 0,
      reserved_micros: 850_000,
      is_soft_hit: true,
      is_hard_hit: false,
    };
    expect((await ask('ann', '/api/v1/budget')).json).toMatchObject({
      budgets: [
        { scope: 'team_month', key: 'core', cap_micros: 1_000_000, ...state },
        { scope: 'user_day', key: 'ann', ...state },
      ],
    });
    expect((await ask('ann', '/api/v1/budget?user_id=lead')).status).toBe(403);
    expect((await ask('lead', '/api/v1/budget?user_id=ann')).status).toBe(200);
    expect((await ask('lead', '/api/v1/budget?user_id=bob')).status).toBe(403);
    expect((await ask('stray', '/api/v1/budget?user_id=eve')).status).toBe(403);
    expect((await ask('root', '/api/v1/budget?user_id=bob')).status).toBe(200);
  });
});

describe('all budgets', () => {
  /** Of `ann` a part is used and a part reserved; `bob` has none of his own left. */
  async function spent() {
    const { gateway, ask } = await filled();
    await gateway.user('bob');
    const limit = { capMicros: 1_000_000, softMicros: 800_000, onExceeded: 'refuse' } as const;
    const reserve = async (userId: string, estimateMicros: number) => {
      const teamId = TEAMS[userId] ?? '';
      const id = gateway.newId();
      await gateway.store.budgets.reserve({
        id,
        traceId: id,
        caller: { tenantId: TENANT, userId, teamId, role: 'developer', keyId: 'k' },
        estimateMicros,
        limits: [
          { ...limit, scope: 'team_month', key: teamId, period: '2026-11' },
          { ...limit, scope: 'user_day', key: userId, period: '2026-11-17' },
        ],
        nowMs: NOON_MS,
      });
      return id;
    };
    const settled = await reserve('ann', 300_000);
    const settlement = { kind: 'commit', reservationId: settled, actualMicros: 250_000 } as const;
    await gateway.store.records.write(sampleRecord({ settlement }));
    await reserve('ann', 100_000);
    await reserve('bob', 1_000_000);
    const keysOf = async (userId: string, query = '') => {
      const rows = rowsOf((await ask(userId, `/api/v1/budgets${query}`)).json, 'budgets');
      return rows.map((row) => `${String(row['scope'])} ${String(row['key'])}`);
    };
    return { ask, keysOf };
  }

  it('come the nearest to its cap first, used and reserved apart, with the name of a team', async () => {
    const { ask } = await spent();
    const { json } = await ask('root', '/api/v1/budgets?team_id=core&limit=2');
    const parts = { used_micros: 250_000, reserved_micros: 100_000, is_hard_hit: false };
    expect(json).toMatchObject({
      budgets: [
        { scope: 'team_month', key: 'core', name: 'Core systems', ...parts },
        { scope: 'user_day', key: 'ann', name: null, ...parts },
      ],
      left_out: 0,
    });
  });

  it('are those that the role may see, teams without users among them', async () => {
    const { ask, keysOf } = await spent();
    const own = ['team_month core', 'user_day ann'];
    expect(await keysOf('ann')).toEqual(own);
    expect(await keysOf('lead')).toEqual([...own, 'user_day lead']);
    expect(await keysOf('stray')).toEqual(['team_month unassigned', 'user_day stray']);
    const all = await keysOf('root');
    expect(all.slice(0, 4)).toEqual(['team_month web', 'user_day bob', ...own]);
    expect(all).toContain('team_month platform');
    expect((await ask('lead', '/api/v1/budgets?team_id=web')).status).toBe(403);
  });
});

describe('the audit', () => {
  it.each([
    ['ann', ['ann']],
    ['lead', ['ann', 'lead']],
    ['stray', []],
    ['root', ['ann', 'bob', 'eve', 'lead']],
  ])('of %s is that of %j', async (userId, expected) => {
    const { ask } = await filled();
    const items = rowsOf((await ask(userId, '/api/v1/audit/search')).json, 'items');
    expect([...new Set(items.map((row) => String(row['user_id'])))].toSorted()).toEqual(expected);
  });

  it('comes page by page, each row once, the newest first', async () => {
    const { gateway, ask } = await filled();
    const audit = Array.from(
      { length: 7 },
      (_, n): AuditRow =>
        sampleAudit({ userId: 'root', eventMs: NOON_MS + n, eventType: 'paged', detail: { n } }),
    );
    for (const row of audit) await gateway.store.records.write(sampleRecord({ audit: [row] }));
    const seen: unknown[] = [];
    let cursor: string | null = '';
    do {
      const more: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const { json } = await ask('root', `/api/v1/audit/search?event_type=paged&limit=3${more}`);
      seen.push(...rowsOf(json, 'items').map((row) => row['detail']));
      cursor = (json as { next_cursor: string | null }).next_cursor;
    } while (cursor !== null);
    expect(seen).toEqual([6, 5, 4, 3, 2, 1, 0].map((n) => ({ n })));
    for (const bad of ['x', '-1', '1%20or%201', '']) {
      expect((await ask('root', `/api/v1/audit/search?cursor=${bad}`)).status).toBe(400);
    }
  });

  it('of a trace is shown whole to those who may see it, and is not there for others', async () => {
    const { ask } = await filled();
    const trace = (await ask('ann', '/api/v1/audit/trace-ann')).json;
    expect(trace).toMatchObject({ trace_id: 'trace-ann' });
    expect(['events', 'routing', 'costs'].map((name) => rowsOf(trace, name).length)).toEqual([
      2, 1, 2,
    ]);
    const hidden = await ask('ann', '/api/v1/audit/trace-bob');
    const missing = await ask('ann', '/api/v1/audit/trace-none');
    expect([hidden.status, hidden.text]).toEqual([404, missing.text]);
    expect((await ask('stray', '/api/v1/audit/trace-eve')).status).toBe(404);
    expect((await ask('root', '/api/v1/audit/trace-bob')).status).toBe(200);
  });
});
