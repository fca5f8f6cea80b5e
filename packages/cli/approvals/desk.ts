// How the commands reach the queue and the grants, find an entry by its id, and decide it.
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import {
  type Damaged,
  type Decided,
  type Desk,
  type Entry,
  findId,
  type GrantEntry,
  type GrantWish,
  openDesk,
  shortId,
  type Verdict,
} from '@subluminal/plane/approvals';
import { homePaths } from '@subluminal/plane/config';
import { processInfo, thisSystem } from '@subluminal/plane/os';
import { done, EXIT, type Outcome } from '../input/command.ts';
import type { Io } from '../terminal/io.ts';
import { harmless, jsonText } from '../terminal/text.ts';
import { endLine, grantText } from './render-approval.ts';

/** The channel that these commands are. */
export const TERMINAL = 'terminal';

export function openOwnDesk(io: Io): Desk | Failure {
  const { home } = homePaths(process.env);
  const warn = (message: string) => io.err.write(`sub: ${harmless(message)}\n`);
  const ports = { nowMs: () => Date.now(), uuid: () => thisSystem().uuidByTime(), warn };
  return openDesk({ home, ports });
}

/** Whoever is logged in. */
export function userName(): string {
  return thisSystem().userName() ?? 'unknown';
}

export function findRequest(desk: Desk, text: string): Entry | Failure {
  const all = desk.queue.list();
  if (isFailure(all)) return all;
  const found = findOne(
    all.found.map(({ request }) => request.id),
    all.damaged,
    text,
  );
  if (typeof found !== 'string') return found;
  const entry = desk.queue.get(found);
  if (entry.kind === 'request') return entry;
  return entry.kind === 'damaged' ? damagedFailure(entry) : unknown(text, 'approval');
}

export function findGrantEntry(desk: Desk, text: string): GrantEntry | Failure {
  const all = desk.grants.list();
  if (isFailure(all)) return all;
  const found = findOne(
    all.found.map(({ grant }) => grant.id),
    all.damaged,
    text,
  );
  if (typeof found !== 'string') return found;
  const entry = desk.grants.get(found);
  if (entry.kind === 'grant') return entry;
  return entry.kind === 'damaged' ? damagedFailure(entry) : unknown(text, 'grant');
}

function findOne(
  ids: readonly string[],
  damaged: readonly Damaged[],
  text: string,
): string | Failure {
  const found = findId([...ids, ...damaged.map(({ id }) => id)], text);
  if (found.kind === 'id') {
    const broken = damaged.find(({ id }) => id === found.id);
    return broken === undefined ? found.id : damagedFailure(broken);
  }
  if (found.kind === 'none') return unknown(text, 'approval or grant');
  const message = `\`${text}\` fits ${found.ids.length} of them.`;
  return failure('SUB_APPROVAL_UNKNOWN', message, `Give more of it, like ${found.ids[0]}.`);
}

function unknown(text: string, what: string): Failure {
  const message = `there is no ${what} \`${text}\`.`;
  return failure('SUB_APPROVAL_UNKNOWN', message, 'See `sub approvals --all` or `sub grants`.');
}

function damagedFailure({ file, why }: Damaged): Failure {
  return failure('SUB_APPROVAL_DAMAGED', `${file} is damaged: ${why}.`, 'Remove it.');
}

/** What did not come to an end, as a failure. */
export function undecidedFailure(
  decided: Exclude<Decided, { readonly kind: 'ended' | 'already' }>,
): Failure {
  switch (decided.kind) {
    case 'failure':
      return decided;
    case 'damaged':
      return damagedFailure(decided);
    case 'too_large':
      return failure('SUB_USAGE', 'the note is too long.', 'Write a shorter one.');
    case 'changed':
    case 'missing':
      return failure('SUB_APPROVAL_UNKNOWN', 'it is not there any more.', 'See `sub approvals`.');
  }
}

/** Tells of damaged files on stderr; whether there were any. */
export function warnOfDamage(damaged: readonly Damaged[], io: Io): boolean {
  for (const { file, why } of damaged) {
    const code = io.err.colors.dim('[SUB_APPROVAL_DAMAGED]');
    io.err.write(`sub: ${harmless(`${file} is damaged and approves nothing: ${why}.`)} ${code}\n`);
  }
  return damaged.length > 0;
}

/** Whether the process that asked has ended: then nobody waits for the answer. */
export function isAskerGone({ request }: Entry): boolean {
  const { pid, start } = request.asked_by;
  return processInfo(pid, thisSystem())?.start !== start;
}

interface SpokenVerdict {
  readonly state: Verdict['state'];
  readonly note: string | undefined;
  readonly wish?: GrantWish | undefined;
  readonly json: boolean;
}

export function decideRequest(
  desk: Desk,
  entry: Entry,
  { saying, io }: { saying: SpokenVerdict; io: Io },
): Outcome {
  const { state, note, wish, json } = saying;
  const { sha256 } = entry;
  const verdict = { state, by: userName(), channel: TERMINAL, note, wish, sha256 };
  const decided = desk.decide(entry.request.id, verdict);
  if (decided.kind !== 'ended' && decided.kind !== 'already') return undecidedFailure(decided);
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
