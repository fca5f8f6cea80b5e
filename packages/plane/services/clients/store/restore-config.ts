// Takes a change back: the very bytes that were there before, or, where others have changed the
// config since, the config as it is now without our edits.

import { rmSync } from 'node:fs';
import type { ConfigFailure, ConfigFile } from '../types.ts';
import { heldByOwner, retried } from './apply-change.ts';
import {
  byHand,
  type ChangeStore,
  type ConfigLock,
  configFailure,
  configKey,
  underLock,
} from './change-store.ts';
import {
  type ConfigBytes,
  draftPath,
  type OnChangeStep,
  readConfigFile,
  removeConfigDrafts,
  removeConfigFile,
  replaceConfigFile,
} from './config-file.ts';
import type { ConfigRecord } from './record-text.ts';
import {
  type ConfigBackup,
  dropRecord,
  type FoundRecord,
  keepCopy,
  listRecords,
  matchesDigest,
  readBackup,
  readRecord,
  rewriteRecord,
} from './records.ts';
import { type EntryPlace, removeShims, type UndoneChanges, undoChanges } from './undo-changes.ts';

export interface RestoreRequest extends ChangeStore {
  /** A lock that was taken before, and stays with its holder. */
  readonly lock?: ConfigLock;
  /** Puts the secrets back that moved; without it, a config that lacks some is not touched. */
  readonly putBack?: (text: string, record: ConfigRecord) => string | ConfigFailure;
  readonly onStep?: OnChangeStep;
}

