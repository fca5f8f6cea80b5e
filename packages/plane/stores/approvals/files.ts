// The files of approvals: each appears whole, once, and is never rewritten.
import { opendirSync } from 'node:fs';
import { join } from 'node:path';
import { type Failure, failure } from '@subluminal/contracts';
import {
  createPrivateFile,
  hasSystemCode,
  makeFolders,
  privateFolderFailure,
  readPrivateFile,
  systemCode,
} from '../../os/index.ts';

type OwnFile =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'missing' }
  /** The file exists, but its content cannot be trusted. */
  | { readonly kind: 'damaged'; readonly why: string };

/** Makes the folder. One that others can write to could hold their approvals: it is refused. */
export function ensureFolder(path: string): Failure | undefined {
  try {
    makeFolders(path);
  } catch (cause) {
    return diskFailure(path, 'made', cause);
  }
  return unsafeFolder(path);
}

/** Undefined when the folder is safe, and when there is none. */
export function unsafeFolder(path: string): Failure | undefined {
  try {
    return privateFolderFailure(path);
  } catch (cause) {
    return diskFailure(path, 'looked at', cause);
  }
}

export function diskFailure(path: string, done: string, cause: unknown): Failure {
  const message = `${path} cannot be ${done} (${systemCode(cause)}).`;
  const fix = 'Check the disk, the folder and its permissions.';
  return failure('SUB_APPROVAL_STORE', message, fix);
}

/** Of any number of processes that write the same file at once, exactly one gets `written`. */
export function writeOnce(
  folder: string,
  name: string,
  text: string,
): 'written' | 'taken' | Failure {
  const path = join(folder, name);
  try {
    return createPrivateFile(path, text) === 'created' ? 'written' : 'taken';
  } catch (cause) {
    return diskFailure(path, 'written', cause);
  }
}

/** Reads a regular file that only its owner can have written: no link, bounded, UTF-8. */
export function readOwnFile(path: string, bytesMax: number): OwnFile {
  const read = readPrivateFile(path, { bytesMax });
  if (read.kind === 'missing' && read.code === 'ENOENT') return { kind: 'missing' };
  if (read.kind === 'missing') return { kind: 'damaged', why: `it is closed (${read.code})` };
  if (read.kind === 'unreadable') return { kind: 'damaged', why: `it ${read.why}` };
  try {
    return { kind: 'text', text: new TextDecoder('utf-8', { fatal: true }).decode(read.bytes) };
  } catch {
    return { kind: 'damaged', why: 'it is not UTF-8' };
  }
}

/** Parses JSON; undefined when the text is not JSON. */
export function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

interface FileNames {
  readonly names: readonly string[];
  /** There are more names than were read. */
  readonly cut: boolean;
}

/** The names in a folder, sorted; none when there is no folder. */
export function recordNames(folder: string, countMax: number): FileNames | Failure {
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
    if (!hasSystemCode(cause, 'ENOENT')) return diskFailure(folder, 'read', cause);
  }
  return { names: names.toSorted(), cut: false };
}
