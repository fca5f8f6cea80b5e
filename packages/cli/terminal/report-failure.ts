// Prints what the user can mend: a wrong flag, a missing file, a broken snapshot. Never a stack trace.
import type { Failure } from '@subluminal/contracts';
import type { Io } from './io.ts';
import { harmless, jsonText } from './text.ts';

/** Tells the person on stderr; with `--json`, also the program that reads stdout. */
export function reportFailure({ code, message, fix }: Failure, io: Io, json: boolean): void {
  const { colors, write } = io.err;
  const name = colors.bold(colors.red('sub:'));
  write(`${name} ${harmless(message)} ${harmless(fix)} ${colors.dim(`[${code}]`)}\n`);
  if (json) io.out.write(jsonText({ error: { code, message, fix } }));
}
