// Every head in its place: signed, following the one before, and true about the events.
import type { Verifier } from '@subluminal/core/ports';
import { hex } from '../chain/hash-chain.ts';
import { type Head, headHash, headHolds, NO_HEAD } from '../chain/signed-head.ts';
import { isSameHead, type WitnessedHead } from '../chain/witnessed.ts';
import type { ChainReader, EventRow } from '../store/engine.ts';
import { eventsText, type Findings, NOWHERE } from './finding.ts';

const PAGE_HEADS = 500;

interface HeadWalkOptions {
  readonly reader: ChainReader;
  readonly findings: Findings;
  readonly ledgerId: string;
  readonly verifier: Verifier | undefined;
  /** Heads that were kept elsewhere. */
  readonly witnesses: readonly WitnessedHead[];
  /** Somebody writes: the last events need not be signed yet. */
  readonly isWritten: boolean;
}

/** Walks along with the events: heads and events both grow in seq. */
export class HeadWalk {
  readonly #options: HeadWalkOptions;
  /** By their number. */
  readonly #awaited = new Map<number, readonly Head[]>();
  #page: Head[] = [];
  #done = false;
  #last: Head | undefined;

  constructor(options: HeadWalkOptions) {
    this.#options = options;
    for (const { head, ledgerId } of options.witnesses) {
      if (ledgerId !== options.ledgerId) continue;
      this.#awaited.set(head.n, [...(this.#awaited.get(head.n) ?? []), head]);
    }
  }

  get last(): Head | undefined {
    return this.#last;
  }

  /** Checks the heads that speak of this event. */
  async add(row: EventRow): Promise<void> {
    for (let head = await this.#peek(); head !== undefined; head = await this.#peek()) {
      if (head.seq > row.seq) return;
      this.#page.shift();
      this.#checkHead(head);
      if (head.seq === row.seq) this.#checkEvent(head, row);
    }
  }

  /** What is left speaks of events that are not there. */
  async finish(lastSeq: number): Promise<void> {
    for (let head = await this.#peek(); head !== undefined; head = await this.#peek()) {
      this.#page.shift();
      this.#checkHead(head);
      if (head.seq > lastSeq) {
        const message = `events ${lastSeq + 1} to ${head.seq} were removed from the end: head ${head.n} was signed over them`;
        this.#options.findings.error('removed', [lastSeq + 1, head.seq], message);
      }
    }
    this.#checkEnd(lastSeq);
    this.#checkWitnesses(lastSeq);
  }

  async #peek(): Promise<Head | undefined> {
    if (this.#page.length === 0 && !this.#done) {
      this.#page = [...(await this.#options.reader.heads(this.#lastRead, PAGE_HEADS))];
      this.#lastRead = this.#page.at(-1)?.n ?? this.#lastRead;
      this.#done = this.#page.length < PAGE_HEADS;
    }
    return this.#page[0];
  }
  #lastRead = Number.MIN_SAFE_INTEGER;

  #checkHead(head: Head): void {
    const { findings, ledgerId, verifier } = this.#options;
    const last = this.#last;
    this.#last = head;
    this.#compare(head);
    if (head.n !== (last?.n ?? 0) + 1) {
      findings.error('head', NOWHERE, `a head is missing before head ${head.n}`);
    } else if (head.prev !== (last === undefined ? NO_HEAD : headHash(ledgerId, last))) {
      const which = last === undefined ? 'the first head' : `head ${last.n} or head ${head.n}`;
      findings.error('head', NOWHERE, `${which} was changed`);
    }
    if (verifier !== undefined && headHolds(ledgerId, head, verifier) === undefined) {
      findings.error('head', NOWHERE, `the signature of head ${head.n} does not hold`);
    }
    if (head.seq < (last?.seq ?? 0) || head.count !== head.seq) {
      findings.error('head', NOWHERE, `head ${head.n} goes back behind the one before`);
    }
    if (last?.kind === 'close' && head.kind !== 'open') {
      findings.error('head', NOWHERE, `head ${head.n} follows a closed ledger without opening it`);
    }
    this.#before = last?.seq ?? 0;
  }
  #before = 0;

  /** The chain may hold and be another one: the head knows. */
  #checkEvent(head: Head, row: EventRow): void {
    if (head.hash === hex(row.hash)) return;
    const from = Math.min(this.#before + 1, head.seq);
    const message = `events ${from} to ${head.seq} are not those that head ${head.n} was signed over`;
    this.#options.findings.error('changed', [from, head.seq], message);
  }

  /** Behind the last head, only what a crash or a writer at work leaves may follow. */
  #checkEnd(lastSeq: number): void {
    const { findings, isWritten } = this.#options;
    const last = this.#last;
    const from = (last?.seq ?? 0) + 1;
    if (lastSeq < from) return;
    const place = [from, lastSeq] as const;
    if (last === undefined) {
      const what = eventsText(from, lastSeq, ['is', 'are']);
      const message = `${what} not signed by anybody: every head is gone, or the events were written by somebody without the key`;
      findings.error('unsigned', place, message);
    } else if (last.kind === 'close') {
      const what = eventsText(from, lastSeq, ['was', 'were']);
      findings.error('added', place, `${what} added after the ledger was closed`);
    } else {
      const message = eventsText(from, lastSeq, ['is not signed yet', 'are not signed yet']);
      if (isWritten) findings.note('unsigned', place, message);
      else findings.warning('unsigned', place, `${message}: the last writer did not end orderly`);
    }
  }

  #compare(head: Head): void {
    const { ledgerId, findings } = this.#options;
    const awaited = this.#awaited.get(head.n) ?? [];
    this.#awaited.delete(head.n);
    if (awaited.every((other) => isSameHead(ledgerId, head, other))) return;
    const message = `head ${head.n} is not the one that was kept outside the ledger`;
    findings.error('head', [null, head.seq], message);
  }

  #checkWitnesses(lastSeq: number): void {
    const { witnesses, ledgerId, findings } = this.#options;
    for (const { head, ledgerId: other } of witnesses) {
      if (other === ledgerId) continue;
      const message = `head ${head.n} was kept outside the ledger, but belongs to another ledger`;
      findings.error('removed', NOWHERE, message);
    }
    for (const [head] of this.#awaited.values()) {
      if (head === undefined) continue;
      const from = Math.min((this.#last?.seq ?? 0) + 1, head.seq);
      const lost = head.seq > lastSeq ? `events ${lastSeq + 1} to ${head.seq} were` : 'a head was';
      const message = `${lost} removed from the end, or the ledger was replaced by an older one: head ${head.n} was kept outside`;
      findings.error('removed', [head.seq > lastSeq ? lastSeq + 1 : from, head.seq], message);
    }
  }
}
