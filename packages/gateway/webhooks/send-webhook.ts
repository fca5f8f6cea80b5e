// One message to one receiver: signed, without redirects, to an allowed and public address only.
import { type Failure, isFailure, tableFailure } from '@subluminal/contracts';
import { signatureOf } from '@subluminal/plane/approval-channels/signature';
import {
  guardedLookup,
  isPublicAddress,
  PrivateAddressError,
  type ResolveHost,
  resolveHost,
} from '@subluminal/plane/os/public-address';
import { Agent, request } from 'undici';
import { urlProblem, type WebhookRules } from './webhook-url.ts';

export interface WebhookMessage {
  readonly deliveryId: string;
  readonly event: string;
  readonly body: string;
}

export type SendResult =
  | { readonly kind: 'taken'; readonly status: number }
  /** Worth another attempt. */
  | { readonly kind: 'later'; readonly status: number | null; readonly why: string }
  | { readonly kind: 'refused'; readonly status: number | null; readonly why: string };

interface SenderOptions {
  /** As the configuration says now. */
  readonly rules: () => WebhookRules;
  readonly secretOf: (ref: string) => Promise<string | Failure>;
  readonly nowMs: () => number;
  readonly timeoutMs?: number;
  readonly resolve?: ResolveHost;
}

const VERSION = 'v1';
const TIMEOUT_MS = 10_000;
/** A shorter one could be guessed from one message. */
const SECRET_LENGTH_MIN = 16;
const RETRIED: ReadonlySet<number> = new Set([408, 425, 429]);
const SECOND_MS = 1_000;

export class WebhookSender {
  readonly #options: SenderOptions;
  readonly #public: Agent;
  readonly #private: Agent;

  constructor(options: SenderOptions) {
    this.#options = options;
    const { timeoutMs = TIMEOUT_MS, resolve = resolveHost } = options;
    const limits = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs, connections: 8 };
    this.#public = new Agent({
      ...limits,
      connect: { lookup: guardedLookup(isPublicAddress, resolve), timeout: timeoutMs },
    });
    this.#private = new Agent({ ...limits, connect: { timeout: timeoutMs } });
  }

  async check(webhook: { readonly url: string; readonly secretRef: string }) {
    const problem = urlProblem(webhook.url, this.#options.rules());
    if (problem !== undefined) return webhookFailure(problem);
    const secret = await this.#secret(webhook.secretRef);
    return isFailure(secret) ? secret : undefined;
  }

  async send(
    webhook: { readonly url: string; readonly secretRef: string },
    message: WebhookMessage,
    signal?: AbortSignal,
  ): Promise<SendResult> {
    const rules = this.#options.rules();
    const problem = urlProblem(webhook.url, rules);
    if (problem !== undefined) return { kind: 'refused', status: null, why: problem };
    const secret = await this.#secret(webhook.secretRef);
    // The secret may come back.
    if (isFailure(secret)) return { kind: 'later', status: null, why: secret.message };
    const { timeoutMs = TIMEOUT_MS } = this.#options;
    const late = AbortSignal.timeout(timeoutMs);
    try {
      const { statusCode, body } = await request(webhook.url, {
        method: 'POST',
        headers: this.#headers(message, secret),
        body: message.body,
        dispatcher: rules.allowPrivateAddresses ? this.#private : this.#public,
        signal: signal === undefined ? late : AbortSignal.any([late, signal]),
      });
      // Nothing of the answer matters but its status.
      body.on('error', () => undefined);
      body.destroy();
      return resultOf(statusCode);
    } catch (cause) {
      if (isPrivateTarget(cause)) {
        return { kind: 'refused', status: null, why: 'The name leads to a private network.' };
      }
      const why = late.aborted ? 'It did not answer in time.' : 'It cannot be reached.';
      return { kind: 'later', status: null, why };
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#public.destroy(), this.#private.destroy()]);
  }

  async #secret(ref: string): Promise<string | Failure> {
    const secret = await this.#options.secretOf(ref);
    if (isFailure(secret)) return webhookFailure('Its secret cannot be found.');
    if (secret.length >= SECRET_LENGTH_MIN) return secret;
    return webhookFailure(`Its secret has less than ${SECRET_LENGTH_MIN} characters.`);
  }

  #headers({ deliveryId, event, body }: WebhookMessage, secret: string) {
    const timestamp = String(Math.floor(this.#options.nowMs() / SECOND_MS));
    return {
      'content-type': 'application/json',
      'user-agent': 'subluminal-gateway',
      'x-aicg-event': event,
      'x-aicg-delivery': deliveryId,
      'x-aicg-timestamp': timestamp,
      'x-aicg-signature': signatureOf(VERSION, { timestamp, nonce: deliveryId, body }, secret),
    };
  }
}

function webhookFailure(detail: string): Failure {
  return tableFailure('SUB_GATEWAY_WEBHOOK', detail);
}

function resultOf(status: number): SendResult {
  if (status >= 200 && status < 300) return { kind: 'taken', status };
  const why = `It answered ${status}.`;
  if (status >= 500 || RETRIED.has(status)) return { kind: 'later', status, why };
  // A redirect is not followed: it would lead past the allowlist.
  return { kind: 'refused', status, why };
}

function isPrivateTarget(cause: unknown): boolean {
  if (cause instanceof PrivateAddressError) return true;
  return cause instanceof Error && cause.cause instanceof PrivateAddressError;
}
