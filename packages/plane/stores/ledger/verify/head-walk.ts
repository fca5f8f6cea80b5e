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
  type WitnessFault,
  witnessFault,
} from '../chain/signed-head.ts';
import type { ChainReader } from '../sqlite/chain-reads.ts';
import type { EventRow } from '../store/stored-rows.ts';
import { eventsText, type Findings } from './finding.ts';

const PAGE_HEADS = 500;

interface HeadWalkOptions {
  readonly reader: ChainReader;
  readonly findings: Findings;
  readonly ledgerId: string;
  readonly verifier: Verifier | undefined;
  /** Heads that were kept elsewhere. */
  readonly witnesses: readonly WitnessedHead[];
  /** A writer is at work: the last events need not be signed yet. */
  readonly isWritten: boolean;
}

/** Walks along with the events: heads and events both grow in seq. */
export class HeadWalk {
  readonly #options: HeadWalkOptions;
  /** The witnesses of this ledger that no head was compared with yet. */
  readonly #awaited: Set<Head>;
  readonly #heads: AsyncGenerator<Head, undefined>;
  #next: Head | undefined;
  #last: Head | undefined;
  #before = 0;

  constructor(options: HeadWalkOptions) {
    const { reader, witnesses, ledgerId } = options;
    this.#options = options;
    this.#heads = headsOf(reader);
    const own = witnesses.filter((one) => one.ledgerId === ledgerId);
    this.#awaited = new Set(own.map(({ head }) => head));
  }

  /** Checks the heads that were signed up to this event. */
  async add(row: EventRow): Promise<void> {
    for (let head = await this.#peek(); head !== undefined; head = await this.#peek()) {
      if (head.seq > row.seq) return;
      this.#next = undefined;
      this.#checkHead(head);
      if (head.seq === row.seq) this.#checkEvent(head, row);
    }
  }

  /** Heads that are left were signed over events that are not there. */
  async finish(lastSeq: number): Promise<void> {
    for (let head = await this.#peek(); head !== undefined; head = await this.#peek()) {
      this.#next = undefined;
      this.#checkHead(head);
      if (head.seq <= lastSeq) continue;
      const message = `events ${lastSeq + 1} to ${head.seq} were removed from the end: head ${head.n} was signed over them`;
      this.#options.findings.error('removed', message, [lastSeq + 1, head.seq]);
    }
    this.#checkEnd(lastSeq);
    this.#checkWitnesses(lastSeq);
  }

  async #peek(): Promise<Head | undefined> {
    this.#next ??= (await this.#heads.next()).value;
    return this.#next;
  }

  #checkHead(head: Head): void {
    const { findings, ledgerId, verifier } = this.#options;
    const last = this.#last;
    this.#last = head;
    this.#before = last?.seq ?? 0;
    this.#compare(head);
    if (head.n !== (last?.n ?? 0) + 1) {
      findings.error('head', `a head is missing before head ${head.n}`);
    } else if (head.prev !== (last === undefined ? NO_HEAD : headHash(ledgerId, last))) {
      const which = last === undefined ? 'the first head' : `head ${last.n} or head ${head.n}`;
      findings.error('head', `${which} was changed`);
    }
    if (verifier !== undefined && headHolds(ledgerId, head, verifier) === undefined) {
      findings.error('head', `the signature of head ${head.n} does not hold`);
    }
    if (head.seq < (last?.seq ?? 0) || head.count !== head.seq) {
      findings.error('head', `head ${head.n} goes back behind the one before`);
    }
    if (last?.kind === 'close' && head.kind !== 'open') {
      findings.error('head', `head ${head.n} follows a closed ledger without opening it`);
    }
  }

  /** A chain that holds may still be another one than the one that was signed. */
  #checkEvent(head: Head, row: EventRow): void {
    if (head.hash === hex(row.hash)) return;
    const from = Math.min(this.#before + 1, head.seq);
    const message = `events ${from} to ${head.seq} are not those that head ${head.n} was signed over`;
    this.#options.findings.error('changed', message, [from, head.seq]);
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
      findings.error('unsigned', message, place);
    } else if (last.kind === 'close') {
      const what = eventsText(from, lastSeq, ['was', 'were']);
      findings.error('added', `${what} added after the ledger was closed`, place);
    } else {
      const message = eventsText(from, lastSeq, ['is not signed yet', 'are not signed yet']);
      if (isWritten) findings.note('unsigned', message, place);
      else findings.warning('unsigned', `${message}: the last writer did not end orderly`, place);
    }
  }

  #compare(head: Head): void {
    const { ledgerId, findings } = this.#options;
    const awaited = [...this.#awaited].filter(({ n }) => n === head.n);
    for (const one of awaited) this.#awaited.delete(one);
    if (awaited.every((one) => isSameHead(ledgerId, head, one))) return;
    const message = `head ${head.n} is not the one that was kept outside the ledger`;
    findings.error('head', message, [null, head.seq]);
  }

  #checkWitnesses(lastSeq: number): void {
    const { witnesses, ledgerId, findings } = this.#options;
    for (const { head, ledgerId: other } of witnesses) {
      if (other === ledgerId) continue;
      const message = `head ${head.n} was kept outside the ledger, but belongs to another ledger`;
      findings.error('removed', message);
    }
    const reported = new Set<number>();
    for (const head of this.#awaited) {
      if (reported.has(head.n)) continue;
      reported.add(head.n);
      const isCut = head.seq > lastSeq;
      const from = isCut ? lastSeq + 1 : Math.min((this.#last?.seq ?? 0) + 1, head.seq);
      const lost = isCut ? `events ${from} to ${head.seq} were` : 'a head was';
      const message = `${lost} removed from the end, or the ledger was replaced by an older one: head ${head.n} was kept outside`;
      findings.error('removed', message, [from, head.seq]);
    }
  }
}

