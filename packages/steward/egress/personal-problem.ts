// Numbers of people in what is sent: cards, accounts, social security. Those that the user has said may go.
import { scanText } from '@subluminal/core/detect';
import type { Outgoing } from './recipients.ts';

const NUMBERS: ReadonlyMap<string, string> = new Map([
  ['card-number', 'the number of a card'],
  ['iban', 'the number of an account'],
  ['us-ssn', 'a social security number'],
]);

/** Why a person should look first; undefined when there is none, or the user has said it. */
export function personalProblem(
  { texts, addresses }: Outgoing,
  userWords: readonly string[],
): string | undefined {
  const said = signsOf(userWords.join('\n'));
  for (const text of [...texts, ...addresses]) {
    const { findings } = scanText(text, { classes: ['personal'], fingerprint: () => '' });
    for (const { rule, confidence, start, end } of findings) {
      const what = confidence === 'hint' ? undefined : NUMBERS.get(rule);
      if (what !== undefined && !said.includes(signsOf(text.slice(start, end)))) {
        return `It holds ${what}, which the user has not said.`;
      }
    }
  }
  return undefined;
}

function signsOf(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}]/gu, '').toLowerCase();
}