/** Entries that others have removed from a config: they cannot come back by themselves. */
interface LostEntries {
  readonly missing: readonly EntryPlace[];
  /** Where the config is kept as it was before us, because entries are missing. */
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
  | { readonly kind: 'none'; readonly path: string }
  | ConfigFailure;

/** For the holder of the lock; also when another file has taken the place of the config. */
export function restoreLocked(lock: ConfigLock, path: string, store: ChangeStore): RestoreResult {
  const found = readRecord(lock.key, store.paths);
  if (found.kind === 'none') return { kind: 'none', path };
  return found.kind === 'failure' ? found : restoreRecord(found, { ...store, lock });
}

/** Also for a record whose config is known by nothing else. */
export function restoreRecord(found: FoundRecord, request: RestoreRequest): RestoreResult {
  const { key } = found;
  const { path } = found.record;
  return underLock({ key, path }, request, () => {
    request.onStep?.('locked');
    const result = retried(path, () => attempt(key, path, request));
    return withHint(result, key, request);
  });
}

/** Adds how a person restores the config by hand (F-020). */
function withHint(result: RestoreResult, key: string, store: ChangeStore): RestoreResult {
  if (result.kind !== 'failure' || result.code === 'SUB_CLIENT_LOCKED') return result;
  if (result.fix.includes(store.paths.backups)) return result;
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

/** A file that we had made is gone: it is as it was before. */
interface AbsentFile {
  readonly kind: 'absent';
  readonly found: FoundRecord;
}

/** Reads everything anew and works out what the config becomes; nothing is written. */
function planUndo(
  key: string,
  path: string,
  store: ChangeStore,
): PlannedRestore | AbsentFile | Exclude<RestoreResult, Restored | Untouched> {
  const found = readRecord(key, store.paths);
  if (found.kind === 'none') return { kind: 'none', path };
  if (found.kind === 'failure') return found;
  const { record } = found;
  const held = heldByOwner(record, store);
  if (held !== undefined) return held;
  const config = readConfigFile(record.target);
  if (config.kind === 'missing' && record.created !== undefined) {
    return { kind: 'absent', found };
  }
  if (config.kind === 'missing') {
    const fix = `If it was deleted on purpose, \`sub restore ${record.client} --forget\` drops its record.`;
    return configFailure(path, `${path} is gone, but we had changed it.`, fix);
  }
  if (config.kind === 'failure') return config;
  // Moved, with a link left in its place, it is what we have written. Anything else that a link
  // leads to was never ours.
  if (config.target !== record.target && !matchesDigest(record.after, config.bytes)) {
    const fix = 'Remove the link, and try again.';
    return configFailure(path, `${path} leads to ${config.target} now, another file.`, fix);
  }
  const backup = readBackup(found, store);
  if (backup.kind === 'failure') return backup;
  const undone = undoChanges({ text: config.text, record, backup });
  return undone.kind === 'failure' ? undone : { kind: 'undoing', found, config, backup, undone };
}

function attempt(key: string, path: string, request: RestoreRequest): RestoreResult | undefined {
  const { paths, onStep } = request;
  const planned = planUndo(key, path, request);
  if (planned.kind === 'absent') {
    rmSync(planned.found.record.draft, { force: true });
    const nothing = { left: [], missing: [], original: undefined };
    return dropRecord(key, paths, onStep) ?? { kind: 'untouched', path, ...nothing };
  }
  if (planned.kind !== 'undoing') return planned;
  onStep?.('planned');
  const { config, undone, found, backup } = planned;
  const { left, taken, missing, kind: how } = undone;
  const text = withSecrets(found.record, undone.text, request);
  if (typeof text === 'object') return text;
  // The backup goes with its record, but it alone holds the missing entries.
  const kept = { key, label: 'original', bytes: backup.bytes } as const;
  const original = missing.length === 0 ? undefined : keepCopy(kept, request);
  if (typeof original === 'object') return original;
  if (text === config.text) {
    rmSync(found.record.draft, { force: true });
    return dropRecord(key, paths, onStep) ?? { kind: 'untouched', path, left, missing, original };
  }
  const draft = draftOf(planned, request);
  if (typeof draft !== 'string') return draft;
  const aside = { key, label: 'replaced', bytes: config.bytes } as const;
  const replaced = how === 'merged' ? keepCopy(aside, request) : undefined;
  if (typeof replaced === 'object') return replaced;
  if (replaced !== undefined) onStep?.('kept aside');
  const { created } = found.record;
  const result =
    created !== undefined && holdsNothing(text)
      ? removeConfigFile(config, created)
      : replaceConfigFile({ config, bytes: Buffer.from(text), draft, onStep });
  if (result.kind !== 'replaced') return result.kind === 'changed' ? undefined : result;
  const failed = handOn(found, paths) ?? dropRecord(key, paths, onStep);
  onStep?.('done');
  return failed ?? { kind: 'restored', path, how, taken, left, replaced, missing, original };
}

/** A file that we have made goes with the last of our changes: another one is told, if there is one. */
function handOn(
  { key, record: { created, target } }: FoundRecord,
  paths: ChangeStore['paths'],
): ConfigFailure | undefined {
  const other =
    created === undefined
      ? undefined
      : listRecords(paths).find(
          (one) => one.kind === 'record' && one.key !== key && one.record.target === target,
        );
  if (created === undefined || other?.kind !== 'record') return undefined;
  return rewriteRecord({ ...other, record: { ...other.record, created } }, paths);
}

/** Nobody has put anything of their own into it. */
function holdsNothing(text: string): boolean {
  return /^\s*(?:\{\s*\})?\s*$/.test(text);
}

function withSecrets(
  record: ConfigRecord,
  text: string,
  { putBack }: RestoreRequest,
): string | ConfigFailure {
  if (record.moved === undefined) return text;
  if (putBack !== undefined) return putBack(text, record);
  const message = `Secrets of ${record.path} were moved into the store, and must come back first.`;
  return configFailure(record.path, message, `Run: sub restore ${record.client}`);
}

/** The draft that the record names, unless the config was moved to another folder since. */
function draftOf(
  { found, config: { target } }: PlannedRestore,
  { paths }: ChangeStore,
): string | ConfigFailure {
  const { record } = found;
  rmSync(record.draft, { force: true });
  if (target === record.target) return record.draft;
  const draft = draftPath(target);
  return rewriteRecord({ ...found, record: { ...record, target, draft } }, paths) ?? draft;
}

type Forgotten =
  | { readonly kind: 'forgotten'; readonly path: string; readonly original: string }
  /** There is a config: that can be restored. */
  | { readonly kind: 'there' | 'none'; readonly path: string }
  | ConfigFailure;

/** For a config that was deleted on purpose: its record goes, what it was is kept aside. */
export function forgetRecord(
  { key, record: { path } }: FoundRecord,
  store: ChangeStore,
): Forgotten {
  return underLock({ key, path }, store, (): Forgotten => {
    const found = readRecord(key, store.paths);
    if (found.kind === 'none') return { kind: 'none', path };
    if (found.kind === 'failure') return found;
    const held = heldByOwner(found.record, store);
    if (held !== undefined) return held;
    if (readConfigFile(found.record.target).kind !== 'missing') return { kind: 'there', path };
    const backup = readBackup(found, store);
    if (backup.kind === 'failure') return backup;
    const original = keepCopy({ key, label: 'original', bytes: backup.bytes }, store);
    if (typeof original === 'object') return original;
    return dropRecord(key, store.paths) ?? { kind: 'forgotten', path, original };
  });
}

// Takes shims out of a config that has no record, as when the home was lost: the command of the server
// stands in the entry, behind `--`.

interface ReleaseRequest extends ChangeStore {
  readonly file: ConfigFile;
  /** The entries to be set free. */
  readonly entries: (text: string) => readonly EntryPlace[] | ConfigFailure;
}

export function releaseConfig(request: ReleaseRequest): RestoreResult {
  const { path } = request.file;
  const config = readConfigFile(path);
  if (config.kind === 'missing') return { kind: 'none', path };
  if (config.kind === 'failure') return config;
  const key = configKey(config.target);
  return underLock({ key, path }, request, (lock): RestoreResult => {
    const known = readRecord(key, request.paths);
    if (known.kind === 'failure') return known;
    if (known.kind === 'record') return restoreRecord(known, { ...request, lock });
    removeConfigDrafts(config.target);
    return retried(path, () => release(request));
  });
}

function release({ file: { path, format }, entries }: ReleaseRequest): RestoreResult | undefined {
  const config = readConfigFile(path);
  if (config.kind === 'missing') return { kind: 'none', path };
  if (config.kind === 'failure') return config;
  const { text, target } = config;
  const places = entries(text);
  if ('kind' in places) return places;
  const out = removeShims({ text, format, ways: places.map((one) => ({ ...one, pairs: [] })) });
  if (out.kind === 'refused') {
    return configFailure(path, `The shims cannot be taken out of ${path}: ${out.why}`, out.fix);
  }
  if (out.text === text) return { kind: 'none', path };
  const bytes = Buffer.from(out.text);
  const result = replaceConfigFile({ config, bytes, draft: draftPath(target) });
  if (result.kind !== 'replaced') return result.kind === 'changed' ? undefined : result;
  const { taken, left } = out;
  const kept = { replaced: undefined, missing: [], original: undefined };
  return { kind: 'restored', path, how: 'same', taken, left, ...kept };
}

/** Takes what no record knows of out of a file. */
interface FreeRequest extends ChangeStore {
  readonly path: string;
  readonly without: (text: string) => string | ConfigFailure;
}

export function freeFile(request: FreeRequest): RestoreResult {
  const { path, without } = request;
  const first = readConfigFile(path);
  if (first.kind === 'missing') return { kind: 'none', path };
  if (first.kind === 'failure') return first;
  return underLock({ key: configKey(first.target), path }, request, () =>
    retried(path, (): RestoreResult | undefined => {
      const config = readConfigFile(path);
      if (config.kind === 'missing') return { kind: 'none', path };
      if (config.kind === 'failure') return config;
      const text = without(config.text);
      if (typeof text !== 'string') return text;
      const draft = draftPath(config.target);
      const result = replaceConfigFile({ config, bytes: Buffer.from(text), draft });
      if (result.kind !== 'replaced') return result.kind === 'changed' ? undefined : result;
      const nothing = { taken: [], left: [], missing: [], original: undefined };
      return { kind: 'restored', path, how: 'same', replaced: undefined, ...nothing };
    }),
  );
}

// A session that leaves its config as it is makes an import of it (`--no-restore`).

/** For the holder of the lock: without an owner, no other process takes the change back. */
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
