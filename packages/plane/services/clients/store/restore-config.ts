// Takes a change back: the very bytes that were there before, or, where others have changed the
// config since, the config as it is now without our edits.

import { rmSync } from 'node:fs';
import { readDocument } from '../text/document.ts';
import type { ConfigFailure, ConfigFile, EntryChange, EntryValues, ValuePath } from '../types.ts';
import {
  busy,
  type HeldConfig,
  livingOwner,
  TRIES_MAX,
  undoRecordedChanges,
} from './apply-change.ts';
import {
  byHand,
  type ChangeStore,
  type ConfigLock,
  configFailure,
  configKey,
  lockConfig,
} from './change-store.ts';

import {
  type ConfigBytes,
  draftPath,
  type OnChangeStep,
  readConfigFile,
  replaceConfigFile,
} from './config-file.ts';

import type { ConfigRecord } from './record-text.ts';
import {
  type ConfigBackup,
  digestOf,
  dropRecord,
  type FoundRecord,
  keepCopy,
  matchesDigest,
  readBackup,
  readRecord,
  rewriteRecord,
  writeRecord,
} from './records.ts';
import { type EntryPlace, removeShims, type UndoneChanges } from './undo-changes.ts';

export interface RestoreRequest extends ChangeStore {
  /** As the client finds it. */
  readonly path: string;
  /** One that was taken before, and stays with whoever took it. */
  readonly lock?: ConfigLock;
  /** Puts the secrets back that moved; without it, a config that lacks some is not touched. */
  readonly putBack?: (text: string, record: ConfigRecord) => string | ConfigFailure;
  readonly onStep?: OnChangeStep;
}

/** What others have taken out of a config: it cannot come back by itself. */
interface LostEntries {
  readonly missing: readonly EntryPlace[];
  /** Where the config is kept as it was before us, because of what is missing. */
  readonly original: string | undefined;
}

export interface Restored extends LostEntries {
  readonly kind: 'restored';
  readonly path: string;
  readonly how: UndoneChanges['kind'];
  readonly taken: readonly EntryPlace[];
  readonly left: readonly EntryPlace[];
  /** Where the config is kept as it was before a merge. */
  readonly replaced: string | undefined;
}

/** The config holds none of our edits any more; its record is dropped. */
export interface Untouched extends LostEntries {
  readonly kind: 'untouched';
  readonly path: string;
  readonly left: readonly EntryPlace[];
}

export type RestoreResult =
  | Restored
  | Untouched
  | HeldConfig
  | { readonly kind: 'none'; readonly path: string }
  | ConfigFailure;

/** For the holder of its lock: whatever stands under the name of the config by now. */
export function restoreLocked(lock: ConfigLock, path: string, store: ChangeStore): RestoreResult {
  const found = readRecord(lock.key, store.paths);
  if (found.kind === 'none') return { kind: 'none', path };
  return found.kind === 'failure' ? found : restoreRecord(found, { ...store, lock });
}

/** Also for a record whose config is known by nothing else. */
export function restoreRecord(
  { key, record: { path } }: FoundRecord,
  request: Omit<RestoreRequest, 'path'>,
): RestoreResult {
  if (request.lock !== undefined && request.lock.key !== key) {
    throw new Error('the lock is that of another config');
  }
  const lock = request.lock ?? lockConfig(key, request);
  if (lock.kind === 'held') return { ...lock, path };
  if (lock.kind === 'failure') return lock;
  try {
    request.onStep?.('locked');
    for (let tried = 0; tried < TRIES_MAX; tried++) {
      const result = attempt(key, path, request);
      if (result.kind !== 'changed') return withHint(result, key, request);
    }
    return withHint(busy(path), key, request);
  } finally {
    if (request.lock === undefined) lock.release();
  }
}

/** Whatever keeps us from it, a person can still do it (F-020). */
function withHint(result: RestoreResult, key: string, store: ChangeStore): RestoreResult {
  if (result.kind !== 'failure' || result.fix.includes(store.paths.backups)) return result;
  const found = readRecord(key, store.paths);
  const backup = found.kind === 'record' ? readBackup(found, store) : undefined;
  if (found.kind !== 'record' || backup?.kind !== 'backup') return result;
  const { target, moved = [] } = found.record;
  const names = [...new Set(moved.map(({ secret }) => secret))].join(', ');
  const lacks = names === '' ? '' : ` It lacks what \`sub secrets get\` tells of ${names}.`;
  return { ...result, fix: `${result.fix} ${byHand(backup.path, target)}${lacks}` };
}

interface PlannedRestore {
  readonly kind: 'undoing';
  readonly found: FoundRecord;
  readonly config: ConfigBytes;
  readonly backup: ConfigBackup;
  readonly undone: UndoneChanges;
}

