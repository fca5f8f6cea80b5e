// What people decide about proposed changes. No tool has these functions.
import { type EventBody, type Failure, failure, isFailure } from '@subluminal/contracts';
import { quote, visible } from '@subluminal/core/visible';
import { sha256Bytes } from '@subluminal/plane/crypto';
import { diffFile, type FileDiff, fileContents } from './change-diff.ts';
import { type ChangeSet, changeKind, changeSetHash, type StagedFile } from './change-set.ts';
import { type ChangeStore, FILE_BYTES_MAX } from './change-store.ts';
import type { FileRoots } from './file-roots.ts';
import { commitWrites, removeEmpty, rollbackWrites, writeFiles } from './write-files.ts';

/** For the ledger. */
export interface ChangeRecord {
  readonly runId: string;
  readonly change: EventBody<'change_decision'>['change'];
}

export interface ChangeDeskOptions {
  readonly store: ChangeStore;
  readonly roots: FileRoots;
  readonly record: (record: ChangeRecord) => void;
}

export interface ChangeView {
  readonly set: ChangeSet;
  /** Approving takes it: nothing else than what was seen is approved. */
  readonly sha256: string;
  readonly files: readonly FileDiff[];
}

interface Decider {
  readonly by: string;
  readonly channel?: string;
}

export interface ChangeDecision extends Decider {
  readonly id: string;
}

export interface SeenChange extends ChangeDecision {
  readonly sha256: string;
}

const TITLE_LENGTH_MAX = 1_024;

export class ChangeDesk {
  readonly #store: ChangeStore;
  readonly #roots: FileRoots;
  readonly #record: ChangeDeskOptions['record'];

  constructor({ store, roots, record }: ChangeDeskOptions) {
    this.#store = store;
    this.#roots = roots;
    this.#record = record;
  }

  list(): readonly ChangeSet[] {
    return this.#store.list();
  }

