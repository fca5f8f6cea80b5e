// Changes a config, so that at every moment it is either what it was or what it shall be, and a
// record is there first that tells how to undo it.

import { rmSync } from 'node:fs';
import { definedFields } from '@subluminal/contracts';
import { isElsewhere, isProcessAlive, type ProcessIdentity } from '../../../os/index.ts';
import { linkOutOfProject } from '../project-links.ts';
import type {
  ConfigFailure,
  ConfigFile,
  ConfigPart,
  EntryChange,
  RewrittenConfig,
} from '../types.ts';
import {
  type ChangeStore,
  type ConfigLock,
  configFailure,
  configKey,
  lockConfig,
  lockedFailure,
  thisProcess,
} from './change-store.ts';
import {
  absentConfig,
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
  /** Plans the change of the config as it is without any edit of ours. */
  rewrite(baseText: string): RewrittenConfig | ConfigFailure;
  readonly wrapId?: string;
  /** The rights of a file that is made where there is none; without it, there has to be one. */
  readonly newMode?: number;
  /** The change is of this part alone, with a record of its own. */
  readonly part?: ConfigPart | undefined;
  readonly onStep?: OnChangeStep;
}

export interface AppliedChange {
  /** `unchanged`: the config says already what it should. */
  readonly kind: 'applied' | 'unchanged';
  readonly path: string;
  readonly target: string;
  /** The text of the config now. */
  readonly text: string;
  /** Where the config is kept as it was. */
  readonly backup: string;
  /** Whole sentences. */
  readonly warnings: readonly string[];
  /** Kept by a wrap until its config is restored; undefined for an import. */
  readonly lock?: ConfigLock;
}

export type ApplyResult = AppliedChange | ConfigFailure;

const TRIES_MAX = 3;

export function applyChange(request: ApplyRequest): ApplyResult {
  const { file, kind } = request;
  const config = readExisting(file, request.newMode);
  if (config.kind === 'failure') return config;
  const lock = lockConfig(configKey(config.target, request.part), file.path, request);
  if (lock.kind === 'failure') return lock;
  let isKept = false;
  try {
    request.onStep?.('locked');
    const result = retried(file.path, () => attempt(request, lock.key));
    isKept = kind === 'wrap' && result.kind !== 'failure';
    return isKept && result.kind !== 'failure' ? { ...result, lock } : result;
  } finally {
    if (!isKept) lock.release();
  }
}

function readExisting(file: ConfigFile, newMode: number | undefined): ConfigBytes | ConfigFailure {
  const { path } = file;
  const config = readConfigFile(path);
  if (config.kind === 'read') return linkOutOfProject(file, config.target) ?? config;
  if (config.kind === 'failure') return config;
  if (newMode !== undefined) return absentConfig(path, newMode);
  const fix = 'Check the path, or start the client once.';
  return configFailure(path, `${path} does not exist.`, fix);
}

/** Tries again while another program writes the config in between: then `work` gives nothing. */
export function retried<T>(path: string, work: () => T | undefined): T | ConfigFailure {
  for (let tried = 0; tried < TRIES_MAX; tried++) {
    const result = work();
    if (result !== undefined) return result;
  }
  return busy(path);
}

