import { expect, it } from 'vitest';
import type { BudgetRule, BudgetSettings } from '../config/types.ts';
import type { BudgetState } from '../store/types.ts';
import { budgetLimits, budgetSnapshot, crossesSoftLimit, periodEndMs } from './budget-limits.ts';

const rule = (capMicros: number): BudgetRule => ({
  capMicros,
  softMicros: capMicros * 0.8,
  onExceeded: 'refuse',
});
const NONE: BudgetSettings = {
  reservationExpiresMs: 600_000,
  teamMonth: null,
  userDay: null,
  run: null,
  teams: new Map(),
  users: new Map(),
};
const caller = { teamId: 'core', userId: 'ann' };
const nowMs = Date.UTC(2026, 10, 30, 23, 59, 59, 999);

it('has no limit where none is configured', () => {
  expect(budgetLimits(NONE, { caller, runId: 'run', nowMs })).toEqual([]);
});

it('takes the default of each scope, with its counter', () => {
  const settings = { ...NONE, teamMonth: rule(100), userDay: rule(10), run: rule(1) };
  expect(budgetLimits(settings, { caller, runId: 'run-1', nowMs })).toEqual([
    { scope: 'team_month', key: 'core', period: '2026-11', ...rule(100) },
    { scope: 'user_day', key: 'ann', period: '2026-11-30', ...rule(10) },
    { scope: 'run', key: 'ann/run-1', period: '', ...rule(1) },
  ]);
});

it("prefers a team's and a user's own limit, and asks no run where there is none", () => {
  const settings = {
    ...NONE,
    teamMonth: rule(100),
    userDay: rule(10),
    run: rule(1),
    teams: new Map([['core', rule(500)]]),
    users: new Map([['ann', rule(50)]]),
  };
  const caps = (who: typeof caller) =>
    budgetLimits(settings, { caller: who, runId: null, nowMs }).map(({ capMicros }) => capMicros);
  expect(caps(caller)).toEqual([500, 50]);
  expect(caps({ teamId: 'web', userId: 'bob' })).toEqual([100, 10]);
});

it.each([
  ['team_month', '2026-11', Date.UTC(2026, 11, 1)],
  ['team_month', '2026-12', Date.UTC(2027, 0, 1)],
  ['user_day', '2026-11-30', Date.UTC(2026, 11, 1)],
  ['user_day', '2026-12-31', Date.UTC(2027, 0, 1)],
  ['run', '', null],
] as const)('%s %s ends at %s', (scope, period, endMs) => {
  expect(periodEndMs({ scope, key: 'x', period, ...rule(1) })).toBe(endMs);
});

const state = (scope: BudgetState['limit']['scope'], micros: readonly [number, number]) => ({
  limit: { scope, key: 'x', period: '', ...rule(100) },
  usedMicros: micros[0],
  reservedMicros: micros[1],
});

it.each([
  [50, 29, { isSoftHit: false, isHardHit: false }],
  [50, 30, { isSoftHit: true, isHardHit: false }],
  [50, 49, { isSoftHit: true, isHardHit: false }],
  [50, 50, { isSoftHit: true, isHardHit: true }],
])('with %i used and %i reserved of 100, the hits are %j', (used, reserved, hits) => {
  expect(budgetSnapshot([state('run', [used, reserved])])).toMatchObject(hits);
});

it('tells policies about the month and the day, and null where there is no cap', () => {
  expect(budgetSnapshot([state('team_month', [1, 2])])).toEqual({
    teamMonthlyUsedMicros: 1,
    teamMonthlyReservedMicros: 2,
    teamMonthlyCapMicros: 100,
    userDailyUsedMicros: 0,
    userDailyReservedMicros: 0,
    userDailyCapMicros: null,
    isSoftHit: false,
    isHardHit: false,
  });
});

it('one turn crosses the soft limit: the one that reaches it', () => {
  const crossings = [70, 80, 90].map((micros) =>
    crossesSoftLimit(state('user_day', [micros, 0]), 10),
  );
  expect(crossings).toEqual([false, true, false]);
});
