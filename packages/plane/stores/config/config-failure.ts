// A mistake in the configuration: what, where, and how to correct it.
import { type Failure, failure, type SubCode } from '@subluminal/contracts';

/** The message is a clause about the place. */
export interface ConfigFailure extends Failure {
  /** `PATH:LINE:COLUMN`, the name of a variable, `--FLAG`, or a path. */
  readonly where: string;
}

export function configFailure(
  code: SubCode,
  where: string,
  { message, fix }: Pick<Failure, 'message' | 'fix'>,
): ConfigFailure {
  return { ...failure(code, message, fix), where };
}

/** One line a person can act on and an editor can jump to. */
export function formatConfigFailure({ code, where, message, fix }: ConfigFailure): string {
  return `${where}: error: ${message}. ${fix} [${code}]`;
}

/** A value for a message: short, on one line, without control characters. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
  const plain = text.replaceAll(/[\p{C}\p{Z}]/gu, ' ');
  return plain.length > 60 ? `${plain.slice(0, 60)}…` : plain;
}
