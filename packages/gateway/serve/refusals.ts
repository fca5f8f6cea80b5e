// What the gateway says about a decision in headers, about a refusal in a held stream, and about a budget.
import type { ModelDecision } from '@subluminal/contracts';
import type { BudgetState } from '../store/types.ts';
import type { TurnRefusal, TurnTail } from '../turns/types.ts';
import { proxyEvent } from './proxy-events.ts';

const HEADER_LENGTH_MAX = 2_048;
const MICROS = 1_000_000;

/** A held stream ends with the refusal as an answer, long after its headers: the local proxy hears of it here. */
export function refusalTail(
  traceId: string,
  { message, ruleIds }: Pick<TurnRefusal, 'message' | 'ruleIds'>,
): TurnTail {
  const told = { code: 'refused', message, rule_ids: ruleIds };
  const rest = { partial: false, tokens_emitted_so_far: 0 };
  return { events: proxyEvent('aicg.error', traceId, { ...told, ...rest }), headers: {} };
}

export function decisionHeaders(decision: ModelDecision): { readonly [name: string]: string } {
  const { primary_action, modifiers, side_effects, reasons } = decision;
  return {
    'x-aicg-decision': primary_action,
    ...listHeader('x-aicg-modifiers', modifiers),
    ...listHeader('x-aicg-side-effects', side_effects),
    ...listHeader('x-aicg-reasons', reasons),
  };
}

/** Names of rules and features, without what may not stand in a header. */
function listHeader(name: string, values: readonly string[]): { readonly [name: string]: string } {
  if (values.length === 0) return {};
  const text = values.map((value) => value.replaceAll(/[^\x21-\x2b\x2d-\x7e]/g, '_')).join(',');
  return { [name]: text.slice(0, HEADER_LENGTH_MAX) };
}

const PERIODS = { team_month: 'month of the team', user_day: 'day of', run: 'run' } as const;

export function budgetWords({ limit, usedMicros, reservedMicros }: BudgetState): string {
  const left = dollars(Math.max(0, limit.capMicros - usedMicros - reservedMicros));
  const of = `${PERIODS[limit.scope]} ${limit.key}`;
  return `The budget for the ${of} is ${dollars(limit.capMicros)}; ${left} are left, which is too little for this turn. An admin can raise it in budgets.yaml; a turn with a smaller \`max_tokens\` may fit.`;
}

function dollars(micros: number): string {
  return `$${(micros / MICROS).toFixed(2)}`;
}
