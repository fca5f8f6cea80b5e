import type { ApprovalChannel } from '../shared/announce-requests.ts';
import { WEBHOOK_BODY_BYTES_MAX, webhookCallback } from './callback.ts';
import { startWebhook } from './channel.ts';

/** Posts requests to a service of the user, which posts its decisions back. */
export const webhook: ApprovalChannel = {
  name: 'webhook',
  configure: ({ webhook: settings }) =>
    settings && {
      secretRefs: { secret: settings.secretRef },
      start: ({ desk, secrets: { secret = '' } }) => ({
        running: startWebhook(desk, { ...settings, secret }),
        callback: {
          path: '/approvals/webhook',
          bytesMax: WEBHOOK_BODY_BYTES_MAX,
          answer: webhookCallback(desk, secret),
        },
      }),
    },
};
