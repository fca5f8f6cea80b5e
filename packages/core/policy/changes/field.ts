// A field of a policy that can change, and which way its changes go.
import { ACTIONS, alters, type ChangeDirection, hint, none, stricterAlong } from './directions.ts';
import type { Relate } from './relation.ts';

export interface Field {
  readonly path: string;
  /** The field in words, for "… is raised". */
  readonly words: string;
  readonly direction: ChangeDirection;
  /** For a condition: how two of them relate, for "… is narrowed". */
  readonly relate?: Relate;
}

export const ACTION_FIELD: Field = {
  path: 'effect.action',
  words: 'the action',
  direction: stricterAlong(ACTIONS),
};
export const REASON_FIELDS: readonly Field[] = [
  { path: 'effect.reason_code', words: 'the reason code', direction: alters },
  { path: 'effect.message', words: 'the message', direction: none },
];
export const REFUSAL_FIELDS: readonly Field[] = [
  ...REASON_FIELDS,
  { path: 'effect.hint', words: 'the hint', direction: hint },
];

export function fieldsOf(
  path: string,
  fields: { readonly [name: string]: readonly [string, ChangeDirection] },
): readonly Field[] {
  return Object.entries(fields).map(([name, [words, direction]]) => {
    return { path: `${path}.${name}`, words, direction };
  });
}
