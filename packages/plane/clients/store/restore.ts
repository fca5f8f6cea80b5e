// Takes a change back: the very bytes that were there before, or, where others have changed the
// config since, the config as it is now without our edits.
import { readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ConfigProblem } from '../types.ts';
import { busy, type HeldConfig, TRIES_MAX } from './apply.ts';
import { livingOwner, undoOf } from './before.ts';
import { type ConfigBytes, draftPath, readConfigFile, replaceConfigFile } from './config-file.ts';
import { writeOwn } from './files.ts';
import { findRecord } from './find.ts';
import { type Lock, takeLockOf } from './lock.ts';
import type { Store } from './ports.ts';
import { byHand, problem, systemProblem } from './problem.ts';
import { dropRecord, type FoundRecord, readBackup, readRecord, rewriteRecord } from './record.ts';
import type { OnStep } from './step.ts';
import type { EntryPlace } from './take-out.ts';
import type { Undone } from './undo.ts';

interface RestoreRequest extends Store {
  /** As the client finds it. */
  readonly path: string;
  /** One that was taken before, and stays with whoever took it. */
  readonly lock?: Lock;
  readonly onStep?: OnStep;
}

interface Restored {
  readonly kind: 'restored';
  readonly path: string;
  readonly how: Undone['kind'];
  readonly taken: readonly EntryPlace[];
  readonly left: readonly EntryPlace[];
  /** Where the config is kept as it was before a merge. */
  readonly replaced: string | undefined;
}

/** The config holds none of our edits any more; its record is dropped. */
interface Untouched {
  readonly kind: 'untouched';
  readonly path: string;
  readonly left: readonly EntryPlace[];
}

type RestoreResult =
  | Restored
  | Untouched
  | HeldConfig
  | { readonly kind: 'none'; readonly path: string }
  | ConfigProblem;

function restoreConfig(request: RestoreRequest): RestoreResult {
  const found = findRecord(request.path, request);
  if (found.kind === 'none') return { kind: 'none', path: request.path };
  if (found.kind === 'problem') return found;
  return restoreRecord(found, request);
}

/** Also for a record whose config is known by nothing else. */
function restoreRecord(
  { key, record: { path } }: FoundRecord,
  request: Omit<RestoreRequest, 'path'>,
): RestoreResult {
  const lock = request.lock ?? takeLockOf(key, request);
  if (lock.kind === 'held') return { ...lock, path };
  if (lock.kind === 'problem') return lock;
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
function withHint(result: RestoreResult, key: string, store: Store): RestoreResult {
  if (result.kind !== 'problem' || result.fix.includes(store.paths.backups)) return result;
  const found = readRecord(key, store.paths);
  const backup = found.kind === 'record' ? readBackup(found, store) : undefined;
  if (found.kind !== 'record' || backup?.kind !== 'backup') return result;
  return { ...result, fix: `${result.fix} ${byHand(backup.path, found.record.target)}` };
}

interface Undoing {
  readonly kind: 'undoing';
  readonly found: FoundRecord;
  readonly config: ConfigBytes;
  readonly undone: Undone;
}

/** Reads everything anew and works out what the config becomes; nothing is written. */
function undoingOf(
  key: string,
  path: string,
  store: Store,
): Undoing | Exclude<RestoreResult, Restored | Untouched> {
  const found = readRecord(key, store.paths);
  if (found.kind === 'none') return { kind: 'none', path };
  if (found.kind === 'problem') return found;
  const holder = livingOwner(found.record, store);
  if (holder !== undefined) return { ...holder, path };
  const { target } = found.record;
  const config = readConfigFile(target);
  if (config.kind === 'missing') {
    return problem(path, `${path} is gone, but we had changed it.`, 'Its backup is there still.');
  }
  if (config.kind === 'problem') return config;
  const backup = readBackup(found, store);
  if (backup.kind === 'problem') return backup;
  const undone = undoOf(config, found, { backup, store });
  return undone.kind === 'problem' ? undone : { kind: 'undoing', found, config, undone };
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
  const { text, left, taken, kind: how } = undone;
  if (text === config.text) {
    rmSync(undoing.found.record.draft, { force: true });
    return dropRecord(key, paths, onStep) ?? { kind: 'untouched', path, left };
  }
  const draft = draftOf(undoing, request);
  if (typeof draft !== 'string') return draft;
  const replaced = how === 'merged' ? keptAside(key, config.bytes, request) : undefined;
  if (typeof replaced === 'object') return replaced;
  const result = replaceConfigFile({ config, bytes: Buffer.from(text), draft, onStep });
  if (result.kind !== 'replaced') return result;
  const failed = dropRecord(key, paths, onStep);
  onStep?.('done');
  return failed ?? { kind: 'restored', path, how, taken, left, replaced };
}

/** The draft that the record names, unless the config has become a link to another folder since. */
function draftOf({ found, config }: Undoing, { ports, paths }: Store): string | ConfigProblem {
  const { draft } = found.record;
  rmSync(draft, { force: true });
  if (dirname(draft) === dirname(config.target) && config.target === found.record.target) {
    return draft;
  }
  const { target } = config;
  const next = { ...found.record, target, draft: draftPath(target, ports.uuid()) };
  return rewriteRecord({ ...found, record: next }, paths) ?? next.draft;
}

/** One such file for each config: the last. */
function keptAside(
  key: string,
  bytes: Buffer,
  { ports, paths, onStep }: Omit<RestoreRequest, 'path'>,
): string | ConfigProblem {
  const time = ports
    .now()
    .toISOString()
    .replaceAll(/[-:]|\.\d+/g, '');
  const name = `${key}.replaced-${time}`;
  const path = join(paths.backups, name);
  try {
    const older = readdirSync(paths.backups).filter(
      (other) => other.startsWith(`${key}.replaced-`) && other !== name,
    );
    writeOwn(path, bytes);
    for (const other of older) rmSync(join(paths.backups, other), { force: true });
    onStep?.('kept aside');
    return path;
  } catch (cause) {
    return systemProblem(path, 'written', cause);
  }
}

export type { Restored, RestoreRequest, RestoreResult, Untouched };
export { restoreConfig, restoreRecord };
