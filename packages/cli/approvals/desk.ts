// How the commands reach the queue and the grants, find an entry by its id, and decide it.
import { type Failure, failure, type Grant, isFailure } from '@subluminal/contracts';
import {
  type Damaged,
  type Decided,
  type Desk,
  type Entry,
  findId,
  type GrantEntry,
  openDesk,
  type PersonVerdict,
  shortId,
} from '@subluminal/plane/approvals';
import { homePaths } from '@subluminal/plane/config';
import { processInfo, thisSystem } from '@subluminal/plane/os';
import { badUsage, EXIT, type Outcome, printout } from '../input/command.ts';
import type { Io } from '../terminal/io.ts';
import { harmless } from '../terminal/text.ts';
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
  const ids = all.found.map(({ request }) => request.id);
  const id = findOne(ids, all.damaged, text);
  if (isFailure(id)) return id;
  const entry = desk.queue.get(id);
  if (entry.kind === 'request') return entry;
  return entry.kind === 'damaged' ? damagedFailure(entry) : unknown(text, 'approval');
}

export function findGrantEntry(desk: Desk, text: string): GrantEntry | Failure {
  const all = desk.grants.list();
  if (isFailure(all)) return all;
  const ids = all.found.map(({ grant }) => grant.id);
  const id = findOne(ids, all.damaged, text);
  if (isFailure(id)) return id;
  const entry = desk.grants.get(id);
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
      return badUsage('the note is too long.', 'Write a shorter one.');
    case 'changed':
    case 'missing':
      return failure('SUB_APPROVAL_UNKNOWN', 'it is not there any more.', 'See `sub approvals`.');
  }
}

/** Reports damaged files on stderr, and returns what JSON says of them. */
export function warnOfDamage(damaged: readonly Damaged[], io: Io) {
  for (const { file, why } of damaged) {
    const code = io.err.colors.dim('[SUB_APPROVAL_DAMAGED]');
    io.err.write(`sub: ${harmless(`${file} is damaged and approves nothing: ${why}.`)} ${code}\n`);
  }
  return damaged.map(({ file, why }) => ({ file, why }));
}

/** Whether the process that asked has ended: then nobody waits for the answer. */
export function isAskerGone({ request }: Entry): boolean {
  const { pid, start } = request.asked_by;
  return processInfo(pid, thisSystem())?.start !== start;
}

/** Decides the request that `id` names, as the person at this terminal. */
export function decideRequest(
  id: string,
  verdict: Pick<PersonVerdict, 'state' | 'note' | 'wish'>,
  io: Io,
): Outcome {
  const desk = openOwnDesk(io);
  if (isFailure(desk)) return desk;
  const entry = findRequest(desk, id);
  if (isFailure(entry)) return entry;
  const { request, sha256 } = entry;
  const own = { by: userName(), channel: TERMINAL, sha256 };
  const decided = desk.decide(request.id, { ...verdict, ...own });
  if (decided.kind !== 'ended' && decided.kind !== 'already') return undecidedFailure(decided);
  const isOurs = decided.kind === 'ended';
  const grant = isOurs ? decided.grant : null;
  if (isOurs && decided.lost !== null) {
    io.err.write(`sub: it is approved, but nothing lasts: ${harmless(decided.lost)}\n`);
  }
  if (isOurs && verdict.state === 'approved' && request.wait === 'hold' && isAskerGone(entry)) {
    const short = shortId(request.id);
    io.err.write(`sub: the process that asked for ${short} has ended; nobody waits for this.\n`);
  }
  const line = `${isOurs ? '' : 'Nothing was changed. '}${endLine(decided.entry, decided.outcome)}`;
  const granted = grant === null ? '' : grantText(activeGrant(grant), io.out.colors);
  const document = { changed: isOurs, outcome: decided.outcome, grant };
  return printout(document, `${line}\n${granted}`, isOurs ? EXIT.fine : EXIT.findings);
}

/** The entry that a grant gets when it is created. */
export function activeGrant(grant: Grant): GrantEntry {
  return { kind: 'grant', grant, state: 'active', end: null };
}
