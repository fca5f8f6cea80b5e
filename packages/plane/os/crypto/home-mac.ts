// A MAC by the key of a home, for what only processes of this home read: checked ten times faster than a signature.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Failure, isFailure } from '@subluminal/contracts';
import { readPrivateFile } from '../private-file.ts';
import { homeSeal, KEY_BYTES_MAX, keyPath } from './home-key.ts';

/** The MAC of a text; `purpose` keeps it from being valid for anything else. Undefined where the home has no key. */
export function homeMac(home: string, purpose: string, text: string): Buffer | undefined {
  const read = readPrivateFile(keyPath(home), { bytesMax: KEY_BYTES_MAX, mayBeRoots: true });
  if (read.kind !== 'read' || read.bytes.length === 0) return undefined;
  return createHmac('sha256', read.bytes).update(`${purpose}\n`).update(text).digest();
}

export function isHomeMac(mac: Buffer, expected: Buffer | undefined): boolean {
  return expected !== undefined && mac.length === expected.length && timingSafeEqual(mac, expected);
}

/** Makes the key of a home that has none yet. */
export function ensureHomeKey(home: string): Failure | undefined {
  const signed = homeSeal(home).sign('');
  return isFailure(signed) ? signed : undefined;
}
