// What a refusal tells. Parts of it are quoted from arguments and results, which may be hostile.
import { visible } from '../text/visible.ts';

const LINES_MAX = 32;
const REASON_LENGTH_MAX = 4_000;
const UNEXPLAINED = 'Refused by policy.';

/** Safe to show to a person and a model, on few lines, and never empty: clients go on without a reason. */
export function reasonText(text: string): string {
  const lines: string[] = [];
  let room = REASON_LENGTH_MAX;
  for (const line of text.slice(0, 2 * REASON_LENGTH_MAX).split('\n', LINES_MAX)) {
    if (room <= 0) break;
    lines.push(visible(line, room));
    room -= (lines.at(-1)?.length ?? 0) + 1;
  }
  const whole = lines.join('\n').trim();
  return whole === '' ? UNEXPLAINED : whole;
}
