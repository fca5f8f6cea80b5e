// Messages wait in the store until their receiver has taken them: a restart loses none, and of several gateways one
// sends each. What is refused for good, or failed too often, is given up and said so.
import type { JsonValue, WebhookEvent } from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';
import { TokenBuckets } from '../auth/index.ts';
import type { DeliveryRow, WebhookRow, WebhookStore } from '../store/types.ts';
import type { WebhookSender } from './send-webhook.ts';

export interface WebhookQueueOptions {
  readonly tenantId: string;
  readonly store: WebhookStore;
  readonly sender: WebhookSender;
  /** Those of the configuration, as it is now. */
  readonly configured: () => readonly WebhookRow[];
  readonly nowMs: () => number;
  readonly newId: () => string;
  readonly onWarning?: (message: string) => void;
  /** What came of a message, for the metrics. */
  readonly onOutcome?: (event: string, outcome: DeliveryOutcome) => void;
  readonly pollMs?: number;
}

export type DeliveryOutcome = 'delivered' | 'retried' | 'given_up' | 'dropped';

interface TestResult {
  readonly delivered: boolean;
  readonly status: number | null;
  readonly error: string | null;
}

const ATTEMPTS_MAX = 10;
const FIRST_RETRY_MS = 10_000;
const RETRY_MS_MAX = 3_600_000;
const POLL_MS = 2_000;
const AT_ONCE = 8;
/** Longer than a message takes to be sent. */
const LEASE_MS = 60_000;
const BODY_LENGTH_MAX = 16_384;
/** A policy that refuses everything must not fill the store with messages about it. */
const EMIT_RATE = { perMinute: 600, burst: 600 };

export class WebhookQueue {
  readonly #options: WebhookQueueOptions;
  readonly #rates = new TokenBuckets(EMIT_RATE);
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;
  #wake: () => void = () => undefined;

  constructor(options: WebhookQueueOptions) {
    this.#options = options;
  }

  configured(): readonly WebhookRow[] {
    return this.#options.configured();
  }

  check(webhook: { readonly url: string; readonly secretRef: string }) {
    return this.#options.sender.check(webhook);
  }

  /** Queues a message for every webhook that wants the event. `data` never holds what a prompt says. */
  async emit(event: WebhookEvent, data: { readonly [name: string]: JsonValue }): Promise<void> {
    const { store, nowMs, newId, onOutcome, onWarning } = this.#options;
    for (const webhook of await this.#webhooks()) {
      if (!webhook.events.includes(event)) continue;
      const body = this.#body(event, data);
      if (body.length > BODY_LENGTH_MAX || this.#rates.take(webhook.id, nowMs()) > 0) {
        onWarning?.(`A message about ${event} for the webhook ${webhook.id} was dropped.`);
        onOutcome?.(event, 'dropped');
        continue;
      }
      const delivery = { id: newId(), webhookId: webhook.id, event, body };
      await store.enqueue({ ...delivery, attempts: 0, dueMs: nowMs() });
    }
    this.#wake();
  }

  /** Sends one message now, once. */
  async test(webhook: WebhookRow): Promise<TestResult> {
    const body = this.#body('test', {});
    const message = { deliveryId: this.#options.newId(), event: 'test', body };
    const sent = await this.#options.sender.send(webhook, message);
    const delivered = sent.kind === 'taken';
    return { delivered, status: sent.status, error: sent.kind === 'taken' ? null : sent.why };
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** What is under way is cut off; its lease ends, and it is sent again by whoever runs then. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { store, nowMs, onWarning } = this.#options;
    while (!this.#stopping.signal.aborted) {
      try {
        const taken = await store.take(nowMs(), LEASE_MS, AT_ONCE);
        await Promise.all(taken.map((delivery) => this.#deliver(delivery)));
        if (taken.length === AT_ONCE) continue;
      } catch (cause) {
        onWarning?.(`Webhooks wait for the store: ${visible(String(cause), 200)}`);
      }
      await this.#pause();
    }
  }

  async #deliver(delivery: DeliveryRow): Promise<void> {
    const { store, sender, nowMs, onOutcome, onWarning } = this.#options;
    const { id, webhookId, event, body, attempts } = delivery;
    const webhook = (await this.#webhooks()).find((one) => one.id === webhookId);
    // It was removed: nobody waits for its messages.
    if (webhook === undefined) return store.finish(id);
    const { signal } = this.#stopping;
    const sent = await sender.send(webhook, { deliveryId: id, event, body }, signal);
    if (sent.kind === 'taken') {
      onOutcome?.(event, 'delivered');
      return store.finish(id);
    }
    if (signal.aborted) return undefined;
    if (sent.kind === 'later' && attempts < ATTEMPTS_MAX) {
      onOutcome?.(event, 'retried');
      return store.retry(id, nowMs() + retryMs(attempts));
    }
    onWarning?.(`The webhook ${webhookId} did not take ${event}: ${visible(sent.why, 200)}`);
    onOutcome?.(event, 'given_up');
    return store.finish(id);
  }

  async #webhooks(): Promise<readonly WebhookRow[]> {
    const { store, tenantId, configured } = this.#options;
    return [...configured(), ...(await store.list(tenantId))];
  }

  #body(event: string, data: { readonly [name: string]: JsonValue }): string {
    const { tenantId, nowMs, newId } = this.#options;
    const head = { v: 1, id: newId(), event, created_at_ms: nowMs(), tenant_id: tenantId };
    return JSON.stringify({ ...head, data });
  }

  async #pause(): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, this.#options.pollMs ?? POLL_MS);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** Doubles from attempt to attempt; a random part of it keeps receivers from being asked all at once. */
function retryMs(attempts: number): number {
  const wholeMs = Math.min(RETRY_MS_MAX, FIRST_RETRY_MS * 2 ** Math.max(0, attempts - 1));
  return Math.round(wholeMs * (0.8 + 0.2 * Math.random()));
}
