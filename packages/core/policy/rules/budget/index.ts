// `budget`: stops calls when a run has made enough of them.
import type { RuleOf } from '@subluminal/contracts';
import { conflictFinding, missingFinding } from '../../../source/problem.ts';
import { quote } from '../../../text/visible.ts';
import { type CallMoment, scopeKey, scopeKeyOf } from '../../counters/scope.ts';
import { type CounterTable, keyIn, keyName, tableGet, tableSet } from '../../counters/table.ts';
import { isForTurns } from '../../model/subjects.ts';
import type { Tally, Trip } from '../../model/trip.ts';
import {
  type Leasing,
  type RuleKind,
  type RuleResult,
  withReason,
} from '../../rule-kind/rule-kind.ts';

type BudgetRule = RuleOf<'budget'>;
/** What one key has used; `micros` are millionths of a dollar, those of running turns included. */
interface BudgetUse {
  readonly calls: number;
  readonly costUnits: number;
  readonly micros: number;
}
/** The further rounds of one call that were not counted; see `Call.round`. */
interface FreeRounds {
  readonly last: string;
  readonly count: number;
}
type BudgetSlot = {
  readonly used: CounterTable<BudgetUse>;
  readonly rounds: CounterTable<FreeRounds>;
};

/** A server that asks for input more often than this spends the budget of the run. */
const FREE_ROUNDS_MAX = 16;
const ROUNDS_LIFE_MS = 3_600_000;
const UNUSED: BudgetUse = { calls: 0, costUnits: 0, micros: 0 };
const MICROS = 1_000_000;

const leasing: Leasing<BudgetRule, BudgetSlot> = {
  /** With one limit that whole calls use up, a counter without a call left is exactly at its limit. */
  allows: ({ match, effect }) => {
    const {
      limit_calls,
      limit_cost_units,
      limit_usd,
      cost_units_per_call: cost = 1,
    } = effect.budget;
    if (isForTurns(match) || limit_usd !== undefined) return false;
    if (limit_cost_units === undefined) return limit_calls !== undefined;
    return limit_calls === undefined && cost > 0 && limit_cost_units % cost === 0;
  },
  key: ({ effect }, call) => scopeKeyOf(effect.budget.scope, call),
  left: ({ effect }, key, { used: table }) => {
    const { limit_calls, limit_cost_units = 0, cost_units_per_call: cost = 1 } = effect.budget;
    const used = tableGet(table, keyIn(table, key)) ?? UNUSED;
    if (limit_calls !== undefined) return Math.max(0, limit_calls - used.calls);
    return Math.max(0, Math.floor((limit_cost_units - used.costUnits) / cost));
  },
  take: ({ effect }, { key, calls, nowMs }, slot) => {
    const { cost_units_per_call: cost = 1 } = effect.budget;
    const known = keyIn(slot.used, key);
    const used = tableGet(slot.used, known) ?? UNUSED;
    const value = { ...used, calls: used.calls + calls, costUnits: used.costUnits + calls * cost };
    return { ...slot, used: tableSet(slot.used, known, { value, nowMs }) };
  },
  close: ({ effect }, { key, nowMs }, slot) => {
    const { limit_calls = 0, limit_cost_units = 0 } = effect.budget;
    const value = { calls: limit_calls, costUnits: limit_cost_units, micros: 0 };
    return { ...slot, used: tableSet(slot.used, keyIn(slot.used, key), { value, nowMs }) };
  },
};

export const budget: RuleKind<BudgetRule, BudgetSlot> = {
  role: 'counts',
  actionField: 'on_exceed',
  examples: {
    budget: '{ scope: run, limit_calls: 100, on_exceed: BLOCK }',
    scope: 'run',
    on_exceed: 'BLOCK',
  },
  check: ({ match, effect }, path) => {
    const { limit_calls, limit_cost_units, limit_usd } = effect.budget;
    const at = [...path, 'effect', 'budget'];
    if (limit_usd !== undefined && !isForTurns(match)) {
      const message = '`limit_usd` counts what turns cost, and this rule sees none';
      const fix = 'Add `subjects: [turn]` to its `match`.';
      return [conflictFinding([...at, 'limit_usd'], message, fix)];
    }
    const limits = [limit_calls, limit_cost_units, limit_usd];
    if (limits.some((limit) => limit !== undefined)) return [];
    const message = 'a budget needs `limit_calls`, `limit_cost_units` or, for turns, `limit_usd`';
    return [missingFinding(at, message, 'Add `limit_calls: 100`.')];
  },
  normalize: (rule) => {
    const section = { cost_units_per_call: 1, ...rule.effect.budget };
    return { ...rule, effect: { ...withReason(rule.effect, 'BUDGET_EXCEEDED'), budget: section } };
  },
  /** A budget holds for the whole run, so nothing in it expires. */
  tables: () => ({
    used: { lifeMs: Number.POSITIVE_INFINITY, whenFull: 'share' },
    rounds: { lifeMs: ROUNDS_LIFE_MS, whenFull: 'evict' },
  }),
  decide: countBudget,
  settled: settleBudget,
  countsAcrossServers: ({ effect }) => effect.budget.scope !== 'server_tool',
  leasing,
};

/** One limit of a budget: what is used, and what a call adds to it. */
interface Measure {
  readonly used: number;
  readonly adds: number;
  readonly limit: number | undefined;
  readonly unit: 'calls' | 'cost units' | 'dollars';
}

