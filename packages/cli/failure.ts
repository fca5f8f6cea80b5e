// What the user can mend: a wrong flag, a missing file, a broken snapshot. Never a stack trace.
import type { SubCode } from '@subluminal/contracts';
import type { Io } from './io.ts';
import { harmless, jsonText } from './text.ts';

export interface Failure {
  readonly kind: 'failure';
  /** A stable code, listed in the docs. */
  readonly code: string;
  readonly message: string;
  /** What to do about it, as an instruction. */
  readonly fix: string;
}

export function failure(code: SubCode, message: string, fix: string): Failure {
  return { kind: 'failure', code, message, fix };
}

export function isFailure(value: unknown): value is Failure {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'failure';
}

/** Tells the person on stderr; with `--json`, also the program that reads stdout. */
export function reportFailure({ code, message, fix }: Failure, io: Io, json: boolean): void {
  const { colors, write } = io.err;
  const name = colors.bold(colors.red('sub:'));
  write(`${name} ${harmless(message)} ${harmless(fix)} ${colors.dim(`[${code}]`)}\n`);
  if (json) io.out.write(jsonText({ error: { code, message, fix } }));
}
