// Records of changed configs, each with a backup: one folder per config, for its owner
// alone. Only the holder of the config's lock writes here.

import { readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { shellWord } from '@subluminal/core/visible';
import {
  hasSystemCode,
  privateFolderFailure,
  removeDrafts,
  syncFolder,
  writePrivateFile,
} from '../../../os/index.ts';
import type { ConfigFailure } from '../types.ts';
import {
  type ChangeStore,
  configFailure,
  ensureFolder,
  homeFailure,
  isThere,
  readOwn,
  sha256,
  systemFailure,
} from './change-store.ts';
import { CONFIG_BYTES_MAX, type OnChangeStep } from './config-file.ts';
import { type ConfigRecord, type Digest, parseRecord, recordText } from './record-text.ts';

export interface FoundRecord {
  readonly kind: 'record';
  readonly key: string;
  readonly record: ConfigRecord;
}

export interface NoRecord {
  readonly kind: 'none';
}

export interface ConfigBackup {
  readonly kind: 'backup';
  readonly path: string;
  readonly bytes: Buffer;
}

const RECORD_BYTES_MAX = 134_217_728;
const KEY = /^[0-9a-f]{32}$/;
const RECORD = 'record.json';
const ORIGINAL = 'original';
/** A new backup, until the record names it; the old one is needed up to then. */
const NEXT = 'original.next';

type BackupsPath = Pick<ChangeStore['paths'], 'backups'>;

export function recordFolder(key: string, { backups }: BackupsPath): string {
  return join(backups, key);
}

export function recordPath(key: string, paths: BackupsPath): string {
  return join(recordFolder(key, paths), RECORD);
}

export function originalPath(key: string, paths: ChangeStore['paths']): string {
  return join(recordFolder(key, paths), ORIGINAL);
}

export function digestOf(bytes: Uint8Array): Digest {
  return { sha256: sha256(bytes), bytes: bytes.length };
}

export function matchesDigest(digest: Digest, bytes: Uint8Array): boolean {
  return digest.bytes === bytes.length && digest.sha256 === sha256(bytes);
}

export function readRecord(
  key: string,
  paths: ChangeStore['paths'],
): FoundRecord | NoRecord | ConfigFailure {
  const folder = recordFolder(key, paths);
  try {
    // Others could have put a record there that makes us write what they want.
    const unsafe = privateFolderFailure(paths.backups) ?? privateFolderFailure(folder);
    if (unsafe !== undefined) return { ...unsafe, path: folder };
    const path = recordPath(key, paths);
    const bytes = readOwn(path, RECORD_BYTES_MAX);
    if (bytes === undefined && !isThere(path)) return { kind: 'none' };
    const record = bytes === undefined ? undefined : parseRecord(bytes.toString('utf8'));
    return record === undefined ? damaged(folder) : { kind: 'record', key, record };
  } catch (cause) {
    return systemFailure(folder, 'read', cause);
  }
}

function damaged(folder: string): ConfigFailure {
  return configFailure(
    folder,
    `The record of a changed config in ${folder} is damaged.`,
    `The config as it was is in ${shellWord(join(folder, ORIGINAL))}. Put it in place by hand, then remove the folder.`,
  );
}

/** The bytes of the base, as the record knows them. */
export function readBackup(
  { key, record }: FoundRecord,
  store: ChangeStore,
): ConfigBackup | ConfigFailure {
  const folder = recordFolder(key, store.paths);
  try {
    for (const name of [ORIGINAL, NEXT]) {
      const path = join(folder, name);
      const bytes = readOwn(path, CONFIG_BYTES_MAX);
      if (bytes !== undefined && matchesDigest(record.base, bytes)) {
        return { kind: 'backup', path, bytes };
      }
    }
  } catch (cause) {
    return systemFailure(folder, 'read', cause);
  }
  return configFailure(
    record.path,
    `The backup of ${record.path} in ${folder} is missing or damaged.`,
    `Correct ${shellWord(record.target)} by hand (the command of a server stands behind \`--\`), then remove ${shellWord(folder)}.`,
  );
}

interface RecordToWrite {
  readonly key: string;
  readonly record: ConfigRecord;
  readonly base: Buffer;
  readonly onStep?: OnChangeStep | undefined;
}

/** Writes the backup and reads it back, then the record that names it. The old record counts until then. */
export function writeRecord(
  writing: RecordToWrite,
  { paths }: ChangeStore,
): ConfigFailure | undefined {
  const { key, record, base, onStep } = writing;
  const folder = recordFolder(key, paths);
  const unsafe = ensureFolder(paths.backups) ?? ensureFolder(folder);
  if (unsafe !== undefined) return unsafe;
  const text = Buffer.from(recordText(record));
  if (text.length > RECORD_BYTES_MAX) {
    return configFailure(record.path, `${record.path} has too many servers.`, 'Make it smaller.');
  }
  const [original, next] = [join(folder, ORIGINAL), join(folder, NEXT)];
  try {
    writePrivateFile(next, base);
    if (readOwn(next, CONFIG_BYTES_MAX)?.equals(base) !== true) {
      const fix = 'Check the disk of SUB_HOME.';
      return configFailure(next, `The backup in ${next} does not read as it was written.`, fix);
    }
    onStep?.('base written');
    writePrivateFile(join(folder, RECORD), text);
    onStep?.('record written');
    renameSync(next, original);
    syncFolder(folder);
    syncFolder(paths.backups);
    onStep?.('base in place');
    return undefined;
  } catch (cause) {
    return homeFailure(folder, 'written', cause);
  }
}

/** Replaces the record of a change, not its backup. */
export function rewriteRecord(
  { key, record }: FoundRecord,
  paths: ChangeStore['paths'],
): ConfigFailure | undefined {
  const path = recordPath(key, paths);
  try {
    writePrivateFile(path, Buffer.from(recordText(record)));
    return undefined;
  } catch (cause) {
    return systemFailure(path, 'written', cause);
  }
}

/** The record first: a backup without one is of a config that needs none. */
export function dropRecord(
  key: string,
  paths: ChangeStore['paths'],
  onStep?: OnChangeStep,
): ConfigFailure | undefined {
  const folder = recordFolder(key, paths);
  try {
    rmSync(join(folder, RECORD), { force: true });
    onStep?.('record dropped');
    for (const name of [ORIGINAL, NEXT]) rmSync(join(folder, name), { force: true });
    for (const name of [ORIGINAL, NEXT, RECORD]) removeDrafts(join(folder, name));
    onStep?.('base dropped');
    rmdirSync(folder);
    return undefined;
  } catch (cause) {
    // Files of others stay, and so does the folder.
    if (hasSystemCode(cause, 'ENOENT', 'ENOTEMPTY', 'EEXIST')) return undefined;
    return systemFailure(folder, 'removed', cause);
  }
}

/** Of every folder that may hold a record; none when nothing was ever changed. */
export function recordKeys({ backups }: BackupsPath): readonly string[] {
  try {
    return readdirSync(backups).filter((name) => KEY.test(name));
  } catch (cause) {
    if (hasSystemCode(cause, 'ENOENT')) return [];
    throw cause;
  }
}

/** Every record, and a failure for each that cannot be read. */
export function listRecords(paths: ChangeStore['paths']): readonly (FoundRecord | ConfigFailure)[] {
  try {
    return recordKeys(paths)
      .map((key) => readRecord(key, paths))
      .filter((found) => found.kind !== 'none');
  } catch (cause) {
    return [systemFailure(paths.backups, 'read', cause)];
  }
}

// Copies beside the records, for people: nothing of ours reads them again.

/** How many there are of a config: an older `original` may be the only one that is worth anything. */
const KEPT_MAX = { replaced: 1, original: 5 } as const;

interface CopyToKeep {
  readonly key: string;
  /** `replaced`: what a merge was made from. `original`: what others have left nothing of. */
  readonly label: keyof typeof KEPT_MAX;
  readonly bytes: Uint8Array;
}

/** Where it is now. */
export function keepCopy(
  { key, label, bytes }: CopyToKeep,
  { paths }: ChangeStore,
): string | ConfigFailure {
  const time = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const name = `${key}.${label}-${time}`;
  const path = join(paths.backups, name);
  try {
    const others = readdirSync(paths.backups)
      .filter((other) => other.startsWith(`${key}.${label}-`) && other !== name)
      .toSorted();
    writePrivateFile(path, bytes);
    const tooMany = others.slice(0, Math.max(0, others.length + 1 - KEPT_MAX[label]));
    for (const other of tooMany) rmSync(join(paths.backups, other), { force: true });
    return path;
  } catch (cause) {
    return systemFailure(path, 'written', cause);
  }
}
