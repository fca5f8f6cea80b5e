// Puts right what killed processes have left: configs of dead sessions, records of changes that
// never happened, drafts beside configs.
import { rmSync, statSync } from 'node:fs';
import type { ConfigProblem } from '../types.ts';
import { readConfigFile } from './config-file.ts';
import { isThere } from './files.ts';
import { type Lock, takeLockOf } from './lock.ts';
import { isAlive, isElsewhere, type Store } from './ports.ts';
import { systemProblem } from './problem.ts';
import type { ConfigRecord } from './record-text.ts';
import {
  dropRecord,
  type FoundRecord,
  isOf,
  listRecords,
  type NoRecord,
  readRecord,
  recordFolder,
  recordKeys,
} from './records.ts';
import { type Restored, restoreRecord, type Untouched } from './restore-config.ts';

export type Repaired =
  /** The config of a dead session. */
  | ({ readonly what: 'restored'; readonly wrapId: string | undefined } & Restored)
  /** A record of a change that is not in the config. */
  | ({ readonly what: 'dropped' } & Untouched)
  /** A draft of a killed change. */
  | { readonly what: 'swept'; readonly path: string; readonly draft: string }
  /** The session may live in another container; nothing was done. */
  | { readonly what: 'elsewhere'; readonly path: string; readonly pid: number }
  | { readonly what: 'problem'; readonly problem: ConfigProblem };

/** Costs one look at a folder when nothing was ever changed. */
export function repairAll(store: Store): readonly Repaired[] {
  try {
    return recordKeys(store.paths).flatMap((key) => repairSafely(key, store));
  } catch (cause) {
    return [wrong(systemProblem(store.paths.backups, 'read', cause))];
  }
}

/** The configs that dead sessions have left rewritten, for those who only look. */
export function leftBehind(store: Store): readonly string[] {
  return listRecords(store.paths).flatMap((found) => {
    if (found.kind !== 'record' || found.record.kind !== 'wrap') return [];
    const { record } = found;
    if (record.owner !== undefined && isAlive(record.owner, store.ports)) return [];
    // One that is gone is rewritten no more; what to do then is told by those who would repair it.
    const isRewritten = isThere(record.target) && !isBase(record, store);
    return isRewritten ? [record.path] : [];
  });
}

/** What is wrong with one config keeps no other from being put right. */
function repairSafely(key: string, store: Store): readonly Repaired[] {
  try {
    return repairOne(key, store);
  } catch (cause) {
    return [wrong(systemProblem(recordFolder(key, store.paths), 'repaired', cause))];
  }
}

function repairOne(key: string, store: Store): readonly Repaired[] {
  const found = readRecord(key, store.paths);
  if (found.kind === 'problem') return [wrong(found)];
  const { owner, path = '' } = found.kind === 'record' ? found.record : {};
  if (owner !== undefined && isElsewhere(owner, store.ports)) {
    return [{ what: 'elsewhere', path, pid: owner.pid }];
  }
  if (!isSuspect(found, store)) return [];
  const lock = takeLockOf(key, store);
  if (lock.kind === 'problem') return [wrong(lock)];
  // Somebody is at work there, and will clean up.
  if (lock.kind === 'held') return [];
  try {
    return repairLocked(key, lock, store);
  } finally {
    lock.release();
  }
}

function wrong(problem: ConfigProblem): Repaired {
  return { what: 'problem', problem };
}

/** Whether it is worth a lock. */
function isSuspect(found: FoundRecord | NoRecord, store: Store): boolean {
  if (found.kind === 'none') return true;
  const { record } = found;
  if (record.owner !== undefined && isAlive(record.owner, store.ports)) return false;
  return record.kind === 'wrap' || isThere(record.draft) || isBase(record, store);
}

function isBase({ target, base }: ConfigRecord, { ports }: Store): boolean {
  // The size is cheap to ask for, and configs can be large.
  if (statSync(target, { throwIfNoEntry: false })?.size !== base.bytes) return false;
  const config = readConfigFile(target);
  return config.kind === 'read' && isOf(base, config.bytes, ports.sha256);
}

/** Looks again: until the lock was ours, anything could happen. */
function repairLocked(key: string, lock: Lock, store: Store): readonly Repaired[] {
  const found = readRecord(key, store.paths);
  if (found.kind === 'problem') return [wrong(found)];
  if (found.kind === 'none') {
    // The config is changed only while there is a record, so nobody needs this backup.
    const failed = dropRecord(key, store.paths);
    return failed === undefined ? [] : [wrong(failed)];
  }
  if (!isSuspect(found, store)) return [];
  const { record } = found;
  const swept = sweep(record);
  if (record.kind !== 'wrap' && !isBase(record, store)) return swept;
  const result = restoreRecord(found, { ...store, lock });
  switch (result.kind) {
    case 'restored':
      return [...swept, { what: 'restored', wrapId: record.wrap_id, ...result }];
    case 'untouched':
      return [...swept, { what: 'dropped', ...result }];
    case 'problem':
      return [...swept, wrong(result)];
    case 'held':
    case 'none':
      return swept;
  }
}

function sweep({ path, draft }: ConfigRecord): readonly Repaired[] {
  if (!isThere(draft)) return [];
  rmSync(draft, { force: true });
  return [{ what: 'swept', path, draft }];
}
