// The ledger: takes events in, chains and signs them. One writer; readers need only the store.
import type { Signer } from '@subluminal/core/ports';
import type { IncomingLine, LineText } from '../chain/event-line.ts';
import { sameBytes } from '../chain/hash-chain.ts';
import { ledgerFailure } from '../chain/ledger-failure.ts';
import {
  followingHead,
  formatWitness,
  type Head,
  type HeadKind,
  NOTED_HEAD,
  sealed,
  signerAsVerifier,
  signHead,
  type Witness,
} from '../chain/signed-head.ts';
import type { PackedLines } from '../sqlite/line-blocks.ts';
import { rebuildRows, renewRows } from '../sqlite/renew-rows.ts';
import type { Store } from '../sqlite/sqlite-store.ts';
import type { StoreTransaction } from '../sqlite/transaction.ts';
import type { Tip } from '../store/stored-rows.ts';
import { append, ownEvent } from './append.ts';
import { checkOpening, type RollbackChoice } from './check-opening.ts';
import { BATCH_LINES_MAX, type IngestResult, ingestBatch } from './ingest-batch.ts';
import { Packer } from './packer.ts';
import { type PruneRequest, type PruneResult, pruneOnce } from './prune.ts';

export interface LedgerOptions {
  readonly store: Store;
  /** Signs the heads. */
  readonly signer: Signer;
  /** Keeps the last head outside the store. */
  readonly witness: Witness;
  readonly nowMs: () => number;
  /** A head at the latest after so many events, and so long after an event. */
  readonly headEvery?: { readonly events: number; readonly ms: number };
  /** What to do with a store that does not follow from what was signed; `refuse`. */
  readonly onRollback?: RollbackChoice;
  /** For what goes wrong without stopping anything. */
  readonly onWarning?: (message: string) => void;
}

export interface Ledger {
  readonly store: Store;
  /** The last event that it has committed. */
  readonly lastSeq: number;
  /** All or nothing; what cannot be read is set aside and does not hold up the rest. */
  ingest(lines: readonly IncomingLine<LineText>[]): Promise<IngestResult>;
  /** Signs what is there. Undefined when nothing is. */
  seal(): Promise<Head | undefined>;
  prune(request: PruneRequest): Promise<PruneResult>;
  /** Makes all rows anew from the events. */
  rebuild(): Promise<void>;
  /** Signs, and gives the store up. */
  close(): Promise<void>;
}

const HEAD_EVERY = { events: 5_000, ms: 10_000 };

export async function openLedger(options: LedgerOptions): Promise<Ledger> {
  const writer = new Writer(options);
  await writer.open();
  return writer;
}

class Writer implements Ledger {
  readonly store: Store;
  readonly #options: LedgerOptions;
  readonly #every: { readonly events: number; readonly ms: number };
  #ledgerId = '';
  /** What this process knows to be the end; anything else was written by somebody else. */
  #tip: Tip | undefined;
  #head: Head | undefined;
  /** No head yet since the start. */
  #fresh = true;
  #timer: NodeJS.Timeout | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;
  readonly #packer: Packer;

