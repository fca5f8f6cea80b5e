import { visible } from '@subluminal/core/visible';
import type { TurnPlan, TurnRefusal } from './types.ts';

export type RefusePlan = Extract<TurnPlan, { readonly kind: 'refuse' }>;

const MESSAGE_LENGTH_MAX = 2_000;

export function refuse(
  kind: TurnRefusal['kind'],
  message: string,
  ruleIds: readonly string[] = [],
): RefusePlan {
  const by = ruleIds.length === 0 ? '' : ` (rule ${ruleIds.join(', ')})`;
  const text = visible(`Subluminal: ${message}${by}`, MESSAGE_LENGTH_MAX);
  return { kind: 'refuse', refusal: { kind, message: text, ruleIds, headers: {} } };
}
