// A client's config as a file: read through links, replaced whole.

import { randomUUID } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { shellWord } from '@subluminal/core/visible';
import { hasSystemCode, readRegularFile, syncFolder, systemCode } from '../../../os/index.ts';
import type { ConfigFailure } from '../types.ts';
import { configFailure, systemFailure } from './change-store.ts';
import { isDraftName } from './record-text.ts';

export interface ConfigBytes {
  readonly kind: 'read';
  /** As the client finds it. */
  readonly path: string;
  /** The file itself, behind all links. */
  readonly target: string;
  readonly bytes: Buffer;
  readonly text: string;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** How many names (hard links) the file has. */
  readonly links: number;
  /** There is no such file yet, or not even its folder. */
  readonly absent?: 'file' | 'folder';
}

/** There is nothing under that name, not even a link. */
interface MissingFile {
  readonly kind: 'missing';
  readonly path: string;
}

export const CONFIG_BYTES_MAX = 33_554_432;
const PERMISSIONS = 0o7777;
const GROUP_PERMISSIONS = 0o070;
const OTHERS_READ = 0o004;
const FOLDER_MODE = 0o755;

const NEW_FILE_MODE = 0o600;

/** Stands for a file that is to be made; its folder is made when it is written. */
export function absentConfig(path: string, mode = NEW_FILE_MODE): ConfigBytes {
  const folder = nearestFolder(path);
  const target = join(realpathSync(folder), relative(folder, path));
  const isThere = folder === dirname(path);
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  const empty = { bytes: Buffer.alloc(0), text: '', mode, uid, gid, links: 1 };
  return { kind: 'read', path, target, ...empty, absent: isThere ? 'file' : 'folder' };
}

export function readConfigFile(path: string): ConfigBytes | MissingFile | ConfigFailure {
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return { kind: 'missing', path };
    return readTarget(path, realpathSync(path));
  } catch (cause) {
    if (hasSystemCode(cause, 'ENOENT')) {
      const fix = `Make what it points to, or remove the link: rm ${shellWord(path)}`;
      return configFailure(path, `${path} is a link to nothing.`, fix);
    }
    if (!hasSystemCode(cause, 'ELOOP')) return systemFailure(path, 'read', cause);
    return configFailure(path, `${path} is a link that leads back to itself.`, 'Correct the link.');
  }
}

function readTarget(path: string, target: string): ConfigBytes | ConfigFailure {
  const read = readRegularFile(target, { bytesMax: CONFIG_BYTES_MAX, noFollow: true });
  if (read.kind === 'missing') {
    return configFailure(path, `${path} does not exist any more.`, 'Try again.');
  }
  if (read.kind === 'unreadable') return configFailure(path, `${path} ${read.why}.`, read.fix);
  const { bytes, stats } = read;
  const text = decoded(bytes);
  if (text === undefined) {
    return configFailure(path, `${path} is not UTF-8 text.`, 'Save it as UTF-8.');
  }
  const { uid, gid, nlink: links } = stats;
  const mode = stats.mode & PERMISSIONS;
  return { kind: 'read', path, target, bytes, text, mode, uid, gid, links };
}

