// Changes a config, so that at every moment it is either what it was or what it shall be, and a
// record is there first that tells how to undo it.

import { rmSync } from 'node:fs';
import { isElsewhere, isProcessAlive, type ProcessIdentity } from '../../../os/index.ts';
import { linkOutOfProject } from '../project-links.ts';
import type { ConfigFailure, ConfigFile, EntryChange, RewrittenConfig } from '../types.ts';
import {
  type ChangeStore,
  type ConfigLock,
  configFailure,
  configKey,
  type HeldLock,
  lockConfig,
  thisProcess,
} from './change-store.ts';
import {
  type ConfigBytes,
  draftPath,
  type OnChangeStep,
  readConfigFile,
  replaceConfigFile,
  replaceProblem,
} from './config-file.ts';

import type { ChangeKind, ConfigRecord } from './record-text.ts';
import {
  type ConfigBackup,
  digestOf,
  dropRecord,
  type FoundRecord,
  keepCopy,
  matchesDigest,
  originalPath,
  readBackup,
  readRecord,
  recordFolder,
  writeRecord,
} from './records.ts';

import { type EntryPlace, undoChanges } from './undo-changes.ts';

export interface ApplyRequest extends ChangeStore {
  readonly file: ConfigFile;
  readonly kind: ChangeKind;
  /**
   * Plans the change of the config as it is without any edit of ours. `governed` names the entries
   * that an earlier change of ours governs: those that are not chosen again are set free.
   */
  rewrite(baseText: string, governed: readonly EntryPlace[]): RewrittenConfig | ConfigFailure;
  /** Of a wrap; this process unless told otherwise. */
  readonly owner?: ProcessIdentity;
  readonly wrapId?: string;
  /** One that was taken before, and stays with whoever took it. */
  readonly lock?: ConfigLock;
  readonly onStep?: OnChangeStep;
}

export interface Applied {
  readonly kind: 'applied';
  readonly path: string;
  readonly target: string;
  readonly before: string;
  readonly after: string;
  readonly changes: readonly EntryChange[];
  /** Where the config is kept as it was. */
  readonly backup: string;
  /** Whole sentences. */
  readonly warnings: readonly string[];
  /** Kept by a wrap until its config is restored; undefined for an import. */
  readonly lock: ConfigLock | undefined;
}

/** The config says already what it should. */
export interface Unchanged {
  readonly kind: 'unchanged';
  readonly path: string;
  readonly text: string;
  readonly warnings: readonly string[];
  readonly lock: ConfigLock | undefined;
}

export interface HeldConfig extends HeldLock {
  readonly path: string;
}

export type ApplyResult = Applied | Unchanged | HeldConfig | ConfigFailure;

export const TRIES_MAX = 3;

export function applyChange(request: ApplyRequest): ApplyResult {
  const { path } = request.file;
  const config = readExisting(request.file);
  if (config.kind !== 'read') return config;
  const lock = request.lock ?? lockConfig(configKey(config.target), request);
  if (lock.kind === 'held') return { ...lock, path };
  if (lock.kind === 'failure') return lock;
  let isKept = request.lock !== undefined;
  try {
    request.onStep?.('locked');
    const result = applyLocked(request, lock);
    const isDone = result.kind === 'applied' || result.kind === 'unchanged';
    if (!isDone) return result;
    isKept ||= request.kind === 'wrap';
    return { ...result, lock: request.kind === 'wrap' ? lock : undefined };
  } finally {
    if (!isKept) lock.release();
  }
}

function readExisting(file: ConfigFile): ConfigBytes | ConfigFailure {
  const { path } = file;
  const config = readConfigFile(path);
  if (config.kind === 'read') return linkOutOfProject(file, config.target) ?? config;
  if (config.kind === 'failure') return config;
  return configFailure(
    path,
    `${path} does not exist.`,
    'Check the path, or start the client once.',
  );
}

function applyLocked(request: ApplyRequest, lock: ConfigLock): ApplyResult {
  for (let tried = 0; tried < TRIES_MAX; tried++) {
    const result = attempt(request, lock);
    if (result.kind !== 'changed') return result;
  }
  return busy(request.file.path);
}

export function busy(path: string): ConfigFailure {
  const fix = 'Close the client (or editor) that writes it, and try again.';
  return configFailure(path, `Another program keeps writing ${path}.`, fix);
}

interface PlannedChange {
  readonly kind: 'planned';
  readonly config: ConfigBytes;
  readonly before: PriorState;
  readonly rewritten: RewrittenConfig;
}

