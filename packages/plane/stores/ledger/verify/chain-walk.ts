// Every event in its place: recomputes the chain row by row and names the first row that breaks it.
import { EVENT, isCallType } from '@subluminal/contracts';
import { attempt } from '../../../os/index.ts';
import { factsOf } from '../chain/event-line.ts';
import { digestOf, GENESIS, hex, linkHash, remainsHash, sameBytes } from '../chain/hash-chain.ts';
import {
  OWN_PRODUCER,
  type PruneRecord,
  readConflict,
  readPrune,
  readRecovery,
  readRollback,
} from '../chain/ledger-events.ts';
import type { EventRow } from '../store/stored-rows.ts';
import { eventsText, type Findings } from './finding.ts';

const REMAINS_KEPT = 10_000;

export class ChainWalk {
  readonly own: OwnRecordWalk;
  lastSeq = 0;
  /** `runEvents` and `callEvents` made rows of `runs` and of `tool_calls`. */
  readonly counts = { events: 0, pruned: 0, runEvents: 0, callEvents: 0 };
  readonly #findings: Findings;
  /** What is beyond was never signed: a break there is an addition. */
  readonly #signedSeq: number;
  #hash: Uint8Array = GENESIS;
  /** The hash that the row before should have had, when it had another. */
  #should: Uint8Array | undefined;
  #remains: Uint8Array = GENESIS;
  #firstPruned: number | undefined;
  /** The running hash of the remains at each pruned row that a record could mark, by its seq. */
  #remainsAt = new Map<number, string>();
  #step = 1;

  constructor(findings: Findings, signedSeq: number) {
    this.#findings = findings;
    this.#signedSeq = signedSeq;
    this.own = new OwnRecordWalk(findings, signedSeq);
  }

  add(row: EventRow): void {
    const gap = row.seq !== this.lastSeq + 1;
    if (gap) this.#reportGap(row.seq);
    this.counts.events += 1;
    this.#checkLink(row, gap);
    this.lastSeq = row.seq;
    if (row.digest !== null) this.#addRemains(row);
    if (row.line !== null) this.#readLine(row, row.line);
  }

  /** The record of everything pruned must be the last one that was signed. */
  finish(): void {
    this.own.finish();
    const { record } = this.own;
    const { pruned } = this.counts;
    if (record === undefined) {
      if (pruned === 0) return;
      const message = `event ${this.#firstPruned} was pruned, but no signed record says so`;
      this.#findings.error('pruned', message, this.#firstPruned ?? 0);
    } else if (record.count !== pruned || record.hash !== hex(this.#remains)) {
      this.#reportRemains(record);
    }
  }

  #reportGap(seq: number): void {
    if (seq < 1) {
      this.#findings.error('added', `event ${seq} stands before the first one`, seq);
      return;
    }
    const [from, to] = [this.lastSeq + 1, seq - 1];
    const message = eventsText(from, to, ['was removed', 'were removed']);
    this.#findings.error('removed', message, [from, to]);
  }

