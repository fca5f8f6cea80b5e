import { callChange } from '../store/projection.ts';
import { addDecision, addEnd, addStart } from './call-rows.ts';
import type { EventMember } from './types.ts';

export const toolCallStart: EventMember<'tool_call_start'> = {
  project(into, event, place) {
    const { risk_class, tags } = event.call;
    addStart(callChange(into, event, place), event, risk_class ?? tags);
  },
  names: ({ call }) => call,
};

export const toolCallDecision: EventMember<'tool_call_decision'> = {
  project(into, event, place) {
    addDecision(into, callChange(into, event, place), { event, atMs: place.atMs });
  },
  names: ({ call }) => call,
};

export const toolCallEnd: EventMember<'tool_call_end'> = {
  project: (into, event, place) => addEnd(callChange(into, event, place), event),
  names: ({ call }) => call,
};
