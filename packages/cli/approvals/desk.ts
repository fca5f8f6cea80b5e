// How the commands reach the queue and the grants, find an entry by its id, and decide it.
import { type Failure, failure } from '@subluminal/contracts';
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
import { badUsage, EXIT, type Outcome, orThrow, printout } from '../input/command.ts';
import type { Io } from '../terminal/io.ts';
import { warn } from '../terminal/report-failure.ts';
import { harmless } from '../terminal/text.ts';
import { endLine, newGrantText } from './render-approval.ts';

/** The approvals and grants of this user. Throws its failure. */
export function openOwnDesk(io: Io): Desk {
  const { home } = homePaths(process.env);
  const ports = {
    nowMs: () => Date.now(),
    uuid: () => thisSystem().uuidByTime(),
    warn: (message: string) => warn(io, message),
  };
  return orThrow(openDesk({ home, ports }));
}

/** The name of the user who is logged in. */
export function userName(): string {
  return thisSystem().userName() ?? 'unknown';
}

/** Who decides by these commands, and by which channel. */
export function ownVerdict(note?: string) {
  return { by: userName(), channel: 'terminal', note };
}

/** The request with this id, or with a unique start or end of it. Throws its failure. */
export function findRequest(desk: Desk, text: string): Entry {
  const { found, damaged } = orThrow(desk.queue.list());
  const ids = found.map(({ request }) => request.id);
  const entry = desk.queue.get(orThrow(findOne(ids, damaged, text)));
  if (entry.kind === 'request') return entry;
  return orThrow(entry.kind === 'damaged' ? damagedFailure(entry) : unknown(text, 'approval'));
}

/** The grant with this id, or with a unique start or end of it. Throws its failure. */
export function findGrantEntry(desk: Desk, text: string): GrantEntry {
  const { found, damaged } = orThrow(desk.grants.list());
  const ids = found.map(({ grant }) => grant.id);
  const entry = desk.grants.get(orThrow(findOne(ids, damaged, text)));
  if (entry.kind === 'grant') return entry;
  return orThrow(entry.kind === 'damaged' ? damagedFailure(entry) : unknown(text, 'grant'));
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

/** Why a request or a grant was not ended. */
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

/** Whether the process that asked has ended: then no process waits for the answer. */
export function isAskerGone({ request }: Entry): boolean {
  const { pid, start } = request.asked_by;
  return processInfo(pid, thisSystem())?.start !== start;
}

/** Decides the request that `id` names, as the person at this terminal. */
export function decideRequest(
  id: string,
  { note, ...verdict }: Pick<PersonVerdict, 'state' | 'note' | 'wish'>,
  io: Io,
): Outcome {
  const desk = openOwnDesk(io);
  const entry = findRequest(desk, id);
  const { request, sha256 } = entry;
  const decided = desk.decide(request.id, { ...verdict, ...ownVerdict(note), sha256 });
  if (decided.kind !== 'ended' && decided.kind !== 'already') return undecidedFailure(decided);
  const isOurs = decided.kind === 'ended';
  const grant = isOurs ? decided.grant : null;
  if (isOurs && decided.lost !== null) {
    warn(io, `it is approved, but nothing lasts: ${decided.lost}`);
  }
  if (isOurs && verdict.state === 'approved' && request.wait === 'hold' && isAskerGone(entry)) {
    warn(io, `the process that asked for ${shortId(request.id)} has ended; nobody waits for this.`);
  }
  const line = `${isOurs ? '' : 'Nothing was changed. '}${endLine(decided.entry, decided.outcome)}`;
  const granted = grant === null ? '' : newGrantText(grant, io.out.colors);
  const document = { changed: isOurs, outcome: decided.outcome, grant };
  return printout(document, `${line}\n${granted}`, isOurs ? EXIT.fine : EXIT.findings);
}
