import { plural } from '@subluminal/core/plural';
import { bad, type EventMember } from './types.ts';

export const shimHealth: EventMember<'shim_health'> = {
  notice({ health }, { serverName }) {
    const { status, reason, events_spooled = 0, previews_dropped = 0 } = health;
    if (status !== 'degraded') return undefined;
    const lost = `${plural(events_spooled, 'event')} spooled, ${plural(previews_dropped, 'preview')} dropped`;
    const whose = serverName === null ? 'a shim' : `the shim of ${serverName}`;
    return bad('!', `${whose} is ${status}: ${reason ?? lost}`);
  },
};
