// Ids of calls. The system is asked for randomness by the kilobyte: to ask for each id costs more
// than to decide the call.
import { randomFillSync } from 'node:crypto';
import { V7Generator } from 'uuidv7';

const NUMBERS = 256;

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
