// What was forgotten, by the hash of its text, in a file beside the database: a backup of the database that is put
// back forgets it again when it is opened. Nobody can read from a hash what it was.

import { failure, ThrownFailure } from '@subluminal/contracts';
import { readPrivateFile, writePrivateFile } from '@subluminal/plane/os';

const HASHES_MAX = 200_000;
const HASH = /^[0-9a-f]{64}$/;
const BYTES_MAX = (HASHES_MAX + 1) * 65;

export class ForgottenTexts {
  readonly #path: string;
  readonly #hashes: Set<string>;

  constructor(path: string) {
    this.#path = path;
    const read = readPrivateFile(path, { bytesMax: BYTES_MAX });
    // Without it something that was forgotten could come back.
    if (read.kind === 'unreadable') {
      const fix = 'Check the file and its permissions.';
      throw new ThrownFailure(failure('SUB_FILE_READ', `${path} ${read.why}.`, fix));
    }
    const lines = read.kind === 'missing' ? [] : read.bytes.toString('utf8').split('\n');
    this.#hashes = new Set(lines.filter((line) => HASH.test(line)));
  }

  has(hash: string): boolean {
    return this.#hashes.has(hash);
  }

  all(): readonly string[] {
    return [...this.#hashes];
  }

  add(hashes: readonly string[]): void {
    for (const hash of hashes) {
      const [oldest] = this.#hashes;
      // The oldest go first: a backup that is as old is not kept either.
      if (this.#hashes.size >= HASHES_MAX && oldest !== undefined) this.#hashes.delete(oldest);
      this.#hashes.add(hash);
    }
    this.#write();
  }

  /** The user has said it again. */
  remove(hash: string): void {
    if (this.#hashes.delete(hash)) this.#write();
  }

  #write(): void {
    writePrivateFile(this.#path, `${[...this.#hashes].join('\n')}\n`);
  }
}
