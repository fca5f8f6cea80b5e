// Which limits hold for a turn, and how they stand. Periods begin at midnight UTC.
import type { BudgetSnapshot, Caller } from '@subluminal/core/routing';
import type { BudgetRule, BudgetSettings } from '../config/types.ts';
import type { BudgetLimit, BudgetState } from '../store/types.ts';

export interface BudgetSubject {
  readonly caller: Pick<Caller, 'teamId' | 'userId'>;
  /** Null for a turn that belongs to no run. */
  readonly runId: string | null;
  readonly nowMs: number;
}

export function budgetLimits(
  settings: BudgetSettings,
  { caller, runId, nowMs }: BudgetSubject,
): readonly BudgetLimit[] {
  const { teamId, userId } = caller;
  // Clients name their runs: nobody uses up that of another user.
  const runKey = `${userId}/${runId}`;
  const today = new Date(nowMs).toISOString();
  const month = settings.teams.get(teamId) ?? settings.teamMonth;
  const day = settings.users.get(userId) ?? settings.userDay;
  return [
    ...limit(month, { scope: 'team_month', key: teamId, period: today.slice(0, 7) }),
    ...limit(day, { scope: 'user_day', key: userId, period: today.slice(0, 10) }),
    ...(runId === null ? [] : limit(settings.run, { scope: 'run', key: runKey, period: '' })),
  ];
}

function limit(
  rule: BudgetRule | null,
  counter: Pick<BudgetLimit, 'scope' | 'key' | 'period'>,
): readonly BudgetLimit[] {
  if (rule === null) return [];
  const { capMicros, softMicros, onExceeded } = rule;
  return [{ ...counter, capMicros, softMicros, onExceeded }];
}

/** When the next period begins; null for a run, whose budget comes back with the next run. */
export function periodEndMs({ scope, period }: BudgetLimit): number | null {
  const [year = 0, month = 1, day = 1] = period.split('-').map(Number);
  switch (scope) {
    case 'team_month':
      return Date.UTC(year, month, 1);
    case 'user_day':
      return Date.UTC(year, month - 1, day + 1);
    case 'run':
      return null;
  }
}

/** Whether the turn that was just reserved took a budget over its soft limit. A webhook is due once, then. */
export function crossesSoftLimit(state: BudgetState, estimateMicros: number): boolean {
  const nowMicros = state.usedMicros + state.reservedMicros;
  const { softMicros } = state.limit;
  return nowMicros >= softMicros && nowMicros - estimateMicros < softMicros;
}

/** What policies see of the budgets; what is reserved counts as used. */
export function budgetSnapshot(states: readonly BudgetState[]): BudgetSnapshot {
  const month = states.find(({ limit: { scope } }) => scope === 'team_month');
  const day = states.find(({ limit: { scope } }) => scope === 'user_day');
  return {
    teamMonthlyUsedMicros: month?.usedMicros ?? 0,
    teamMonthlyReservedMicros: month?.reservedMicros ?? 0,
    teamMonthlyCapMicros: month?.limit.capMicros ?? null,
    userDailyUsedMicros: day?.usedMicros ?? 0,
    userDailyReservedMicros: day?.reservedMicros ?? 0,
    userDailyCapMicros: day?.limit.capMicros ?? null,
    isSoftHit: states.some((state) => spent(state) >= state.limit.softMicros),
    isHardHit: states.some((state) => spent(state) >= state.limit.capMicros),
  };
}

function spent({ usedMicros, reservedMicros }: BudgetState): number {
  return usedMicros + reservedMicros;
}
