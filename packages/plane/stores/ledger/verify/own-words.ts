// What the ledger has said about itself: what was pruned, taken over, accepted or refused.
import {
  type PruneRecord,
  readConflict,
  readPrune,
  readRecovery,
  readRollback,
} from '../chain/ledger-events.ts';
import { at, eventsText, type Findings, type Place } from './finding.ts';

interface OwnLine {
  readonly seq: number;
  readonly type: string;
  readonly tsMs: number | null;
  readonly line: string;
}

/** One time that something was pruned. */
export interface Prune {
  readonly seq: number;
  readonly atMs: number | null;
  /** Null in records of before. */
  readonly by: 'retention' | 'request' | null;
  readonly runs: number | null;
  readonly events: number;
  readonly reason: string;
}

export interface PruneReport {
  readonly total: number;
  /** The last of them, at most 10. */
  readonly last: readonly Prune[];
}

const PRUNES_KEPT = 10;

export class OwnWords {
  readonly #findings: Findings;
  readonly #signedSeq: number;
  /** The last that is signed: it covers everything that was pruned. */
  record: PruneRecord | undefined;
  #prunes: Prune[] = [];
  #prunesTotal = 0;
  #conflicts = {
    lines: 0,
    first: undefined as OwnLine | undefined,
    last: undefined as OwnLine | undefined,
  };

  constructor(findings: Findings, signedSeq: number) {
    this.#findings = findings;
    this.#signedSeq = signedSeq;
  }

  get prunes(): PruneReport {
    return { total: this.#prunesTotal, last: this.#prunes };
  }

  add(own: OwnLine): void {
    const { seq, type, line } = own;
    switch (type) {
      case 'ledger_prune':
        this.#addPrune(own);
        return;
      case 'ledger_conflict':
        this.#conflicts.lines += readConflict(line);
        this.#conflicts.first ??= own;
        this.#conflicts.last = own;
        return;
      case 'ledger_recovered':
        this.#addRecovery(seq, line);
        return;
      case 'ledger_rollback': {
        const reason = readRollback(line);
        const message = `event ${seq} tells that the ledger went on though it did not follow from what was signed`;
        this.#findings.warning(
          'rollback',
          at(seq),
          reason === '' ? message : `${message}: ${reason}`,
        );
        return;
      }
      case 'ledger_unsealed': {
        const message = `event ${seq} tells that ledger.head had no seal: an older version wrote it, or somebody else`;
        this.#findings.warning('witness', at(seq), message);
      }
    }
  }

  /** What is told once for all of them. */
  finish(): void {
    const { lines, first, last } = this.#conflicts;
    if (first === undefined || last === undefined) return;
    const when =
      first === last ? `on ${timeOf(first)}` : `between ${timeOf(first)} and ${timeOf(last)}`;
    const what = lines === 1 ? '1 line was' : `${lines} lines were`;
    const message = `${what} set aside ${when}, because another line had the same number: somebody may have written in another's name`;
    const place: Place = [first.seq, last.seq];
    this.#findings.warning('conflict', place, message);
  }

  #addPrune({ seq, tsMs, line }: OwnLine): void {
    const record = readPrune(line);
    // What is not signed yet proves nothing.
    if (record === undefined || seq > this.#signedSeq) return;
    this.record = record;
    const { by = null, runs = null, events, reason } = record;
    this.#prunesTotal += 1;
    this.#prunes.push({ seq, atMs: tsMs, by, runs, events, reason });
    if (this.#prunes.length > PRUNES_KEPT) this.#prunes.shift();
  }

  #addRecovery(seq: number, line: string): void {
    const recovered = readRecovery(line);
    const what =
      recovered === undefined
        ? 'events were'
        : eventsText(recovered.fromSeq, recovered.toSeq, ['was', 'were']);
    const message = `event ${seq} tells that ${what} taken over unsigned, as a crash leaves them`;
    this.#findings.warning('recovered', at(seq), message);
  }
}

function timeOf({ tsMs }: OwnLine): string {
  return tsMs === null ? 'an unknown time' : new Date(tsMs).toISOString();
}
