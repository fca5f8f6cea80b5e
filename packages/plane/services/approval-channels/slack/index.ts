import type { ApprovalChannel } from '../shared/announce-requests.ts';
import { SLACK_BODY_BYTES_MAX, slackCallback } from './callback.ts';
import { SlackChannel } from './channel.ts';

/** Posts requests to a Slack channel; people answer with buttons or reactions. */
export const slack: ApprovalChannel = {
  name: 'slack',
  configure: ({ slack: settings }) =>
    settings && {
      secretRefs: { token: settings.tokenRef, signing_secret: settings.signingSecretRef },
      start: ({ desk, secrets: { token = '', signing_secret: signingSecret = '' } }) => {
        const config = { ...settings, token, signingSecret };
        return {
          running: new SlackChannel(desk, config),
          callback: {
            path: '/approvals/slack/actions',
            bytesMax: SLACK_BODY_BYTES_MAX,
            answer: slackCallback(desk, config),
          },
        };
      },
    },
};
