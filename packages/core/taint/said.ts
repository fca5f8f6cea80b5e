// What the user has said: values that the user names are the user's own, wherever they were read before or are read
// later. Only a source that the agent cannot write, such as the prompt of a client, may bring it in.
import { USER } from './memory.ts';
import { observe } from './observe.ts';
import type { TaintState } from './types.ts';

/** The run after the user has said something. */
export function said(state: TaintState, text: string): TaintState {
  const { trustedClears } = state;
  const observation = { ...USER, trust: 'trusted', content: text } as const;
  // Once a value is trusted, no untrusted content takes that back.
  const heard = observe({ ...state, trustedClears: 'any' }, observation);
  return { ...heard, trustedClears };
}
