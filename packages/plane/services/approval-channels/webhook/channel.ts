// Sends each request to a service of the user. Messages are signed, and retried until it takes them.
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Desk } from '../../../stores/approvals/desk.ts';
import {
  type AnnounceResult,
  RequestFollower,
  type RunningChannel,
} from '../shared/announce-requests.ts';
import { SECRET_LENGTH_MIN, signedHeaders } from './callback.ts';

export interface WebhookConfig {
  readonly url: string;
  /** Shared with the service. */
  readonly secret: string;
  readonly timeoutMs: number;
  readonly attemptsMax: number;
  /** The first wait before another attempt; it doubles, and a random part of it is waited. */
  readonly backoffMs: number;
}

/** Waits at most this long between two attempts, whatever the service asks for. */
const PAUSE_MS_MAX = 60_000;
const DELIVERIES_MAX = 64;
/** An answer that is on its way when the channel stops is waited for so long: else it is told twice. */
const STOP_MS = 1_000;

export function startWebhook(desk: Desk, config: WebhookConfig): RunningChannel {
  const { ports } = desk;
  if (config.secret.length < SECRET_LENGTH_MIN) {
    ports.warn?.(`The webhook is off: its secret has less than ${SECRET_LENGTH_MIN} characters.`);
    return { stop: () => Promise.resolve() };
  }
  const stopping = new AbortController();
  const cutting = new AbortController();
  const sender = {
    config,
    nowMs: () => ports.nowMs(),
    signal: stopping.signal,
    cut: cutting.signal,
  };
  let underWay = 0;
  const send = async (id: string, message: object): Promise<DeliveryResult> => {
    if (underWay >= DELIVERIES_MAX) {
      ports.warn?.(`The webhook is too slow: it was not told of ${id} yet.`);
      return 'failed';
    }
    underWay++;
    const { kind, why } = await deliver(sender, JSON.stringify({ v: 1, ...message }));
    underWay--;
    if (kind !== 'taken' && !stopping.signal.aborted) {
      ports.warn?.(`The webhook was not told of ${id}: ${why}.`);
    }
    return kind;
  };
  const channel = new RequestFollower(desk, 'webhook', {
    isEndOfUnsureTold: true,
    tell: async ({ request, sha256 }) => {
      const { id } = request;
      const body = { event: 'approval.requested', id, request, request_sha256: sha256 };
      return ANNOUNCE_RESULTS[await send(id, body)];
    },
    ended: async (ended) => {
      if (ended.kind !== 'request' || ended.outcome === null) return true;
      const { id } = ended.request;
      const body = { event: 'approval.ended', id, outcome: ended.outcome };
      return (await send(id, body)) !== 'failed';
    },
  });
  return {
    async stop() {
      stopping.abort();
      const timer = setTimeout(() => cutting.abort(), STOP_MS);
      await channel.stop();
      clearTimeout(timer);
    },
  };
}

type DeliveryResult = 'taken' | 'refused' | 'failed';

const ANNOUNCE_RESULTS: { readonly [D in DeliveryResult]: AnnounceResult } = {
  taken: { kind: 'told', value: {} },
  refused: { kind: 'never' },
  failed: { kind: 'later' },
};

interface DeliveryContext {
  readonly config: WebhookConfig;
  readonly nowMs: () => number;
  /** No attempt is begun any more. */
  readonly signal: AbortSignal;
  /** The attempt under way is given up. */
  readonly cut: AbortSignal;
}

async function deliver(
  sender: DeliveryContext,
  body: string,
): Promise<{ readonly kind: DeliveryResult; readonly why: string }> {
  const { config, signal } = sender;
  let why = 'it was stopped';
  for (let attempt = 1; attempt <= config.attemptsMax && !signal.aborted; attempt++) {
    const answer = await post(sender, body);
    if (answer.kind === 'taken') return { kind: 'taken', why: '' };
    ({ why } = answer);
    if (answer.kind === 'refused') return { kind: 'refused', why };
    if (attempt === config.attemptsMax) break;
    await waitFor(pauseMs(config, attempt, answer.afterMs), signal);
  }
  return { kind: 'failed', why };
}

type PostResult =
  | { readonly kind: 'taken' }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'again'; readonly why: string; readonly afterMs: number };

/** Each attempt is signed anew: one that was seen before would count as a replay over there. */
async function post({ config, nowMs, cut }: DeliveryContext, body: string): Promise<PostResult> {
  const timestamp = String(Math.floor(nowMs() / 1_000));
  const nonce = randomBytes(16).toString('hex');
  const headers = signedHeaders({ timestamp, nonce, body }, config.secret);
  try {
    const response = await fetch(config.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'subluminal', ...headers },
      body,
      // The body is for this address and no other.
      redirect: 'manual',
      signal: AbortSignal.any([cut, AbortSignal.timeout(config.timeoutMs)]),
    });
    await response.body?.cancel();
    const { status } = response;
    if (response.ok) return { kind: 'taken' };
    const why = `it answered ${status}`;
    if (status !== 408 && status !== 425 && status !== 429 && status < 500) {
      return { kind: 'refused', why };
    }
    const afterSeconds = Number(response.headers.get('retry-after') ?? 0);
    return { kind: 'again', why, afterMs: afterSeconds > 0 ? afterSeconds * 1_000 : 0 };
  } catch (cause) {
    // The address may hold a token, and messages of the system may hold the address.
    const name = cause instanceof Error ? cause.name : 'unknown';
    const why = name === 'TimeoutError' ? 'it did not answer in time' : 'it cannot be reached';
    return { kind: 'again', why, afterMs: 0 };
  }
}

/** Doubling, with the whole of it random, so that many do not come back at once. */
function pauseMs({ backoffMs }: WebhookConfig, attempt: number, afterMs: number): number {
  const spanMs = Math.min(PAUSE_MS_MAX, backoffMs * 2 ** (attempt - 1));
  return Math.max(Math.min(PAUSE_MS_MAX, afterMs), Math.random() * spanMs);
}

async function waitFor(durationMs: number, signal: AbortSignal): Promise<void> {
  await pause(durationMs, undefined, { signal }).catch((cause: unknown) => {
    if (!signal.aborted) throw cause;
  });
}
