// What a running proxy says about itself, in words.
import { isObject } from '@subluminal/contracts';
import type { ProxyState } from '@subluminal/gateway/proxy';
import { costText } from '../ledger/turn-text.ts';
import { plural } from '../terminal/text.ts';

export interface ProxyHealth {
  readonly status: 'ok' | 'degraded' | 'silent';
  readonly gateway_url?: string;
  readonly problem?: string;
}

/** A session that is open, with what it has cost so far. */
export interface ProxySession {
  readonly session_id: string;
  readonly agent: string;
  readonly turns: number;
  readonly cost_micros: number;
  readonly last_trace_id: string | null;
}

const ANSWER_MS = 10_000;
const SESSIONS_SHOWN_MAX = 20;

export async function healthOf(state: ProxyState): Promise<ProxyHealth> {
  const told = await toldBy(state, 'health');
  if (told === undefined) return { status: 'silent' };
  const { status, gateway_url: gateway, problem } = told;
  const message = isObject(problem) ? problem['message'] : undefined;
  return {
    status: status === 'ok' ? 'ok' : 'degraded',
    ...(typeof gateway === 'string' && { gateway_url: gateway }),
    ...(typeof message === 'string' && { problem: message }),
  };
}

/** The sessions that were used last, the newest first. */
export async function sessionsOf(state: ProxyState): Promise<readonly ProxySession[]> {
  const told = await toldBy(state, 'sessions');
  const listed = Array.isArray(told?.['sessions']) ? told['sessions'] : [];
  const sessions = listed.flatMap((one: unknown) => {
    if (!isObject(one)) return [];
    const { session_id, agent, turns, cost_micros, last_trace_id: trace } = one;
    if (typeof session_id !== 'string' || typeof agent !== 'string') return [];
    if (typeof turns !== 'number' || typeof cost_micros !== 'number') return [];
    const last_trace_id = typeof trace === 'string' ? trace : null;
    return [{ session_id, agent, turns, cost_micros, last_trace_id }];
  });
  return sessions.toReversed().slice(0, SESSIONS_SHOWN_MAX);
}

async function toldBy({ url }: ProxyState, page: string) {
  try {
    const answer = await fetch(`${url}/_aicg/${page}`, { signal: AbortSignal.timeout(ANSWER_MS) });
    const told: unknown = await answer.json();
    return isObject(told) ? told : undefined;
  } catch {
    return undefined;
  }
}

export function sessionText({ session_id, agent, turns, ...more }: ProxySession): string {
  const { cost_micros, last_trace_id } = more;
  const trace = last_trace_id === null ? '' : `, last trace ${last_trace_id}`;
  return `  ${agent} ${session_id}: ${plural(turns, 'turn')}, ${costText(cost_micros)}${trace}`;
}

export function stateText(
  { identity, url, version, startedAt, mode }: ProxyState,
  { status, gateway_url: gateway, problem }: ProxyHealth,
  isNew: boolean,
): readonly string[] {
  const where = mode === 'own' ? 'to the providers, with the keys of the agents' : `to ${gateway}`;
  const since = isNew ? '' : ` since ${startedAt}`;
  const first = `The proxy runs (pid ${identity.pid}, version ${version})${since} on ${url}; turns go ${where}.`;
  if (status === 'ok') return [first];
  if (status === 'silent') return [first, 'It does not answer: look at run/proxy.log of the home.'];
  return [first, `No turn passes now: ${problem ?? 'the gateway does not take its key.'}`];
}
