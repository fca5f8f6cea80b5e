import { desktop } from './desktop/index.ts';
import type { ApprovalChannel } from './shared/announce-requests.ts';
import { slack } from './slack/index.ts';
import { webhook } from './webhook/index.ts';

export type {
  ApprovalChannel,
  ChannelCallback,
  RunningChannel,
} from './shared/announce-requests.ts';
export { Claims, RequestFollower } from './shared/announce-requests.ts';

/** Every approval channel. */
export const APPROVAL_CHANNELS: readonly ApprovalChannel[] = [desktop, webhook, slack];
