export type { SendResult, WebhookRules } from './send-webhook.ts';
export { urlProblem, WebhookSender } from './send-webhook.ts';
export type { DeliveryOutcome, WebhookQueueOptions } from './webhook-queue.ts';
export { WebhookQueue } from './webhook-queue.ts';
