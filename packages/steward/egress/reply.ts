// What may be shown on a channel. Secrets never; personal data only where nobody but the user reads.
import { redactFindings, scanText } from '@subluminal/core/detect';
import type { Redactor } from '@subluminal/core/scan';

export interface ReplyOptions {
  /** Whether only the user reads the channel. */
  readonly isPrivate: boolean;
  /** Knows the values of the vault as well as the formats of secrets. */
  readonly redactor: Redactor;
}

/** The text as it may be sent. What is too long to be looked at is cut off. */
export function replyFor(text: string, { isPrivate, redactor }: ReplyOptions): string {
  const classes = isPrivate ? (['secret'] as const) : (['secret', 'personal'] as const);
  const { findings, scannedUnits, unscanned } = scanText(text, { classes, fingerprint: () => '' });
  const isWhole = unscanned.every(({ reason }) => reason === 'binary');
  const seen = isWhole ? text : text.slice(0, scannedUnits);
  // Before the redactor: it would take what gives a secret away, and leave other copies of it.
  const shown = redactor.plain(redactFindings(seen, findings), { truncated: !isWhole });
  return isWhole ? shown : `${shown}…`;
}