  #checkLink(row: EventRow, gap: boolean): void {
    const { seq, producer, producerSeq, line, hash: stored } = row;
    const digest = row.digest ?? (line === null ? undefined : digestOf(line));
    const should = this.#should;
    const previous = this.#hash;
    this.#should = undefined;
    this.#hash = stored;
    if (digest === undefined) {
      this.#findings.error('changed', `the line of event ${seq} was removed`, seq);
      return;
    }
    const link = { seq, producer, producerSeq, digest };
    const computed = linkHash(previous, link);
    // After a gap nothing tells what the hash should follow: the gap is the finding.
    if (gap || sameBytes(computed, stored)) return;
    // The row before was reported because its hash was changed; this row still follows the true one.
    if (should !== undefined && sameBytes(linkHash(should, link), stored)) return;
    this.#should = computed;
    if (seq > this.#signedSeq) {
      const message = `event ${seq} does not follow from the one before and was never signed`;
      this.#findings.error('added', message, seq);
    } else {
      const message = `event ${seq} was changed, or the one before together with its hash`;
      this.#findings.error('changed', message, seq);
    }
  }

  #addRemains({ seq, line }: EventRow): void {
    this.#firstPruned ??= seq;
    this.counts.pruned += 1;
    this.#remains = remainsHash(this.#remains, { seq, line });
    if (this.counts.pruned % this.#step !== 0) return;
    this.#remainsAt.set(seq, hex(this.#remains));
    if (this.#remainsAt.size <= REMAINS_KEPT) return;
    // Records mark every so many rows by powers of two: of every second one, all of theirs stay.
    this.#remainsAt = new Map([...this.#remainsAt].filter((_, index) => index % 2 === 1));
    this.#step *= 2;
  }

  #readLine({ seq, producer, type, tsMs, runId }: EventRow, line: string): void {
    const facts = attempt(() => factsOf(line));
    if (facts === undefined) {
      this.#findings.error('changed', `the line of event ${seq} is no event any more`, seq);
      return;
    }
    if (facts.type !== type || facts.tsMs !== tsMs || facts.runId !== runId) {
      const message = `event ${seq} is filed under a type, time or run that its line does not have`;
      this.#findings.error('changed', message, seq);
    }
    if (producer === OWN_PRODUCER) this.own.add({ seq, type: facts.type, tsMs: facts.tsMs, line });
    else if (Object.hasOwn(EVENT.cases, facts.type)) {
      this.counts.runEvents += 1;
      if (isCallType(facts.type)) this.counts.callEvents += 1;
    }
  }

  #reportRemains(record: PruneRecord): void {
    let from = this.#firstPruned ?? 0;
    for (const [seq, expected] of record.marks) {
      if (this.#remainsAt.get(seq) !== expected) {
        const message = `a pruned event between ${from} and ${seq} was changed, added or removed`;
        this.#findings.error('pruned', message, [from, seq]);
        return;
      }
      from = seq + 1;
    }
    const message = `a pruned event after ${from - 1} was changed, added or removed`;
    this.#findings.error('pruned', message, [from, this.lastSeq]);
  }
}

// What the ledger has recorded about itself: what was pruned, taken over, accepted or refused.

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
  /** Null in records of earlier versions. */
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

class OwnRecordWalk {
  readonly #findings: Findings;
  readonly #signedSeq: number;
  prunes: PruneReport = { total: 0, last: [] };
  /** The last that is signed: it covers everything that was pruned. */
  record: PruneRecord | undefined;
  #conflictLines = 0;
  #firstConflict: OwnLine | undefined;
  #lastConflict: OwnLine | undefined;

  constructor(findings: Findings, signedSeq: number) {
    this.#findings = findings;
    this.#signedSeq = signedSeq;
  }

  add(own: OwnLine): void {
    const { seq, type, line } = own;
    const warn = (kind: 'recovered' | 'rollback' | 'witness', message: string) =>
      this.#findings.warning(kind, `event ${seq} tells that ${message}`, seq);
    if (type === 'ledger_prune') this.#addPrune(own);
    else if (type === 'ledger_conflict') {
      this.#conflictLines += readConflict(line);
      this.#firstConflict ??= own;
      this.#lastConflict = own;
    } else if (type === 'ledger_recovered') {
      const range = readRecovery(line);
      const what = range ? eventsText(range.fromSeq, range.toSeq, ['was', 'were']) : 'events were';
      warn('recovered', `${what} taken over unsigned, as a crash leaves them`);
    } else if (type === 'ledger_rollback') {
      const reason = readRollback(line);
      const message = 'the ledger went on though it did not follow from what was signed';
      warn('rollback', reason === '' ? message : `${message}: ${reason}`);
    } else if (type === 'ledger_unsealed') {
      warn('witness', 'ledger.head had no seal: an older version wrote it, or somebody else');
    }
  }

  /** Reports all conflicts at once. */
  finish(): void {
    const [first, last] = [this.#firstConflict, this.#lastConflict];
    if (first === undefined || last === undefined) return;
    const when =
      first === last ? `on ${timeOf(first)}` : `between ${timeOf(first)} and ${timeOf(last)}`;
    const what = this.#conflictLines === 1 ? '1 line was' : `${this.#conflictLines} lines were`;
    const message = `${what} set aside ${when}, because another line had the same number: somebody may have written in another's name`;
    this.#findings.warning('conflict', message, [first.seq, last.seq]);
  }

  #addPrune({ seq, tsMs, line }: OwnLine): void {
    const record = readPrune(line);
    // What is not signed yet proves nothing.
    if (record === undefined || seq > this.#signedSeq) return;
    this.record = record;
    const { by = null, runs = null, events, reason } = record;
    const { total, last } = this.prunes;
    const prune = { seq, atMs: tsMs, by, runs, events, reason };
    this.prunes = { total: total + 1, last: [...last, prune].slice(-PRUNES_KEPT) };
  }
}

function timeOf({ tsMs }: OwnLine): string {
  return tsMs === null ? 'an unknown time' : new Date(tsMs).toISOString();
}
