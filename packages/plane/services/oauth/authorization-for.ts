// The authorization of one principal towards one server, from the store of secrets. It renews tokens and never asks a
// person: what only a person can do is a failure that names the command.
import { join } from 'node:path';
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import type { SecretValue } from '@subluminal/core/scan';
import { takeLock } from '../../os/index.ts';
import type { UpstreamOptions } from '../../os/upstream/index.ts';
import type { OAuthSettings } from '../../stores/config/index.ts';
import { type SecretSources, type VaultOptions, vaultState } from '../../stores/vault/index.ts';
import type { Authorization, AuthorizationChallenge } from '../transports/http/types.ts';
import { bearerChallenge } from './challenge.ts';
import { type LoginWords, loginFix, loginNeeded, shownText, storeClosed } from './failures.ts';
import { type GrantKey, grantId, readGrant, saveGrant } from './grant-store.ts';
import { readyClient } from './oauth-client.ts';
import { openOAuthHttp } from './oauth-http.ts';
import { refreshTokens } from './token-endpoint.ts';
import type { Grant } from './types.ts';
import { guardFor } from './url-guard.ts';

export interface AuthorizationOptions {
  /** Its name, for what a person is told. */
  readonly server: string;
  readonly url: string;
  /** The caller of `sub serve` whose grant it is; the user of this home unless given. */
  readonly principal?: string | undefined;
  /** `sub serve` reaches it, not a shim. */
  readonly isServed?: boolean | undefined;
  readonly vault: VaultOptions;
  readonly settings?: OAuthSettings | undefined;
  /** Where the secret of a configured client comes from. */
  readonly secrets: SecretSources;
  readonly proxy?: UpstreamOptions['proxy'] | undefined;
  /** Hears every token that is used, so that it can be redacted. */
  readonly onToken?: ((token: SecretValue) => void) | undefined;
  readonly warn?: ((text: string) => void) | undefined;
}

const EARLY_MS_MAX = 60_000;
/** Servers count whole seconds, so a token ends up to one early. A refusal then is its end, and no other refusal. */
const EARLY_MS_MIN = 1_000;
/** The part of its life that a token is renewed before its end. */
const EARLY_PART = 0.2;
const LOCK_WAIT_MS = 30_000;
/** How long a server that refuses what was renewed for it waits for the next try. */
const REFUSED_PAUSE_MS = 10_000;
/** How often a server that asks for no token makes us look whether its user has logged in. */
const LOOK_EVERY_MS = 1_000;

export function authorizationFor(options: AuthorizationOptions): Authorization {
  const held = new HeldGrant(options);
  return {
    header: () => held.header(),
    challenged: (challenge) => held.challenged(challenge),
  };
}

class HeldGrant {
  readonly #options: AuthorizationOptions;
  readonly #key: GrantKey;
  readonly #words: LoginWords;
  #grant: Grant | undefined;
  /** The store as it was when it had no grant. */
  #withoutGrant: string | undefined;
  #lookedMs = Number.NEGATIVE_INFINITY;
  /** A grant that the store has not taken: without it the refresh token would be lost. */
  #unsaved: Grant | undefined;
  /** The token that was made only because the server did not take the one before. */
  #afterRefusal: string | undefined;
  #renewing: Promise<Grant | Failure> | undefined;

  constructor(options: AuthorizationOptions) {
    this.#options = options;
    const { server, url, principal = '', isServed } = options;
    this.#key = { url, principal };
    this.#words = { server, principal, isServed };
  }

