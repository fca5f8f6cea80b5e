import { bad, type EventMember } from './types.ts';

export const breakerTrip: EventMember<'breaker_trip'> = {
  names: ({ breaker }) => breaker,
  notice({ breaker }) {
    const { rule_id, cause, count, window_ms, action, server_name, tool_name } = breaker;
    const where = tool_name === undefined ? '' : ` at ${server_name ?? '?'}/${tool_name}`;
    const what = `${count} ${cause} in ${window_ms} ms, ${action}`;
    return bad('!', `breaker ${rule_id} tripped${where}: ${what}`);
  },
};
