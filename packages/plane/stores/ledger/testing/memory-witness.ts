import type { Witness } from '../chain/signed-head.ts';

/** A witness that forgets with the test. */
export function memoryWitness(): Witness {
  let kept: string | undefined;
  return {
    read: async () => kept,
    write: async (text) => {
      kept = text;
    },
  };
}