  async header(): Promise<string | undefined | Failure> {
    if (this.#unsaved !== undefined) await this.#save(this.#unsaved);
    if (this.#grant === undefined && this.#hasJustLooked()) return undefined;
    const grant = this.#grant ?? (await this.#load());
    if (grant === undefined || isFailure(grant)) return grant;
    if (!this.#isEnding(grant)) return headerOf(grant);
    const renewed = await this.#renew(grant);
    if (!isFailure(renewed)) return headerOf(renewed);
    // Nobody could renew it yet, and it is still good.
    const isGood = grant.expiresAtMs === undefined || grant.expiresAtMs > this.#nowMs();
    return isGood && renewed.code === 'SUB_AUTH_UNREACHABLE' ? headerOf(grant) : renewed;
  }

  async challenged(challenge: AuthorizationChallenge): Promise<'retry' | Failure> {
    // Another process may have renewed it, or its user may have logged in.
    const grant = this.#unsaved ?? (await this.#load());
    if (isFailure(grant)) return grant;
    if (grant !== undefined && headerOf(grant) !== challenge.refused) return 'retry';
    const asked = bearerChallenge(challenge.wwwAuthenticate);
    if (challenge.status === 403) return this.#forbidden(grant, asked);
    if (grant === undefined) {
      return loginNeeded(this.#words, 'you are not logged in', this.#wantedScopes(asked?.scopes));
    }
    const isLate = this.#isEnding(grant);
    const isAgain = this.#afterRefusal === grant.accessToken;
    if (isAgain && !isLate && this.#nowMs() - grant.obtainedAtMs < REFUSED_PAUSE_MS) {
      return loginNeeded(this.#words, 'it refuses a token that was renewed for it just now');
    }
    const renewed = await this.#renew(grant);
    if (isFailure(renewed)) return renewed;
    if (!isLate) this.#afterRefusal = renewed.accessToken;
    return 'retry';
  }

  /** A server may ask for scopes by this request only, and not by the one that a login begins with. */
  #wantedScopes(asked: readonly string[] | undefined): readonly string[] {
    return this.#options.settings?.scopes === undefined ? (asked ?? []) : [];
  }

  #forbidden(grant: Grant | undefined, asked: ReturnType<typeof bearerChallenge>): Failure {
    const { server } = this.#options;
    const name = shownText(server);
    if (asked?.error !== 'insufficient_scope') {
      const message = `the server \`${name}\` does not allow this (HTTP 403).`;
      const fix = 'Ask its operator for the right, or log in with another account.';
      return failure('SUB_AUTH_REFUSED', message, fix);
    }
    const scopes = asked.scopes ?? [];
    const missing = scopes.filter((scope) => grant?.scopes.includes(scope) !== true);
    const list = shownText(scopes.join(' '));
    if (grant !== undefined && scopes.length > 0 && missing.length === 0) {
      const message = `the server \`${name}\` asks for the scopes \`${list}\`, which its token has.`;
      const fix = 'Your account lacks the right: ask the operator of the server for it.';
      return failure('SUB_AUTH_SCOPE', message, fix);
    }
    const what = scopes.length === 0 ? 'more scopes' : `the scopes \`${list}\``;
    const message = `the server \`${name}\` needs ${what} for this.`;
    return failure('SUB_AUTH_SCOPE', message, loginFix(this.#words, missing));
  }

  /** What the store has. A store that has not changed since it had nothing is not read again. */
  async #load(): Promise<Grant | Failure | undefined> {
    const state = vaultState(this.#options.vault.home);
    this.#lookedMs = this.#nowMs();
    if (this.#withoutGrant === state) return undefined;
    const grant = await readGrant(this.#options.vault, this.#key);
    this.#withoutGrant = grant === undefined ? state : undefined;
    if (isFailure(grant)) return storeClosed(this.#options.server, grant);
    return grant && this.#use(grant);
  }

  /** The store had nothing a moment ago. A server that refuses a request for it is answered by `challenged`. */
  #hasJustLooked(): boolean {
    return this.#withoutGrant !== undefined && this.#nowMs() - this.#lookedMs < LOOK_EVERY_MS;
  }

  #use(grant: Grant): Grant {
    this.#grant = grant;
    const { server, onToken } = this.#options;
    const name = `oauth:${server}`;
    onToken?.({ name, value: grant.accessToken });
    if (grant.refreshToken !== undefined) onToken?.({ name, value: grant.refreshToken });
    return grant;
  }

  /** One at a time in this process; a lock sees to the others. */
  #renew(grant: Grant): Promise<Grant | Failure> {
    this.#renewing ??= this.#renewLocked(grant).finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #renewLocked(grant: Grant): Promise<Grant | Failure> {
    const { server, vault } = this.#options;
    if (grant.refreshToken === undefined) {
      return loginNeeded(this.#words, 'the token has expired, and cannot be renewed');
    }
    const folder = join(vault.home, 'run');
    const lock = await takeLock({ folder, name: `oauth-${grantId(this.#key)}` }, LOCK_WAIT_MS);
    if (lock.kind === 'held') {
      const message = `another process (${lock.pid}) renews the token of \`${shownText(server)}\`.`;
      return failure('SUB_AUTH_UNREACHABLE', message, 'Wait for it to end, and try again.');
    }
    try {
      const stored = this.#unsaved ?? (await readGrant(vault, this.#key));
      if (isFailure(stored)) return stored;
      if (stored === undefined) return loginNeeded(this.#words, 'somebody has logged out');
      const isRenewed = stored.accessToken !== grant.accessToken && !this.#isEnding(stored);
      return isRenewed ? this.#use(stored) : await this.#refresh(stored);
    } finally {
      lock.release();
    }
  }

  async #refresh(grant: Grant): Promise<Grant | Failure> {
    const { url, settings = {}, secrets, proxy } = this.#options;
    const { refreshToken } = grant;
    if (refreshToken === undefined) {
      return loginNeeded(this.#words, 'the token has expired, and cannot be renewed');
    }
    const client = await readyClient(grant, settings, secrets);
    if (isFailure(client)) return client;
    const http = openOAuthHttp({ guard: guardFor(url, settings), proxy });
    try {
      const tokens = await refreshTokens(http, grant, { client, refreshToken });
      if (isFailure(tokens)) return tokens;
      if (tokens.kind === 'invalid') return loginNeeded(this.#words, 'the login has ended');
      const nowMs = this.#nowMs();
      const { accessToken, expiresInMs } = tokens;
      const renewed: Grant = {
        ...grant,
        accessToken,
        refreshToken: tokens.refreshToken ?? refreshToken,
        scopes: tokens.scopes ?? grant.scopes,
        obtainedAtMs: nowMs,
        expiresAtMs: expiresInMs === undefined ? undefined : nowMs + expiresInMs,
      };
      await this.#save(renewed);
      return this.#use(renewed);
    } finally {
      await http.close();
    }
  }

  /** The old refresh token is worth nothing now: what cannot be stored is kept here, and tried again. */
  async #save(grant: Grant): Promise<void> {
    this.#unsaved = grant;
    const problem = await saveGrant(this.#options.vault, grant);
    if (problem === undefined) this.#unsaved = undefined;
    else
      this.#options.warn?.(
        `the renewed token of \`${shownText(this.#options.server)}\` is not stored yet: ${problem.message}`,
      );
  }

  #isEnding({ expiresAtMs, obtainedAtMs }: Grant): boolean {
    if (expiresAtMs === undefined) return false;
    const partMs = (expiresAtMs - obtainedAtMs) * EARLY_PART;
    const earlyMs = Math.max(EARLY_MS_MIN, Math.min(EARLY_MS_MAX, partMs));
    return this.#nowMs() >= expiresAtMs - earlyMs;
  }

  #nowMs(): number {
    return this.#options.vault.nowMs();
  }
}

function headerOf({ accessToken }: Grant): string {
  return `Bearer ${accessToken}`;
}
