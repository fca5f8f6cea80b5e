import type { ChannelKind } from '../shared/channel-kind.ts';
import { WhatsAppChannel } from './channel.ts';

const API_URL = 'https://graph.facebook.com/v23.0';

/** A number of the WhatsApp Cloud API: messages come as webhooks. */
export const whatsapp: ChannelKind = {
  name: 'whatsapp',
  configure: ({ whatsapp: settings }) =>
    settings && {
      access: { allowed: settings.allowed, groups: [] },
      secretRefs: {
        token: settings.token_ref,
        appSecret: settings.app_secret_ref,
        verifyToken: settings.verify_token_ref,
      },
      isCalled: true,
      open: (parts) =>
        new WhatsAppChannel({
          ...parts,
          apiUrl: settings.api_url ?? API_URL,
          phoneNumberId: settings.phone_number_id,
        }),
    },
};
