import type { ApprovalChannel } from '../shared/announce-requests.ts';
import { startDesktop } from './channel.ts';

/** Shows a notification; people answer in the terminal. */
export const desktop: ApprovalChannel = {
  name: 'desktop',
  configure: ({ desktop: settings }) =>
    settings && {
      secretRefs: {},
      start: ({ desk, env }) => {
        const { platform } = process;
        return { running: startDesktop(desk, { ...settings, platform, env }) };
      },
    },
};
