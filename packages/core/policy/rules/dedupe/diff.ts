import {
  ACTIONS,
  alters,
  CALL_SCOPES,
  moreTightens,
  none,
  stricterAlong,
  trips,
} from '../../changes/directions.ts';
import { type Field, fieldsOf, REFUSAL_FIELDS } from '../../changes/field.ts';

export const DEDUPE_FIELDS: readonly Field[] = [
  ...fieldsOf('effect.dedupe', {
    scope: ['the scope', trips(stricterAlong(CALL_SCOPES))],
    window_ms: ['the window', trips(moreTightens)],
    key: ['the key', alters],
    on_duplicate: ['the action', stricterAlong(ACTIONS)],
    hint_text: ['the hint text', none],
  }),
  ...REFUSAL_FIELDS,
];