/** Reads everything anew and works out what the config becomes; nothing is written. */
function undoingOf(
  key: string,
  path: string,
  store: ChangeStore,
): PlannedRestore | Exclude<RestoreResult, Restored | Untouched> {
  const found = readRecord(key, store.paths);
  if (found.kind === 'none') return { kind: 'none', path };
  if (found.kind === 'failure') return found;
  const holder = livingOwner(found.record, store);
  if (holder !== undefined) return { ...holder, path };
  const { target } = found.record;
  const config = readConfigFile(target);
  if (config.kind === 'missing') {
    const client = found.record.client;
    const fix = `If it was deleted on purpose, \`sub restore ${client} --forget\` drops its record.`;
    return configFailure(path, `${path} is gone, but we had changed it.`, fix);
  }
  if (config.kind === 'failure') return config;
  // Moved, with a link left in its place, it is what we have written. Anything else that a link
  // leads to was never ours.
  if (config.target !== target && !matchesDigest(found.record.after, config.bytes)) {
    const fix = 'Remove the link, and try again.';
    return configFailure(path, `${path} leads to ${config.target} now, another file.`, fix);
  }
  const backup = readBackup(found, store);
  if (backup.kind === 'failure') return backup;
  const undone = undoRecordedChanges(config, found, backup);
  return undone.kind === 'failure' ? undone : { kind: 'undoing', found, config, backup, undone };
}

function attempt(
  key: string,
  path: string,
  request: Omit<RestoreRequest, 'path'>,
): RestoreResult | { readonly kind: 'changed' } {
  const { paths, onStep } = request;
  const undoing = undoingOf(key, path, request);
  if (undoing.kind !== 'undoing') return undoing;
  onStep?.('planned');
  const { config, undone } = undoing;
  const { left, taken, missing, kind: how } = undone;
  const text = filled(undoing, request);
  if (typeof text === 'object') return text;
  const original = originalOf(undoing, request);
  if (typeof original === 'object') return original;
  if (text === config.text) {
    rmSync(undoing.found.record.draft, { force: true });
    return dropRecord(key, paths, onStep) ?? { kind: 'untouched', path, left, missing, original };
  }
  const draft = draftOf(undoing, request);
  if (typeof draft !== 'string') return draft;
  const aside = { key, label: 'replaced', bytes: config.bytes } as const;
  const replaced = how === 'merged' ? keepCopy(aside, request) : undefined;
  if (typeof replaced === 'object') return replaced;
  if (replaced !== undefined) onStep?.('kept aside');
  const result = replaceConfigFile({ config, bytes: Buffer.from(text), draft, onStep });
  if (result.kind !== 'replaced') return result;
  const failed = dropRecord(key, paths, onStep);
  onStep?.('done');
  return failed ?? { kind: 'restored', path, how, taken, left, replaced, missing, original };
}

function filled(
  { found: { record }, undone }: PlannedRestore,
  { putBack }: Pick<RestoreRequest, 'putBack'>,
): string | ConfigFailure {
  if (record.moved === undefined) return undone.text;
  if (putBack !== undefined) return putBack(undone.text, record);
  const message = `Secrets of ${record.path} were moved into the store, and must come back first.`;
  return configFailure(record.path, message, `Run: sub restore ${record.client}`);
}

/** The draft that the record names, unless the config was moved to another folder since. */
function draftOf(
  { found, config }: PlannedRestore,
  { paths }: ChangeStore,
): string | ConfigFailure {
  const { draft } = found.record;
  rmSync(draft, { force: true });
  const { target } = config;
  if (target === found.record.target) return draft;
  const next = { ...found.record, target, draft: draftPath(target) };
  return rewriteRecord({ ...found, record: next }, paths) ?? next.draft;
}

/** The backup goes with its record, but of what is missing it is all that is left. */
function originalOf(
  { found, backup, undone }: PlannedRestore,
  store: ChangeStore,
): string | undefined | ConfigFailure {
  if (undone.missing.length === 0) return undefined;
  return keepCopy({ key: found.key, label: 'original', bytes: backup.bytes }, store);
}

export type Forgotten =
  | { readonly kind: 'forgotten'; readonly path: string; readonly original: string }
  /** There is a config: that can be restored. */
  | { readonly kind: 'there'; readonly path: string }
  | { readonly kind: 'none'; readonly path: string }
  | HeldConfig
  | ConfigFailure;

/** For a config that was deleted on purpose: its record goes, what it was is kept aside. */
export function forgetRecord(
  { key, record: { path } }: FoundRecord,
  store: ChangeStore,
): Forgotten {
  const lock = lockConfig(key, store);
  if (lock.kind === 'held') return { ...lock, path };
  if (lock.kind === 'failure') return lock;
  try {
    const found = readRecord(key, store.paths);
    if (found.kind === 'none') return { kind: 'none', path };
    if (found.kind === 'failure') return found;
    const holder = livingOwner(found.record, store);
    if (holder !== undefined) return { ...holder, path };
    if (readConfigFile(found.record.target).kind !== 'missing') return { kind: 'there', path };
    const backup = readBackup(found, store);
    if (backup.kind === 'failure') return backup;
    const original = keepCopy({ key, label: 'original', bytes: backup.bytes }, store);
    if (typeof original === 'object') return original;
    return dropRecord(key, store.paths) ?? { kind: 'forgotten', path, original };
  } finally {
    lock.release();
  }
}

