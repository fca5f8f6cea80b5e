// What Steward knows, asked for again after something was decided here.
import type { ApiAnswerOf } from '@subluminal/contracts';
import { useMutation, useQueryClient } from '@tanstack/react-query';

/** Steward tells nobody of what it stages or remembers. */
export const AGAIN_MS = 5_000;

export type StewardChange = ApiAnswerOf<'stewardChanges'>['changes'][number];
export type StewardMemory = ApiAnswerOf<'stewardMemory'>['entries'][number];
export type StewardTask = ApiAnswerOf<'stewardTasks'>['tasks'][number];
export type StewardStep = StewardTask['steps'][number];

export function useDecision<I, A>(decide: (input: I) => Promise<A>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: decide,
    onSettled: () =>
      client.invalidateQueries({
        predicate: ({ queryKey: [name] }) => typeof name === 'string' && name.startsWith('steward'),
      }),
  });
}
