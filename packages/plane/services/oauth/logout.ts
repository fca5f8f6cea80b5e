// Ends a grant: tells the authorization server (RFC 7009), and forgets it.
import { type Failure, isFailure } from '@subluminal/contracts';
import type { OAuthSettings } from '../../stores/config/index.ts';
import {
  forgetRegistration,
  type GrantKey,
  readGrant,
  readGrants,
  removeGrant,
} from './grant-store.ts';
import type { LoginParts } from './login.ts';
import { readyClient } from './oauth-client.ts';
import { revokeToken } from './token-endpoint.ts';
import type { Grant } from './types.ts';

export interface LoggedOut {
  readonly kind: 'logged_out';
  readonly issuer: string;
  /** Why the tokens may still be good; undefined when they are revoked. */
  readonly notRevoked: string | undefined;
}

/** Undefined where there is no grant. */
export async function logout(
  key: GrantKey,
  settings: OAuthSettings,
  parts: LoginParts,
): Promise<LoggedOut | Failure | undefined> {
  const { vault } = parts;
  const grant = await readGrant(vault, key);
  if (grant === undefined || isFailure(grant)) return grant;
  const notRevoked = await revoke(grant, settings, parts);
  const problem = (await removeGrant(vault, key)) ?? (await forgetClient(grant, parts));
  return problem ?? { kind: 'logged_out', issuer: grant.issuer, notRevoked };
}

/** The refresh token first: what it could make matters most. */
async function revoke(
  grant: Grant,
  settings: OAuthSettings,
  { http, secrets }: LoginParts,
): Promise<string | undefined> {
  const { revocationEndpoint: url, accessToken, refreshToken } = grant;
  if (url === undefined) return 'the authorization server offers no revocation';
  const client = await readyClient(grant, settings, secrets);
  if (isFailure(client)) return client.message.replace(/\.$/, '');
  const tokens = [
    ...(refreshToken === undefined
      ? []
      : [{ value: refreshToken, hint: 'refresh_token' as const }]),
    { value: accessToken, hint: 'access_token' as const },
  ];
  const problems: string[] = [];
  for (const token of tokens) {
    const problem = await revokeToken(http, { url, client }, token);
    if (problem !== undefined) problems.push(problem);
  }
  return problems[0];
}

/** A client that no grant needs any more is registered anew next time. */
async function forgetClient(
  { issuer }: Grant,
  { vault }: LoginParts,
): Promise<Failure | undefined> {
  const left = await readGrants(vault);
  if (isFailure(left)) return left;
  const isUsed = left.some((one) => one.issuer === issuer);
  return isUsed ? undefined : forgetRegistration(vault, issuer);
}
