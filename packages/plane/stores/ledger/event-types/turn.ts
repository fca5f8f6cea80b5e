import { callChange } from '../store/projection.ts';
import { addDecision, addEnd, addStart } from './call-rows.ts';
import type { EventMember } from './types.ts';

export const turnStart: EventMember<'turn_start'> = {
  project(into, event, place) {
    addStart(callChange(into, event, place), event, event.call.risk_class);
  },
};

export const turnDecision: EventMember<'turn_decision'> = {
  project(into, event, place) {
    addDecision(into, callChange(into, event, place), { event, atMs: place.atMs });
  },
};

export const turnEnd: EventMember<'turn_end'> = {
  project(into, event, place) {
    const change = callChange(into, event, place);
    addEnd(change, event);
    const { tokens_in = null, tokens_out = null, cost_micros = null } = event.usage ?? {};
    Object.assign(change.row, { tokens_in, tokens_out, cost_micros });
  },
};
