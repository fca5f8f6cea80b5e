// Every event in its place: recomputes the chain row by row and names the first row that breaks it.
import { EVENT, isCallType } from '@subluminal/contracts';
import { digestOf, GENESIS, hex, linkHash, remainsHash, sameBytes } from '../chain/hash-chain.ts';
import { OWN_PRODUCER, type PruneRecord } from '../chain/ledger-events.ts';
import { factsOf } from '../chain/read-line.ts';
import type { EventRow } from '../store/engine.ts';
import { at, eventsText, type Findings } from './finding.ts';
import { OwnWords, type PruneReport } from './own-words.ts';

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
  readonly #own: OwnWords;
  /** The running hash of the remains at each pruned row that a record could mark, by its seq. */
  #remainsAt = new Map<number, string>();
  #step = 1;
  #counts = { events: 0, pruned: 0, runEvents: 0, callEvents: 0 };

  constructor(findings: Findings, signedSeq: number) {
    this.#findings = findings;
    this.#signedSeq = signedSeq;
    this.#own = new OwnWords(findings, signedSeq);
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
