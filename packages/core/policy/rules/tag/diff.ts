import { classes } from '../../changes/directions.ts';
import { type Field, fieldsOf } from '../../changes/field.ts';

export const TAG_FIELDS: readonly Field[] = fieldsOf('effect.tag', {
  add_risk_class: ['the classes', classes],
});