async function* headsOf(reader: ChainReader): AsyncGenerator<Head, undefined> {
  for (let afterN = Number.MIN_SAFE_INTEGER; ; ) {
    const page = await reader.heads(afterN, PAGE_HEADS);
    yield* page;
    if (page.length < PAGE_HEADS) return undefined;
    afterN = page.at(-1)?.n ?? afterN;
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
  /** The text of `ledger.head`, or undefined when it is missing; null when it is not checked. */
  readonly beside: string | undefined | null;
  /** Heads that somebody has kept. */
  readonly kept: readonly WitnessedHead[];
}

const BY_ANOTHER = 'somebody without the key has put it there';
const WITNESS_FAULTS: { readonly [F in WitnessFault]: readonly ['error' | 'warning', string] } = {
  missing: ['error', 'ledger.head is missing: events removed from the end would go unnoticed'],
  late: ['warning', 'ledger.head is missing: the first writer did not get as far as that'],
  unreadable: ['error', 'ledger.head cannot be read'],
  unsealed: ['error', `ledger.head has no seal: ${BY_ANOTHER}`],
  old: ['warning', 'ledger.head has no seal: an older version wrote it, or somebody else'],
  forged: ['error', `the seal of ledger.head does not hold: ${BY_ANOTHER}`],
};

/** Those that the heads of the ledger must agree with. */
export function readWitnesses(options: KeptHeads): readonly WitnessedHead[] {
  const { findings, kept, verifier, noted, beside } = options;
  const note = noted === undefined ? undefined : parseWitness(noted);
  const isNoted = note !== undefined && (verifier === undefined || sealHolds(note, verifier));
  if (noted !== undefined && !isNoted) {
    findings.error('witness', 'what the ledger notes as its last head was changed');
  }
  const fault = beside === null ? undefined : witnessFault({ ...options, note, beside });
  if (fault !== undefined) {
    const [level, message] = WITNESS_FAULTS[fault];
    findings[level]('witness', message);
  }
  const all = [parseWitness(beside ?? ''), note, ...kept].filter((one) => one !== undefined);
  return all.filter(({ ledgerId, head }) => {
    if (verifier === undefined || headHolds(ledgerId, head, verifier) !== undefined) return true;
    const message = `the signature of head ${head.n}, kept outside the ledger, does not hold`;
    findings.error('witness', message);
    return false;
  });
}

/** Reads `ledger.head` again, because it is written right after each head: a writer may be at work. */
export async function checkLag(
  findings: Findings,
  lastHead: Head | undefined,
  witness: Witness | undefined,
): Promise<void> {
  const text = await witness?.read();
  const beside = text === undefined ? undefined : parseWitness(text)?.head;
  if (beside === undefined || lastHead === undefined) return;
  if (beside.n >= lastHead.n || beside.seq >= lastHead.seq) return;
  const message = `ledger.head is head ${beside.n}, but head ${lastHead.n} is the last one: events removed behind event ${beside.seq} would go unnoticed`;
  findings.warning('witness', message, [beside.seq + 1, lastHead.seq]);
}
