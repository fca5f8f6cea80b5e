// A field of a policy that can change, and which way its changes go.
import { action, alters, type ChangeDirection, hint, none } from './directions.ts';
import type { Relate } from './relation.ts';

export interface Field {
  readonly path: string;
  /** The field in words, for "… is raised". */
  readonly words: string;
  readonly direction: ChangeDirection;
  /** For a condition: how two of them relate, for "… is narrowed". */
  readonly relate?: Relate;
}

/** The fields below a path, each with its words and its direction. */
export function fieldsOf(
  path: string,
  fields: { readonly [name: string]: readonly [string, ChangeDirection] },
): readonly Field[] {
  return Object.entries(fields).map(([name, [words, direction]]) => {
    return { path: `${path}.${name}`, words, direction };
  });
}

export const ACTION_FIELDS = fieldsOf('effect', { action: ['the action', action] });
export const REASON_FIELDS = fieldsOf('effect', {
  reason_code: ['the reason code', alters],
  message: ['the message', none],
});
export const REFUSAL_FIELDS: readonly Field[] = [
  ...REASON_FIELDS,
  ...fieldsOf('effect', { hint: ['the hint', hint] }),
];
