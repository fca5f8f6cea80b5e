// What a refusal tells. Parts of it are quoted from arguments and results, which may be hostile.
import { visible } from '../text/visible.ts';

const LINES_MAX = 32;
const REASON_LENGTH_MAX = 4_000;
const UNEXPLAINED = 'Refused by policy.';

/** Safe to show to a person and a model, on few lines, and never empty: clients go on without a reason. */
export function reasonText(text: string): string {
  const lines = text
    .slice(0, 2 * REASON_LENGTH_MAX)
    .split('\n', LINES_MAX)
    .map((line) => visible(line, REASON_LENGTH_MAX).trimEnd());
  const whole = visibleStart(lines.join('\n').trim());
  return whole === '' ? UNEXPLAINED : whole;
}

/** It is cut at the end of a line where there is one, so that no escape is cut. */
function visibleStart(text: string): string {
  if (text.length <= REASON_LENGTH_MAX) return text;
  const end = text.lastIndexOf('\n', REASON_LENGTH_MAX - 1);
  return end > 0 ? `${text.slice(0, end)}\n…` : visible(text, REASON_LENGTH_MAX);
}
