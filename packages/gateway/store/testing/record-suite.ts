import { describe, expect, it } from 'vitest';
import type { CostQuery } from '../types.ts';
import {
  NOON_MS,
  sampleAudit,
  sampleCost,
  sampleRaw,
  sampleRecord,
  sampleReservation,
  sampleRouting,
  wholeRecord,
} from './sample-rows.ts';
import type { Tested } from './suite.ts';

const DAY_MS = 86_400_000;
const MIDNIGHT_MS = NOON_MS - DAY_MS / 2;

export function recordSuite(tested: Tested): void {
  const count = async (table: string) => {
    const [row] = await tested.sql(`SELECT count(*) AS n FROM ${table}`);
    return Number(row?.['n']);
  };

  describe('records', () => {
    it('gives back all that a turn left', async () => {
      const { records } = tested.store;
      await records.write(wholeRecord('one'));
      await records.write(wholeRecord('two'));
      const { audit, costs, routing } = wholeRecord('one');
      const found = await records.trace('default', 'one');
      expect(found).toEqual({
        audit: audit.map((row) => ({ ...row, id: expect.any(Number) as number })),
        costs,
        routing,
      });
      expect(await records.trace('other', 'one')).toBeUndefined();
      expect(await count('raw_record')).toBe(2);
    });

    it('writing a record twice changes nothing, not even at once', async () => {
      const { records } = tested.store;
      await Promise.all([records.write(wholeRecord('one')), records.write(wholeRecord('one'))]);
      await records.write(wholeRecord('one'));
      expect(await count('audit_event')).toBe(2);
      expect(await count('cost_event')).toBe(1);
      expect(await count('routing_event')).toBe(1);
      expect(await count('raw_record')).toBe(1);
      const [sum] = await records.costs(query({ by: 'team' }));
      expect(sum).toMatchObject({ costMicros: 4_500, requests: 1 });
    });

    it('a row that is refused takes no other record along, and its own record leaves nothing', async () => {
      const { records, budgets } = tested.store;
      const reservation = sampleReservation();
      await budgets.reserve(reservation);
      const broken = {
        ...wholeRecord('broken'),
        costs: [sampleCost({ traceId: 'broken', costMicros: -1 })],
        settlement: { kind: 'release', reservationId: reservation.id } as const,
      };
      const outcomes = await Promise.allSettled([
        records.write(wholeRecord('one')),
        records.write(broken),
        records.write(wholeRecord('two')),
      ]);
      expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect(outcomes[1]).toMatchObject({ reason: { code: 'SUB_STORE_REFUSED' } });
      expect(await records.trace('default', 'broken')).toBeUndefined();
      const [state] = await budgets.states('default', reservation.limits);
      expect(state?.reservedMicros).toBe(100);
    });

    it('takes strange text from clients', async () => {
      const { records } = tested.store;
      const strange = 'a\0b \ud800 \\u0000 "quoted" \u2028 😀';
      const audit = [sampleAudit({ detail: { strange }, repoId: strange, ruleIds: [strange] })];
      const costs = [sampleCost({ model: strange })];
      await records.write(sampleRecord({ audit, costs }));
      const safe = 'a\ufffdb \ufffd \\u0000 "quoted" \u2028 😀';
      const found = await records.trace('default', 'trace');
      expect(found?.audit[0]).toMatchObject({ detail: { strange: safe }, ruleIds: [safe] });
      const sums = await records.costs(query({ by: 'model' }));
      expect(sums).toHaveLength(1);
    });

    it('gives the costs of a trace, and of a session over its traces', async () => {
      const { records } = tested.store;
      const first = sampleCost({ traceId: 'one', attemptNo: 1, isSuccess: false });
      const second = sampleCost({ traceId: 'one', attemptNo: 2, isPrivate: true });
      const third = sampleCost({ traceId: 'two', eventMs: NOON_MS + 5, isShadow: true });
      const other = sampleCost({ traceId: 'three', sessionId: null });
      await records.write(sampleRecord({ costs: [second, first, third, other] }));
      expect(await records.costsOf({ traceId: 'one' })).toEqual([first, second]);
      expect(await records.costsOf({ sessionId: 'session' })).toEqual([first, second, third]);
    });

    it('gives the newest routing first, of one team or of all', async () => {
      const { records } = tested.store;
      const rows = [1, 2, 3].map((n) =>
        sampleRouting({
          traceId: `t${n}`,
          eventMs: NOON_MS + n,
          teamId: n === 2 ? 'core' : 'web',
        }),
      );
      await records.write(sampleRecord({ routing: rows }));
      const all = await records.recentRouting('default', null, 2);
      expect(all).toEqual([rows[2], rows[1]]);
      expect(await records.recentRouting('default', 'core', 5)).toEqual([rows[1]]);
    });
  });

  describe('the sums of costs', () => {
    it('fill buckets by day, week and month', async () => {
      const { records } = tested.store;
      // Saturday 31 October, Sunday 1, Monday 2 November.
      const days = [Date.UTC(2026, 9, 31), Date.UTC(2026, 10, 1, 23, 59), Date.UTC(2026, 10, 2)];
      const costs = days.map((eventMs, n) =>
        sampleCost({ traceId: `t${n}`, eventMs, costMicros: 1 }),
      );
      await records.write(sampleRecord({ costs }));
      const span = { fromMs: Date.UTC(2026, 9, 1), toMs: Date.UTC(2026, 11, 1) };
      const buckets = async (every: CostQuery['every']) => {
        const sums = await records.costs({ ...query({ by: 'team' }), ...span, every });
        return sums.map(({ bucket, costMicros }) => [bucket, costMicros]);
      };
      expect(await buckets('day')).toEqual([
        ['2026-10-31', 1],
        ['2026-11-01', 1],
        ['2026-11-02', 1],
      ]);
      expect(await buckets('week')).toEqual([
        ['2026-10-26', 2],
        ['2026-11-02', 1],
      ]);
      expect(await buckets('month')).toEqual([
        ['2026-10-01', 1],
        ['2026-11-01', 2],
      ]);
      expect(await buckets(null)).toEqual([['', 3]]);
    });

    it('fall into hours, each by its beginning', async () => {
      const { records } = tested.store;
      const minutes = [0, 59, 60, 26 * 60];
      const costs = minutes.map((minute) =>
        sampleCost({
          traceId: `m${minute}`,
          eventMs: MIDNIGHT_MS + minute * 60_000,
          costMicros: 1 + minute,
        }),
      );
      await records.write(sampleRecord({ costs }));
      const span = { fromMs: MIDNIGHT_MS + 1, toMs: MIDNIGHT_MS + 2 * 86_400_000 };
      const sums = await records.costs({ ...query({ by: 'team' }), ...span, every: 'hour' });
      const day = new Date(MIDNIGHT_MS).toISOString().slice(0, 10);
      const next = new Date(MIDNIGHT_MS + 86_400_000).toISOString().slice(0, 10);
      expect(sums.map(({ bucket, costMicros }) => [bucket, costMicros])).toEqual([
        [`${day}T00:00:00Z`, 60],
        [`${day}T01:00:00Z`, 61],
        [`${next}T02:00:00Z`, 1_561],
      ]);
    });

    it('are exact for parts of days', async () => {
      const { records } = tested.store;
      const hours = Array.from({ length: 72 }, (_, hour) =>
        sampleCost({
          traceId: `h${hour}`,
          eventMs: MIDNIGHT_MS + hour * 3_600_000,
          costMicros: 10 ** (hour % 3),
          isSuccess: hour % 2 === 0,
        }),
      );
      await records.write(sampleRecord({ costs: hours }));
      for (const [from, to] of [
        [0, 72],
        [5, 67],
        [3, 9],
        [24, 48],
        [20, 30],
        [24, 49],
      ] as const) {
        const fromMs = MIDNIGHT_MS + from * 3_600_000;
        const toMs = MIDNIGHT_MS + to * 3_600_000;
        const [sum] = await records.costs({ ...query({ by: 'user' }), fromMs, toMs });
        const expected = hours.slice(from, to);
        expect(sum, `${from} to ${to}`).toEqual({
          bucket: '',
          value: 'ann',
          costMicros: expected.reduce((total, { costMicros }) => total + costMicros, 0),
          inputTokens: expected.length * 1_000,
          outputTokens: expected.length * 100,
          requests: expected.length,
          failed: expected.filter(({ isSuccess }) => !isSuccess).length,
        });
      }
    });

    it.each([
      ['team', ['core', 'web']],
      ['user', ['ann', 'bob']],
      ['repo', ['', 'api']],
      ['model', ['claude-sonnet', 'gpt']],
      ['provider', ['anthropic', 'openai']],
      ['task_type', ['edit', 'review']],
      ['policy_rule', ['', 'cheap']],
    ] as const)('tell %s apart', async (by, values) => {
      const other = {
        teamId: 'web',
        userId: 'bob',
        repoId: null,
        model: 'gpt',
        provider: 'openai',
        taskType: 'review',
        ruleId: 'cheap',
        traceId: 'other',
      };
      await tested.store.records.write(sampleRecord({ costs: [sampleCost(), sampleCost(other)] }));
      const sums = await tested.store.records.costs(query({ by }));
      expect(sums.map(({ value }) => value).toSorted()).toEqual(values);
      const ofTeam = await tested.store.records.costs(query({ by, teamId: 'web' }));
      expect(ofTeam).toHaveLength(1);
      expect(await tested.store.records.costs(query({ by, tenantId: 'other' }))).toEqual([]);
    });
  });

  describe('the audit', () => {
    it('gives pages, the newest first', async () => {
      const { records } = tested.store;
      const rows = Array.from({ length: 7 }, (_, n) => sampleAudit({ eventMs: NOON_MS + n }));
      await records.write(sampleRecord({ audit: rows }));
      const first = await records.audit({ tenantId: 'default', limit: 4 });
      const before = first.at(-1)?.id ?? 0;
      const second = await records.audit({ tenantId: 'default', limit: 4, before });
      const times = [...first, ...second].map(({ eventMs }) => eventMs - NOON_MS);
      expect(times).toEqual([6, 5, 4, 3, 2, 1, 0]);
    });

    it.each([
      [{ traceId: 'wanted' }],
      [{ userId: 'bob' }],
      [{ teamId: 'web' }],
      [{ repoId: 'ui' }],
      [{ eventType: 'refused' }],
      [{ fromMs: NOON_MS + 10 }],
    ])('finds by %j', async (filter) => {
      const { records } = tested.store;
      const wanted = sampleAudit({
        traceId: 'wanted',
        userId: 'bob',
        teamId: 'web',
        repoId: 'ui',
        eventType: 'refused',
        eventMs: NOON_MS + 10,
      });
      await records.write(sampleRecord({ audit: [sampleAudit(), wanted] }));
      const found = await records.audit({ tenantId: 'default', limit: 10, ...filter });
      expect(found.map(({ traceId }) => traceId)).toEqual(['wanted']);
      const none = { tenantId: 'other', limit: 10, toMs: NOON_MS, ...filter };
      expect(await records.audit(none)).toEqual([]);
    });

    it('is only added to', async () => {
      await tested.store.records.write(sampleRecord({ audit: [sampleAudit()] }));
      await expect(tested.sql("UPDATE audit_event SET user_id = 'eve'")).rejects.toThrow(
        'only added',
      );
      await expect(tested.sql('DELETE FROM audit_event')).rejects.toThrow('only added');
      expect(await count('audit_event')).toBe(1);
    });

    it('names traces of unknown users, teams and repositories', async () => {
      const { records } = tested.store;
      const audit = [
        sampleAudit({ traceId: 'known' }),
        sampleAudit({ traceId: 'one', userId: 'eve', eventMs: NOON_MS + 1 }),
        sampleAudit({ traceId: 'one', userId: 'eve', eventMs: NOON_MS + 2 }),
        sampleAudit({ traceId: 'two', userId: 'eve', repoId: 'lost', eventMs: NOON_MS + 3 }),
        sampleAudit({ traceId: 'three', repoId: null }),
        sampleAudit({ traceId: 'old', userId: 'past', eventMs: NOON_MS - 10 }),
      ];
      await records.write(sampleRecord({ audit }));
      const known = { tenantId: 'default', users: ['ann'], teams: ['core'], repos: ['api'] };
      expect(await records.orphans(known, NOON_MS)).toEqual([
        { kind: 'user', value: 'eve', traces: 2, lastMs: NOON_MS + 3 },
        { kind: 'repo', value: 'lost', traces: 1, lastMs: NOON_MS + 3 },
      ]);
    });
  });

  describe('retention', () => {
    it('drops what is over, keeps the rest and the daily sums', async () => {
      const { records } = tested.store;
      const oldMs = NOON_MS - 401 * DAY_MS;
      const old = { traceId: 'old', eventMs: oldMs };
      await records.write(
        sampleRecord({
          audit: [sampleAudit(old), sampleAudit()],
          costs: [sampleCost(old), sampleCost()],
          routing: [sampleRouting(old), sampleRouting()],
          raw: sampleRaw({ expiresMs: NOON_MS - 1 }),
        }),
      );
      await records.maintain(NOON_MS);
      expect(await records.trace('default', 'old')).toBeUndefined();
      expect(await records.trace('default', 'trace')).toMatchObject({ costs: [{ attemptNo: 1 }] });
      expect(await count('raw_record')).toBe(0);
      const days = { fromMs: MIDNIGHT_MS - 500 * DAY_MS, toMs: MIDNIGHT_MS + DAY_MS };
      const [sum] = await records.costs({ ...query({ by: 'team' }), ...days });
      expect(sum?.requests).toBe(2);
    });

    it('drops more rows than one step takes', async () => {
      const { records } = tested.store;
      const audit = Array.from({ length: 2_500 }, (_, n) => sampleAudit({ eventMs: n }));
      await records.write(sampleRecord({ audit }));
      await records.maintain(NOON_MS);
      expect(await count('audit_event')).toBe(0);
    });
  });

  describe('the constraints', () => {
    const raw = (columns: string, values: string) =>
      tested.sql(`INSERT INTO raw_record
        (trace_id, tenant_id, user_id, team_id, sensitivity, created_ms, expires_ms, ${columns})
        VALUES ('t', 'default', 'ann', 'core', 'low', 1, 2, ${values})`);

    it.each([
      ['storage_policy', "'full'"],
      ['storage_policy, object_uri', "'metadata_only', 's3://x'"],
      ['storage_policy', "'disabled'"],
    ])('refuse a raw record whose %s is %s', async (columns, values) => {
      await expect(raw(columns, values)).rejects.toThrow(/constraint/i);
    });

    it('take a raw record whose columns fit its policy', async () => {
      await raw('storage_policy, object_uri, object_size, kek_id', "'full', 's3://x', 1, 'k'");
      expect(await count('raw_record')).toBe(1);
    });

    it.each([
      ["UPDATE budget_reservation SET state = 'lost'"],
      ["UPDATE budget_reservation SET state = 'released'"],
      ['UPDATE budget_counter SET reserved_micros = -1'],
    ])('refuse %s', async (change) => {
      await tested.store.budgets.reserve(sampleReservation());
      await expect(tested.sql(change)).rejects.toThrow(/constraint/i);
    });
  });
}

function query(wanted: Partial<CostQuery>): CostQuery {
  return {
    tenantId: 'default',
    by: 'team',
    every: null,
    fromMs: MIDNIGHT_MS,
    toMs: MIDNIGHT_MS + DAY_MS,
    ...wanted,
  };
}
