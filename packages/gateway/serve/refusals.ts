// Refusals of the gateway, and what it says about a decision in the headers of an answer.
import type { ModelDecision } from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';
import type { BudgetState } from '../store/types.ts';
import type { TurnPlan, TurnRefusal } from '../turns/types.ts';

export type RefusePlan = Extract<TurnPlan, { readonly kind: 'refuse' }>;

const MESSAGE_LENGTH_MAX = 2_000;
const HEADER_LENGTH_MAX = 2_048;
const MICROS = 1_000_000;

export function refuse(
  kind: TurnRefusal['kind'],
  message: string,
  ruleIds: readonly string[] = [],
): RefusePlan {
  const by = ruleIds.length === 0 ? '' : ` (rule ${ruleIds.join(', ')})`;
  const text = visible(`Subluminal: ${message}${by}`, MESSAGE_LENGTH_MAX);
  return { kind: 'refuse', refusal: { kind, message: text, ruleIds, headers: {} } };
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
