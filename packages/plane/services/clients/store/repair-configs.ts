// Repairs what killed processes have left: configs of dead sessions, records of changes that never
// happened, drafts beside configs.

import { rmSync, statSync } from 'node:fs';
import { isElsewhere, isProcessAlive } from '../../../os/index.ts';
import type { ConfigFailure } from '../types.ts';
import {
  type ChangeStore,
  type ConfigLock,
  isThere,
  systemFailure,
  underLock,
} from './change-store.ts';
import { readConfigFile } from './config-file.ts';
import type { ConfigRecord } from './record-text.ts';
import {
  dropRecord,
  type FoundRecord,
  listRecords,
  matchesDigest,
  type NoRecord,
  readRecord,
  recordFolder,
  recordKeys,
} from './records.ts';
import { type Restored, restoreRecord, type Untouched } from './restore-config.ts';

export type RepairResult =
  /** The config of a dead session. */
  | ({ readonly what: 'restored'; readonly wrapId: string | undefined } & Restored)
  /** A record of a change that is not in the config. */
  | ({ readonly what: 'dropped' } & Untouched)
  /** A draft of a killed change. */
  | { readonly what: 'swept'; readonly path: string; readonly draft: string }
  /** The session may live in another container; nothing was done. */
  | { readonly what: 'elsewhere'; readonly path: string; readonly pid: number }
  | { readonly what: 'problem'; readonly problem: ConfigFailure };

/** Costs one look at a folder when nothing was ever changed. */
export function repairAll(store: ChangeStore): readonly RepairResult[] {
  const { paths } = store;
  return guarded(paths.backups, 'read', () =>
    recordKeys(paths).flatMap((key) =>
      guarded(recordFolder(key, paths), 'repaired', () => repairOne(key, store)),
    ),
  );
}

/** A failure of one config does not stop the repair of the others. */
function guarded(
  path: string,
  doing: string,
  repair: () => readonly RepairResult[],
): readonly RepairResult[] {
  try {
    return repair();
  } catch (cause) {
    return [wrong(systemFailure(path, doing, cause))];
  }
}

/** The configs that dead sessions have left rewritten, for commands that change nothing. */
export function leftBehind(store: ChangeStore): readonly string[] {
  return listRecords(store.paths).flatMap((found) => {
    if (found.kind !== 'record' || found.record.kind !== 'wrap') return [];
    const { record } = found;
    if (record.owner !== undefined && isProcessAlive(record.owner, store.system)) return [];
    // A config that is gone is not rewritten; `repairAll` reports what to do then.
    const isRewritten = isThere(record.target) && !isBase(record);
    return isRewritten ? [record.path] : [];
  });
}

function repairOne(key: string, store: ChangeStore): readonly RepairResult[] {
  const found = readRecord(key, store.paths);
  if (found.kind === 'failure') return [wrong(found)];
  const { owner, path = '' } = found.kind === 'record' ? found.record : {};
  if (owner !== undefined && isElsewhere(owner, store.system)) {
    return [{ what: 'elsewhere', path, pid: owner.pid }];
  }
  if (!isSuspect(found, store)) return [];
  const result = underLock({ key, path }, store, (lock) => repairLocked(key, lock, store));
  if (!('kind' in result)) return result;
  // Another process is at work there, and will clean up.
  return result.code === 'SUB_CLIENT_LOCKED' ? [] : [wrong(result)];
}

function wrong(problem: ConfigFailure): RepairResult {
  return { what: 'problem', problem };
}

/** Whether it is worth a lock. */
function isSuspect(found: FoundRecord | NoRecord, store: ChangeStore): boolean {
  if (found.kind === 'none') return true;
  const { record } = found;
  if (record.owner !== undefined && isProcessAlive(record.owner, store.system)) return false;
  return record.kind === 'wrap' || isThere(record.draft) || isBase(record);
}

function isBase({ target, base, created }: ConfigRecord): boolean {
  if (created !== undefined && !isThere(target)) return true;
  // The size is cheap to ask for, and configs can be large.
  if (statSync(target, { throwIfNoEntry: false })?.size !== base.bytes) return false;
  const config = readConfigFile(target);
  return config.kind === 'read' && matchesDigest(base, config.bytes);
}

/** Looks again: until the lock was ours, anything could happen. */
function repairLocked(key: string, lock: ConfigLock, store: ChangeStore): readonly RepairResult[] {
  const found = readRecord(key, store.paths);
  if (found.kind === 'failure') return [wrong(found)];
  if (found.kind === 'none') {
    // The config is changed only while there is a record, so this backup is not needed.
    const failed = dropRecord(key, store.paths);
    return failed === undefined ? [] : [wrong(failed)];
  }
  if (!isSuspect(found, store)) return [];
  const { record } = found;
  const swept = sweep(record);
  if (record.kind !== 'wrap' && !isBase(record)) return swept;
  const result = restoreRecord(found, { ...store, lock });
  switch (result.kind) {
    case 'restored':
      return [...swept, { what: 'restored', wrapId: record.wrap_id, ...result }];
    case 'untouched':
      return [...swept, { what: 'dropped', ...result }];
    case 'failure':
      return result.code === 'SUB_CLIENT_LOCKED' ? swept : [...swept, wrong(result)];
    case 'none':
      return swept;
  }
}

function sweep({ path, draft }: ConfigRecord): readonly RepairResult[] {
  if (!isThere(draft)) return [];
  rmSync(draft, { force: true });
  return [{ what: 'swept', path, draft }];
}