/** Counts one call; a call that the budget itself stops is not counted again. */
function countBudget(rule: BudgetRule, at: CallMoment, slot: BudgetSlot): RuleResult<BudgetSlot> {
  const section = rule.effect.budget;
  const { cost_units_per_call: costUnits = 1, limit_usd } = section;
  const key = keyIn(slot.used, scopeKey(section.scope, at));
  const used = tableGet(slot.used, key) ?? UNUSED;
  const { cost_micros } = at.call;
  if (limit_usd !== undefined && cost_micros === undefined) {
    const tally = { count: used.micros / MICROS, limit: limit_usd };
    return { kind: 'count', slot, tally, trip: unpriced(rule, at.call.tool_name) };
  }
  const micros = cost_micros ?? 0;
  const measures: readonly Measure[] = [
    { used: used.calls, adds: 1, limit: section.limit_calls, unit: 'calls' },
    { used: used.costUnits, adds: costUnits, limit: section.limit_cost_units, unit: 'cost units' },
    { used: used.micros, adds: micros, limit: microsOf(limit_usd), unit: 'dollars' },
  ];
  const limited = measures.filter(({ limit }) => limit !== undefined);
  const rounds = withFreeRound(slot.rounds, at);
  const [first] = limited;
  if (rounds !== undefined && first !== undefined) {
    const tally = tallyOf(first, first.used);
    return { kind: 'count', slot: { ...slot, rounds }, tally, trip: undefined };
  }
  const reached = limited.find(({ used: before, adds, limit = 0 }) => before + adds > limit);
  const shown = reached ?? limited[0];
  if (shown === undefined) throw new Error('a budget has no limit');
  if (reached !== undefined) {
    const tally = tallyOf(reached, reached.used);
    return { kind: 'count', slot, tally, trip: exceeded(rule, reached) };
  }
  const value = {
    calls: used.calls + 1,
    costUnits: used.costUnits + costUnits,
    micros: used.micros + micros,
  };
  return {
    kind: 'count',
    slot: { ...slot, used: tableSet(slot.used, key, { value, nowMs: at.nowMs }) },
    tally: tallyOf(shown, shown.used + shown.adds),
    trip: undefined,
  };
}

/** The rounds with this one, if the server has asked for it: its call was counted in the first round. */
function withFreeRound(
  rounds: BudgetSlot['rounds'],
  { call, nowMs }: CallMoment,
): BudgetSlot['rounds'] | undefined {
  const { round, server_name, tool_name, args_hash } = call;
  if (round === undefined) return undefined;
  const key = `${keyName(server_name)}\u0000${keyName(tool_name)}\u0000${args_hash}`;
  const { last, count } = tableGet(rounds, key) ?? { last: '', count: 0 };
  // The same round again is a repeat of it.
  if (last === round || count >= FREE_ROUNDS_MAX) return undefined;
  return tableSet(rounds, key, { value: { last: round, count: count + 1 }, nowMs });
}

/** Replaces what a turn might have cost by what it did cost. */
function settleBudget(
  rule: BudgetRule,
  { moment, micros }: { readonly moment: CallMoment; readonly micros: number },
  slot: BudgetSlot,
): BudgetSlot {
  const key = keyIn(slot.used, scopeKey(rule.effect.budget.scope, moment));
  const used = tableGet(slot.used, key) ?? UNUSED;
  const reserved = moment.call.cost_micros ?? 0;
  const value = { ...used, micros: Math.max(0, used.micros - reserved + micros) };
  return { ...slot, used: tableSet(slot.used, key, { value, nowMs: moment.nowMs }) };
}

function microsOf(usd: number | undefined): number | undefined {
  return usd === undefined ? undefined : Math.round(usd * MICROS);
}

function tallyOf({ limit = 0, unit }: Measure, count: number): Tally {
  return unit === 'dollars' ? { count: count / MICROS, limit: limit / MICROS } : { count, limit };
}

function exceeded(rule: BudgetRule, reached: Measure): Trip {
  const { adds, unit } = reached;
  const { count, limit } = tallyOf(reached, reached.used);
  const summary =
    unit === 'dollars'
      ? `The budget is used up: $${usdText(count)} of $${usdText(limit)}, and this turn may cost $${usdText(adds / MICROS)}.`
      : `The budget is used up: ${count} of ${limit} ${unit}.`;
  return stopped(rule, 'BUDGET_EXCEEDED', summary);
}

/** What has no price can be counted against no limit in dollars: it does not pass. */
function unpriced(rule: BudgetRule, model: string): Trip {
  const summary = `The price of ${quote(model)} is not known, and a budget in dollars holds for it. Add it under [[prices]] in config.toml.`;
  return { ...stopped(rule, 'BUDGET_EXCEEDED', summary), summary };
}

function usdText(usd: number): string {
  return usd.toFixed(usd >= 1 ? 2 : 4);
}

function stopped(rule: BudgetRule, reasonCode: string, summary: string): Trip {
  const { budget: section, reason_code, message } = rule.effect;
  return {
    action: section.on_exceed,
    reasonCode: reason_code ?? reasonCode,
    summary: message ?? summary,
    hintKind: 'BUDGET',
    ...(section.hint_text !== undefined && { hintText: section.hint_text }),
    retryAdvice: 'Do not repeat this call in this run; finish with what you have.',
    terminateCode: 'BUDGET_EXCEEDED',
  };
}
