import {
  ACTIONS,
  COUNTER_SCOPES,
  moreLoosens,
  moreTightens,
  none,
  onlyWith,
  stricterAlong,
  trips,
} from '../../changes/directions.ts';
import { type Field, fieldsOf, REFUSAL_FIELDS } from '../../changes/field.ts';

export const BUDGET_FIELDS: readonly Field[] = [
  ...fieldsOf('effect.budget', {
    scope: ['the scope', trips(stricterAlong(COUNTER_SCOPES))],
    limit_calls: ['the limit of calls', trips(moreLoosens)],
    limit_cost_units: ['the limit of cost', trips(moreLoosens)],
    cost_units_per_call: [
      'the cost of a call',
      onlyWith('effect.budget.limit_cost_units', trips(moreTightens)),
    ],
    on_exceed: ['the action', stricterAlong(ACTIONS)],
    hint_text: ['the hint text', none],
  }),
  ...REFUSAL_FIELDS,
];
