// The token endpoint and the revocation endpoint (RFC 6749, 7009, 8707). No message holds a token.
import { type Failure, failure } from '@subluminal/contracts';
import { scopesIn } from './challenge.ts';
import { shownUrl } from './failures.ts';
import { oauthError, type ReadyClient } from './oauth-client.ts';
import { faultText, isAnswer, type OAuthDocument, type OAuthHttp, textIn } from './oauth-http.ts';
import type { Grant } from './types.ts';

export interface Tokens {
  readonly kind: 'tokens';
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  /** Undefined where they are what was asked for. */
  readonly scopes: readonly string[] | undefined;
  readonly expiresInMs: number | undefined;
}

/** `invalid`: the code or the refresh token is worth nothing. A failure may pass. */
export type TokenResult = Tokens | { readonly kind: 'invalid'; readonly why: string } | Failure;

/** Visible ASCII: it stands in a header. */
const TOKEN = /^[\x21-\x7e]{1,16384}$/;
/** A token that ends at once would be renewed with each request. */
const LIFETIME_S_MIN = 2;
const LIFETIME_S_MAX = 10 * 365 * 86_400;

export function exchangeCode(
  http: OAuthHttp,
  at: { readonly tokenEndpoint: string; readonly client: ReadyClient },
  code: {
    readonly code: string;
    readonly verifier: string;
    readonly redirectUri: string;
    readonly resource: string;
  },
): Promise<TokenResult> {
  return askTokens(http, at, {
    grant_type: 'authorization_code',
    code: code.code,
    redirect_uri: code.redirectUri,
    code_verifier: code.verifier,
    resource: code.resource,
  });
}

export function refreshTokens(
  http: OAuthHttp,
  { tokenEndpoint, resource }: Pick<Grant, 'tokenEndpoint' | 'resource'>,
  by: { readonly client: ReadyClient; readonly refreshToken: string },
): Promise<TokenResult> {
  const form = { grant_type: 'refresh_token', refresh_token: by.refreshToken, resource };
  return askTokens(http, { tokenEndpoint, client: by.client }, form);
}

async function askTokens(
  http: OAuthHttp,
  { tokenEndpoint, client }: { readonly tokenEndpoint: string; readonly client: ReadyClient },
  form: { readonly [name: string]: string },
): Promise<TokenResult> {
  const shown = shownUrl(tokenEndpoint);
  const answer = await sendForm(http, { url: tokenEndpoint, client }, form);
  if (!isAnswer(answer)) return notNow(`${shown} ${faultText(answer)}.`);
  const { status, json } = answer;
  if (status === 200 && json !== undefined) return readTokens(json, shown);
  const error = json && textIn(json, 'error');
  if (error === 'invalid_grant') return { kind: 'invalid', why: oauthError(json) ?? error };
  if (status >= 500 || status === 429 || status === 408)
    return notNow(`${shown} answers with HTTP ${status}.`);
  const why = oauthError(json) ?? `HTTP ${status}`;
  const fix = 'Log in again; if that does not help, check how the client is registered there.';
  return failure('SUB_AUTH_REFUSED', `${shown} gives no token: ${why}.`, fix);
}

function notNow(message: string): Failure {
  return failure('SUB_AUTH_UNREACHABLE', message, 'Check the network, and try again.');
}

function readTokens(json: OAuthDocument, shown: string): Tokens | Failure {
  const accessToken = textIn(json, 'access_token') ?? '';
  const refreshToken = textIn(json, 'refresh_token');
  const type = textIn(json, 'token_type') ?? '';
  const isUsable =
    TOKEN.test(accessToken) && (refreshToken === undefined || TOKEN.test(refreshToken));
  if (!isUsable || type.toLowerCase() !== 'bearer') {
    const fix = 'Its operator must correct this: `sub` takes bearer tokens only.';
    return failure('SUB_AUTH_REFUSED', `${shown} gives a token that cannot be used.`, fix);
  }
  const scope = textIn(json, 'scope');
  const lifeS = Number(json['expires_in'] ?? Number.NaN);
  const isBounded = Number.isFinite(lifeS) && lifeS >= 0;
  return {
    kind: 'tokens',
    accessToken,
    refreshToken,
    scopes: scope === undefined ? undefined : scopesIn(scope),
    expiresInMs: isBounded
      ? Math.min(Math.max(lifeS, LIFETIME_S_MIN), LIFETIME_S_MAX) * 1_000
      : undefined,
  };
}

/** Undefined when the token is worth nothing any more. */
export async function revokeToken(
  http: OAuthHttp,
  at: { readonly url: string; readonly client: ReadyClient },
  token: { readonly value: string; readonly hint: 'refresh_token' | 'access_token' },
): Promise<string | undefined> {
  const form = { token: token.value, token_type_hint: token.hint };
  const answer = await sendForm(http, at, form);
  const shown = shownUrl(at.url);
  if (!isAnswer(answer)) return `${shown} ${faultText(answer)}`;
  if (answer.status === 200) return undefined;
  return `${shown} answers with ${oauthError(answer.json) ?? `HTTP ${answer.status}`}`;
}

function sendForm(
  http: OAuthHttp,
  { url, client }: { readonly url: string; readonly client: ReadyClient },
  form: { readonly [name: string]: string },
) {
  const { id, secret = '', auth } = client;
  const fields = new URLSearchParams(form);
  if (auth === 'client_secret_basic') {
    // RFC 6749, section 2.3.1: both parts are encoded as in a form first.
    const pair = `${formEncoded(id)}:${formEncoded(secret)}`;
    const authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
    return http.post(url, fields.toString(), { authorization });
  }
  fields.set('client_id', id);
  if (auth === 'client_secret_post') fields.set('client_secret', secret);
  return http.post(url, fields.toString());
}

function formEncoded(text: string): string {
  return new URLSearchParams({ v: text }).toString().slice(2);
}
