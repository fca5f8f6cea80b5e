// Events on their way to the ledger: by its socket while it listens, by the spool when it does
// not. Each line has a number; the ledger takes each number once, so a line may go both ways.
import type { EventLine } from '@subluminal/core/ports';
import { codeOrText } from '../../os/index.ts';
import { LedgerLink } from './link.ts';
import {
  type BatchingSink,
  type PromptSinkStats,
  Waiters,
  type Warn,
  warnOnStderr,
} from './prompt-sink.ts';
import { bytesOf, Ring, type WaitingLine } from './ring.ts';
import { isProducer, SpoolWriter, type SpoolWriterOptions } from './spool-writer.ts';

const LIMITS = {
  /** What may wait in memory for the ledger's word. */
  queueBytes: 8 * 1024 * 1024,
  /** A file of the spool is complete at this size. */
  spoolFileBytes: 8 * 1024 * 1024,
  /** Beyond this much on disk, previews are left out. */
  spoolPreviewBytes: 64 * 1024 * 1024,
};

type LedgerSinkLimits = { readonly [K in keyof typeof LIMITS]: number };

export interface LedgerSinkOptions {
  readonly socketPath: string;
  readonly spoolDir: string;
  /** The shim's id: the numbers of the lines count within it. */
  readonly producer: string;
  readonly limits?: Partial<LedgerSinkLimits>;
  readonly warn?: Warn;
  /** Called each time that a connection fails: no ledger listens, or no longer. */
  readonly onNobody?: (() => void) | undefined;
  /** The way to the disk, for tests of a full one. */
  readonly writeSpool?: SpoolWriterOptions['write'];
}

const SPOOL_REST_MS = 500;
/** Below this part of the queue, confirmed lines may stay in memory for a moment. */
const CALM_PART = 16;
const HELLO = 'subluminal.ingest.v1';

class LedgerSink implements BatchingSink {
  readonly #limits: LedgerSinkLimits;
  readonly #warn: Warn;
  readonly #ring = new Ring();
  readonly #waiters = new Waiters();
  readonly #link: LedgerLink;
  readonly #spool: SpoolWriter;
  readonly #spoolDir: string;
  readonly #onNobody: (() => void) | undefined;
  #seq = 0;
  #spooled = 0;
  #previewsDropped = 0;
  #linesLost = 0;
  #isScheduled = false;
  #isClosed = false;
  #hasWarned = false;
  #spoolRestsUntilMs = 0;

