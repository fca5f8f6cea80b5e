// What an earlier change has left of a config: its record, and the config without its edits.
import type { ConfigProblem, EntryChange } from '../types.ts';
import type { ConfigBytes } from './config-file.ts';
import type { Held } from './lock.ts';
import { isAlive, isElsewhere, keyOf, type Owner, type Store } from './ports.ts';
import {
  type Backup,
  dropRecord,
  type FoundRecord,
  isOf,
  readBackup,
  readRecord,
  recordFolder,
  writeRecord,
} from './record.ts';
import type { ConfigRecord } from './record-text.ts';
import type { EntryPlace } from './take-out.ts';
import { undoChanges } from './undo.ts';

export interface Before {
  readonly kind: 'before';
  /** The config without our edits. */
  readonly text: string;
  readonly old: { readonly record: ConfigRecord; readonly backup: Backup } | undefined;
  readonly governed: readonly EntryPlace[];
  /** What an earlier change governed, and others have removed since. */
  readonly missing: readonly EntryPlace[];
  readonly earlier: readonly EntryChange[];
  readonly warnings: readonly string[];
}

const EARLIER_MAX = 10_000;

export function lookBefore(
  config: ConfigBytes,
  key: string,
  store: Store,
): Before | Held | ConfigProblem {
  const found = readRecord(key, store.paths);
  if (found.kind === 'problem') return found;
  if (found.kind === 'none') {
    const nothing = { governed: [], missing: [], earlier: [], warnings: [] };
    return { kind: 'before', text: config.text, old: undefined, ...nothing };
  }
  const { record } = found;
  const holder = livingOwner(record, store);
  if (holder !== undefined) return holder;
  const backup = readBackup(found, store);
  if (backup.kind === 'problem') return backup;
  const undone = undoOf(config, found, { backup, store });
  if (undone.kind === 'problem') return undone;
  return {
    kind: 'before',
    text: undone.text,
    old: { record, backup },
    governed: undone.taken,
    missing: undone.missing,
    earlier: earlierOf(config, record, store),
    warnings:
      record.owner === undefined || isOurs(record.owner, store)
        ? []
        : [leftBehind(record.path, record.owner)],
  };
}

/** The lock file may have been removed by hand; the session is still using the config. */
export function livingOwner({ owner, target }: ConfigRecord, store: Store): Held | undefined {
  const { ports } = store;
  if (owner === undefined || !isAlive(owner, ports)) return undefined;
  const { pid } = owner;
  if (isElsewhere(owner, ports)) {
    const folder = recordFolder(keyOf(target, ports), store.paths);
    const elsewhere = `copy the backup in ${folder} over it, and remove that folder`;
    return { kind: 'held', by: { pid, elsewhere } };
  }
  return pid === ports.pid ? undefined : { kind: 'held', by: { pid } };
}

function isOurs(owner: Owner, { ports }: Store): boolean {
  return owner.pid === ports.pid && !isElsewhere(owner, ports) && isAlive(owner, ports);
}

export function undoOf(
  config: ConfigBytes,
  { record }: FoundRecord,
  { backup, store }: { readonly backup: Backup; readonly store: Store },
) {
  return undoChanges({
    text: config.text,
    record,
    backup: { path: backup.path, text: backup.bytes.toString('utf8') },
    sha256: store.ports.sha256,
  });
}

/** Older edits matter only while a kill may have left them in place. */
function earlierOf(
  { bytes }: ConfigBytes,
  { after, changes, earlier = [] }: ConfigRecord,
  { ports }: Store,
): readonly EntryChange[] {
  if (isOf(after, bytes, ports.sha256)) return changes;
  const all = [...changes, ...earlier].map((change) => [JSON.stringify(change), change] as const);
  return [...new Map(all).values()].slice(0, EARLIER_MAX);
}

function leftBehind(path: string, { pid }: Owner): string {
  return `A session (process ${pid}) that ended without cleaning up had left a backup of ${path}; its changes were undone first, and the backup replaced.`;
}

/** After a failure: the record tells of what is in place, which is what was there before. */
export function putBack({ old }: Before, key: string, store: Store): void {
  if (old === undefined) {
    dropRecord(key, store.paths);
    return;
  }
  // Should this fail too, the newer record stays, and it knows how to undo the older edits.
  writeRecord({ key, record: old.record, base: old.backup.bytes }, store);
}
