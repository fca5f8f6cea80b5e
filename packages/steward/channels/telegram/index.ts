import type { ChannelKind } from '../shared/channel-kind.ts';
import { TelegramChannel } from './channel.ts';

/** A bot of Telegram: polls for updates, or takes them as webhooks. */
export const telegram: ChannelKind = {
  name: 'telegram',
  configure: ({ telegram: settings }) =>
    settings && {
      access: settings,
      secretRefs: {
        token: settings.token_ref,
        ...(settings.webhook_secret_ref !== undefined && {
          webhookSecret: settings.webhook_secret_ref,
        }),
      },
      isCalled: settings.webhook_secret_ref !== undefined,
      open: (parts) => new TelegramChannel({ ...parts, apiUrl: settings.api_url }),
    },
};
