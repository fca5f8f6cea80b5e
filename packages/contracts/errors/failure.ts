// The one shape of an expected failure, from the layer where it happens to the line that prints it.
import { errorFix, errorTitle, type SubCode } from './error-table.ts';

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

/** The failure in the words of the error table, with a detail behind the title. */
export function tableFailure(code: SubCode, detail = ''): Failure {
  const title = errorTitle(code);
  return failure(code, detail === '' ? title : `${title} ${detail}`, errorFix(code));
}

export function isFailure(value: unknown): value is Failure {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'failure';
}

/** A failure that has to be thrown, for example to roll back the transaction around it. */
export class ThrownFailure extends Error implements Failure {
  override readonly name = 'Failure';
  readonly kind = 'failure';
  readonly code: SubCode;
  readonly fix: string;

  constructor({ code, message, fix, cause }: Failure) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
    this.fix = fix;
  }
}

/** Runs `work`, and returns the failure that it throws. */
export async function catchFailure<T>(work: () => Promise<T>): Promise<T | Failure> {
  try {
    return await work();
  } catch (cause) {
    if (isFailure(cause)) return cause;
    throw cause;
  }
}