/** Reads the config and works out its next content; nothing is written. */
function planOn(request: ApplyRequest, key: string): PlannedChange | HeldConfig | ConfigFailure {
  const { file, kind } = request;
  const config = readExisting(file);
  if (config.kind !== 'read') return config;
  // A link that leads elsewhere since the lock was taken: that is another config.
  if (configKey(config.target) !== key) return busy(file.path);
  request.onStep?.('read');
  const before = readPriorState(config, key, request);
  if (before.kind === 'held') return { ...before, path: file.path };
  if (before.kind === 'failure') return before;
  // A session ends without the key of the store: it could not put back what stands there alone.
  if (kind === 'wrap' && before.old?.record.moved !== undefined) return imported(file);
  // An import is meant to last: a session on top of it would take it away with itself.
  if (kind === 'wrap' && before.old?.record.kind === 'import' && before.text !== config.text) {
    const refused = request.rewrite(config.text, before.governed);
    return 'kind' in refused ? refused : imported(file);
  }
  const rewritten = request.rewrite(before.text, before.governed);
  return 'kind' in rewritten ? rewritten : { kind: 'planned', config, before, rewritten };
}

function imported({ path, client }: ConfigFile): ConfigFailure {
  const fix = `Start the agent with \`sub run\`, or undo the import first: sub restore ${client}`;
  return configFailure(path, `${path} is governed by \`sub import\` already.`, fix);
}

function attempt(
  request: ApplyRequest,
  lock: ConfigLock,
): ApplyResult | { readonly kind: 'changed' } {
  const { file, onStep } = request;
  const planned = planOn(request, lock.key);
  if (planned.kind !== 'planned') return planned;
  const { config, before, rewritten } = planned;
  onStep?.('planned');
  const unwritable = replaceProblem(config);
  if (unwritable !== undefined && rewritten.text !== config.text) return unwritable;
  const lost = lostOf(planned, lock.key, request);
  if ('kind' in lost) return lost;
  const warnings = [...before.warnings, ...lost];
  if (before.old !== undefined) rmSync(before.old.record.draft, { force: true });
  if (rewritten.text === config.text) return unchanged(request, lock, { ...planned, warnings });
  const record = recordOf(request, planned);
  const base = Buffer.from(rewritten.base ?? before.text);
  const failed = writeRecord({ key: lock.key, record, base, onStep }, request);
  if (failed !== undefined) {
    restorePriorRecord(before, lock.key, request);
    return failed;
  }
  const bytes = Buffer.from(rewritten.text);
  const replaced = replaceConfigFile({ config, bytes, draft: record.draft, onStep });
  if (replaced.kind !== 'replaced') {
    restorePriorRecord(before, lock.key, request);
    return replaced;
  }
  onStep?.('done');
  return {
    kind: 'applied',
    path: file.path,
    target: config.target,
    before: config.text,
    after: rewritten.text,
    changes: rewritten.changes,
    backup: originalPath(lock.key, request.paths),
    warnings,
    lock: undefined,
  };
}

/** When the record is about to go: of what others have removed, its backup is all that is left. */
function lostOf(
  planned: PlannedChange,
  key: string,
  store: ChangeStore,
): readonly string[] | ConfigFailure {
  const { missing, old } = planned.before;
  const stays = planned.rewritten.text === planned.config.text && !isFree(planned);
  if (missing.length === 0 || old === undefined || stays) return [];
  const kept = keepCopy({ key, label: 'original', bytes: old.backup.bytes }, store);
  if (typeof kept !== 'string') return kept;
  const names = missing.map(({ name }) => name).join(', ');
  return [
    `${old.record.path} does not have ${names} any more, which had been governed; the config as it was before that is kept in ${kept}.`,
  ];
}

/** There is a record of a change, but nothing of the change. */
function isFree({ before, config, rewritten }: PlannedChange): boolean {
  const hasMoved = (rewritten.moved ?? []).length > 0;
  return before.old !== undefined && before.text === config.text && !hasMoved;
}

interface FinishedChange extends PlannedChange {
  readonly warnings: readonly string[];
}

function unchanged(request: ApplyRequest, lock: ConfigLock, finished: FinishedChange): ApplyResult {
  const { config, warnings } = finished;
  const { path } = request.file;
  const failed = isFree(finished) ? dropRecord(lock.key, request.paths) : undefined;
  return failed ?? { kind: 'unchanged', path, text: config.text, warnings, lock: undefined };
}