  async show(id: string): Promise<ChangeView | Failure> {
    const set = this.#store.get(id);
    if (set === undefined) return unknown(id);
    const files: FileDiff[] = [];
    for (const file of set.files) {
      const contents = fileContents(file, (hash) => this.#store.content(set.id, hash));
      if (isFailure(contents)) return contents;
      files.push(await diffFile(file, contents));
    }
    return { set, sha256: changeSetHash(set), files };
  }

  /** Writes the files. Nothing is written when one of them is not as it was. */
  approve({ id, sha256, ...who }: SeenChange): Promise<ChangeSet | Failure> {
    return this.#store.locked(async () => {
      const set = this.#seen(id, sha256);
      return isFailure(set) ? set : this.#commit(set, who);
    });
  }

  reject({ id, ...who }: ChangeDecision): Promise<ChangeSet | Failure> {
    return this.#store.locked(() => {
      const set = this.#open(id);
      if (isFailure(set)) return Promise.resolve(set);
      const rejected = decided(set, 'rejected', who);
      this.#store.shelve(rejected);
      this.#tell(rejected, 'rejected', who);
      return Promise.resolve(rejected);
    });
  }

  /** Puts the user's own text in place of the proposed one; it is still to be approved. */
  modify(
    { id, sha256 }: Pick<SeenChange, 'id' | 'sha256'>,
    edit: { readonly path: string; readonly text: string },
  ): Promise<ChangeSet | Failure> {
    return this.#store.locked(() => {
      const set = this.#seen(id, sha256);
      if (isFailure(set)) return Promise.resolve(set);
      const bytes = Buffer.from(edit.text);
      const at = set.files.findIndex(({ path }) => path === edit.path);
      const file = set.files[at];
      if (file === undefined || changeKind(file) === 'delete' || bytes.length > FILE_BYTES_MAX) {
        const message = `${quote(edit.path)} has no text in this change, or the text is too large.`;
        return Promise.resolve(failure('SUB_CHANGE_REFUSED', message, 'Name another file of it.'));
      }
      const files = set.files.with(at, { ...file, after: sha256Bytes(bytes) });
      const modified: ChangeSet = { ...set, files, is_modified: 'by_user' };
      return Promise.resolve(this.#store.put(modified, [bytes]) ?? modified);
    });
  }

  /** Restores what was before a commit, unless somebody has changed it since and `isForced` is not set. */
  rollback(
    { id, ...who }: ChangeDecision,
    { isForced = false } = {},
  ): Promise<ChangeSet | Failure> {
    return this.#store.locked(async () => {
      const set = this.#store.get(id);
      if (set === undefined) return unknown(id);
      if (set.state !== 'committed') return decidedAlready(set);
      const writes = rollbackWrites(set.files);
      const written = await writeFiles(writes, { ...this.#writeOptions(set), isForced });
      if (isFailure(written)) return written;
      removeEmpty(set.made_folders ?? []);
      const back = decided(set, 'rolled_back', who);
      this.#store.save(back);
      this.#tell(back, 'rolled_back', who);
      return back;
    });
  }

  /** Finishes commits that a crash has cut off: a person has approved them. */
  resume(): Promise<readonly Failure[] | Failure> {
    return this.#store.locked(async () => {
      const failures: Failure[] = [];
      for (const set of this.#store.list().filter(({ state }) => state === 'committing')) {
        const done = await this.#commit(set, { by: set.by ?? 'unknown' });
        if (isFailure(done)) failures.push(done);
      }
      return failures;
    });
  }

  async #commit(set: ChangeSet, who: Decider): Promise<ChangeSet | Failure> {
    // On the disk before the first file is: a crash must not leave half a change that nobody knows of.
    const begun = decided(set, 'committing', who);
    this.#store.save(begun);
    const folders = await writeFiles(commitWrites(set.files), this.#writeOptions(set));
    if (isFailure(folders)) {
      const { by: _by, decided_at_ms: _at, ...undecided } = set;
      this.#store.save({ ...undecided, state: 'open' });
      return folders;
    }
    const committed: ChangeSet = { ...begun, state: 'committed', made_folders: folders };
    this.#store.shelve(committed);
    this.#tell(committed, 'approved', who);
    return committed;
  }

  #writeOptions({ id }: ChangeSet) {
    return { roots: this.#roots, content: (hash: string) => this.#store.content(id, hash) };
  }

  #open(id: string): ChangeSet | Failure {
    const set = this.#store.get(id);
    if (set === undefined) return unknown(id);
    return set.state === 'open' ? set : decidedAlready(set);
  }

  #seen(id: string, sha256: string): ChangeSet | Failure {
    const set = this.#open(id);
    if (isFailure(set) || changeSetHash(set) === sha256) return set;
    const message = `${id} is not what you have seen: it has changed since.`;
    return failure('SUB_CHANGE_CONFLICT', message, 'Look at it again, then decide.');
  }

  #tell(set: ChangeSet, state: 'approved' | 'rejected' | 'rolled_back', who: Decider): void {
    const files = state === 'rejected' ? {} : { files: changedFiles(set, state) };
    const change = {
      id: set.id,
      kind: 'files',
      state,
      title: titleOf(set),
      ...who,
      ...files,
    } as const;
    this.#record({ runId: set.run_id, change });
  }
}

function decided(set: ChangeSet, state: ChangeSet['state'], { by }: Decider): ChangeSet {
  return { ...set, state, by, decided_at_ms: Date.now() };
}

function unknown(id: string): Failure {
  const message = `There is no change ${quote(id)}.`;
  return failure(
    'SUB_CHANGE_UNKNOWN',
    message,
    'List the changes, and give the id of one of them.',
  );
}

function decidedAlready({ id, state }: ChangeSet): Failure {
  const message = `${id} is ${state.replaceAll('_', ' ')}.`;
  return failure('SUB_CHANGE_CONFLICT', message, 'Look at the changes that are open.');
}

/** `edit /srv/notes/a.txt, delete /srv/notes/b.txt: the reason`, safe to print. */
export function titleOf({ files, why }: Pick<ChangeSet, 'files' | 'why'>): string {
  const parts = files.map((file) => `${changeKind(file)} ${file.path}`);
  return visible(`${parts.join(', ')}${why === '' ? '' : `: ${why}`}`, TITLE_LENGTH_MAX);
}

function changedFiles({ files }: ChangeSet, state: 'approved' | 'rolled_back') {
  const rows = files.flatMap((file): readonly StagedFile[] => {
    if (file.to === undefined) return [file];
    const { before, after } = file;
    const gone = before === undefined ? {} : { before };
    return [
      { path: file.path, ...gone },
      { path: file.to, ...(after !== undefined && { after }) },
    ];
  });
  return rows.slice(0, 100).map(({ path, before, after }) => {
    const [from, to] = state === 'approved' ? [before, after] : [after, before];
    return { path, ...(from && { before: from }), ...(to && { after: to }) };
  });
}
