import { alters } from '../../changes/directions.ts';
import { type Field, fieldsOf, REFUSAL_FIELDS } from '../../changes/field.ts';

export const APPROVAL_FIELDS: readonly Field[] = [
  ...fieldsOf('effect.approval', {
    wait: ['the way of waiting', alters],
    timeout_ms: ['the time that a person has', alters],
  }),
  ...REFUSAL_FIELDS,
];
