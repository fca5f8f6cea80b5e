// SHA-256 and the ids of calls, for the core.
import { hash, randomFillSync } from 'node:crypto';
import type { Sha256 } from '@subluminal/core/ports';
import { V7Generator } from 'uuidv7';

export const sha256: Sha256 = (text) => hash('sha256', text, 'hex');

export function sha256Bytes(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}

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
      randomFillSync(numbers);
      used = 0;
    }
    return numbers[used++] ?? 0;
  };
  const generator = new V7Generator({ nextUint32 });
  return () => generator.generate().toString();
}
