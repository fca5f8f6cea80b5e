import type { ChannelKind } from '../shared/channel-kind.ts';
import { SlackChatChannel } from './channel.ts';

/** An app of Slack: its events and buttons come as webhooks. */
export const slack: ChannelKind = {
  name: 'slack',
  configure: ({ slack: settings }) =>
    settings && {
      access: settings,
      secretRefs: { token: settings.token_ref, signingSecret: settings.signing_secret_ref },
      isCalled: true,
      open: (parts) => new SlackChatChannel({ ...parts, apiUrl: settings.api_url }),
    },
};
