// What may be shown on a channel. Secrets never; personal data only where nobody but the user reads.
import { type ContentFinding, scanText } from '@subluminal/core/detect';
import type { Redactor } from '@subluminal/core/scan';

export interface ReplyOptions {
  /** Whether only the user reads the channel. */
  readonly isPrivate: boolean;
  /** Knows the values of the vault as well as the formats of secrets. */
  readonly redactor: Redactor;
}

const UNSURE = 'hint';

/** The text as it may be sent. What is too long to be looked at is cut off. */
export function replyFor(text: string, { isPrivate, redactor }: ReplyOptions): string {
  const clean = redactor.plain(text);
  const classes = isPrivate ? (['secret'] as const) : (['secret', 'personal'] as const);
  const { findings, scannedUnits, unscanned } = scanText(clean, { classes, fingerprint: () => '' });
  const isWhole = unscanned.every(({ reason }) => reason === 'binary');
  const shown = isWhole ? clean : `${clean.slice(0, scannedUnits)}…`;
  return withoutFindings(shown, findings);
}

function withoutFindings(text: string, findings: readonly ContentFinding[]): string {
  let out = '';
  let done = 0;
  const sure = findings.filter(({ confidence }) => confidence !== UNSURE);
  for (const { start, end, rule } of sure.toSorted((left, right) => left.start - right.start)) {
    if (end <= done) continue;
    out += `${text.slice(done, Math.max(done, start))}[REDACTED:${rule}]`;
    done = end;
  }
  return out + text.slice(done);
}
