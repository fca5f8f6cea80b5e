// What a caller without access is told: the challenge of RFC 6750 with the address of the metadata of RFC 9728, and
// those metadata themselves.
import type { OutgoingHttpHeaders } from 'node:http';
import type { AuthConfig, TrustedIssuer } from './auth-config.ts';
import type { Authenticated } from './types.ts';

/** For any page: the document is public, and holds nothing of the caller. */
export const METADATA_HEADERS: OutgoingHttpHeaders = {
  'content-type': 'application/json',
  'access-control-allow-origin': '*',
  // What it says may change with the configuration.
  'cache-control': 'no-cache',
};

/** Clients send the version of the protocol along, for which a browser asks first. */
export const METADATA_PREFLIGHT: OutgoingHttpHeaders = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET',
  'access-control-allow-headers': 'mcp-protocol-version',
  'access-control-max-age': '600',
};

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** How the servers are called as resources. */
export class Resources {
  readonly #config: AuthConfig;
  readonly #documents: ReadonlyMap<string, string>;
  readonly #known: ReadonlySet<string>;

  constructor(config: AuthConfig) {
    this.#config = config;
    this.#known = new Set(config.servers);
    this.#documents = config.issuers.length === 0 ? new Map() : this.#metadata();
  }

  /** The identifier of a server: the audience of its tokens. */
  resource(server: string): string {
    return this.#config.publicUrl + serverPath(server);
  }

  /** The document at a path; the root has one where it can mean one server only. */
  metadata(path: string): string | undefined {
    return this.#documents.get(path);
  }

  /** Refuses a caller who shows nothing, or nothing that holds. */
  unauthorized(server: string, why?: string): Authenticated {
    const error = why === undefined ? [] : [['error', 'invalid_token'] as const];
    const headers = this.#challenge(server, [
      ...error,
      ...(why === undefined ? [] : [['error_description', why] as const]),
      ...scopeParameter(this.#scopes(server)),
    ]);
    const message = why ?? 'Send `Authorization: Bearer TOKEN`.';
    return { kind: 'refused', status: 401, headers, message };
  }

  /** Refuses a caller who is known, and may use other servers. */
  forbidden(server: string, scopes: readonly string[]): Authenticated {
    const message = 'You may not use this server.';
    const headers = this.#challenge(server, [
      ['error', 'insufficient_scope'],
      ['error_description', message],
      ...scopeParameter(scopes),
    ]);
    return { kind: 'refused', status: 403, headers, message };
  }

  #challenge(
    server: string,
    parameters: readonly (readonly [name: string, value: string])[],
  ): OutgoingHttpHeaders {
    const metadata = this.#metadataUrl(server);
    const all = [
      metadata === undefined ? (['realm', 'subluminal'] as const) : metadata,
      ...parameters,
    ];
    const written = all.map(([name, value]) => `${name}="${quotable(value)}"`);
    return { 'www-authenticate': `Bearer ${written.join(', ')}`, 'cache-control': 'no-store' };
  }

  #metadataUrl(server: string): readonly ['resource_metadata', string] | undefined {
    // The name comes from the path of a request.
    if (this.#config.issuers.length === 0 || !this.#known.has(server)) return undefined;
    const { origin, pathname } = new URL(this.resource(server));
    return ['resource_metadata', origin + WELL_KNOWN + pathname];
  }

  #metadata(): ReadonlyMap<string, string> {
    const { servers, issuers } = this.#config;
    const documents = new Map<string, string>();
    for (const server of servers) {
      const resource = this.resource(server);
      const scopes = this.#scopes(server);
      const document = JSON.stringify({
        resource,
        authorization_servers: issuers.map(({ issuer }) => issuer),
        bearer_methods_supported: ['header'],
        ...(scopes.length > 0 && { scopes_supported: scopes }),
      });
      // A proxy in front may have taken the path of `public_url` away.
      for (const path of [new URL(resource).pathname, serverPath(server)]) {
        documents.set(WELL_KNOWN + path, document);
      }
      if (servers.length === 1) documents.set(WELL_KNOWN, document);
    }
    return documents;
  }

  /** What a new token should have. */
  #scopes(server: string): readonly string[] {
    const rules = this.#config.issuers.map((issuer) => accessRules(issuer, server)[0]);
    return rules.find((rule) => rule !== undefined && rule.scopes.length > 0)?.scopes ?? [];
  }
}

/** The entries of `access` that open a server. */
export function accessRules(
  { access = [] }: TrustedIssuer,
  server: string,
): readonly NonNullable<TrustedIssuer['access']>[number][] {
  return access.filter(({ servers }) => servers === undefined || servers.includes(server));
}

function serverPath(server: string): string {
  return `/mcp/${encodeURIComponent(server)}`;
}

function scopeParameter(scopes: readonly string[]): readonly (readonly ['scope', string])[] {
  return scopes.length === 0 ? [] : [['scope', scopes.join(' ')]];
}

/** Our own words and checked names; nothing else gets out of the quotes either. */
function quotable(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]|["\\]/g, "'");
}
