// Change sets on the disk: a folder each, with what the files are now and what they would become. Those that were
// decided move to the snapshots, which a rollback reads.
import { lstatSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Failure, failure } from '@subluminal/contracts';
import { sha256Bytes } from '@subluminal/plane/crypto';
import {
  attempt,
  createPrivateFile,
  decodeUtf8,
  ensurePrivateFolder,
  parseJson,
  readPrivateFile,
  syncFolder,
  takeLock,
  writePrivateFile,
} from '@subluminal/plane/os';
import { type ChangeSet, parseChangeSet } from './change-set.ts';

const RECORD = 'change.json';
const RECORD_BYTES_MAX = 1_048_576;
const ID = /^change-[0-9a-f]{16}$/;
/** One file, and all contents of a change set. */
export const FILE_BYTES_MAX = 4_194_304;
export const SET_BYTES_MAX = 16_777_216;
const SNAPSHOTS_MAX = 200;

type Shelf = 'staging' | 'snapshots';

export class ChangeStore {
  readonly #home: string;

  /** `home` holds the folders `staging` and `snapshots`. */
  constructor(home: string) {
    this.#home = home;
  }

  /** The newest first. What cannot be read is left out: it can be neither shown nor decided. */
  list(): readonly ChangeSet[] {
    const sets = (['staging', 'snapshots'] as const).flatMap((shelf) =>
      this.#ids(shelf).flatMap((id) => this.#readFrom(shelf, id) ?? []),
    );
    return sets.toSorted((left, right) => right.proposed_at_ms - left.proposed_at_ms);
  }

  get(id: string): ChangeSet | undefined {
    if (!ID.test(id)) return undefined;
    return this.#readFrom('staging', id) ?? this.#readFrom('snapshots', id);
  }

  /** Contents first: a record whose contents are missing must not be there. */
  put(set: ChangeSet, contents: readonly Uint8Array[]): Failure | undefined {
    const folder = this.#folder('staging', set.id);
    const refused = ensurePrivateFolder(folder);
    if (refused !== undefined) return refused;
    for (const bytes of contents) createPrivateFile(join(folder, sha256Bytes(bytes)), bytes);
    writePrivateFile(join(folder, RECORD), JSON.stringify(set));
    return undefined;
  }

  /** How many bytes an open set takes on the disk. */
  sizeOf(id: string): number {
    const folder = this.#folder('staging', id);
    const names = attempt(() => readdirSync(folder)) ?? [];
    const sizes = names.map((name) => attempt(() => lstatSync(join(folder, name)).size) ?? 0);
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  /** Keeps what became of a set where it lies. */
  save(set: ChangeSet): void {
    const shelf = this.#readFrom('staging', set.id) === undefined ? 'snapshots' : 'staging';
    writePrivateFile(join(this.#folder(shelf, set.id), RECORD), JSON.stringify(set));
  }

  /** The bytes with this hash; they are not believed by their name alone. */
  content(id: string, hash: string): Buffer | Failure {
    for (const shelf of ['staging', 'snapshots'] as const) {
      const read = readPrivateFile(join(this.#folder(shelf, id), hash), {
        bytesMax: FILE_BYTES_MAX,
      });
      if (read.kind === 'read' && sha256Bytes(read.bytes) === hash) return read.bytes;
    }
    const message = `The contents of ${id} are missing or were changed.`;
    return failure('SUB_CHANGE_CONFLICT', message, 'Reject it, and have it proposed again.');
  }

  /** Moves a decided set to the snapshots, and the oldest ones out when there are too many. */
  shelve(set: ChangeSet): void {
    this.save(set);
    const snapshots = join(this.#home, 'snapshots');
    const refused = ensurePrivateFolder(snapshots);
    if (refused !== undefined) return;
    renameSync(this.#folder('staging', set.id), this.#folder('snapshots', set.id));
    syncFolder(snapshots);
    const kept = this.#ids('snapshots').flatMap((id) => this.#readFrom('snapshots', id) ?? []);
    const oldest = kept.toSorted((left, right) => decidedAt(left) - decidedAt(right));
    for (const { id } of oldest.slice(0, Math.max(0, kept.length - SNAPSHOTS_MAX))) this.remove(id);
  }

  remove(id: string): void {
    for (const shelf of ['staging', 'snapshots'] as const) {
      rmSync(this.#folder(shelf, id), { recursive: true, force: true });
    }
  }

  /** One decision at a time, whichever process it comes from. */
  async locked<T>(work: () => Promise<T | Failure>): Promise<T | Failure> {
    const refused = ensurePrivateFolder(this.#home);
    if (refused !== undefined) return refused;
    const lock = await takeLock({ folder: this.#home, name: 'staging' });
    if (lock.kind === 'held') {
      const message = `Another process (${lock.pid}) is deciding about changes.`;
      return failure('SUB_CHANGE_CONFLICT', message, 'Try again when it is done.');
    }
    try {
      return await work();
    } finally {
      lock.release();
    }
  }

  #ids(shelf: Shelf): readonly string[] {
    const names = attempt(() => readdirSync(join(this.#home, shelf))) ?? [];
    return names.filter((name) => ID.test(name));
  }

  #readFrom(shelf: Shelf, id: string): ChangeSet | undefined {
    const path = join(this.#folder(shelf, id), RECORD);
    const read = readPrivateFile(path, { bytesMax: RECORD_BYTES_MAX });
    const text = read.kind === 'read' ? decodeUtf8(read.bytes) : undefined;
    const set = text === undefined ? undefined : parseChangeSet(parseJson(text));
    return set?.id === id ? set : undefined;
  }

  #folder(shelf: Shelf, id: string): string {
    return join(this.#home, shelf, id);
  }
}

function decidedAt({ decided_at_ms, proposed_at_ms }: ChangeSet): number {
  return decided_at_ms ?? proposed_at_ms;
}
