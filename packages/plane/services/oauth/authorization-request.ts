// The request that the browser takes to the authorization server, and what may come back (RFC 6749, 7636, 8707, 9207).
import { createHash, randomBytes } from 'node:crypto';
import { type Failure, failure } from '@subluminal/contracts';
import { secretMatcher } from '../../os/index.ts';
import { shownText, shownUrl } from './failures.ts';
import type { AuthorizationServer } from './types.ts';

/** What must be known when the browser comes back. */
export interface PendingLogin {
  readonly url: string;
  readonly state: string;
  readonly verifier: string;
  readonly server: AuthorizationServer;
  readonly redirectUri: string;
}

interface RequestParts {
  readonly server: AuthorizationServer;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly resource: string;
  readonly scopes: readonly string[];
}

const RANDOM_BYTES = 32;
/** What OpenID Connect takes for a wish to stay logged in. */
export const OFFLINE = 'offline_access';
const CODE = /^[\x20-\x7e]{1,4096}$/;

export function authorizationRequest(parts: RequestParts): PendingLogin {
  const { server, clientId, redirectUri, resource, scopes } = parts;
  const state = randomBytes(RANDOM_BYTES).toString('base64url');
  const verifier = randomBytes(RANDOM_BYTES).toString('base64url');
  const url = new URL(server.authorizationEndpoint);
  const params: { readonly [name: string]: string } = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state,
    resource,
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    // OpenID Connect gives no refresh token without it.
    ...(scopes.includes(OFFLINE) && { prompt: 'consent' }),
  };
  for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value);
  return { url: url.href, state, verifier, server, redirectUri };
}

export interface AuthorizationCode {
  readonly kind: 'code';
  readonly code: string;
}

/** Whether an answer belongs to this login; all others are none of our business. */
export function hasState({ state }: PendingLogin, params: URLSearchParams): boolean {
  const given = params.getAll('state');
  return given.length === 1 && secretMatcher(state)(given[0] ?? '');
}

/** The code of an answer, once its state and its issuer are checked. Nothing of another issuer is shown. */
export function readAuthorizationResponse(
  login: PendingLogin,
  params: URLSearchParams,
): AuthorizationCode | Failure {
  if (!hasState(login, params)) return distrusted('it belongs to another login');
  const { issuer, sendsIssuer } = login.server;
  const issuers = params.getAll('iss');
  if (issuers.length > 1 || (issuers[0] ?? issuer) !== issuer) {
    return distrusted('it comes from another authorization server');
  }
  if (issuers.length === 0 && sendsIssuer) {
    return distrusted('the authorization server has not said that it is from it');
  }
  const error = params.get('error');
  if (error !== null) return declined(issuer, error, params.get('error_description'));
  const codes = params.getAll('code');
  const [code = ''] = codes;
  return codes.length === 1 && CODE.test(code)
    ? { kind: 'code', code }
    : distrusted('it holds no code');
}

function declined(issuer: string, error: string, description: string | null): Failure {
  const detail = description === null ? '' : ` (${shownText(description)})`;
  const message = `${shownUrl(issuer)} has declined the login: ${shownText(error)}${detail}.`;
  const fix =
    error === 'invalid_scope'
      ? 'Ask for other scopes with --scope.'
      : 'Log in again when that was a mistake.';
  return failure('SUB_AUTH_REFUSED', message, fix);
}

function distrusted(why: string): Failure {
  const message = `the answer to the login is not used: ${why}.`;
  return failure('SUB_AUTH_RESPONSE', message, 'Log in again; if it happens again, do not.');
}
