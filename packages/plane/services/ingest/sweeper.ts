// Takes the files of the spool into the ledger: lines of shims from the time when no daemon listened. A
// file is removed when its lines are safe.
import { codeOrText, hasSystemCode } from '../../os/index.ts';
import { dropSpool, listSpool, readSpool, type SpoolFile } from '../sink/spool.ts';
import { type Intake, IntakeEnded } from './intake.ts';
import type { IngestLedger } from './protocol.ts';

interface SweeperOptions {
  /** The folder of the spool. */
  readonly spool: string;
  readonly ledger: IngestLedger;
  readonly intake: Intake;
  readonly warn: (message: string) => void;
  /** There was something to take. */
  readonly onWork: () => void;
}

/** So many files are made safe at once: each time costs a signature and a sync of the disk. */
const FILES_PER_SEAL = 64;

export class Sweeper {
  readonly #options: SweeperOptions;
  readonly #list = shared(() => listSpool(this.#options.spool));
  readonly #takes = new Set<Promise<void>>();
  #isStopped = false;
  /** Takes everything that is there now. */
  readonly sweep = shared(() => this.#guarded(() => this.#sweep()));

  constructor(options: SweeperOptions) {
    this.#options = options;
  }

  /** Takes what this producer has left, beside a sweep that may be far from it. */
  async takeOf(producer: string): Promise<void> {
    const take = this.#guarded(async () => {
      const files = await this.#list();
      await this.#takeAll(files.filter((file) => file.producer === producer));
    });
    this.#takes.add(take);
    await take;
    this.#takes.delete(take);
  }

  /** Resolves when nothing is under way; nothing is begun any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([this.sweep(), ...this.#takes]);
  }

  async #sweep(): Promise<void> {
    if (!this.#isStopped) await this.#takeAll(await this.#list());
  }

  async #takeAll(files: readonly SpoolFile[]): Promise<void> {
    const { onWork } = this.#options;
    for (let at = 0; at < files.length && !this.#isStopped; at += FILES_PER_SEAL) {
      onWork();
      await this.#takeFiles(files.slice(at, at + FILES_PER_SEAL));
      onWork();
    }
  }

  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (cause) {
      // They stay where they are, and the next sweep finds them.
      if (cause instanceof IntakeEnded) return;
      this.#options.warn(`the spool cannot be taken in: ${String(cause)}`);
    }
  }

  async #takeFiles(files: readonly SpoolFile[]): Promise<void> {
    const taken: { readonly file: SpoolFile; readonly endOffset: number }[] = [];
    for (const file of files) {
      const endOffset = await this.#take(file);
      if (endOffset !== undefined) taken.push({ file, endOffset });
    }
    if (taken.length === 0) return;
    // On disk before the only other copy goes.
    await this.#options.ledger.seal();
    for (const { file, endOffset } of taken) await dropSpool(file, endOffset).catch(ignoreMissing);
  }

  /** How far the file was taken; undefined when it is gone or cannot be read. */
  async #take(file: SpoolFile): Promise<number | undefined> {
    const { intake, warn } = this.#options;
    let endOffset = 0;
    try {
      for await (const batch of readSpool(file)) {
        // The next daemon takes it from the start; the ledger takes no line twice.
        if (this.#isStopped) return undefined;
        const lines = batch.lines.map((line) => ({ producer: file.producer, ...line }));
        if (lines.length > 0) await intake.commit(lines);
        ({ endOffset } = batch);
      }
      return endOffset;
    } catch (cause) {
      if (cause instanceof IntakeEnded) throw cause;
      // Another process has taken it in.
      if (!hasSystemCode(cause, 'ENOENT')) {
        warn(`${file.path} cannot be read (${codeOrText(cause)})`);
      }
      return undefined;
    }
  }
}

/** Another process was faster. */
function ignoreMissing(cause: unknown): void {
  if (!hasSystemCode(cause, 'ENOENT')) throw cause;
}

/** Runs `work` when it is called. Calls while it runs share the next time. */
function shared<T>(work: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const ask = (): Promise<T> => {
    if (current === undefined) {
      current = work().finally(() => {
        current = undefined;
      });
      return current;
    }
    const again = () => {
      next = undefined;
      return ask();
    };
    next ??= current.then(again, again);
    return next;
  };
  return ask;
}
