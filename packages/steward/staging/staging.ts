// What the agent may do with files: propose. A proposal changes nothing but the staging area.
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { quote } from '@subluminal/core/visible';
import { sha256Bytes } from '@subluminal/plane/crypto';
import { type ChangeSet, changeSetId, type StagedFile } from './change-set.ts';
import { type ChangeStore, FILE_BYTES_MAX, SET_BYTES_MAX } from './change-store.ts';
import { type FileRoots, readTruePath } from './file-roots.ts';

export interface ProposedFile {
  /** As the agent names it. */
  readonly path: string;
  /** Of a rename: the new path. */
  readonly to?: string | undefined;
  /** What becomes of the file as it is now; undefined where there is none. */
  readonly next: (now: Buffer | undefined) => NextContent;
}

export type NextContent =
  | { readonly kind: 'content'; readonly bytes: Uint8Array }
  | { readonly kind: 'gone' }
  | { readonly kind: 'refused'; readonly why: string };

export interface Proposal {
  /** Of the step: the same key makes one change set, however often it comes. */
  readonly key: string;
  readonly runId: string;
  readonly why: string;
  readonly files: readonly ProposedFile[];
  /** The id of an open change set of the same run that this belongs to. */
  readonly into?: string | undefined;
}

export interface Staging {
  readonly roots: FileRoots;
  stage(proposal: Proposal): Promise<ChangeSet | Failure>;
  list(): readonly ChangeSet[];
}

const OPEN_MAX = 100;
const FILES_MAX = 100;
const WHY_LENGTH_MAX = 1_024;

export function openStaging(store: ChangeStore, roots: FileRoots): Staging {
  return {
    roots,
    stage: (proposal) => store.locked(() => Promise.resolve(stage(store, roots, proposal))),
    list: () => store.list(),
  };
}

function stage(store: ChangeStore, roots: FileRoots, proposal: Proposal): ChangeSet | Failure {
  const { key, runId, why, files, into } = proposal;
  const sets = store.list();
  const known = sets.find(({ keys }) => keys.includes(key));
  if (known !== undefined) return known;
  const before = into === undefined ? undefined : sets.find(({ id }) => id === into);
  if (into !== undefined && (before?.state !== 'open' || before.run_id !== runId)) {
    return refused(`There is no open change ${quote(into)} of this conversation.`);
  }
  const waiting = sets.filter(({ state }) => state === 'open').length;
  if (before === undefined && waiting >= OPEN_MAX) {
    return refused(`${waiting} changes wait for the user already.`);
  }
  const staged = files.map((file) => stageFile(roots, file));
  const problem = staged.find(isFailure);
  if (problem !== undefined) return problem;
  const fresh = staged.flatMap((one) => (isFailure(one) ? [] : [one]));
  const all = [...(before?.files ?? []), ...fresh.map(({ file }) => file)];
  const kept = before === undefined ? 0 : store.sizeOf(before.id);
  const bytes = fresh.reduce((sum, { contents }) => sum + sizeOf(contents), kept);
  if (all.length > FILES_MAX || bytes > SET_BYTES_MAX) {
    return refused('The change has too many or too large files.');
  }
  const paths = all.flatMap(({ path, to }) => (to === undefined ? [path] : [path, to]));
  if (new Set(paths).size < paths.length) {
    return refused(
      'The change holds one of these files already. Propose it as a change of its own.',
    );
  }
  const set: ChangeSet = {
    v: 1,
    id: before?.id ?? changeSetId(key),
    run_id: runId,
    why: (before?.why ?? why).slice(0, WHY_LENGTH_MAX),
    proposed_at_ms: before?.proposed_at_ms ?? Date.now(),
    state: 'open',
    keys: [...(before?.keys ?? []), key],
    files: all,
  };
  return (
    store.put(
      set,
      fresh.flatMap(({ contents }) => contents),
    ) ?? set
  );
}

interface StagedContents {
  readonly file: StagedFile;
  readonly contents: readonly Uint8Array[];
}

function stageFile(roots: FileRoots, { path, to, next }: ProposedFile): StagedContents | Failure {
  const found = roots.locate(path);
  if (typeof found === 'string') return refused(found);
  const target = to === undefined ? undefined : roots.locate(to);
  if (typeof target === 'string') return refused(target);
  if (target?.isThere) return refused(`There is a file ${quote(target.path)} already.`);
  const read = readTruePath(found.path, FILE_BYTES_MAX);
  if (read.kind === 'unreadable') return refused(`${quote(path)} ${read.why}.`);
  const now = read.kind === 'read' ? read.bytes : undefined;
  const wanted = next(now);
  if (wanted.kind === 'refused') return refused(wanted.why);
  const bytes = wanted.kind === 'gone' ? undefined : wanted.bytes;
  if ((bytes?.length ?? 0) > FILE_BYTES_MAX) return refused(`${quote(path)} would be too large.`);
  if (target === undefined && (now === bytes || (now && bytes && now.equals(bytes)))) {
    return refused(`Nothing of ${quote(path)} would change.`);
  }
  const file: StagedFile = {
    path: found.path,
    ...(target !== undefined && { to: target.path }),
    ...(now !== undefined && { before: sha256Bytes(now) }),
    ...(bytes !== undefined && { after: sha256Bytes(bytes) }),
    ...(read.kind === 'read' && { mode: read.stats.mode & 0o777 }),
  };
  return { file, contents: [now, bytes].filter((one) => one !== undefined) };
}

function sizeOf(contents: readonly Uint8Array[]): number {
  return contents.reduce((sum, { length }) => sum + length, 0);
}

function refused(message: string): Failure {
  return failure('SUB_CHANGE_REFUSED', message, 'Propose something else, or ask the user.');
}
