import type { ChannelKind } from '../shared/channel-kind.ts';
import { DiscordChannel } from './channel.ts';

const API_URL = 'https://discord.com/api/v10';

/** A bot of Discord: its events come by the gateway's WebSocket, its messages go by HTTP. */
export const discord: ChannelKind = {
  name: 'discord',
  configure: ({ discord: settings }) =>
    settings && {
      access: settings,
      secretRefs: { token: settings.token_ref },
      isCalled: false,
      open: (parts) => new DiscordChannel({ ...parts, apiUrl: settings.api_url ?? API_URL }),
    },
};
