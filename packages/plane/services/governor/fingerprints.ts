// Fingerprints of secret values. A value has the same fingerprint wherever this home is used, so that a shim
// recognises a suppression that `sub scan` proposes.
import { createHmac, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createPrivateFile, readRegularFile } from '../../os/index.ts';

export interface Fingerprints {
  readonly of: (text: string) => string;
  /** False when the key could be neither read nor saved: then no other process gets the same fingerprints. */
  readonly areKept: () => boolean;
}

interface Key {
  readonly bytes: Buffer;
  readonly isKept: boolean;
}

const KEY_FILE = 'fingerprint.key';
const KEY_BYTES = 32;
const FINGERPRINT_LENGTH = 16;

/** Fingerprints are keyed, so that nobody can find a value by trying; the key is made once. */
export function fingerprintsIn(home: string): Fingerprints {
  let key: Key | undefined;
  const known = (): Key => {
    key ??= keyIn(home);
    return key;
  };
  return {
    of: (text) =>
      createHmac('sha256', known().bytes).update(text).digest('hex').slice(0, FINGERPRINT_LENGTH),
    areKept: () => known().isKept,
  };
}

function keyIn(home: string): Key {
  const path = join(home, KEY_FILE);
  const found = readKey(path);
  if (found !== undefined) return { bytes: found, isKept: true };
  const fresh = randomBytes(KEY_BYTES);
  if (keep(path, fresh)) return { bytes: fresh, isKept: true };
  // Another process may have been first. Else this one has fingerprints that no suppression names.
  const made = readKey(path);
  return made === undefined ? { bytes: fresh, isKept: false } : { bytes: made, isKept: true };
}

function readKey(path: string): Buffer | undefined {
  const read = readRegularFile(path, { bytesMax: KEY_BYTES });
  return read.kind === 'read' && read.bytes.length === KEY_BYTES ? read.bytes : undefined;
}

/** Whether this key is the one in the file now: another process may have been first. */
function keep(path: string, key: Buffer): boolean {
  try {
    return createPrivateFile(path, key) === 'created';
  } catch {
    return false;
  }
}
