// What a task carries to servers of others after it has read what is the user's own: words that the user has not said
// may come from there. Which of them do cannot be known, since they can be encoded; how many there are can.
import type { JsonObject } from '@subluminal/contracts';
import { leavesOf } from '@subluminal/core/taint';
import { LOCAL_SERVERS, type OutgoingCall } from './recipients.ts';

/** The calls of one task so far, in their order. */
export type TaskCalls = readonly OutgoingCall[];

const PRIVATE: ReadonlySet<string> = new Set(['files', 'email', 'calendar', 'memory', 'contacts']);
/** Servers of our own that send nothing, or whose messages a person sees. */
const OURS: ReadonlySet<string> = new Set([...LOCAL_SERVERS, 'email', 'calendar', 'shell']);
/** A name and a place, but no password and no sentence. */
const CHARS_MAX = 16;
const LIMITS = { charsMax: 1_048_576, nodesMax: 10_000 };
const WORD = /[\p{L}\p{N}]+/gu;
/** Parts of every address. */
const IDLE: ReadonlySet<string> = new Set(['http', 'https', 'www']);

/** Why a person should look first; undefined when the user has said nearly all of it. */
export function carriedProblem(
  call: OutgoingCall,
  before: TaskCalls,
  userWords: readonly string[],
): string | undefined {
  if (OURS.has(call.server)) return undefined;
  const firstRead = before.findIndex(({ server }) => PRIVATE.has(server));
  if (firstRead === -1) return undefined;
  const said = new Set([...IDLE, ...wordsIn(userWords.join('\n'))]);
  const outside = before.slice(firstRead).filter(({ server }) => !OURS.has(server));
  const unsaid = new Set(
    [...outside, call].flatMap(({ args }) => wordsOf(args)).filter((word) => !said.has(word)),
  );
  const chars = [...unsaid].reduce((sum, word) => sum + word.length, 0);
  if (chars <= CHARS_MAX) return undefined;
  return `This task has read private data, and ${call.server} would get words that the user has not said.`;
}

function wordsOf(args: JsonObject): readonly string[] {
  return leavesOf(args, LIMITS).leaves.flatMap(({ text }) => wordsIn(text));
}

function wordsIn(text: string): readonly string[] {
  return text.toLowerCase().match(WORD) ?? [];
}
