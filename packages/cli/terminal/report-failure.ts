// Prints failures and warnings on standard error. Never a stack trace.
import type { Failure } from '@subluminal/contracts';
import type { Io } from './io.ts';
import { harmless, jsonText } from './text.ts';

/** Prints a failure on standard error; with `json`, also as a document on standard output. */
export function reportFailure({ code, message, fix }: Failure, io: Io, json = false): void {
  const { colors, write } = io.err;
  const name = colors.bold(colors.red('sub:'));
  write(`${name} ${harmless(message)} ${harmless(fix)} ${colors.dim(`[${code}]`)}\n`);
  if (json) io.out.write(jsonText({ error: { code, message, fix } }));
}

export function warn(io: Pick<Io, 'err'>, message: string): void {
  io.err.write(`sub: ${harmless(message)}\n`);
}
