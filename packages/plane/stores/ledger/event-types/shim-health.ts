import type { EventOf } from '@subluminal/contracts';
import { plural } from '@subluminal/core/plural';
import { bad, type EventMember } from './types.ts';

export const shimHealth: EventMember<'shim_health'> = {
  project(_into, event, { run }) {
    const reason = degradedReason(event);
    if (reason !== undefined) run.degraded_reason = reason;
  },
  notice(event, { serverName }) {
    const reason = degradedReason(event);
    const whose = serverName === null ? 'a shim' : `the shim of ${serverName}`;
    return reason === undefined ? undefined : bad('!', `${whose} is degraded: ${reason}`);
  },
};

/** Why something was decided or recorded by less than it should be; undefined where nothing was. */
export function degradedReason({ health }: EventOf<'shim_health'>): string | undefined {
  const { status, reason, events_spooled = 0, previews_dropped = 0 } = health;
  if (status !== 'degraded') return undefined;
  const lost = `${plural(events_spooled, 'event')} spooled, ${plural(previews_dropped, 'preview')} dropped`;
  return reason ?? lost;
}
