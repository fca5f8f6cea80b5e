// Every head in its place: signed, following the one before, and true about the events.
import type { Verifier } from '@subluminal/core/ports';
import { hex } from '../chain/hash-chain.ts';
import {
  type Head,
  headHash,
  headHolds,
  isSameHead,
  NO_HEAD,
  parseWitness,
  sealHolds,
  type Witness,
  type WitnessedHead,
} from '../chain/signed-head.ts';
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

// The heads that were kept outside of the table of heads, and whether they can be believed.

interface KeptHeads {
  readonly findings: Findings;
  readonly ledgerId: string;
  /** The last of the table. */
  readonly lastHead: Head | undefined;
  readonly verifier: Verifier | undefined;
  /** What the ledger itself notes as its last head. */
  readonly noted: string | undefined;
  /** `ledger.head`: its text, or undefined when it is missing; null when nobody asked for it. */
  readonly beside: string | undefined | null;
  /** Heads that somebody has kept. */
  readonly kept: readonly WitnessedHead[];
}

/** Those that the heads of the ledger must agree with. */
export function readWitnesses(options: KeptHeads): readonly WitnessedHead[] {
  const { findings, kept, verifier } = options;
  const note = readNote(options);
  const beside = readBeside(options, note);
  const all = [beside, note, ...kept].filter((one) => one !== undefined);
  return all.filter(({ ledgerId, head }) => {
    if (verifier === undefined || headHolds(ledgerId, head, verifier) !== undefined) return true;
    const message = `the signature of head ${head.n}, kept outside the ledger, does not hold`;
    findings.error('witness', NOWHERE, message);
    return false;
  });
}

function readNote({ noted, verifier, findings }: KeptHeads): WitnessedHead | undefined {
  if (noted === undefined) return undefined;
  const note = parseWitness(noted);
  const holds = note !== undefined && (verifier === undefined || sealHolds(note, verifier));
  if (!holds)
    findings.error('witness', NOWHERE, 'what the ledger notes as its last head was changed');
  return note;
}

function readBeside(
  options: KeptHeads,
  note: WitnessedHead | undefined,
): WitnessedHead | undefined {
  const { beside, findings, verifier, lastHead, ledgerId } = options;
  if (beside === null) return undefined;
  if (beside === undefined) {
    reportMissing(options, note);
    return undefined;
  }
  const witness = parseWitness(beside);
  if (witness === undefined) {
    findings.error('witness', NOWHERE, 'ledger.head cannot be read');
  } else if (verifier !== undefined && witness.seal === undefined) {
    // Those who sign by v2 have sealed it, too.
    const isNew = lastHead !== undefined && headHolds(ledgerId, lastHead, verifier) === 'v2';
    const [level, who] = isNew
      ? (['error', 'somebody without the key has put it there'] as const)
      : (['warning', 'an older version wrote it, or somebody else'] as const);
    findings[level]('witness', NOWHERE, `ledger.head has no seal: ${who}`);
  } else if (verifier !== undefined && !sealHolds(witness, verifier)) {
    const message =
      'the seal of ledger.head does not hold: somebody without the key has put it there';
    findings.error('witness', NOWHERE, message);
  }
  return witness;
}

const UNNOTICED = 'events removed from the end would go unnoticed';

function reportMissing(
  { findings, lastHead, ledgerId, verifier }: KeptHeads,
  note: WitnessedHead | undefined,
): void {
  if (lastHead === undefined && note === undefined) return;
  const isNoted = note !== undefined && (verifier === undefined || sealHolds(note, verifier));
  const isFirst = lastHead?.n === 1 && isNoted && isSameHead(ledgerId, lastHead, note.head);
  if (isFirst) {
    const message = 'ledger.head is missing: the first writer did not get as far as that';
    findings.warning('witness', NOWHERE, message);
  } else findings.error('witness', NOWHERE, `ledger.head is missing: ${UNNOTICED}`);
}

interface Lagging {
  readonly findings: Findings;
  readonly lastHead: Head | undefined;
  readonly witness: Witness | undefined;
}

/** It is written right after each head. So it is looked at again: a writer may be at work. */
export async function checkLag({ findings, lastHead, witness }: Lagging): Promise<void> {
  const text = await witness?.read();
  const beside = text === undefined ? undefined : parseWitness(text)?.head;
  if (beside === undefined || lastHead === undefined) return;
  if (beside.n >= lastHead.n || beside.seq >= lastHead.seq) return;
  const message = `ledger.head is head ${beside.n}, but head ${lastHead.n} is the last one: events removed behind event ${beside.seq} would go unnoticed`;
  findings.warning('witness', [beside.seq + 1, lastHead.seq], message);
}
