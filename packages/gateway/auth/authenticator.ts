// Who asks: the key of a request, looked up by its hash, within the rates of the gateway.
import type { IncomingMessage } from 'node:http';
import type { Caller } from '@subluminal/core/routing';
import { isToken, tokenHash } from '@subluminal/plane/crypto';
import { BoundedCache, bearerToken } from '@subluminal/plane/os';
import type { KeyRow, KeyStore } from '../store/types.ts';
import { addressGroup } from './client-address.ts';
import { type Rate, TokenBuckets } from './token-bucket.ts';

/** The team of a user whom the configuration gives none. */
export const UNASSIGNED_TEAM = 'unassigned';

export interface RateLimits {
  readonly perKey: Rate;
  readonly global: Rate;
  /** Wrong keys and tokens from one address. */
  readonly failures: Rate;
}

export interface AuthenticatorOptions {
  readonly keys: KeyStore;
  /** As the configuration says now. */
  readonly teamOf: (userId: string) => string | undefined;
  readonly nowMs: () => number;
  readonly rates: RateLimits;
}

export type Authentication =
  | { readonly kind: 'caller'; readonly caller: Caller }
  | { readonly kind: 'unknown' }
  /** Too many requests, or too many failures from this address. */
  | { readonly kind: 'limited'; readonly retryAfterMs: number };

/** Another gateway's revocation is known after so long; one of this process at once. */
const KEY_LIFETIME_MS = 5_000;
const KEYS_MAX = 10_000;
const GLOBAL = '';
/**
 * An address that has sent wrong keys may still show good ones: behind a proxy that is not trusted, everyone has one
 * address. But it may not load the store without end.
 */
const SUSPECT_LOOKUPS: Rate = { perMinute: 6_000, burst: 200 };

export class Authenticator {
  readonly #options: AuthenticatorOptions;
  readonly #known = new BoundedCache<{ readonly key: KeyRow; readonly role: Caller['role'] }>({
    entriesMax: KEYS_MAX,
    lifetimeMs: KEY_LIFETIME_MS,
  });
  readonly #perKey: TokenBuckets;
  readonly #global: TokenBuckets;
  readonly #failures: TokenBuckets;
  readonly #exchangeFailures: TokenBuckets;
  readonly #suspects = new TokenBuckets(SUSPECT_LOOKUPS);

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
    const { rates } = options;
    this.#perKey = new TokenBuckets(rates.perKey);
    this.#global = new TokenBuckets(rates.global, 1);
    this.#failures = new TokenBuckets(rates.failures);
    this.#exchangeFailures = new TokenBuckets(rates.failures);
  }

  /** Who sends a request, by the key in its headers. */
  authenticate(request: IncomingMessage, address: string): Promise<Authentication> {
    return this.authenticateKey(requestKey(request), address);
  }

  /** Whose key it is. Rejects when the store does not answer: then nobody may pass. */
  async authenticateKey(key: string | undefined, address: string): Promise<Authentication> {
    const nowMs = this.#options.nowMs();
    if (key === undefined || !isToken('key', key)) return this.#failed(address, nowMs);
    const found = await this.#find(tokenHash(key), address);
    if (found === undefined) return this.#failed(address, nowMs);
    const { id, tenantId, userId } = found.key;
    const retryAfterMs = this.#perKey.take(id, nowMs) || this.#global.take(GLOBAL, nowMs);
    if (retryAfterMs > 0) return { kind: 'limited', retryAfterMs };
    const teamId = this.#options.teamOf(userId) ?? UNASSIGNED_TEAM;
    return { kind: 'caller', caller: { tenantId, userId, teamId, role: found.role, keyId: id } };
  }

  /** The caller as they are now, for streams that last; undefined once the key was revoked. */
  async refreshed(caller: Caller): Promise<Caller | undefined> {
    const { keys, teamOf } = this.#options;
    const own = await keys.list(caller.tenantId, caller.userId);
    const key = own.find(({ id }) => id === caller.keyId);
    const found = key === undefined ? undefined : await keys.find(key.hash);
    if (found === undefined) return undefined;
    return { ...caller, role: found.role, teamId: teamOf(caller.userId) ?? UNASSIGNED_TEAM };
  }

  /** How long until a setup token or an invite may be tried from there, because of those that were wrong. */
  exchangeWaitMs(address: string): number {
    return this.#exchangeFailures.waitMs(addressGroup(address), this.#options.nowMs());
  }

  countWrongExchange(address: string): void {
    this.#exchangeFailures.take(addressGroup(address), this.#options.nowMs());
  }

  /** After a key was revoked. */
  forgetKey(keyId: string): void {
    this.#known.forget(({ key }) => key.id === keyId);
  }

  /** After the role of a user has changed, or all keys were revoked. */
  forgetUser(userId: string): void {
    this.#known.forget(({ key }) => key.userId === userId);
  }

  async #find(hash: string, address: string) {
    const nowMs = this.#options.nowMs();
    const known = this.#known.get(hash, nowMs);
    if (known !== undefined) return known;
    const group = addressGroup(address);
    const isSuspect = this.#failures.waitMs(group, nowMs) > 0;
    if (isSuspect && this.#suspects.take(group, nowMs) > 0) return undefined;
    const { generation } = this.#known;
    const found = await this.#options.keys.find(hash);
    if (found !== undefined) this.#known.put(hash, found, { nowMs, generation });
    return found;
  }

  #failed(address: string, nowMs: number): Authentication {
    const retryAfterMs = this.#failures.take(addressGroup(address), nowMs);
    return retryAfterMs > 0 ? { kind: 'limited', retryAfterMs } : { kind: 'unknown' };
  }
}

/** Whether a request shows a key, right or wrong. */
export function hasKeyHeader({ headers }: IncomingMessage): boolean {
  return headers.authorization !== undefined || headers['x-api-key'] !== undefined;
}

/** The key of a request, from the header of either wire; undefined when two differ. */
export function requestKey(request: IncomingMessage): string | undefined {
  const bearer = bearerToken(request);
  const [apiKey, ...more] = request.headersDistinct['x-api-key'] ?? [];
  if (more.length > 0) return undefined;
  if (bearer === undefined) return request.headers.authorization === undefined ? apiKey : undefined;
  return apiKey === undefined || apiKey === bearer ? bearer : undefined;
}
