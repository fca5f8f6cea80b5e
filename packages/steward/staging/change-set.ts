// A change of files that was proposed: what it would do to which file, and what became of it.
import { type Infer, parseAs } from '@subluminal/contracts';
import {
  array,
  integer,
  oneOf,
  open,
  optional,
  required,
  string,
} from '@subluminal/contracts/shape';
import { sha256 } from '@subluminal/plane/crypto';

const sha = string({ lengthMin: 64, lengthMax: 64 });
const path = string({ lengthMax: 4_096 });

const STAGED_FILE = open({
  path: required(path, 'The true path of the file; of a rename, where it is now.'),
  to: optional(path, 'Of a rename: where it goes.'),
  before: optional(sha, 'Its hash when the change was proposed; absent for a new file.'),
  after: optional(sha, 'Its hash once the change is made; absent when it is removed.'),
  mode: optional(integer({ min: 0, max: 0o777 }), 'The permissions of the file, if there was one.'),
});

const CHANGE_SET = open({
  v: required(integer({ min: 1, max: 1 }), 'The version of this file.'),
  id: required(string({ lengthMax: 64 }), 'Its name.'),
  keys: required(array(string({ lengthMax: 256 })), 'Of the steps that made it.'),
  run_id: required(string({ lengthMax: 256 }), 'The run that proposed it.'),
  why: required(string({ lengthMin: 0, lengthMax: 1_024 }), "The agent's reason."),
  proposed_at_ms: required(integer({ min: 0 }), 'When it was proposed.'),
  files: required(array(STAGED_FILE, { itemsMin: 1, itemsMax: 100 }), 'The files.'),
  state: required(
    oneOf('open', 'committing', 'committed', 'rejected', 'rolled_back'),
    'How far it is. `committing`: approved, and its files are being written.',
  ),
  is_modified: optional(oneOf('by_user'), 'The user has edited the proposed text.'),
  made_folders: optional(array(path), 'Folders that were made for its files.'),
  by: optional(string({ lengthMax: 256 }), 'Who decided.'),
  decided_at_ms: optional(integer({ min: 0 }), 'When.'),
});

export type ChangeSet = Infer<typeof CHANGE_SET>;
export type StagedFile = Infer<typeof STAGED_FILE>;

export function parseChangeSet(value: unknown): ChangeSet | undefined {
  const read = parseAs(CHANGE_SET, value);
  return read.ok ? read.value : undefined;
}

/** One name for one step: a step that is repeated after a crash finds what it has made. */
export function changeSetId(key: string): string {
  return `change-${sha256(key).slice(0, 16)}`;
}

/** What the user has seen, so that nothing else is approved. */
export function changeSetHash({ id, files }: Pick<ChangeSet, 'id' | 'files'>): string {
  return sha256(
    JSON.stringify([
      id,
      ...files.map(({ path: from, to, before, after }) => [from, to, before, after]),
    ]),
  );
}

export type FileChangeKind = 'create' | 'edit' | 'delete' | 'rename';

export function changeKind({ to, before, after }: StagedFile): FileChangeKind {
  if (to !== undefined) return 'rename';
  if (before === undefined) return 'create';
  return after === undefined ? 'delete' : 'edit';
}
