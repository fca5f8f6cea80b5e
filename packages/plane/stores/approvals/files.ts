// Files that appear whole, once, and are never rewritten: whoever comes second is told so.
import {
  closeSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  opendirSync,
  openSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { readRegularFile } from '../../os/index.ts';
import type { StoreProblem } from './ports.ts';

export type ReadFile =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'missing' }
  /** It is there, and says nothing that can be trusted. */
  | { readonly kind: 'damaged'; readonly why: string };

const LEVELS_MAX = 64;
const FORBIDDEN_MODE = 0o022;

/** The folder, for its owner alone. One that others may write to could hold their approvals. */
export function ensureFolder(path: string): StoreProblem | undefined {
  try {
    makeFolders(path);
  } catch (cause) {
    return diskProblem(path, 'made', cause);
  }
  return unsafeFolder(path);
}

/** Undefined when it is safe, or not there. */
export function unsafeFolder(path: string): StoreProblem | undefined {
  let stats: ReturnType<typeof lstatSync>;
  try {
    stats = lstatSync(path, { throwIfNoEntry: false });
  } catch (cause) {
    return diskProblem(path, 'looked at', cause);
  }
  if (stats === undefined) return undefined;
  const ownId = process.getuid?.();
  if (!stats.isDirectory()) return unsafe(`${path} is not a folder.`, 'Move it away.');
  if (ownId === undefined) return undefined;
  if (stats.uid !== ownId) {
    return unsafe(`${path} belongs to another user.`, 'Set SUB_HOME to a folder of your own.');
  }
  if ((stats.mode & FORBIDDEN_MODE) === 0) return undefined;
  return unsafe(`${path} can be written to by others.`, `Run: chmod go-w ${path}`);
}

function unsafe(message: string, fix: string): StoreProblem {
  return { kind: 'problem', code: 'SUB_HOME_UNSAFE', message, fix };
}

export function diskProblem(path: string, done: string, cause: unknown): StoreProblem {
  const message = `${path} cannot be ${done} (${systemCode(cause)}).`;
  const fix = 'Check the disk, the folder and its permissions.';
  return { kind: 'problem', code: 'SUB_APPROVAL_STORE', message, fix };
}

function systemCode(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  // What the system did not say is a defect of ours.
  if (typeof code !== 'string' || code.startsWith('ERR_')) throw cause;
  return code;
}

function makeFolders(path: string): void {
  const missing: string[] = [];
  let at = path;
  const isThere = (one: string) => lstatSync(one, { throwIfNoEntry: false }) !== undefined;
  while (missing.length < LEVELS_MAX && !isThere(at) && dirname(at) !== at) {
    missing.push(at);
    at = dirname(at);
  }
  for (const folder of missing.toReversed()) {
    try {
      mkdirSync(folder, { mode: 0o700 });
    } catch (cause) {
      // Somebody else may have made it just now.
      if (systemCode(cause) !== 'EEXIST') throw cause;
    }
  }
}

/**
 * Puts the text there whole, unless something is there already. A crash leaves at most a draft.
 * Of any number of processes that try at once, exactly one is told `written`.
 */
export function writeOnce(
  folder: string,
  name: string,
  { text, draft }: { readonly text: string; readonly draft: string },
): 'written' | 'taken' | StoreProblem {
  const draftPath = join(folder, `.${draft}.draft`);
  try {
    const handle = openSync(draftPath, 'wx', 0o600);
    try {
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; ) at += writeSync(handle, bytes, at);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    // A link, not a rename: a rename would replace what another has written.
    linkSync(draftPath, join(folder, name));
    syncFolder(folder);
    return 'written';
  } catch (cause) {
    if (systemCode(cause) === 'EEXIST') return 'taken';
    return diskProblem(join(folder, name), 'written', cause);
  } finally {
    rmSync(draftPath, { force: true });
  }
}

/** So that the name outlives a power cut, too; not every system lets a folder be synced. */
function syncFolder(folder: string): void {
  let handle: number | undefined;
  try {
    handle = openSync(folder, 'r');
    fsyncSync(handle);
  } catch (cause) {
    systemCode(cause);
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

/** Takes nothing for granted: no link, a regular file of ours, bounded, UTF-8. */
export function readOwnFile(path: string, bytesMax: number): ReadFile {
  const read = readRegularFile(path, { bytesMax, noFollow: true });
  if (read.kind === 'missing' && read.code === 'ENOENT') return { kind: 'missing' };
  if (read.kind === 'missing') return { kind: 'damaged', why: `it is closed (${read.code})` };
  if (read.kind === 'unreadable') return { kind: 'damaged', why: `it ${read.why}` };
  const { bytes, stats } = read;
  const ownId = process.getuid?.();
  if (ownId !== undefined && stats.uid !== ownId) {
    return { kind: 'damaged', why: 'it belongs to another user' };
  }
  if (ownId !== undefined && (stats.mode & FORBIDDEN_MODE) !== 0) {
    return { kind: 'damaged', why: 'others may write to it' };
  }
  try {
    return { kind: 'text', text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return { kind: 'damaged', why: 'it is not UTF-8' };
  }
}

/** Reads a text as JSON; undefined when it is none. */
export function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

interface Names {
  readonly names: readonly string[];
  /** There are more than were read. */
  readonly cut: boolean;
}

/** The names in a folder that may not be there, in order. */
export function namesIn(folder: string, countMax: number): Names | StoreProblem {
  const names: string[] = [];
  try {
    const dir = opendirSync(folder);
    try {
      for (let one = dir.readSync(); one !== null; one = dir.readSync()) {
        if (names.length >= countMax) return { names: names.toSorted(), cut: true };
        names.push(one.name);
      }
    } finally {
      dir.closeSync();
    }
  } catch (cause) {
    if (systemCode(cause) !== 'ENOENT') return diskProblem(folder, 'read', cause);
  }
  return { names: names.toSorted(), cut: false };
}
