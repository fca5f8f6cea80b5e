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
const RETRIED_STATUSES: ReadonlySet<number> = new Set([408, 425, 429]);
/** A stopping channel waits so long for an answer on its way: otherwise the request is sent twice. */
const STOP_MS = 1_000;

export function startWebhook(desk: Desk, config: WebhookConfig): RunningChannel {
  const { ports } = desk;
  if (config.secret.length < SECRET_LENGTH_MIN) {
    ports.warn?.(`The webhook is off: its secret has less than ${SECRET_LENGTH_MIN} characters.`);
    return { stop: () => Promise.resolve() };
  }
  const stopping = new AbortController();
  const cutting = new AbortController();
  const signals = { stop: stopping.signal, cut: cutting.signal };
  let underWay = 0;
  const send = async (id: string, message: object): Promise<Delivery['kind']> => {
    if (underWay >= DELIVERIES_MAX) {
      ports.warn?.(`The webhook is too slow: it was not told of ${id} yet.`);
      return 'later';
    }
    underWay++;
    const body = JSON.stringify({ v: 1, ...message });
    const { kind, why } = await deliver(config, signals, () => signedRequest(desk, config, body));
    underWay--;
    if (kind !== 'told' && !stopping.signal.aborted) {
      ports.warn?.(`The webhook was not told of ${id}: ${why}.`);
    }
    return kind;
  };
  const channel = new RequestFollower(desk, 'webhook', {
    isEndOfUnsureTold: true,
    tell: async ({ request, sha256 }) => {
      const { id } = request;
      const body = { event: 'approval.requested', id, request, request_sha256: sha256 };
      return { kind: await send(id, body), value: {} };
    },
    ended: async (ended) => {
      if (ended.kind !== 'request' || ended.outcome === null) return true;
      const { id } = ended.request;
      const body = { event: 'approval.ended', id, outcome: ended.outcome };
      return (await send(id, body)) !== 'later';
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

interface Delivery {
  /** `later`: it did not work, and may with another attempt. */
  readonly kind: AnnounceResult['kind'];
  readonly why: string;
  /** When the service wants another attempt. */
  readonly afterMs?: number;
}

interface DeliverySignals {
  /** No attempt is begun any more. */
  readonly stop: AbortSignal;
  /** The attempt under way is given up. */
  readonly cut: AbortSignal;
}

async function deliver(
  { url, timeoutMs, attemptsMax, backoffMs }: WebhookConfig,
  { stop, cut }: DeliverySignals,
  request: () => RequestInit,
): Promise<Delivery> {
  let last: Delivery = { kind: 'later', why: 'it was stopped' };
  for (let attempt = 1; attempt <= attemptsMax && !stop.aborted; attempt++) {
    const signal = AbortSignal.any([cut, AbortSignal.timeout(timeoutMs)]);
    last = await post(url, { ...request(), signal });
    if (last.kind !== 'later' || attempt === attemptsMax) break;
    // Doubling, with the whole of it random, so that many do not come back at once.
    const spanMs = Math.min(PAUSE_MS_MAX, backoffMs * 2 ** (attempt - 1));
    const waitMs = Math.max(Math.min(PAUSE_MS_MAX, last.afterMs ?? 0), Math.random() * spanMs);
    await pause(waitMs, undefined, { signal: stop }).catch(() => undefined);
  }
  return last;
}

/** Each attempt is signed anew: one that was seen before would count as a replay over there. */
function signedRequest({ ports }: Desk, { secret }: WebhookConfig, body: string): RequestInit {
  const timestamp = String(Math.floor(ports.nowMs() / 1_000));
  const nonce = randomBytes(16).toString('hex');
  const signed = signedHeaders({ timestamp, nonce, body }, secret);
  const headers = { 'content-type': 'application/json', 'user-agent': 'subluminal', ...signed };
  // The body is for this address and no other.
  return { method: 'POST', headers, body, redirect: 'manual' };
}

async function post(url: string, request: RequestInit): Promise<Delivery> {
  try {
    const response = await fetch(url, request);
    await response.body?.cancel();
    const { status } = response;
    const why = `it answered ${status}`;
    if (response.ok) return { kind: 'told', why };
    if (status < 500 && !RETRIED_STATUSES.has(status)) return { kind: 'never', why };
    const afterSeconds = Number(response.headers.get('retry-after') ?? 0);
    return { kind: 'later', why, afterMs: afterSeconds > 0 ? afterSeconds * 1_000 : 0 };
  } catch (cause) {
    // The address may hold a token, and messages of the system may hold the address.
    const isLate = cause instanceof Error && cause.name === 'TimeoutError';
    const why = isLate ? 'it did not answer in time' : 'it cannot be reached';
    return { kind: 'later', why };
  }
}
