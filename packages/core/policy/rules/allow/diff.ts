import { ACTION_FIELD, type Field, REASON_FIELDS } from '../../changes/field.ts';

export const ALLOW_FIELDS: readonly Field[] = [ACTION_FIELD, ...REASON_FIELDS];
