// SHA-256 and the ids of calls, for the core.

import * as crypto from 'node:crypto';
import type { Sha256 } from '@subluminal/core/ports';
import { V7Generator } from 'uuidv7';

/** One call without a hash object, where Node has it (from 20.12). */
export const sha256: Sha256 =
  typeof crypto.hash === 'function'
    ? (text) => crypto.hash('sha256', text, 'hex')
    : (text) => crypto.createHash('sha256').update(text, 'utf8').digest('hex');

/** The same of bytes. */
export const sha256Bytes: (bytes: Uint8Array) => string =
  typeof crypto.hash === 'function'
    ? (bytes) => crypto.hash('sha256', bytes, 'hex')
    : (bytes) => crypto.createHash('sha256').update(bytes).digest('hex');

const NUMBERS = 256;

/**
 * Makes the ids of calls. The system is asked for randomness by the kilobyte: to ask for each id costs
 * more than to decide the call.
 */
export function callIds(): () => string {
  const numbers = new Uint32Array(NUMBERS);
  let used = NUMBERS;
  const nextUint32 = (): number => {
    if (used === NUMBERS) {
      crypto.randomFillSync(numbers);
      used = 0;
    }
    return numbers[used++] ?? 0;
  };
  const generator = new V7Generator({ nextUint32 });
  return () => generator.generate().toString();
}