  constructor(options: LedgerOptions) {
    this.store = options.store;
    this.#options = options;
    this.#every = options.headEvery ?? HEAD_EVERY;
    this.#packer = new Packer({
      store: options.store,
      write: (packed, isTrue) => this.#inTurn(() => this.#pack(packed, isTrue)),
      onWarning: (message) => this.#warn(message),
    });
  }

  get lastSeq(): number {
    return this.#tip?.seq ?? 0;
  }

  async open(): Promise<void> {
    const { witness, signer, onRollback = 'refuse' } = this.#options;
    const kept = await witness.read();
    const verifier = signerAsVerifier(signer);
    await this.#write({ durable: true }, async (transaction) => {
      this.#ledgerId = await transaction.ledgerId();
      this.#tip = await transaction.tip();
      this.#head = await transaction.lastHead();
      const noted = await transaction.meta(NOTED_HEAD);
      const state = { ledgerId: this.#ledgerId, tip: this.#tip, head: this.#head };
      const schema = await transaction.schemaFaults();
      const records = checkOpening({ ...state, noted, kept, verifier, schema }, onRollback);
      await renewRows(transaction, (message) => this.#warn(message));
      if (records.length === 0) return undefined;
      const nowMs = this.#options.nowMs();
      const own = records.map((record) => ownEvent(record, nowMs));
      return { tip: await append(transaction, this.#tip, own), kind: 'open' };
    });
  }

  async ingest(lines: readonly IncomingLine<LineText>[]): Promise<IngestResult> {
    if (lines.length > BATCH_LINES_MAX) {
      throw new RangeError(`a batch has at most ${BATCH_LINES_MAX} lines, not ${lines.length}`);
    }
    return this.#inTurn(async () => {
      const kind = this.#dueHead(lines.length);
      let result: IngestResult | undefined;
      let conflict: string | undefined;
      await this.#write({ durable: kind !== undefined }, async (transaction, tip) => {
        const done = await ingestBatch(transaction, { tip, lines, nowMs: this.#options.nowMs() });
        ({ result, conflict } = done);
        return { tip: done.tip, kind: done.tip.seq > tip.seq ? kind : undefined };
      });
      this.#wakeLater();
      this.#packer.added(lines.reduce((sum, { line }) => sum + line.length, 0));
      if (result === undefined) throw new Error('the transaction did not run');
      if (conflict !== undefined) this.#warn(conflict);
      return result;
    });
  }

  seal(): Promise<Head | undefined> {
    return this.#inTurn(() => this.#seal('interval'));
  }

  /** Part by part: what comes in meanwhile is taken in between two of them. */
  async prune(request: PruneRequest): Promise<PruneResult> {
    let total: PruneResult = { runs: 0, events: 0 };
    for (let more = true; more; ) {
      await this.#inTurn(async () => {
        const nowMs = this.#options.nowMs();
        await this.#write({ durable: true }, async (transaction, tip) => {
          const done = await pruneOnce(transaction, { tip, request, nowMs });
          more = done.more;
          total = { runs: total.runs + done.runs, events: total.events + done.events };
          return done.tip === undefined ? undefined : { tip: done.tip, kind: this.#headKind() };
        }).finally(() => this.#packer.changed());
      });
    }
    if (total.events > 0) await this.#inTurn(() => this.store.compact());
    return total;
  }

  rebuild(): Promise<void> {
    return this.#inTurn(() =>
      this.#write({}, async (transaction) => {
        await rebuildRows(transaction);
        return undefined;
      }),
    );
  }

  async close(): Promise<void> {
    await this.#packer.stop();
    await this.#inTurn(async () => {
      if (this.#closed) return;
      clearTimeout(this.#timer);
      try {
        if (!this.#fresh || this.#unsealed() > 0) await this.#seal('close');
      } finally {
        this.#closed = true;
        await this.store.close();
      }
    });
  }

  async #pack(packed: PackedLines, isTrue: () => boolean): Promise<void> {
    if (this.#closed || !isTrue()) return;
    await this.#write({}, async (transaction) => {
      await transaction.addBlocks(packed);
      return undefined;
    });
  }

  /** One after the other, so that each finds the tip that the one before left. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #seal(kind: HeadKind): Promise<Head | undefined> {
    const closing = kind === 'close';
    if (this.#unsealed() === 0 && !(closing && this.#head?.kind !== 'close')) return this.#head;
    await this.#write({ durable: true }, async (_, tip) =>
      tip.seq === 0 ? undefined : { tip, kind: closing ? kind : this.#headKind() },
    );
    return this.#head;
  }

  /** One transaction; the tip and the head in memory move on only when it is committed. */
  async #write(
    options: { readonly durable?: boolean },
    work: (
      transaction: StoreTransaction,
      tip: Tip,
    ) => Promise<{ readonly tip: Tip; readonly kind: HeadKind | undefined } | undefined>,
  ): Promise<void> {
    if (this.#closed) throw ledgerFailure('SUB_LEDGER_IO', 'It is closed.');
    const done = await this.store.transaction(async (transaction) => {
      const tip = await transaction.tip();
      this.#requireTip(tip);
      const result = await work(transaction, tip);
      if (result?.kind === undefined) return { tip: result?.tip, head: undefined, text: '' };
      const head = this.#makeHead(result.tip, result.kind);
      const text = formatWitness(sealed(this.#ledgerId, head, this.#options.signer));
      await transaction.addHead(head);
      await transaction.setMeta(NOTED_HEAD, text);
      return { tip: result.tip, head, text };
    }, options);
    if (done.tip !== undefined) this.#tip = done.tip;
    if (done.head !== undefined) await this.#headWritten(done.head, done.text);
  }

  #requireTip(found: Tip): void {
    const known = this.#tip;
    if (known === undefined) return;
    if (known.seq === found.seq && sameBytes(known.hash, found.hash)) return;
    const detail = `Its last event is ${found.seq}, but this process wrote ${known.seq}.`;
    throw ledgerFailure('SUB_LEDGER_TAMPERED', detail);
  }

  #makeHead(tip: Tip, kind: HeadKind): Head {
    const next = { kind, seq: tip.seq, hash: tip.hash, nowMs: this.#options.nowMs() };
    const unsigned = followingHead(this.#ledgerId, this.#head, next);
    return signHead(this.#ledgerId, unsigned, this.#options.signer);
  }

  /** The head is safe in the store; without its witness only the cut-off end would go unnoticed. */
  async #headWritten(head: Head, text: string): Promise<void> {
    this.#head = head;
    this.#fresh = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      await this.#options.witness.write(text);
    } catch (cause) {
      this.#warn(`The last head could not be kept beside the ledger: ${String(cause)}`);
    }
  }

  #unsealed(): number {
    return (this.#tip?.seq ?? 0) - (this.#head?.seq ?? 0);
  }

  #headKind(): HeadKind {
    return this.#fresh ? 'open' : 'interval';
  }

  /** The first events after a start are signed with them, so that a clean end stays recognisable. */
  #dueHead(added: number): HeadKind | undefined {
    if (this.#fresh) return 'open';
    return this.#unsealed() + added >= this.#every.events ? 'interval' : undefined;
  }

  #wakeLater(): void {
    if (this.#timer !== undefined || this.#unsealed() === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.seal().catch((cause: unknown) => {
        this.#warn(`The ledger could not be signed: ${String(cause)}`);
        this.#wakeLater();
      });
    }, this.#every.ms);
    this.#timer.unref();
  }

  #warn(message: string): void {
    this.#options.onWarning?.(message);
  }
}
