// The keys that an issuer signs its tokens with: found by its metadata, fetched within bounds, kept for a while, and
// fetched again for a key that is not known yet, but not for each token that claims to have one.
import { isJsonObject } from '@subluminal/contracts';
import {
  type CryptoKey,
  createLocalJWKSet,
  errors,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWSHeaderParameters,
} from 'jose';
import { attempt } from '../../../os/index.ts';
import { metadataUrls } from '../../oauth/discover.ts';
import { shownUrl } from '../../oauth/failures.ts';
import { faultText, isAnswer, type OAuthHttp } from '../../oauth/oauth-http.ts';

interface IssuerKeysOptions {
  readonly issuer: string;
  readonly jwksUri: string | undefined;
  /** Reaches the issuer, and from there no further inside than the issuer is itself. */
  readonly http: OAuthHttp;
  readonly nowMs: () => number;
  readonly warn: (text: string) => void;
}

/** The keys cannot be had now: nothing is known about a token. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable';
}

const FRESH_MS = 600_000;
/** How long keys are believed while the issuer does not answer. */
const STALE_MS = 3_600_000;
/** Between two fetches, whatever tokens claim. */
const RETRY_MS = 30_000;
const KEYS_MAX = 100;

interface KeySet {
  readonly find: ReturnType<typeof createLocalJWKSet>;
  readonly fetchedAtMs: number;
}

export class IssuerKeys {
  readonly #options: IssuerKeysOptions;
  #known: KeySet | undefined;
  #triedAtMs: number | undefined;
  #fetching: Promise<void> | undefined;
  /** What was wrong with the last document, should it be of no use. */
  #fault = '';

  constructor(options: IssuerKeysOptions) {
    this.#options = options;
  }

  /** The key that a token names; rejects when there is none. */
  async find(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey> {
    const ageMs = this.#ageMs();
    if (ageMs >= STALE_MS) await this.#fetch();
    // Nobody waits while the keys of before still hold.
    else if (ageMs >= FRESH_MS) void this.#fetch();
    const known = this.#believed();
    try {
      return await known.find(header, token);
    } catch (cause) {
      if (!(cause instanceof errors.JWKSNoMatchingKey)) throw cause;
      await this.#fetch();
      const renewed = this.#believed();
      if (renewed === known) throw cause;
      return renewed.find(header, token);
    }
  }

  #ageMs(): number {
    if (this.#known === undefined) return STALE_MS;
    return Math.abs(this.#options.nowMs() - this.#known.fetchedAtMs);
  }

  #believed(): KeySet {
    if (this.#known === undefined || this.#ageMs() >= STALE_MS) {
      throw new KeysUnavailable('The keys of the issuer cannot be fetched.');
    }
    return this.#known;
  }

  /** Never rejects: what is known stays where the issuer does not answer. */
  #fetch(): Promise<void> {
    if (this.#fetching !== undefined) return this.#fetching;
    const nowMs = this.#options.nowMs();
    if (this.#triedAtMs !== undefined && Math.abs(nowMs - this.#triedAtMs) < RETRY_MS) {
      return Promise.resolve();
    }
    this.#triedAtMs = nowMs;
    const fetching = this.#fetchKeys().finally(() => {
      this.#fetching = undefined;
    });
    this.#fetching = fetching;
    return fetching;
  }

  async #fetchKeys(): Promise<void> {
    const { issuer, warn } = this.#options;
    const uri = this.#options.jwksUri ?? (await this.#discover());
    const set = uri === undefined ? undefined : await this.#document(uri);
    const find = isKeySet(set) ? attempt(() => createLocalJWKSet(set)) : undefined;
    if (find === undefined) {
      const at = uri === undefined ? 'its metadata' : shownUrl(uri);
      return warn(`The keys of the issuer ${issuer} cannot be fetched: ${at} ${this.#fault}.`);
    }
    this.#known = { find, fetchedAtMs: this.#options.nowMs() };
  }

  /** Where the keys are, as the metadata of the issuer says. */
  async #discover(): Promise<string | undefined> {
    const { issuer } = this.#options;
    for (const url of metadataUrls(issuer)) {
      const metadata = await this.#document(url);
      if (!isJsonObject(metadata)) continue;
      // Metadata of another issuer are nobody's word about this one.
      if (metadata['issuer'] !== issuer) continue;
      const uri = metadata['jwks_uri'];
      if (typeof uri === 'string') return uri;
    }
    return undefined;
  }

  async #document(url: string): Promise<unknown> {
    const answer = await this.#options.http.get(url);
    if (!isAnswer(answer)) this.#fault = faultText(answer);
    else if (answer.status !== 200) this.#fault = `answered HTTP ${answer.status}`;
    else this.#fault = 'is not what it should be';
    return isAnswer(answer) && answer.status === 200 ? answer.json : undefined;
  }

  close(): Promise<void> {
    return this.#options.http.close();
  }
}

function isKeySet(value: unknown): value is JSONWebKeySet {
  if (!isJsonObject(value)) return false;
  const { keys } = value;
  return Array.isArray(keys) && keys.length <= KEYS_MAX && keys.every(isJsonObject);
}