function busy(path: string): ConfigFailure {
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
function planOn(request: ApplyRequest, key: string): PlannedChange | ConfigFailure {
  const { file, kind } = request;
  const config = readExisting(file, request.newMode);
  if (config.kind === 'failure') return config;
  // A link that leads elsewhere since the lock was taken: that is another config.
  if (configKey(config.target, request.part) !== key) return busy(file.path);
  request.onStep?.('read');
  const before = readPriorState(config, key, request);
  if (before.kind === 'failure') return before;
  const old = kind === 'wrap' ? before.old?.record : undefined;
  // An import is meant to last: a session on top of it would take it away with itself.
  const isImported = old?.kind === 'import' && before.text !== config.text;
  // A session ends without the key of the store, so it could not put moved secrets back.
  if (old?.moved !== undefined || isImported) {
    const refused = isImported ? request.rewrite(config.text) : undefined;
    return refused !== undefined && 'kind' in refused ? refused : imported(file);
  }
  const rewritten = request.rewrite(before.text);
  return 'kind' in rewritten ? rewritten : { kind: 'planned', config, before, rewritten };
}

function imported({ path, client }: ConfigFile): ConfigFailure {
  const fix = `Start the agent with \`sub run\`, or undo the import first: sub restore ${client}`;
  return configFailure(path, `${path} is governed by \`sub import\` already.`, fix);
}

function attempt(request: ApplyRequest, key: string): ApplyResult | undefined {
  const { file, onStep } = request;
  const planned = planOn(request, key);
  if (planned.kind === 'failure') return planned;
  const { config, before, rewritten } = planned;
  onStep?.('planned');
  const isSame = rewritten.text === config.text;
  const unwritable = isSame ? undefined : replaceProblem(config);
  if (unwritable !== undefined) return unwritable;
  // There is a record of a change, but nothing of the change.
  const isUndone =
    isSame &&
    before.old !== undefined &&
    before.text === config.text &&
    (rewritten.moved ?? []).length === 0;
  const lost = isSame && !isUndone ? [] : keepLost(before, key, request);
  if ('kind' in lost) return lost;
  if (before.old !== undefined) rmSync(before.old.record.draft, { force: true });
  const result = {
    path: file.path,
    target: config.target,
    text: rewritten.text,
    backup: originalPath(key, request.paths),
    warnings: [...before.warnings, ...lost],
  };
  if (isSame) {
    const failed = isUndone ? dropRecord(key, request.paths) : undefined;
    return failed ?? { kind: 'unchanged', ...result };
  }
  const record = recordOf(request, planned);
  const base = Buffer.from(rewritten.base ?? before.text);
  const bytes = Buffer.from(rewritten.text);
  const done =
    writeRecord({ key, record, base, onStep }, request) ??
    replaceConfigFile({ config, bytes, draft: record.draft, onStep });
  if (done.kind !== 'replaced') {
    restorePriorRecord(before, key, request);
    return done.kind === 'changed' ? undefined : done;
  }
  onStep?.('done');
  return { kind: 'applied', ...result };
}

/** Before the record goes: its backup alone holds the entries that others have removed. */
function keepLost(
  { missing, old }: PriorState,
  key: string,
  store: ChangeStore,
): readonly string[] | ConfigFailure {
  if (missing.length === 0 || old === undefined) return [];
  const kept = keepCopy({ key, label: 'original', bytes: old.backup.bytes }, store);
  if (typeof kept !== 'string') return kept;
  const names = missing.map(({ name }) => name).join(', ');
  return [
    `${old.record.path} does not have ${names} any more, which had been governed; the config as it was before that is kept in ${kept}.`,
  ];
}

function recordOf(
  request: ApplyRequest,
  { config, before, rewritten }: PlannedChange,
): ConfigRecord {
  const { file, kind, wrapId } = request;
  const { base = before.text, moved = [], settings } = rewritten;
  const isFirst = before.text === config.text;
  const hasMoved = moved.length > 0;
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
    changes: rewritten.changes,
    ...definedFields({
      // Of a text with secrets that are about to go not even a digest is kept: it could be guessed from.
      from: isFirst || hasMoved ? undefined : digestOf(config.bytes),
      earlier: isFirst ? undefined : before.earlier,
      moved: hasMoved ? moved : undefined,
      hooks: rewritten.hooks,
      created: config.absent ?? before.old?.record.created,
      owner: kind === 'wrap' ? thisProcess(request) : undefined,
      wrap_id: wrapId,
      settings,
    }),
    draft: draftPath(config.target),
  };
}

// The state that an earlier change has left: its record, and the config without its edits.

interface PriorState {
  readonly kind: 'before';
  /** The config without our edits. */
  readonly text: string;
  readonly old?: { readonly record: ConfigRecord; readonly backup: ConfigBackup };
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
): PriorState | ConfigFailure {
  const found = readRecord(key, store.paths);
  if (found.kind === 'failure') return found;
  if (found.kind === 'none') {
    const nothing = { missing: [], earlier: [], warnings: [] };
    return { kind: 'before', text: config.text, ...nothing };
  }
  const { record } = found;
  const held = heldByOwner(record, store);
  if (held !== undefined) return held;
  const backup = readBackup(found, store);
  if (backup.kind === 'failure') return backup;
  const undone = undoChanges({ text: config.text, record, backup });
  if (undone.kind === 'failure') return undone;
  const { owner } = record;
  return {
    kind: 'before',
    text: undone.text,
    old: { record, backup },
    missing: undone.missing,
    earlier: earlierOf(config, record),
    warnings: owner === undefined || isOurs(owner, store) ? [] : [leftBehind(record.path, owner)],
  };
}

/** The lock file may have been removed by hand; the session is still using the config. */
export function heldByOwner(
  { owner, path, target }: ConfigRecord,
  store: ChangeStore,
): ConfigFailure | undefined {
  if (owner === undefined || !isProcessAlive(owner, store.system)) return undefined;
  const { pid } = owner;
  if (isElsewhere(owner, store.system)) {
    const folder = recordFolder(configKey(target), store.paths);
    const elsewhere = `copy the backup in ${folder} over it, and remove that folder`;
    return lockedFailure(path, { pid, elsewhere });
  }
  return pid === store.system.pid ? undefined : lockedFailure(path, { pid });
}

function isOurs(owner: ProcessIdentity, { system }: ChangeStore): boolean {
  return owner.pid === system.pid && !isElsewhere(owner, system) && isProcessAlive(owner, system);
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

/** After a failure the config is what it was, so the record must be that of the older change. */
function restorePriorRecord({ old }: PriorState, key: string, store: ChangeStore): void {
  if (old === undefined) dropRecord(key, store.paths);
  // Should this fail too, the newer record stays, and it knows how to undo the older edits.
  else writeRecord({ key, record: old.record, base: old.backup.bytes }, store);
}
