export type { Channel, RunningChannel } from './channel.ts';
export type { DesktopConfig } from './desktop.ts';
export { desktop } from './desktop.ts';
export type { SlackConfig } from './slack.ts';
export { slack, slackAnswers } from './slack.ts';
export { SLACK_BODY_BYTES_MAX } from './slack-sign.ts';
export type { HttpAnswer, WebhookConfig } from './webhook.ts';
export { webhook, webhookAnswers } from './webhook.ts';
export { verifyCallback, WEBHOOK_BODY_BYTES_MAX } from './webhook-sign.ts';
