// Who calls, by API key or by token. What is not known is refused.
import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { BoundedCache, bearerToken } from '../../../os/index.ts';
import type { UpstreamOptions } from '../../../os/upstream/index.ts';
import { openOAuthHttp } from '../../oauth/oauth-http.ts';
import { guardFor } from '../../oauth/url-guard.ts';
import type { AuthConfig, ServeKey } from './auth-config.ts';
import { accessRules, Resources } from './challenge.ts';
import { IssuerKeys } from './issuer-keys.ts';
import type { Authenticated, Authenticator, Principal } from './types.ts';
import { type IssuerWithKeys, type VerifiedToken, verifyToken } from './verify-token.ts';

interface AuthenticatorParts {
  readonly nowMs: () => number;
  /** The proxy that this machine reaches issuers by. */
  readonly proxy?: UpstreamOptions['proxy'];
  readonly warn: (text: string) => void;
}

const LOCAL: Authenticated = {
  kind: 'principal',
  principal: { id: 'local', kind: 'local', name: 'local', token: undefined },
};
/** As long as a token of an issuer with many groups. */
const CREDENTIAL_LENGTH_MAX = 16_384;
/** A key that an issuer takes back is refused after so long. */
const VERIFIED_MS = 60_000;
const VERIFIED_MAX = 10_000;
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;
const RETRY_AFTER_S = 30;

export function createAuthenticator(config: AuthConfig, parts: AuthenticatorParts): Authenticator {
  if (config.isOpen) {
    return {
      authenticate: () => Promise.resolve(LOCAL),
      retains: ({ kind }) => kind === 'local',
      metadata: () => undefined,
      close: () => Promise.resolve(),
    };
  }
  return new KnownCallers(config, parts);
}

class KnownCallers implements Authenticator {
  readonly #keys: readonly (ServeKey & { readonly digest: Buffer })[];
  readonly #issuers: ReadonlyMap<string, IssuerWithKeys>;
  readonly #resources: Resources;
  readonly #verified = new BoundedCache<VerifiedToken>({
    entriesMax: VERIFIED_MAX,
    lifetimeMs: VERIFIED_MS,
  });
  readonly #nowMs: () => number;

  constructor(config: AuthConfig, { nowMs, proxy, warn }: AuthenticatorParts) {
    this.#nowMs = nowMs;
    this.#resources = new Resources(config);
    this.#keys = config.keys.map((key) => ({ ...key, digest: Buffer.from(key.sha256, 'hex') }));
    this.#issuers = new Map(
      config.issuers.map((issuer) => {
        const { issuer: name, jwks_uri: jwksUri } = issuer;
        const guard = guardFor(name, jwksUri === undefined ? {} : { authorizationServer: jwksUri });
        const http = openOAuthHttp({ guard, proxy });
        const keys = new IssuerKeys({ issuer: name, jwksUri, http, nowMs, warn });
        return [name, { issuer, keys }];
      }),
    );
  }

  async close(): Promise<void> {
    await Promise.all([...this.#issuers.values()].map(({ keys }) => keys.close()));
  }

  async authenticate(request: IncomingMessage, server: string): Promise<Authenticated> {
    const resources = this.#resources;
    if (request.headers.authorization === undefined) return resources.unauthorized(server);
    const credential = bearerToken(request);
    if (credential === undefined || credential.length > CREDENTIAL_LENGTH_MAX) {
      return resources.unauthorized(server, 'The header `Authorization` has no bearer token.');
    }
    const digest = hash('sha256', credential, 'buffer');
    const key = this.#keyWith(digest);
    if (key !== undefined) return this.#forKey(key, server);
    if (this.#issuers.size === 0 || !JWT.test(credential)) {
      const what = this.#issuers.size === 0 ? 'key' : 'token';
      return resources.unauthorized(server, `The ${what} is not known.`);
    }
    return this.#forToken(credential, digest.toString('latin1'), server);
  }

  retains({ kind, grantedBy = '' }: Principal, server: string): boolean {
    // What a token opens is asked with each request, and a stream ends with its token.
    if (kind === 'jwt') return this.#issuers.has(grantedBy);
    const key = this.#keys.find(({ sha256 }) => kind === 'key' && sha256 === grantedBy);
    return key !== undefined && opens(key, server);
  }

  metadata(path: string): string | undefined {
    return this.#resources.metadata(path);
  }

  /** Compares all of them: the time says nothing about which one is near. */
  #keyWith(digest: Buffer): ServeKey | undefined {
    let found: ServeKey | undefined;
    for (const key of this.#keys) if (timingSafeEqual(key.digest, digest)) found = key;
    return found;
  }

  #forKey(key: ServeKey, server: string): Authenticated {
    if (!opens(key, server)) return this.#resources.forbidden(server, []);
    const { name, sha256: grantedBy } = key;
    // A key of ours is worth nothing to an upstream, but much to whoever runs it.
    const token = undefined;
    const principal: Principal = { id: `key:${name}`, kind: 'key', name, token, grantedBy };
    return { kind: 'principal', principal };
  }

  async #forToken(credential: string, digest: string, server: string): Promise<Authenticated> {
    const resources = this.#resources;
    const nowMs = this.#nowMs();
    let token = this.#verified.get(digest, nowMs);
    if (token === undefined || token.untilMs <= nowMs) {
      const verified = await verifyToken(credential, this.#issuers, nowMs);
      if (verified.kind === 'invalid') return resources.unauthorized(server, verified.why);
      if (verified.kind === 'unavailable') return UNAVAILABLE;
      token = verified.token;
      this.#verified.put(digest, token, { nowMs, generation: this.#verified.generation });
    }
    const { issuer, subject, name, untilMs } = token;
    const audiences = issuer.audiences ?? [resources.resource(server)];
    if (!token.audiences.some((audience) => audiences.includes(audience))) {
      return resources.unauthorized(server, 'The token is for another audience.');
    }
    const missing = missingScopes(token, server);
    if (missing !== undefined) return resources.forbidden(server, missing);
    // An issuer has no `#`, so that no two callers have one id.
    const id = `${issuer.issuer}#${subject}`;
    const grantedBy = issuer.issuer;
    const principal: Principal = { id, kind: 'jwt', name, token: credential, grantedBy };
    return { kind: 'principal', principal, untilMs };
  }
}

const UNAVAILABLE: Authenticated = {
  kind: 'refused',
  status: 503,
  headers: { 'retry-after': String(RETRY_AFTER_S), 'cache-control': 'no-store' },
  message: 'The keys of the issuer of the token cannot be fetched now.',
};

function opens({ servers }: ServeKey, server: string): boolean {
  return servers === undefined || servers.includes(server);
}

/** Undefined when the token opens the server; else what it would need, as far as scopes can help. */
function missingScopes(token: VerifiedToken, server: string): readonly string[] | undefined {
  if (token.issuer.access === undefined) return undefined;
  const rules = accessRules(token.issuer, server).filter(
    ({ groups }) => groups.length === 0 || groups.some((group) => token.groups.has(group)),
  );
  const isOpen = rules.some(({ scopes }) => scopes.every((scope) => token.scopes.has(scope)));
  return isOpen ? undefined : (rules[0]?.scopes ?? []);
}