  constructor(options: LedgerSinkOptions) {
    const { producer, spoolDir, socketPath, writeSpool } = options;
    if (!isProducer(producer)) throw new Error('a producer is named by letters, digits and dashes');
    this.#limits = { ...LIMITS, ...options.limits };
    this.#warn = options.warn ?? warnOnStderr;
    this.#spoolDir = spoolDir;
    this.#onNobody = options.onNobody;
    this.#spool = new SpoolWriter({
      dir: spoolDir,
      producer,
      fileBytesMax: this.#limits.spoolFileBytes,
      write: writeSpool,
    });
    this.#link = new LedgerLink({
      socketPath,
      hello: JSON.stringify({ hello: HELLO, producer }),
      events: {
        onOpen: () => this.#opened(),
        onAck: (count) => this.#confirmed(count),
        onDrain: () => this.#settle(false),
        onLost: () => this.#lost(),
      },
    });
    this.#link.connect();
  }

  write(event: EventLine): void {
    if (this.#isClosed) {
      this.#linesLost++;
      return;
    }
    this.#ring.add(++this.#seq, event);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    process.nextTick(this.#tick);
  }

  push(): void {
    this.#settle(true);
  }

  async flush(timeoutMs: number): Promise<void> {
    const seq = this.#seq;
    this.#settle(false);
    if (this.#ring.isSettled(seq)) return;
    this.#link.attend();
    const isDone = await this.#waiters.wait(() => this.#ring.isSettled(seq), timeoutMs);
    if (isDone) return;
    this.#spoolRestsUntilMs = 0;
    this.#copy(this.#ring.unsafe());
  }

  async close(timeoutMs: number): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#spoolRestsUntilMs = 0;
    this.#settle(false);
    // A copy on disk is enough, but a ledger that is about to answer spares itself the file.
    const isEmpty = () => this.#ring.count === 0;
    this.#link.attend();
    if (!isEmpty()) await this.#waiters.wait(isEmpty, timeoutMs);
    this.#copy(this.#ring.unsafe());
    if (this.#ring.count > 0) this.#spool.keep();
    this.#tidySpool();
    this.#link.end();
  }

  stats(): PromptSinkStats {
    return {
      queued: this.#ring.count,
      spooled: this.#spooled,
      previewsDropped: this.#previewsDropped,
      linesLost: this.#linesLost,
    };
  }

  readonly #tick = (): void => {
    this.#isScheduled = false;
    this.#settle(false);
  };

  /** Brings the unsent lines to the kernel or, where it doesn't take them, to the disk. */
  #settle(isUrgent: boolean): void {
    if (this.#ring.unsentCount === 0) return;
    if (this.#ring.bytes > this.#limits.queueBytes / CALM_PART) this.#link.attend();
    if (this.#ring.bytes > this.#limits.queueBytes) this.#relieve();
    const { state } = this.#link;
    if (state === 'open' && !this.#link.isClogged) this.#send();
    else if (state === 'open') this.#copy(this.#ring.unsent());
    else if (state !== 'connecting') this.#evict();
    else if (isUrgent) this.#copy(this.#ring.unsent());
    this.#waiters.check();
  }

  /** Piece by piece: the kernel has what it took, and only the rest needs a copy. */
  #send(): void {
    while (this.#ring.unsentCount > 0) {
      const { bytes, entries } = this.#ring.send();
      this.#link.write(bytes, entries.length);
      if (!this.#link.isClogged) continue;
      // What the kernel had no room for would die with this process.
      this.#copy([...entries, ...this.#ring.unsent()]);
      return;
    }
  }

  /** Previews go first. What still doesn't fit waits on disk instead of in memory. */
  #relieve(): void {
    this.#previewsDropped += this.#ring.leanUnsent();
    if (this.#ring.bytes > this.#limits.queueBytes) this.#evict();
  }

  /** Moves the unsent lines to the disk. */
  #evict(): void {
    if (this.#copy(this.#ring.unsent())) {
      this.#spool.keep();
      this.#ring.forgetUnsent(-1);
      return;
    }
    this.#previewsDropped += this.#ring.leanUnsent();
    this.#linesLost += this.#ring.forgetUnsent(this.#limits.queueBytes);
  }

  /** Puts lines on disk and keeps them in memory; false when the disk takes nothing. */
  #copy(entries: readonly WaitingLine[]): boolean {
    if (this.#spool.bytes > this.#limits.spoolPreviewBytes) {
      this.#previewsDropped += this.#ring.leanUnsent();
    }
    const unsafe = entries.filter(({ safe }) => !safe);
    const lastSeq = unsafe.at(-1)?.seq;
    if (lastSeq === undefined) return true;
    if (performance.now() < this.#spoolRestsUntilMs) return false;
    try {
      this.#spool.append(Buffer.concat(unsafe.map(({ place }) => bytesOf(place))), lastSeq);
    } catch (cause) {
      // All that waits would be tried again with each new line.
      this.#spoolRestsUntilMs = performance.now() + SPOOL_REST_MS;
      this.#complain(cause);
      return false;
    }
    for (const entry of unsafe) entry.safe = true;
    this.#spooled += unsafe.length;
    return true;
  }

  #opened(): void {
    this.#tidySpool();
    this.#settle(false);
  }

  /** True when the ledger's next word can wait: nobody waits for it, and memory is free. */
  #confirmed(count: number): boolean {
    this.#ring.confirm(count, !this.#link.isClogged);
    // Not while it presses: each answer would make a file of its own.
    const isCalm = this.#ring.bytes <= this.#limits.queueBytes / 2;
    if (this.#spool.lastSeq > 0 && isCalm) this.#tidySpool();
    this.#waiters.check();
    return this.#waiters.isEmpty && this.#ring.bytes < this.#limits.queueBytes / CALM_PART;
  }

  #lost(): void {
    this.#ring.unsend();
    this.#settle(true);
    this.#onNobody?.();
  }

  /** Hands the file over, or takes it back when the socket has brought all of it. */
  #tidySpool(): void {
    try {
      if (this.#spool.isOnlyCopy) this.#spool.finish();
      else if (this.#ring.headSeq > this.#spool.lastSeq) this.#spool.discard();
    } catch (cause) {
      this.#complain(cause);
    }
  }

  #complain(cause: unknown): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    const fix = 'Free some space or check its permissions.';
    this.#warn(`events cannot be kept in ${this.#spoolDir} (${codeOrText(cause)}). ${fix}`);
  }
}

/** A sink for `events.sink = "ledger"`; it connects in the background. */
export function ledgerSink(options: LedgerSinkOptions): BatchingSink {
  return new LedgerSink(options);
}
