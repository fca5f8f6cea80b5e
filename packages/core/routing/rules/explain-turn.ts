// Why a policy decided as it did: every rule with what it saw. For people, not for the path of a turn.
import type { ModelDecision } from '@subluminal/contracts';
import type { ConditionPart } from '../../policy/match/when-parts.ts';
import { visible } from '../../text/visible.ts';
import {
  decideTurn,
  restrictingPart,
  type TurnPolicy,
  testRule,
  turnMoment,
} from './decide-turn.ts';
import { type TurnPolicyInput, turnContext } from './turn-variables.ts';

export interface TurnExplanation {
  readonly decision: ModelDecision;
  readonly checked_rules: readonly CheckedRule[];
}

export interface CheckedRule {
  readonly id: string;
  readonly matched: boolean;
  /** The parts of the condition that did not hold, why it failed, or the number that was drawn. */
  readonly trace?: string;
}

const VALUE_LENGTH_MAX = 80;
const TRACE_LENGTH_MAX = 1_000;

export function explainTurn(policy: TurnPolicy, input: TurnPolicyInput): TurnExplanation {
  const context = turnContext(input, policy.plan);
  const { decision } = decideTurn(policy, input);
  const checked = policy.rules.map((rule): CheckedRule => {
    const moment = turnMoment(policy, input, { rule, context });
    const { isMatch, failed } = testRule(rule, moment);
    if (failed !== undefined) {
      const isRestricting = restrictingPart(rule) !== undefined;
      const counts = isRestricting ? 'it counts as a match' : 'it counts as none';
      const trace = traceText(`it could not be evaluated (${failed}), so ${counts}`);
      return { id: rule.id, matched: isRestricting, trace };
    }
    const drawn = rule.when.usesRand ? `rand()=${moment.rand().toFixed(3)}` : '';
    if (isMatch) return { id: rule.id, matched: true, ...(drawn !== '' && { trace: drawn }) };
    const parts = rule.when.explain(moment).map(partText);
    const trace = [...parts, drawn].filter((part) => part !== '').join('; ');
    return { id: rule.id, matched: false, ...(trace !== '' && { trace: traceText(trace) }) };
  });
  return { decision, checked_rules: checked };
}

function partText({ expression, gave, values }: ConditionPart): string {
  const seen = values.map(({ name, value }) => `${name} = ${valueText(value)}`).join(', ');
  const outcome = gave === null ? 'could not be evaluated' : `is ${gave}`;
  return `${expression.replace(/\s+/g, ' ')} ${outcome}${seen === '' ? '' : ` (${seen})`}`;
}

function valueText(value: unknown): string {
  const text = JSON.stringify(value, (_, part: unknown) => {
    return typeof part === 'bigint' ? Number(part) : part;
  });
  return visible(text ?? 'missing', VALUE_LENGTH_MAX);
}

function traceText(text: string): string {
  return visible(text, TRACE_LENGTH_MAX);
}
