// Every event in its place: recomputes the chain row by row and names the first row that breaks it.
import { EVENT, isCallType } from '@subluminal/contracts';
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
import type { EventRow } from '../store/engine.ts';
import { at, type EventRange, eventsText, type Findings } from './finding.ts';

export interface WalkCounts {
  readonly events: number;
  readonly pruned: number;
  /** Events that made rows of `runs`, and of `tool_calls`. */
  readonly runEvents: number;
  readonly callEvents: number;
}

const REMAINS_KEPT = 10_000;

export class ChainWalk {
  readonly #findings: Findings;
  /** What is beyond was never signed: a break there is an addition. */
  readonly #signedSeq: number;
  #lastSeq = 0;
  #hash: Uint8Array = GENESIS;
  /** The hash that the row before should have had, when it had another. */
  #should: Uint8Array | undefined;
  #remains: Uint8Array = GENESIS;
  #firstPruned: number | undefined;
  readonly #own: OwnRecordWalk;
  /** The running hash of the remains at each pruned row that a record could mark, by its seq. */
  #remainsAt = new Map<number, string>();
  #step = 1;
  #counts = { events: 0, pruned: 0, runEvents: 0, callEvents: 0 };

  constructor(findings: Findings, signedSeq: number) {
    this.#findings = findings;
    this.#signedSeq = signedSeq;
    this.#own = new OwnRecordWalk(findings, signedSeq);
  }

  /** What was pruned, as the ledger has told of it. */
  get prunes(): PruneReport {
    return this.#own.prunes;
  }

  get counts(): WalkCounts {
    return this.#counts;
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  add(row: EventRow): void {
    const gap = row.seq !== this.#lastSeq + 1;
    if (gap) this.#reportGap(row.seq);
    this.#counts.events += 1;
    this.#checkLink(row, gap);
    this.#lastSeq = row.seq;
    if (row.digest !== null) this.#addRemains(row);
    if (row.line !== null) this.#readLine(row, row.line);
  }

  /** The record of everything pruned must be the last one that was signed. */
  finish(): void {
    this.#own.finish();
    const { pruned } = this.#counts;
    const { record } = this.#own;
    const found = hex(this.#remains);
    if (record === undefined) {
      if (pruned === 0) return;
      const message = `event ${this.#firstPruned} was pruned, but no signed record says so`;
      this.#findings.error('pruned', at(this.#firstPruned ?? 0), message);
      return;
    }
    if (record.count === pruned && record.hash === found) return;
    this.#reportRemains(record);
  }

  #reportGap(seq: number): void {
    if (seq < 1) {
      this.#findings.error('added', at(seq), `event ${seq} stands before the first one`);
      return;
    }
    const [from, to] = [this.#lastSeq + 1, seq - 1];
    const message = eventsText(from, to, ['was removed', 'were removed']);
    this.#findings.error('removed', [from, to], message);
  }

  #checkLink(row: EventRow, gap: boolean): void {
    const { seq, producer, producerSeq, line, hash: stored } = row;
    const digest = row.digest ?? (line === null ? undefined : digestOf(line));
    const should = this.#should;
    const previous = this.#hash;
    this.#should = undefined;
    this.#hash = stored;
    if (digest === undefined) {
      this.#findings.error('changed', at(seq), `the line of event ${seq} was removed`);
      return;
    }
    const link = { seq, producer, producerSeq, digest };
    const computed = linkHash(previous, link);
    // After a gap nothing tells what the hash should follow: the gap is the finding.
    if (gap || sameBytes(computed, stored)) return;
    // The row before was reported because its hash was changed; this row still follows the true one.
    if (should !== undefined && sameBytes(linkHash(should, link), stored)) return;
    this.#should = computed;
    const added = seq > this.#signedSeq;
    const message = added
      ? `event ${seq} does not follow from the one before and was never signed`
      : `event ${seq} was changed, or the one before together with its hash`;
    this.#findings.error(added ? 'added' : 'changed', at(seq), message);
  }

  #addRemains({ seq, line }: EventRow): void {
    this.#firstPruned ??= seq;
    this.#counts.pruned += 1;
    this.#remains = remainsHash(this.#remains, { seq, line });
    if (this.#counts.pruned % this.#step !== 0) return;
    this.#remainsAt.set(seq, hex(this.#remains));
    if (this.#remainsAt.size > REMAINS_KEPT) this.#thin();
  }

  /** Records mark every so many rows by powers of two: of every second one, all of theirs stay. */
  #thin(): void {
    this.#remainsAt = new Map([...this.#remainsAt].filter((_, index) => index % 2 === 1));
    this.#step *= 2;
  }

  #readLine({ seq, producer, type, tsMs, runId }: EventRow, line: string): void {
    const facts = readFacts(line);
    if (facts === undefined) {
      this.#findings.error('changed', at(seq), `the line of event ${seq} is no event any more`);
      return;
    }
    if (facts.type !== type || facts.tsMs !== tsMs || facts.runId !== runId) {
      const message = `event ${seq} is filed under a type, time or run that its line does not have`;
      this.#findings.error('changed', at(seq), message);
    }
    if (producer === OWN_PRODUCER) this.#own.add({ seq, type: facts.type, tsMs: facts.tsMs, line });
    else if (Object.hasOwn(EVENT.cases, facts.type)) {
      this.#counts.runEvents += 1;
      if (isCallType(facts.type)) this.#counts.callEvents += 1;
    }
  }

  #reportRemains(record: PruneRecord): void {
    let from = this.#firstPruned ?? 0;
    for (const [seq, expected] of record.marks) {
      const found = this.#remainsAt.get(seq);
      if (found === expected) from = seq + 1;
      else {
        const message = `a pruned event between ${from} and ${seq} was changed, added or removed`;
        this.#findings.error('pruned', [from, seq], message);
        return;
      }
    }
    const message = `a pruned event after ${from - 1} was changed, added or removed`;
    this.#findings.error('pruned', [from, this.#lastSeq], message);
  }
}

function readFacts(line: string) {
  try {
    return factsOf(line);
  } catch {
    return undefined;
  }
}

// What the ledger has said about itself: what was pruned, taken over, accepted or refused.

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

export class OwnRecordWalk {
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
    const place: EventRange = [first.seq, last.seq];
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