function recordOf(
  request: ApplyRequest,
  { config, before, rewritten }: PlannedChange,
): ConfigRecord {
  const { file, kind, wrapId } = request;
  const owner = kind === 'wrap' ? (request.owner ?? thisProcess(request)) : undefined;
  const isFirst = before.text === config.text;
  const { base = before.text, moved = [] } = rewritten;
  // Of what holds secrets that are about to go not even a digest is kept: it could be guessed from.
  const from = moved.length > 0 ? {} : { from: digestOf(config.bytes) };
  return {
    v: 1,
    kind,
    client: file.client,
    path: file.path,
    target: config.target,
    format: file.format,
    created_at: new Date().toISOString(),
    base: digestOf(Buffer.from(base)),
    after: digestOf(Buffer.from(rewritten.text)),
    ...(isFirst ? {} : { ...from, earlier: before.earlier }),
    changes: rewritten.changes,
    ...(moved.length > 0 ? { moved } : {}),
    ...(owner === undefined ? {} : { owner }),
    ...(wrapId === undefined ? {} : { wrap_id: wrapId }),
    draft: draftPath(config.target),
  };
}

// What an earlier change has left of a config: its record, and the config without its edits.

export interface PriorState {
  readonly kind: 'before';
  /** The config without our edits. */
  readonly text: string;
  readonly old: { readonly record: ConfigRecord; readonly backup: ConfigBackup } | undefined;
  readonly governed: readonly EntryPlace[];
  /** What an earlier change governed, and others have removed since. */
  readonly missing: readonly EntryPlace[];
  readonly earlier: readonly EntryChange[];
  readonly warnings: readonly string[];
}

const EARLIER_MAX = 10_000;

export function readPriorState(
  config: ConfigBytes,
  key: string,
  store: ChangeStore,
): PriorState | HeldLock | ConfigFailure {
  const found = readRecord(key, store.paths);
  if (found.kind === 'failure') return found;
  if (found.kind === 'none') {
    const nothing = { governed: [], missing: [], earlier: [], warnings: [] };
    return { kind: 'before', text: config.text, old: undefined, ...nothing };
  }
  const { record } = found;
  const holder = livingOwner(record, store);
  if (holder !== undefined) return holder;
  const backup = readBackup(found, store);
  if (backup.kind === 'failure') return backup;
  const undone = undoRecordedChanges(config, found, backup);
  if (undone.kind === 'failure') return undone;
  return {
    kind: 'before',
    text: undone.text,
    old: { record, backup },
    governed: undone.taken,
    missing: undone.missing,
    earlier: earlierOf(config, record),
    warnings:
      record.owner === undefined || isOurs(record.owner, store)
        ? []
        : [leftBehind(record.path, record.owner)],
  };
}

/** The lock file may have been removed by hand; the session is still using the config. */
export function livingOwner(
  { owner, target }: ConfigRecord,
  store: ChangeStore,
): HeldLock | undefined {
  if (owner === undefined || !isProcessAlive(owner, store.system)) return undefined;
  const { pid } = owner;
  if (isElsewhere(owner, store.system)) {
    const folder = recordFolder(configKey(target), store.paths);
    const elsewhere = `copy the backup in ${folder} over it, and remove that folder`;
    return { kind: 'held', by: { pid, elsewhere } };
  }
  return pid === store.system.pid ? undefined : { kind: 'held', by: { pid } };
}

function isOurs(owner: ProcessIdentity, store: ChangeStore): boolean {
  return (
    owner.pid === store.system.pid &&
    !isElsewhere(owner, store.system) &&
    isProcessAlive(owner, store.system)
  );
}

export function undoRecordedChanges(
  config: ConfigBytes,
  { record }: FoundRecord,
  backup: ConfigBackup,
) {
  return undoChanges({
    text: config.text,
    record,
    backup: { path: backup.path, text: backup.bytes.toString('utf8') },
  });
}

/** Older edits matter only while a kill may have left them in place. */
function earlierOf(
  { bytes }: ConfigBytes,
  { after, changes, earlier = [] }: ConfigRecord,
): readonly EntryChange[] {
  if (matchesDigest(after, bytes)) return changes;
  const all = [...changes, ...earlier].map((change) => [JSON.stringify(change), change] as const);
  return [...new Map(all).values()].slice(0, EARLIER_MAX);
}

function leftBehind(path: string, { pid }: ProcessIdentity): string {
  return `A session (process ${pid}) that ended without cleaning up had left a backup of ${path}; its changes were undone first, and the backup replaced.`;
}

/** After a failure: the record tells of what is in place, which is what was there before. */
function restorePriorRecord({ old }: PriorState, key: string, store: ChangeStore): void {
  if (old === undefined) {
    dropRecord(key, store.paths);
    return;
  }
  // Should this fail too, the newer record stays, and it knows how to undo the older edits.
  writeRecord({ key, record: old.record, base: old.backup.bytes }, store);
}
