// The table [servers.NAME.oauth] of config.toml: how `sub` is a client of the authorization server of a remote server.
import { definedFields, isFailure } from '@subluminal/contracts';
import { readSecretRef, type SecretRef } from './secret-ref.ts';
import type { TableReader } from './table-reader.ts';

export interface OAuthSettings {
  /** A client that was registered by hand. */
  readonly clientId?: string;
  /** Where its secret is. It goes to the authorization server that is named here, and to no other. */
  readonly clientSecret?: Pick<SecretRef, 'source' | 'secretRef'>;
  /** The address of a client-id metadata document, which is the id of the client. */
  readonly clientMetadataUrl?: string;
  /** The issuer, where the server names several, or none. */
  readonly authorizationServer?: string;
  /** What to ask for, in place of what the server names. */
  readonly scopes?: readonly string[];
  /** Where the browser comes back to; any free port where it has none. */
  readonly redirectUri?: string;
}

const LENGTH_MAX = 2_048;
const SCOPES_MAX = 100;
/** RFC 6749, appendix A.4, in a length that no honest scope has. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/;
const CLIENT_ID = /^[\x20-\x7e]{1,2048}$/;
const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);

export function isScope(text: string): boolean {
  return SCOPE.test(text);
}

export function isClientId(text: string): boolean {
  return CLIENT_ID.test(text) && text.trim() !== '';
}

/** An http address of this machine. */
export function isRedirectUri(text: string): boolean {
  const url = parsedUrl(text);
  return url?.protocol === 'http:' && LOOPBACK.has(url.hostname) && url.search === '';
}

const ID = {
  words: 'the id of a client',
  read: (value: unknown) => (typeof value === 'string' && isClientId(value) ? value : undefined),
};
const DOCUMENT = {
  words: 'an https address with a path',
  read: (value: unknown) => {
    const url = parsedUrl(value);
    return url?.protocol === 'https:' && url.pathname !== '/' ? String(value) : undefined;
  },
};
const ISSUER = {
  words: 'the address of an authorization server',
  read: (value: unknown) => {
    const url = parsedUrl(value);
    const isIssuer = url?.protocol === 'https:' || url?.protocol === 'http:';
    return isIssuer && url.search === '' ? String(value) : undefined;
  },
};
const SCOPES = {
  words: `a list of at most ${SCOPES_MAX} scopes`,
  read: (value: unknown) =>
    Array.isArray(value) && value.length <= SCOPES_MAX && value.every(isScopeText)
      ? value
      : undefined,
};
const REDIRECT = {
  words: 'an http address of this machine, like "http://127.0.0.1:8914/callback"',
  read: (value: unknown) => (typeof value === 'string' && isRedirectUri(value) ? value : undefined),
};

/** Undefined where there is no such table, or no good one. */
export function readOAuth(table: TableReader): OAuthSettings | undefined {
  const oauth = table.table('oauth');
  if (oauth === undefined) return undefined;
  const clientId = oauth.optional('client_id', ID, undefined);
  const clientMetadataUrl = oauth.optional('client_metadata_url', DOCUMENT, undefined);
  const authorizationServer = oauth.optional('authorization_server', ISSUER, undefined);
  const scopes = oauth.optional('scopes', SCOPES, undefined);
  const redirectUri = oauth.optional('redirect_uri', REDIRECT, undefined);
  const clientSecret = readClientSecret(oauth);
  oauth.done();
  if (clientSecret !== undefined && (clientId === undefined || authorizationServer === undefined)) {
    const message = '`client_secret` needs `client_id` and `authorization_server`';
    const fix = 'Add them: the secret goes to that authorization server alone.';
    return oauth.fault('client_secret', message, fix);
  }
  if (clientId !== undefined && clientMetadataUrl !== undefined) {
    const message = '`client_id` and `client_metadata_url` are two clients';
    return oauth.fault('client_metadata_url', message, 'Remove one of them.');
  }
  const client = { clientId, clientSecret, clientMetadataUrl };
  return definedFields({ ...client, authorizationServer, scopes, redirectUri });
}

function readClientSecret(table: TableReader): OAuthSettings['clientSecret'] {
  const value = table.take('client_secret');
  if (value === undefined) return undefined;
  // What stands there is not shown: it may be the secret itself.
  const ref = readSecretRef(value, undefined);
  if (!isFailure(ref)) return { source: ref.source, secretRef: ref.secretRef };
  const fix =
    'Store it by `sub secrets add NAME`, and write "sub://NAME"; or write env://, file://, keychain://, vault:// or op://.';
  return table.fault('client_secret', '`client_secret` is no reference to a secret', fix);
}

function isScopeText(value: unknown): value is string {
  return typeof value === 'string' && isScope(value);
}

/** Without user, password and fragment. */
function parsedUrl(value: unknown): URL | undefined {
  if (typeof value !== 'string' || value.length > LENGTH_MAX || !URL.canParse(value))
    return undefined;
  const url = new URL(value);
  return url.username === '' && url.password === '' && url.hash === '' ? url : undefined;
}
