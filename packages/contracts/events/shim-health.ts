// How a shim is doing.
import { oneOf, open, optional, required, string } from '../shape/shape.ts';
import { count } from './call.ts';

/** The reason of a shim that has not taken a changed policy; `sub run --strict` looks for it. */
export const POLICY_HELD_BACK =
  'the changed policy would let more pass; the last one stays until the next start';

const SHIM_HEALTH_FIELDS = open({
  status: required(oneOf('ok', 'degraded', 'stopping'), 'In a word.'),
  reason: optional(string(), 'Why it is not ok.'),
  uptime_ms: required(count, 'Since the shim started.'),
  calls_in_flight: optional(count, 'Calls that wait for their answer.'),
  events_queued: optional(count, 'Events that wait for the ledger.'),
  events_spooled: optional(count, 'Events on disk because nobody listened.'),
  previews_dropped: optional(count, 'Previews left out because the queue was full.'),
});

export const SHIM_HEALTH = {
  health: required(SHIM_HEALTH_FIELDS, 'How the shim is doing.'),
} as const;
