// The one shape of an expected failure, from the layer where it happens to the line that prints it.
import type { SubCode } from './error-table.ts';

export interface Failure {
  readonly kind: 'failure';
  /** Stable, and explained in docs/reference/errors.md. */
  readonly code: SubCode;
  /** What is wrong, as a sentence. It may quote a file or a server: make it harmless before printing. */
  readonly message: string;
  /** What to do about it, as an instruction. */
  readonly fix: string;
  /** What was caught, for a log; never printed. */
  readonly cause?: unknown;
}

export function failure(code: SubCode, message: string, fix: string): Failure {
  return { kind: 'failure', code, message, fix };
}

export function isFailure(value: unknown): value is Failure {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'failure';
}
