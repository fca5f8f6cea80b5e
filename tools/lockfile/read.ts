import type { LockEntry, LockPackages } from './complete.ts';

export interface Lockfile {
  readonly packages: LockPackages;
}

/** The lockfile in a text, or undefined when it is none. */
export function readLockfile(text: string): Lockfile | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(value) || !isRecord(value['packages'])) return undefined;
  const { packages } = value;
  return isPackages(packages) ? { ...value, packages } : undefined;
}

function isPackages(value: object): value is LockPackages {
  return Object.values(value).every(isEntry);
}

/** Only what is read here is checked; the rest passes through as it came. */
function isEntry(value: unknown): value is LockEntry {
  if (!isRecord(value)) return false;
  const optional = value['optionalDependencies'] ?? {};
  return isRecord(optional) && Object.values(optional).every((item) => typeof item === 'string');
}

function isRecord(value: unknown): value is { [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