/** The byte order mark stays: the text must become the same bytes again. */
function decoded(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Where the next content is written before it takes the place of a config. */
export function draftPath(target: string): string {
  return join(dirname(target), `.${basename(target)}.subluminal-${randomUUID()}`);
}

/** Removes the drafts that killed processes have left; only for the holder of the lock. */
export function removeConfigDrafts(target: string): void {
  const folder = dirname(target);
  try {
    for (const name of readdirSync(folder).filter((one) => isDraftName(one, target))) {
      rmSync(join(folder, name), { force: true });
    }
  } catch {
    // There is no such folder yet, or it cannot be listed: the write will tell.
  }
}

interface Replacement {
  readonly config: ConfigBytes;
  readonly bytes: Uint8Array;
  readonly draft: string;
  readonly onStep?: OnChangeStep | undefined;
}

type ReplaceResult =
  | { readonly kind: 'replaced' }
  /** Another program has written the config since it was read. */
  | { readonly kind: 'changed' }
  | ConfigFailure;

/** Why a config must not be replaced: a rename would go around what its owner has decided. */
export function replaceProblem(config: ConfigBytes): ConfigFailure | undefined {
  const { path, target, uid, links, absent } = config;
  try {
    accessSync(absent === undefined ? target : nearestFolder(target), constants.W_OK);
  } catch (cause) {
    return systemFailure(path, 'written', cause);
  }
  const ownId = process.getuid?.();
  if (ownId !== undefined && ownId !== 0 && uid !== ownId) return notOurs(path);
  if (links === 1) return undefined;
  const copy = shellWord(`${target}.copy`);
  const fix = `Make it a file of its own: cp -p ${shellWord(target)} ${copy} && mv ${copy} ${shellWord(target)}`;
  const message = `${path} has ${links} names (hard links); only one would change.`;
  return configFailure(path, message, fix);
}

function nearestFolder(path: string): string {
  const folder = dirname(path);
  const isThere = lstatSync(folder, { throwIfNoEntry: false }) !== undefined;
  return isThere || folder === path ? folder : nearestFolder(folder);
}

function notOurs(path: string): ConfigFailure {
  const fix = 'Change it as that user, or make it yours.';
  return configFailure(path, `${path} belongs to another user, and would not any more.`, fix);
}

/** Puts other bytes in the place of a config that is still as it was read; else nothing is changed. */
export function replaceConfigFile({ config, bytes, draft, onStep }: Replacement): ReplaceResult {
  const { path, target } = config;
  const unwritable = replaceProblem(config);
  if (unwritable !== undefined) return unwritable;
  try {
    if (config.absent === 'folder') makeFolder(dirname(target), config.mode);
    if (!isDraftWritten({ config, bytes, draft, onStep })) {
      rmSync(draft, { force: true });
      return notOurs(path);
    }
    onStep?.('draft written');
    if (!isStill(config)) {
      rmSync(draft, { force: true });
      return { kind: 'changed' };
    }
    onStep?.('compared');
    renameSync(draft, target);
  } catch (cause) {
    rmSync(draft, { force: true });
    return systemFailure(path, 'written', cause);
  }
  onStep?.('replaced');
  makeLast(dirname(target));
  return { kind: 'replaced' };
}

/** What is for all users must not be hidden from them by the umask of the one who makes it. */
function makeFolder(folder: string, mode: number): void {
  mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
  if ((mode & OTHERS_READ) !== 0) chmodSync(folder, FOLDER_MODE);
}

/** Takes a file away that we have made, and its folder where that is ours and empty. */
export function removeConfigFile(config: ConfigBytes, created: 'file' | 'folder'): ReplaceResult {
  const { path, target } = config;
  const unwritable = replaceProblem(config);
  if (unwritable !== undefined) return unwritable;
  if (!isStill(config)) return { kind: 'changed' };
  try {
    rmSync(target);
    if (created === 'folder') rmdirSync(dirname(target));
  } catch (cause) {
    if (!hasSystemCode(cause, 'ENOTEMPTY', 'EEXIST')) return systemFailure(path, 'removed', cause);
  }
  return { kind: 'replaced' };
}

/** Open to its owner alone until it belongs to whom the config belongs; false if it never does. */
function isDraftWritten({ config, bytes, draft, onStep }: Replacement): boolean {
  const fd = openSync(draft, 'wx', 0o600);
  try {
    onStep?.('draft made');
    writeFileSync(fd, bytes);
    fchmodSync(fd, config.mode & ~GROUP_PERMISSIONS);
    if (isGiven(fd, config)) fchmodSync(fd, config.mode);
    fsyncSync(fd);
    return fstatSync(fd).uid === config.uid;
  } finally {
    closeSync(fd);
  }
}

/** Where the group cannot be kept, another group must not get its rights. */
function isGiven(fd: number, { uid, gid }: ConfigBytes): boolean {
  const own = fstatSync(fd);
  if (own.uid === uid && own.gid === gid) return true;
  // Where the owner cannot be kept, the group may be one of ours still.
  return [uid, -1].some((owner) => {
    try {
      fchownSync(fd, owner, gid);
      return true;
    } catch {
      return false;
    }
  });
}

function isStill({ path, target, bytes, absent }: ConfigBytes): boolean {
  const now = readConfigFile(path);
  if (absent !== undefined) return now.kind === 'missing';
  return now.kind === 'read' && now.target === target && now.bytes.equals(bytes);
}

/** The new content is in place: that a power cut might undo it is no reason to say that it failed. */
function makeLast(folder: string): void {
  try {
    syncFolder(folder);
  } catch (cause) {
    systemCode(cause);
  }
}

// The moments between which a process may be killed.

export type ChangeStep =
  | 'locked'
  | 'read'
  | 'planned'
  | 'base written'
  | 'record written'
  | 'base in place'
  | 'draft made'
  | 'draft written'
  | 'compared'
  | 'replaced'
  | 'kept aside'
  | 'record dropped'
  | 'base dropped'
  | 'done';

export type OnChangeStep = (step: ChangeStep) => void;
