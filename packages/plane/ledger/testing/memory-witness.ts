import type { Witness } from '../witness.ts';

/** A witness that forgets with the test. */
function memoryWitness(): Witness {
  let kept: string | undefined;
  return {
    read: async () => kept,
    write: async (text) => {
      kept = text;
    },
  };
}

export { memoryWitness };
