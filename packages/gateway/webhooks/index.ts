export type { SendResult } from './send-webhook.ts';
export { WebhookSender } from './send-webhook.ts';
export type { DeliveryOutcome, WebhookQueueOptions } from './webhook-queue.ts';
export { WebhookQueue } from './webhook-queue.ts';
export type { WebhookRules } from './webhook-url.ts';
export { urlProblem } from './webhook-url.ts';
