import { type Direction, hint } from '../../changes/directions.ts';
import { ACTION_FIELD, type Field, REASON_FIELDS } from '../../changes/field.ts';

/** In control mode a denial with a hint answers with the hint instead of a block. */
const denialHint: Direction = (change) =>
  change.before === undefined || change.after === undefined ? 'alters' : hint(change);

export const DENY_FIELDS: readonly Field[] = [
  ACTION_FIELD,
  ...REASON_FIELDS,
  { path: 'effect.hint', words: 'the hint', direction: denialHint },
];
