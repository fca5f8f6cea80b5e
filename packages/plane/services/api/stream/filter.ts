// Which events a stream wants. An event says only so much: what it does not name cannot fit.
import type { ApiStreamQuery, Event } from '@subluminal/contracts';

const UNSTORABLE = /[\0\uD800-\uDFFF]/;

export type Wants = (event: Event) => boolean;

export function wantsOf({ run, agent, server, tool, decision }: ApiStreamQuery): Wants {
  return (event) => {
    if (!isSame(event.run_id, run) || !isSame(event.agent_id, agent)) return false;
    if (decision !== undefined && !isDecided(event, decision)) return false;
    if (server === undefined && tool === undefined) return true;
    const named = namesOf(event);
    return isSame(named.server_name, server) && isSame(named.tool_name, tool);
  };
}

/** What no database keeps in a text stands there as U+FFFD, and that is what a filter was made of. */
function isSame(text: string | undefined, wanted: string | undefined): boolean {
  if (wanted === undefined || text === wanted) return true;
  if (text === undefined || !UNSTORABLE.test(text)) return false;
  return Buffer.from(text, 'utf8').toString('utf8').replaceAll('\0', '\uFFFD') === wanted;
}

/** Only the decision itself has one: a start comes before it, and an end does not repeat it. */
function isDecided(event: Event, wanted: NonNullable<ApiStreamQuery['decision']>): boolean {
  if (event.type !== 'tool_call_decision') return false;
  const { action } = event.decision;
  return wanted === 'REFUSED' ? action !== 'ALLOW' : action === wanted;
}

interface Names {
  readonly server_name?: string;
  readonly tool_name?: string;
}

function namesOf(event: Event): Names {
  switch (event.type) {
    case 'tool_call_start':
    case 'tool_call_decision':
    case 'tool_call_end':
      return event.call;
    case 'breaker_trip':
      return event.breaker;
    case 'secret_injection':
      return event.secret;
    default:
      return {};
  }
}
