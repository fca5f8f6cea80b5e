// The values that the agent has sent with its calls, kept until the answers come.
import { leavesOf } from './leaves.ts';
import { Effort, spellingsOf } from './tokens/spellings.ts';
import { keysIn } from './tokens/tokens.ts';
import type { TaintSource, TaintState } from './types.ts';

/** Beyond these an echo is taken for something new. */
const LIMITS = { charsMax: 65_536, nodesMax: 2_000 };
const UNITS_MAX = 524_288;
const KEYS_OF_CALL_MAX = 4_000;
const KEYS_MAX = 20_000;
const CALLS_MAX = 256;

const NOTHING: ReadonlySet<string> = new Set();

/** Messages in the middle of a call that do not name the call. */
const ASIDE = /^(?:elicitation|notifications|sampling)\//;

/** The keys of everything that was sent with this call; of an aside, of all calls of the server. */
export function sentBy(state: TaintState, source: TaintSource): Pick<ReadonlySet<string>, 'has'> {
  const isAside = source.callId === '' && ASIDE.test(source.tool);
  if (!isAside) return state.sent.get(idOf(source)) ?? NOTHING;
  const start = `${JSON.stringify([source.server]).slice(0, -1)},`;
  const own = [...state.sent].filter(([id]) => id.startsWith(start)).map(([, keys]) => keys);
  return { has: (key) => own.some((keys) => keys.has(key)) };
}

/** The state with these values sent. The oldest calls go first when there are too many. */
export function withSent(state: TaintState, source: TaintSource, values: unknown): TaintState {
  if (values === undefined || source.callId === '') return state;
  const keys = keysOf(values);
  if (keys.size === 0) return state;
  const sent = new Map(state.sent);
  // It is the newest, also where it was sent before.
  sent.delete(idOf(source));
  sent.set(idOf(source), keys);
  let count = 0;
  for (const { size } of sent.values()) count += size;
  for (const [id, { size }] of sent) {
    if (count <= KEYS_MAX && sent.size <= CALLS_MAX) break;
    sent.delete(id);
    count -= size;
  }
  return { ...state, sent };
}

function keysOf(values: unknown): ReadonlySet<string> {
  const found = new Set<string>();
  const effort = new Effort(UNITS_MAX);
  for (const { text } of leavesOf(values, LIMITS).leaves) {
    for (const spelling of spellingsOf(text, effort)) {
      for (const keys of keysIn(spelling)) {
        for (const key of keys) found.add(key);
        if (found.size >= KEYS_OF_CALL_MAX) return found;
      }
    }
  }
  return found;
}

/** Each shim counts its calls by itself. */
function idOf({ server, callId }: TaintSource): string {
  return JSON.stringify([server, callId]);
}
