export type { Channel, RunningChannel } from './channel.ts';
export type { Decided, Desk, Verdict } from './desk.ts';
export { approves, openDesk } from './desk.ts';
export type { DesktopConfig } from './desktop.ts';
export { desktop } from './desktop.ts';
export { findId, shortId } from './find-id.ts';
export type { GrantChange, GrantEntry, GrantState, Grants } from './grants.ts';
export { openGrants } from './grants.ts';
export type { GrantedCall } from './match.ts';
export { sameCall } from './match.ts';
export type { ApprovalPorts, Owner, StoreProblem } from './ports.ts';
export { isProblem } from './ports.ts';
export type { ArgsWish, GrantWish, NoGrant } from './propose.ts';
export { grantFor } from './propose.ts';
export type {
  Asked,
  Ended,
  Ending,
  EndResult,
  Entry,
  EntryState,
  Question,
  Queue,
} from './queue.ts';
export { openQueue } from './queue.ts';
export type { Damaged, Listing } from './records.ts';
export type { SlackConfig } from './slack.ts';
export { slack, slackAnswers } from './slack.ts';
export { SLACK_BODY_BYTES_MAX } from './slack-sign.ts';
export type { Follower, Stop } from './watch.ts';
export type { HttpAnswer, WebhookConfig } from './webhook.ts';
export { webhook, webhookAnswers } from './webhook.ts';
export { verifyCallback, WEBHOOK_BODY_BYTES_MAX } from './webhook-sign.ts';
export { grantWords } from './words.ts';
