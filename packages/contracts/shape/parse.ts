// The one way from unknown data to a contract's type.

import { DECISION, type Decision, ERROR_DATA, type ErrorData } from '../decision/decision.ts';
import { check, type Mismatch } from './check.ts';
import type { Infer, Shape } from './shape.ts';

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly mismatches: readonly Mismatch[] };

/** Reads a value as a shape's type. Unknown fields of open objects stay where they are. */
export function parseAs<S extends Shape>(shape: S, value: unknown): Parsed<Infer<S>> {
  const mismatches = check(shape, value);
  if (mismatches.length > 0) return { ok: false, mismatches };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `check` has just shown it.
  return { ok: true, value: value as Infer<S> };
}

export function parseDecision(value: unknown): Parsed<Decision> {
  return parseAs<typeof DECISION>(DECISION, value);
}

/** Reads `error.data` of a refused call. */
export function parseErrorData(value: unknown): Parsed<ErrorData> {
  return parseAs<typeof ERROR_DATA>(ERROR_DATA, value);
}
