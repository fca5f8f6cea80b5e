// What is known of the authorization server of a remote server, of us as its client, and of what it granted.

/** How a client shows at the token endpoint who it is. */
export type ClientAuthMethod = 'none' | 'client_secret_basic' | 'client_secret_post';

/** An authorization server, by its validated metadata (RFC 8414, OpenID Connect Discovery). */
export interface AuthorizationServer {
  readonly issuer: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly registrationEndpoint: string | undefined;
  readonly revocationEndpoint: string | undefined;
  readonly scopesSupported: readonly string[];
  /** Undefined where the metadata does not name them. */
  readonly authMethods: readonly string[] | undefined;
  /** It names itself in authorization responses (RFC 9207). */
  readonly sendsIssuer: boolean;
  readonly takesMetadataDocuments: boolean;
  /** Nothing names it: it is the server itself, with endpoints at fixed paths. */
  readonly isAssumed: boolean;
}

/** What was found out about a server before anybody logs in. */
export interface Discovered {
  readonly kind: 'discovered';
  /** The value of `resource` (RFC 8707). */
  readonly resource: string;
  /** What the server asks for, or else what its metadata names. */
  readonly scopes: readonly string[] | undefined;
  readonly authorizationServer: AuthorizationServer;
}

export interface OAuthClient {
  readonly id: string;
  /** Only of a registered client. That of a configured one is fetched when it is needed. */
  readonly secret?: string;
  readonly auth: ClientAuthMethod;
  readonly origin: 'configured' | 'document' | 'registered';
}

/** What an authorization server has granted one principal for one server. It holds tokens: never print it. */
export interface Grant {
  /** The name of the server when the grant was made; only for people. */
  readonly server: string;
  /** The address of the server, in its canonical form. */
  readonly url: string;
  /** Empty for the user of this home. */
  readonly principal: string;
  readonly resource: string;
  readonly issuer: string;
  readonly tokenEndpoint: string;
  readonly revocationEndpoint: string | undefined;
  readonly client: OAuthClient;
  readonly scopes: readonly string[];
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  readonly obtainedAtMs: number;
  /** Undefined where the authorization server does not say it. */
  readonly expiresAtMs: number | undefined;
}
