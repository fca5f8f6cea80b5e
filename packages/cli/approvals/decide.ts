// Says yes or no to one request, and tells what came of it.
import type { Desk, Entry, GrantWish, Verdict } from '@subluminal/plane/approvals';
import { shortId } from '@subluminal/plane/approvals';
import { done, EXIT, type Outcome } from '../input/command.ts';
import type { Io } from '../terminal/io.ts';
import { harmless, jsonText } from '../terminal/text.ts';
import { failureOf, isAskerGone, speaker, TERMINAL } from './home.ts';
import { endLine, grantText } from './lines.ts';

interface Saying {
  readonly state: Verdict['state'];
  readonly note: string | undefined;
  readonly wish?: GrantWish | undefined;
  readonly json: boolean;
}

export function say(desk: Desk, entry: Entry, { saying, io }: { saying: Saying; io: Io }): Outcome {
  const { state, note, wish, json } = saying;
  const { sha256 } = entry;
  const verdict = { state, by: speaker(), channel: TERMINAL, note, wish, sha256 };
  const decided = desk.decide(entry.request.id, verdict);
  if (decided.kind !== 'ended' && decided.kind !== 'already') return failureOf(decided);
  const isOurs = decided.kind === 'ended';
  const grant = isOurs ? decided.grant : null;
  if (json) io.out.write(jsonText({ changed: isOurs, outcome: decided.outcome, grant }));
  else {
    const line = endLine(decided.entry, decided.outcome);
    io.out.write(isOurs ? `${line}\n` : `Nothing was changed. ${line}\n`);
    if (grant !== null) {
      io.out.write(grantText({ kind: 'grant', grant, state: 'active', end: null }, io.out.colors));
    }
  }
  if (isOurs && decided.lost !== null) {
    io.err.write(`sub: it is approved, but nothing lasts: ${harmless(decided.lost)}\n`);
  }
  if (isOurs && state === 'approved' && entry.request.wait === 'hold' && isAskerGone(entry)) {
    const id = shortId(entry.request.id);
    io.err.write(`sub: the process that asked for ${id} has ended; nobody waits for this.\n`);
  }
  return done(isOurs ? EXIT.fine : EXIT.findings);
}
