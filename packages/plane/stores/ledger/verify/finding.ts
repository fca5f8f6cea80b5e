// What verifying can say.

export type FindingKind =
  | 'changed' // a row is not what was written
  | 'removed' // a row that was written is gone
  | 'added' // a row that nobody signed for
  | 'head' // a head does not hold
  | 'pruned' // what was pruned is not what the record says
  | 'projection' // a row of a table is not what the events make
  | 'rollback' // the ledger went on from an older state, and recorded it
  | 'recovered' // events were taken over after a crash, before anybody had signed them
  | 'unsigned' // events that no head covers
  | 'witness' // the head outside the ledger is missing, unreadable or not the last one
  | 'key' // signatures that nobody could check
  | 'conflict' // two lines came under one number
  | 'schema' // something was defined that our own steps do not make, or one of theirs is gone
  | 'index' // an index does not hold what its table holds
  | 'unreadable';

export interface LedgerFinding {
  readonly kind: FindingKind;
  /** A `warning` is worth knowing, and no proof that anything is wrong; a `note` is as it should be. */
  readonly level: 'error' | 'warning' | 'note';
  /** The first and the last event concerned; null when it is not about events. */
  readonly fromSeq: number | null;
  readonly toSeq: number | null;
  readonly message: string;
}

const FINDINGS_MAX = 100;

/** One event, the first and the last of several, or undefined for what is not about events. */
type FindingPlace = number | readonly [fromSeq: number | null, toSeq: number | null] | undefined;

/** Gathers findings, a bounded number of them. */
export class Findings {
  readonly list: LedgerFinding[] = [];
  total = 0;
  errors = 0;

  error(kind: FindingKind, message: string, place?: FindingPlace): void {
    this.errors += 1;
    this.#add({ level: 'error', kind, message }, place);
  }

  warning(kind: FindingKind, message: string, place?: FindingPlace): void {
    this.#add({ level: 'warning', kind, message }, place);
  }

  note(kind: FindingKind, message: string, place?: FindingPlace): void {
    this.#add({ level: 'note', kind, message }, place);
  }

  #add(finding: Pick<LedgerFinding, 'level' | 'kind' | 'message'>, place: FindingPlace): void {
    this.total += 1;
    if (this.list.length >= FINDINGS_MAX) return;
    const [fromSeq, toSeq] = typeof place === 'number' ? [place, place] : (place ?? [null, null]);
    this.list.push({ ...finding, fromSeq, toSeq });
  }
}

/** `event 7 was`, `events 7 to 9 were`. */
export function eventsText(
  from: number,
  to: number,
  [one, many]: readonly [string, string],
): string {
  return from === to ? `event ${from} ${one}` : `events ${from} to ${to} ${many}`;
}
