// Where the changes of configs are kept, who may work on one, and what goes wrong with its files.
import { createHash } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { failure } from '@subluminal/contracts';
import { shellWord } from '@subluminal/core/visible';
import {
  ensurePrivateFolder,
  ownIdentity,
  type ProcessIdentity,
  readPrivateFile,
  type System,
  systemCode,
  takeLockBlocking,
} from '../../../os/index.ts';
import type { ConfigFailure, ConfigPart } from '../types.ts';

export interface ChangeStore {
  /** Folders of the home; they are made when they are missing. */
  readonly paths: { readonly backups: string; readonly run: string };
  /** Tells which processes live. */
  readonly system: System;
}

export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/**
 * The name of a config's record and lock, from the real path of the config. Settings of a sandbox have a
 * record of their own, and hooks that stand beside servers: each comes and goes by itself.
 */
export function configKey(target: string, part?: ConfigPart): string {
  return sha256(part === undefined ? target : `${target}\0${part}`).slice(0, 32);
}

export interface ConfigLock {
  readonly kind: 'locked';
  readonly key: string;
  /** May be called again. */
  release(): void;
}

interface LockHolder {
  readonly pid: number;
  /** The holder runs in another container: what a person does when that container is gone. */
  readonly elsewhere?: string;
}

/** Blocks for a moment: a config must be put back even where nothing asynchronous runs any more. */
export function lockConfig(
  key: string,
  path: string,
  store: ChangeStore,
): ConfigLock | ConfigFailure {
  const { run } = store.paths;
  if (thisProcess(store) === undefined) return unknownProcess(run);
  const unsafe = ensureFolder(run);
  if (unsafe !== undefined) return unsafe;
  try {
    const lock = takeLockBlocking({ folder: run, name: `config-${key}`, system: store.system });
    if (lock.kind === 'locked') return { ...lock, key };
    const { pid, path: file, isElsewhere } = lock;
    return lockedFailure(path, { pid, ...(isElsewhere && { elsewhere: `remove ${file}` }) });
  } catch (cause) {
    return homeFailure(run, 'locked', cause);
  }
}

interface LockRequest extends ChangeStore {
  /** A lock that was taken before, and stays with its holder. */
  readonly lock?: ConfigLock;
}

/** Does its work under the lock of a config. */
export function underLock<T>(
  { key, path }: { readonly key: string; readonly path: string },
  request: LockRequest,
  work: (lock: ConfigLock) => T,
): T | ConfigFailure {
  const lock = request.lock ?? lockConfig(key, path, request);
  if (lock.kind === 'failure') return lock;
  if (lock.key !== key) throw new Error('the lock is that of another config');
  try {
    return work(lock);
  } finally {
    if (request.lock === undefined) lock.release();
  }
}

export function lockedFailure(path: string, { pid, elsewhere }: LockHolder): ConfigFailure {
  const isHere = elsewhere === undefined;
  const message = isHere
    ? `${path} is in use by another sub (process ${pid}).`
    : `${path} is in use by a sub in another container (process ${pid} there), which cannot be seen from here.`;
  const fix = isHere
    ? 'Try again when that one has ended.'
    : `End it there, or run \`sub unwrap\` there. If that container is gone: ${elsewhere}.`;
  return { ...failure('SUB_CLIENT_LOCKED', message, fix), path };
}

/** This process; undefined where others could not find out later whether it has ended. */
export function thisProcess({ system }: ChangeStore): ProcessIdentity | undefined {
  const own = ownIdentity(system);
  return own.start === 'unknown' ? undefined : own;
}

function unknownProcess(run: string): ConfigFailure {
  const message = 'The system does not tell when this process has started.';
  return configFailure(run, message, 'On Linux /proc must be mounted, elsewhere `ps` must work.');
}

/** Makes a folder for its owner alone. Refuses one that others may write to. */
export function ensureFolder(path: string): ConfigFailure | undefined {
  const unsafe = ensurePrivateFolder(path);
  return unsafe && { ...unsafe, path };
}

/** The codes of what we never write: such a file is not ours. */
const NOT_OURS: ReadonlySet<string> = new Set([
  ...['LINK', 'NOT_A_FILE', 'EISDIR', 'TOO_LARGE', 'ENXIO', 'OTHER_OWNER', 'OPEN_MODE'],
]);

/** Undefined when there is no such file, or when we did not write it. */
export function readOwn(path: string, bytesMax: number): Buffer | undefined {
  const read = readPrivateFile(path, { bytesMax });
  if (read.kind === 'read') return read.bytes;
  if (read.kind === 'missing' || NOT_OURS.has(read.code)) return undefined;
  throw Object.assign(new Error(`${path} ${read.why}`), { code: read.code });
}

export function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

export function configFailure(path: string, message: string, fix: string): ConfigFailure {
  return { ...failure('SUB_CLIENT_CONFIG', message, fix), path };
}

const FIXES: { readonly [code: string]: string } = {
  EACCES: 'Check who may read and write the file and its folder.',
  EPERM: 'Check who may read and write the file and its folder.',
  EROFS: 'The file system can only be read: make it writable, or move the file.',
  ENOSPC: 'The disk is full: make room and try again.',
  EDQUOT: 'The disk quota is used up: make room and try again.',
  EFBIG: 'The file is larger than the system allows: raise the limit (`ulimit -f`) and try again.',
};

/** A failed system call; anything else is a defect and thrown on. */
export function systemFailure(path: string, doing: string, cause: unknown): ConfigFailure {
  const code = systemCode(cause);
  const fix = FIXES[code] ?? 'Check the path and its disk, then try again.';
  return configFailure(path, `${path} cannot be ${doing} (${code}).`, fix);
}

/** A failed system call in our own home. */
export function homeFailure(path: string, doing: string, cause: unknown): ConfigFailure {
  const failed = systemFailure(path, doing, cause);
  return { ...failed, fix: `${failed.fix} Or set SUB_HOME to a folder that you can write to.` };
}

/** How to put a backup in place by hand: a link that stands there by now is not written through. */
export function byHand(backup: string, target: string): string {
  const [from, to] = [shellWord(backup), shellWord(target)];
  return `Put it back by hand: rm -f ${to} && cp ${from} ${to}`;
}
