// Which events a stream wants. An event says only so much: what it does not name cannot fit.
import type { ApiStreamQuery, Event } from '@subluminal/contracts';
import { eventMember } from '../../../stores/ledger/index.ts';

const UNSTORABLE = /[\0\uD800-\uDFFF]/;

export type Wants = (event: Event) => boolean;

export function wantsOf({ run, agent, server, tool, decision }: ApiStreamQuery): Wants {
  return (event) => {
    if (!isSame(event.run_id, run) || !isSame(event.agent_id, agent)) return false;
    if (decision !== undefined && !isDecided(event, decision)) return false;
    if (server === undefined && tool === undefined) return true;
    const named = eventMember(event.type).names?.(event) ?? {};
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
  if (event.type !== 'tool_call_decision' && event.type !== 'turn_decision') return false;
  const { action } = event.decision;
  return wanted === 'REFUSED' ? action !== 'ALLOW' : action === wanted;
}
