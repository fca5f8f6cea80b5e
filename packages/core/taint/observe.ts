// An answer comes back: what it says is remembered, with where it came from.
import { leavesOf } from './leaves.ts';
import { remember } from './memory.ts';
import { spellingsOf } from './tokens/spellings.ts';
import { keysIn } from './tokens/tokens.ts';
import type { TaintSource, TaintState, Trust } from './types.ts';

interface Observation extends TaintSource {
  readonly trust: Trust;
  /** The result as text, or as the JSON that it is. */
  readonly content: unknown;
  /** The content is only a part of what the agent got. */
  readonly partial?: boolean;
}

const LIMITS = { charsMax: 1_048_576, nodesMax: 50_000 };

/** The run after it has read an answer. Beyond the limits an untrusted answer makes the run blind. */
function observe(state: TaintState, observation: Observation): TaintState {
  const { server, tool, callId, trust, content, partial } = observation;
  const source: TaintSource = { server, tool, callId };
  const { leaves, whole } = leavesOf(content, LIMITS);
  const seen = remember(state, keysOf(leaves.map(({ text }) => text)), {
    sighting: { trust, source },
    whole: whole && partial !== true,
  });
  if (trust === 'trusted' || seen.flags.has('untrusted_input')) return seen;
  return { ...seen, flags: new Map([...seen.flags, ['untrusted_input', source]]) };
}

function* keysOf(texts: readonly string[]): Generator<string> {
  for (const text of texts) {
    for (const spelling of spellingsOf(text)) yield* keysIn(spelling);
  }
}

export type { Observation };
export { observe };