// Takes shims out of a config of which there is no record, as when the home was lost: an entry that
// starts a shim tells itself what it was before.

interface ReleaseRequest extends Omit<RestoreRequest, 'path'> {
  readonly file: ConfigFile;
  /** The entries to be set free. */
  readonly entries: (text: string) => readonly EntryPlace[] | ConfigFailure;
}

/** Writes the record that is missing, then restores by it: so a kill leaves nothing half done. */
export function releaseConfig(request: ReleaseRequest): RestoreResult {
  const { path } = request.file;
  const config = readConfigFile(path);
  if (config.kind === 'missing') return { kind: 'none', path };
  if (config.kind === 'failure') return config;
  const lock = request.lock ?? lockConfig(configKey(config.target), request);
  if (lock.kind === 'held') return { ...lock, path };
  if (lock.kind === 'failure') return lock;
  try {
    const known = readRecord(lock.key, request.paths);
    const found = known.kind === 'none' ? recorded(request, lock.key) : known;
    if (found.kind === 'failure') return found;
    if (found.kind === 'none') return { kind: 'none', path };
    return restoreRecord(found, { ...request, lock });
  } finally {
    if (request.lock === undefined) lock.release();
  }
}

function recorded({ file, entries, ...store }: ReleaseRequest, key: string) {
  const { path } = file;
  const config = readConfigFile(path);
  if (config.kind === 'missing') return { kind: 'none' as const };
  if (config.kind === 'failure') return config;
  const places = entries(config.text);
  if ('kind' in places) return places;
  const ways = places.map((place) => ({ ...place, pairs: [] }));
  const out = removeShims({ text: config.text, format: file.format, ways });
  if (out.kind === 'refused') {
    return configFailure(path, `The shims cannot be taken out of ${path}: ${out.why}`, out.fix);
  }
  if (out.text === config.text) return { kind: 'none' as const };
  const change = { file, before: out.text, after: config.text, places: out.taken };
  const record = recordOf(change, config.target);
  const failed = writeRecord({ key, record, base: Buffer.from(out.text) }, store);
  return failed ?? { kind: 'record' as const, key, record };
}

interface UnrecordedChange {
  readonly file: ConfigFile;
  readonly before: string;
  readonly after: string;
  readonly places: readonly EntryPlace[];
}

/** As if the change had been ours from the start. */
function recordOf(found: UnrecordedChange, target: string): ConfigRecord {
  const { client, path, format } = found.file;
  return {
    v: 1,
    kind: 'import',
    client,
    path,
    target,
    format,
    created_at: new Date().toISOString(),
    base: digestOf(Buffer.from(found.before)),
    after: digestOf(Buffer.from(found.after)),
    changes: changesOf(found),
    draft: draftPath(target),
  };
}

function changesOf({
  file: { format },
  before,
  after,
  places,
}: UnrecordedChange): readonly EntryChange[] {
  const inside = places.flatMap(({ at }) => [at.command, at.args]);
  const was = readDocument(before, format, inside);
  const is = readDocument(after, format, inside);
  if (was.kind === 'broken' || is.kind === 'broken') return [];
  return places.flatMap((place) => {
    const values = [was, is].map(({ document }) => valuesAt(document, place));
    const [old, now] = values;
    return old === undefined || now === undefined ? [] : [{ ...place, before: old, after: now }];
  });
}

type ConfigDocument = Extract<ReturnType<typeof readDocument>, { kind: 'document' }>['document'];

function valuesAt(document: ConfigDocument, { at }: EntryPlace): EntryValues | undefined {
  const command = writtenAt(document, at.command);
  return command === undefined
    ? undefined
    : { command, args: writtenAt(document, at.args) ?? null };
}

function writtenAt(document: ConfigDocument, path: ValuePath) {
  const [value, span] = [document.valueAt(path), document.spanAt(path)];
  if (span === undefined || (typeof value !== 'string' && !isWords(value))) return undefined;
  return { value, text: document.text.slice(span.start, span.end) };
}

function isWords(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((word) => typeof word === 'string');
}

// A session that leaves its config as it is makes an import of it (`--no-restore`).

/** For the holder of the lock: without an owner, nobody takes the change back on his own. */
export function keepChange(
  { key }: Pick<ConfigLock, 'key'>,
  store: ChangeStore,
): ConfigFailure | undefined {
  const found = readRecord(key, store.paths);
  if (found.kind === 'failure') return found;
  if (found.kind === 'none') return undefined;
  const { owner: _owner, wrap_id: _wrapId, ...record } = found.record;
  return rewriteRecord({ ...found, record: { ...record, kind: 'import' } }, store.paths);
}
