// What shims left on disk while nobody listened, into the ledger. A file goes when it is safe there.
import { type Intake, IntakeEnded } from './intake.ts';
import type { IngestLedger, IngestSpool, SpoolFile } from './ports.ts';

interface SweeperOptions {
  readonly spool: IngestSpool;
  readonly ledger: IngestLedger;
  readonly intake: Intake;
  readonly warn: (message: string) => void;
  /** There was something to take. */
  readonly onWork: () => void;
}

/** So many files are made safe at once: each time costs a signature and a sync of the disk. */
const FILES_PER_SEAL = 64;

class Sweeper {
  readonly #options: SweeperOptions;
  #current: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #isStopped = false;

  constructor(options: SweeperOptions) {
    this.#options = options;
  }

  /** Takes everything that is there now. Those who ask meanwhile share the next one. */
  sweep(): Promise<void> {
    if (this.#isStopped) return this.#current ?? Promise.resolve();
    if (this.#current === undefined) {
      this.#current = this.#sweep().finally(() => {
        this.#current = undefined;
      });
      return this.#current;
    }
    this.#next ??= this.#current.then(() => {
      this.#next = undefined;
      return this.sweep();
    });
    return this.#next;
  }

  /** Resolves when nothing is under way; nothing is begun any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#current;
  }

  async #sweep(): Promise<void> {
    const { spool, warn, onWork } = this.#options;
    try {
      const files = await spool.list();
      if (files.length > 0) onWork();
      for (let at = 0; at < files.length && !this.#isStopped; at += FILES_PER_SEAL) {
        await this.#takeFiles(files.slice(at, at + FILES_PER_SEAL));
        onWork();
      }
    } catch (cause) {
      // They stay where they are, and the next sweep finds them.
      if (!(cause instanceof IntakeEnded)) warn(`the spool cannot be taken in: ${String(cause)}`);
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
    for (const { file, endOffset } of taken) await file.drop(endOffset);
  }

  /** How far the file was taken; undefined when it is gone or cannot be read. */
  async #take(file: SpoolFile): Promise<number | undefined> {
    const { intake, warn } = this.#options;
    let endOffset = 0;
    try {
      for await (const batch of file.read()) {
        // The next daemon takes it from the start; what is known already is not taken twice.
        if (this.#isStopped) return undefined;
        if (batch.lines.length > 0) await intake.commit(batch.lines);
        ({ endOffset } = batch);
      }
      return endOffset;
    } catch (cause) {
      if (cause instanceof IntakeEnded) throw cause;
      const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
      // Somebody else has taken it in.
      if (code !== 'ENOENT') warn(`${file.path} cannot be read (${code})`);
      return undefined;
    }
  }
}

export { Sweeper };
