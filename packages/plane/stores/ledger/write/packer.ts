// Packs lines that are no longer new, a bounded number at a time. The work of packing is done beside this thread;
// what waits for the ledger meanwhile waits only for the short write that puts a block in the place of its lines.
import { BLOCK_BYTES, type PackedLines, packGroups } from '../sqlite/line-blocks.ts';
import type { Store } from '../sqlite/sqlite-store.ts';

interface PackerOptions {
  readonly store: Pick<Store, 'linesToPack'>;
  /** Writes the blocks, if they still hold what their lines say when it is their turn. */
  readonly write: (packed: PackedLines, isTrue: () => boolean) => Promise<void>;
  readonly onWarning: (message: string) => void;
}

/** How much of new lines there is before some of them are packed. */
const NEW_LENGTH = 1024 * 1024;

export class Packer {
  readonly #options: PackerOptions;
  /** Of a ledger that was just opened, nothing is known. */
  #length = NEW_LENGTH;
  #running: Promise<void> | undefined;
  #isStopped = false;
  /** Goes up when lines that were there have changed. */
  #version = 0;

  constructor(options: PackerOptions) {
    this.#options = options;
  }

  /** So much was added; of that, only what fills no block has stayed as it came. */
  added(length: number): void {
    this.#length += Math.min(length, BLOCK_BYTES);
    if (this.#length < NEW_LENGTH || this.#running !== undefined || this.#isStopped) return;
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  /** Lines that were there have changed, and some of them are no longer packed. */
  changed(): void {
    this.#version += 1;
    this.#length = NEW_LENGTH;
    this.added(0);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    try {
      while (this.#length >= NEW_LENGTH && !this.#isStopped) {
        this.#length = 0;
        const version = this.#version;
        const { groups, hasMore } = await this.#options.store.linesToPack();
        if (hasMore) this.#length = NEW_LENGTH;
        if (groups.length === 0) return;
        const packed = await packGroups(groups);
        if (this.#isStopped) return;
        await this.#options.write(packed, () => version === this.#version);
      }
    } catch (cause) {
      // They stay as they are, and the next time finds them.
      this.#options.onWarning(`Lines could not be packed, and stay as they came: ${String(cause)}`);
    }
  }
}
