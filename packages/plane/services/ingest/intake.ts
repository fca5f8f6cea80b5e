// Lines of all connections on their way into the ledger, in batches. The queue is bounded: when it
// is full, nothing more is read from the sockets. Lines in the queue are never dropped.
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { type Failure, isFailure, tableFailure } from '@subluminal/contracts';
import type { IngestLedger, TakenCounts, TakenLine } from './protocol.ts';

/** The sender of lines, which waits until they are safe. */
export interface Sender {
  /** So many more of its lines, in order, are committed. */
  committed(count: number): void;
}

interface IntakeOptions {
  readonly ledger: IngestLedger;
  readonly warn: (message: string) => void;
  /** Lines were committed, or set aside. */
  readonly onTaken: (counts: TakenCounts) => void;
  /** The ledger will never take anything again. */
  readonly onFinal: (failure: Failure) => void;
  readonly limits?: Partial<IntakeLimits>;
}

const LIMITS = {
  queueLines: 10_000,
  queueLength: 8 * 1024 * 1024,
  batchLines: 4_000,
  batchLength: 4 * 1024 * 1024,
  /** How long a batch waits for more lines, at least and at most. */
  gatherMinMs: 5,
  gatherMaxMs: 25,
};

export type IntakeLimits = { readonly [K in keyof typeof LIMITS]: number };

/**
 * A commit costs as much as the lines of several calls, and no call waits for it: so the next one
 * waits this many times as long as the last one took, which on a busy machine is longer.
 */
const GATHER_SHARE = 5;
/** Failures that no later try changes. */
const FINAL_CODES: ReadonlySet<string> = new Set([
  'SUB_LEDGER_CORRUPT',
  'SUB_LEDGER_FOREIGN',
  'SUB_LEDGER_NEWER',
  'SUB_LEDGER_ROLLED_BACK',
  'SUB_LEDGER_TAMPERED',
]);
const RETRY_MIN_MS = 50;
const RETRY_MAX_MS = 5_000;
/** No line has it: lines that came without a number are filed under this one, with the rejects. */
export const NO_NUMBER = -1;

/** Thrown to those who wait when the intake ends before their lines are committed. */
export class IntakeEnded extends Error {
  override readonly name = 'IntakeEnded';
}

