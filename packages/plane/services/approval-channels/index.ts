import type { ApprovalChannel } from './announce-requests.ts';
import { desktop } from './desktop/index.ts';
import { slack } from './slack/index.ts';
import { webhook } from './webhook/index.ts';

export type { ApprovalChannel, ChannelCallback, RunningChannel } from './announce-requests.ts';
export { announceRequests } from './announce-requests.ts';

/** Every approval channel. */
export const APPROVAL_CHANNELS: readonly ApprovalChannel[] = [desktop, webhook, slack];
