// The folders of approvals and grants.
import { opendirSync } from 'node:fs';
import { type Failure, failure } from '@subluminal/contracts';
import { hasSystemCode, makeFolders, privateFolderFailure, systemCode } from '../../os/index.ts';

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
