// Reads options whose values are numbers, times or formats; a number or time that is not given is
// undefined. Each throws its failure.
import { momentMs } from '@subluminal/contracts';
import { badUsage, orThrow } from './command.ts';

export function numberOption(
  name: string,
  text: string | undefined,
  { min, max }: { readonly min: number; readonly max: number },
): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  const message = `--${name} \`${text}\` is not a number from ${min} to ${max}.`;
  return orThrow(badUsage(message, 'Write such a number.'));
}

/** A date and time, or how long before `nowMs`. */
export function timeOption(
  name: string,
  text: string | undefined,
  nowMs: number,
): number | undefined {
  const timeMs = text === undefined ? undefined : momentMs(text, nowMs);
  if (text === undefined || timeMs !== undefined) return timeMs;
  const fix = 'Write 2026-01-31T12:00:00Z, or 15m, 2h, 3d.';
  return orThrow(badUsage(`--${name} \`${text}\` is not a time.`, fix));
}

/** The form of a report, by default text: `--json` is short for `--format json`, and no other form goes with it. */
export function formatOption<const F extends string>({
  json,
  format,
}: {
  readonly json: boolean;
  readonly format: F | undefined;
}): F | 'json' | 'text' {
  if (!json) return format ?? 'text';
  if (format === undefined || format === 'json') return 'json';
  const message = `--json and --format ${format} contradict each other.`;
  return orThrow(badUsage(message, 'Give one of them.'));
}
