// Breakers of servers, by what is on record. Each shim has its own, which only its events tell of.
import { type ApiServer, type EventOf, parseEventLine } from '@subluminal/contracts';
import type { StoreReader } from '@subluminal/plane/ledger';

export type ServerBreaker = Pick<ApiServer, 'breaker' | 'last_trip'>;

export const UNKNOWN_BREAKER: ServerBreaker = {
  breaker: { state: 'unknown', detail: null, at_ms: null, run_id: null },
  last_trip: null,
};

const SEEN_MS = 30 * 24 * 60 * 60_000;
const NOTICES_MAX = 1_000;

type Reader = Pick<StoreReader, 'serverNotices' | 'run'>;

/** By server; those that no event tells of are left out. */
export async function breakerStates(reader: Reader): Promise<ReadonlyMap<string, ServerBreaker>> {
  const found = new Map<string, ServerBreaker>();
  for (const [server, breaker] of await circuits(reader)) {
    found.set(server, { ...UNKNOWN_BREAKER, breaker });
  }
  for (const [server, last_trip] of await trips(reader)) {
    found.set(server, { ...(found.get(server) ?? UNKNOWN_BREAKER), last_trip });
  }
  return found;
}

/** The newest word of each shim whose run goes on; one that is paused weighs more than others. */
async function circuits(reader: Reader): Promise<ReadonlyMap<string, ApiServer['breaker']>> {
  const states = new Map<string, ApiServer['breaker']>();
  const heard = new Set<string>();
  const running = new Map<string, boolean>();
  const isRunning = async (runId: string) => {
    const known = running.get(runId) ?? (await reader.run(runId))?.status === null;
    running.set(runId, known);
    return known;
  };
  for (const event of await noticed(reader, 'surface', ['"server_state"'])) {
    const { surface, run_id, source, ts } = event;
    const { state, server_name, detail } = surface;
    const shim = JSON.stringify([server_name, run_id, source.shim_id]);
    if (surface.what !== 'server_state' || state === undefined || heard.has(shim)) continue;
    heard.add(shim);
    const isKnown = states.get(server_name);
    if (isKnown?.state === 'open' || !(await isRunning(run_id))) continue;
    if (isKnown !== undefined && state !== 'paused') continue;
    const word = state === 'paused' ? 'open' : 'closed';
    states.set(server_name, { state: word, detail, at_ms: Date.parse(ts), run_id });
  }
  return states;
}

/** The last rule of a policy that tripped over each server. */
async function trips(reader: Reader) {
  const last = new Map<string, NonNullable<ApiServer['last_trip']>>();
  for (const { breaker, run_id, ts } of await noticed(reader, 'breaker_trip', [])) {
    const { server_name, tool_name = null, rule_id, action, count, cause, window_ms } = breaker;
    if (server_name === undefined || last.has(server_name)) continue;
    const detail = `${count} ${cause} in ${window_ms} ms`;
    last.set(server_name, { rule_id, tool_name, action, detail, run_id, at_ms: Date.parse(ts) });
  }
  return last;
}

type NoticeType = 'surface' | 'breaker_trip' | 'secret_injection';

/** Events of one type, the newest first. */
export async function noticed<T extends NoticeType>(
  reader: Pick<StoreReader, 'serverNotices'>,
  type: T,
  words: readonly string[],
): Promise<readonly EventOf<T>[]> {
  const fromMs = Date.now() - SEEN_MS;
  const rows = await reader.serverNotices({ type, words, fromMs, limit: NOTICES_MAX });
  const isWanted = (event: { readonly type: string }): event is EventOf<T> => event.type === type;
  return rows.flatMap(({ line }) => {
    const parsed = parseEventLine(line);
    return parsed.ok && isWanted(parsed.event) ? [parsed.event] : [];
  });
}