export class Intake {
  readonly #options: IntakeOptions;
  readonly #limits: IntakeLimits;
  readonly #ended = new AbortController();
  #lines: TakenLine[] = [];
  #senders: Sender[] = [];
  #length = 0;
  #added = 0;
  #settled = 0;
  #isRunning = false;
  /** How long the last commit took. */
  #commitMs = 0;
  /** Ends the wait for more lines. */
  #hasten: (() => void) | undefined;
  #waiting: { readonly until: number; readonly resolve: () => void }[] = [];
  #forRoom: (() => void)[] = [];

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
  }

  get isFull(): boolean {
    const { queueLines, queueLength } = this.#limits;
    return this.#lines.length >= queueLines || this.#length >= queueLength;
  }

  add(line: TakenLine, sender: Sender): void {
    // Its sender has no confirmation, and sends it again.
    if (this.#ended.signal.aborted) return;
    this.#lines.push(line);
    this.#senders.push(sender);
    this.#length += line.line.length;
    this.#added += 1;
    if (this.#isRunning) {
      if (this.#hasBatch || this.isFull) this.#hasten?.();
      return;
    }
    this.#isRunning = true;
    void this.#run();
  }

  /** Somebody waits for the word that lines are safe: they are committed at once. */
  hasten(): void {
    this.#hasten?.();
  }

  /** Calls back once, when there is room again. */
  whenRoom(callback: () => void): void {
    if (this.isFull) this.#forRoom.push(callback);
    else callback();
  }

  /** Resolves when everything that was added so far is committed, or can't be any more. */
  settled(): Promise<void> {
    const until = this.#added;
    if (this.#settled >= until || this.#ended.signal.aborted) return Promise.resolve();
    this.hasten();
    return new Promise((resolve) => void this.#waiting.push({ until, resolve }));
  }

  /** Puts lines into the ledger at once, beside the queue; tries until they are in. */
  async commit(lines: readonly TakenLine[]): Promise<TakenCounts> {
    const { ledger, warn, onTaken } = this.#options;
    const { signal } = this.#ended;
    for (let waitMs = RETRY_MIN_MS; ; waitMs = Math.min(2 * waitMs, RETRY_MAX_MS)) {
      if (signal.aborted) throw new IntakeEnded();
      try {
        const counts = await ledger.ingest(lines);
        onTaken(counts);
        return counts;
      } catch (cause) {
        if (!isFailure(cause)) return this.#commitHalves(lines, String(cause));
        if (waitMs === RETRY_MIN_MS) warn(cause.message);
        if (FINAL_CODES.has(cause.code)) this.#giveUp(cause);
        await pause(waitMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  /** Gives up what is not committed. */
  end(): void {
    this.#ended.abort();
    this.#lines = [];
    this.#senders = [];
    this.#length = 0;
    this.#settled = this.#added;
    this.hasten();
    this.#wake();
  }

  #giveUp(failure: Failure): void {
    this.end();
    this.#options.onFinal(failure);
  }

  /** One line may not hold up the others: it is found by halves, and set aside. */
  async #commitHalves(lines: readonly TakenLine[], message: string): Promise<TakenCounts> {
    const [first] = lines;
    if (first !== undefined && lines.length === 1) return this.#setAside(first, message);
    const middle = Math.ceil(lines.length / 2);
    const left = await this.commit(lines.slice(0, middle));
    const right = await this.commit(lines.slice(middle));
    return {
      accepted: left.accepted + right.accepted,
      duplicates: left.duplicates + right.duplicates,
      rejected: left.rejected + right.rejected,
    };
  }

  /** Under a number that no line has, the ledger keeps it with the rejects. */
  async #setAside(line: TakenLine, message: string): Promise<TakenCounts> {
    const { ledger, warn } = this.#options;
    warn(`a line cannot be stored: ${message}`);
    try {
      return await ledger.ingest([{ ...line, seq: NO_NUMBER }]);
    } catch {
      // Then it is not the line.
      this.#giveUp(tableFailure('SUB_INTERNAL', message));
      throw new IntakeEnded();
    }
  }

  async #run(): Promise<void> {
    try {
      while (this.#lines.length > 0) {
        await this.#gathered();
        // Lines that are readable now go into the same batch, and are read before anything is answered.
        await nextTurn();
        const { lines, senders } = this.#take();
        if (lines.length === 0) continue;
        const beginMs = performance.now();
        await this.commit(lines);
        this.#commitMs = performance.now() - beginMs;
        this.#settled += lines.length;
        tell(senders);
        this.#wake();
      }
    } catch (cause) {
      if (!(cause instanceof IntakeEnded)) throw cause;
    } finally {
      this.#isRunning = false;
    }
  }

  get #hasBatch(): boolean {
    const { batchLines, batchLength } = this.#limits;
    return this.#lines.length >= batchLines || this.#length >= batchLength;
  }

  /** Resolves when the batch is full, has waited long enough, or somebody waits for it. */
  #gathered(): Promise<void> {
    if (this.#waiting.length > 0 || this.#hasBatch || this.isFull) return Promise.resolve();
    const { gatherMinMs, gatherMaxMs } = this.#limits;
    const waitMs = Math.min(Math.max(GATHER_SHARE * this.#commitMs, gatherMinMs), gatherMaxMs);
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#hasten?.(), waitMs);
      this.#hasten = () => {
        clearTimeout(timer);
        this.#hasten = undefined;
        resolve();
      };
    });
  }

  /** The oldest lines, as many as one batch takes. */
  #take(): { readonly lines: readonly TakenLine[]; readonly senders: readonly Sender[] } {
    const { batchLength, batchLines } = this.#limits;
    let count = 0;
    let length = 0;
    while (count < this.#lines.length && count < batchLines && length < batchLength) {
      length += this.#lines[count]?.line.length ?? 0;
      count += 1;
    }
    this.#length -= length;
    return { lines: this.#lines.splice(0, count), senders: this.#senders.splice(0, count) };
  }

  #wake(): void {
    const ready = this.#waiting.filter(({ until }) => this.#settled >= until);
    this.#waiting = this.#waiting.filter(({ until }) => this.#settled < until);
    for (const { resolve } of ready) resolve();
    if (this.isFull) return;
    const forRoom = this.#forRoom;
    this.#forRoom = [];
    for (const callback of forRoom) callback();
  }
}

/** Each sender once per batch. */
function tell(senders: readonly Sender[]): void {
  const counts = new Map<Sender, number>();
  for (const sender of senders) counts.set(sender, (counts.get(sender) ?? 0) + 1);
  for (const [sender, count] of counts) sender.committed(count);
}
