// Grants and registrations in the store of secrets. Their names there say nothing of them; what is read is checked as
// what comes from others.
import { type Failure, isFailure, isObject } from '@subluminal/contracts';
import { sha256 } from '../../os/crypto/index.ts';
import { parseJson } from '../../os/index.ts';
import {
  openVault,
  putSecret,
  removeSecret,
  secretNames,
  type VaultOptions,
} from '../../stores/vault/index.ts';
import type { Registration } from './oauth-client.ts';
import { type OAuthDocument, textIn, textListIn } from './oauth-http.ts';
import type { ClientAuthMethod, Grant, OAuthClient } from './types.ts';
import { canonicalUrl } from './url-guard.ts';

/** Whose grant it is. */
export interface GrantKey {
  readonly url: string;
  /** Empty for the user of this home. */
  readonly principal: string;
}

const GRANT = 'oauth-grant.';
const REGISTRATION = 'oauth-client.';
const ID_LENGTH = 32;
const METHODS: readonly ClientAuthMethod[] = ['none', 'client_secret_basic', 'client_secret_post'];
const ORIGINS = ['configured', 'document', 'registered'] as const;

/** An id for names and locks. */
export function grantId({ url, principal }: GrantKey): string {
  return sha256(JSON.stringify([canonicalUrl(url), principal])).slice(0, ID_LENGTH);
}

function grantName(key: GrantKey): string {
  return `${GRANT}${grantId(key)}`;
}

function registrationName(issuer: string): string {
  return `${REGISTRATION}${sha256(issuer).slice(0, ID_LENGTH)}`;
}

/** Without a grant the store is not opened: that may need a person. */
export async function readGrant(
  vault: VaultOptions,
  key: GrantKey,
): Promise<Grant | Failure | undefined> {
  const name = grantName(key);
  if (!secretNames(vault.home).includes(name)) return undefined;
  const json = await readEntry(vault, name);
  const grant = json === undefined || isFailure(json) ? json : grantFrom(json);
  // It is the entry of that name, but for another server: somebody has renamed it.
  if (grant === undefined || isFailure(grant)) return grant;
  return grantName(grant) === name ? grant : undefined;
}

/** All grants of this home, and of everyone who uses it. */
export async function readGrants(vault: VaultOptions): Promise<readonly Grant[] | Failure> {
  if (!secretNames(vault.home).some((name) => name.startsWith(GRANT))) return [];
  const opened = await openVault(vault);
  if (opened === undefined || isFailure(opened)) return opened ?? [];
  try {
    const grants: Grant[] = [];
    for (const { name } of opened.secrets.filter((one) => one.name.startsWith(GRANT))) {
      const value = opened.value(name);
      if (isFailure(value)) return value;
      const json = parseJson(value ?? '');
      const grant = isObject(json) ? grantFrom(json) : undefined;
      if (grant !== undefined) grants.push(grant);
    }
    return grants;
  } finally {
    opened.close();
  }
}

async function readEntry(
  vault: VaultOptions,
  name: string,
): Promise<OAuthDocument | Failure | undefined> {
  const opened = await openVault(vault);
  if (opened === undefined || isFailure(opened)) return opened;
  const value = opened.value(name);
  opened.close();
  if (value === undefined || isFailure(value)) return value;
  const json = parseJson(value);
  return isObject(json) ? json : undefined;
}

export async function saveGrant(vault: VaultOptions, grant: Grant): Promise<Failure | undefined> {
  const saved = await putSecret(vault, { name: grantName(grant), value: grantText(grant) });
  return isFailure(saved) ? saved : undefined;
}

export function removeGrant(vault: VaultOptions, key: GrantKey): Promise<Failure | undefined> {
  return removeEntry(vault, grantName(key));
}

export function forgetRegistration(
  vault: VaultOptions,
  issuer: string,
): Promise<Failure | undefined> {
  return removeEntry(vault, registrationName(issuer));
}

async function removeEntry(vault: VaultOptions, name: string): Promise<Failure | undefined> {
  if (!secretNames(vault.home).includes(name)) return undefined;
  const removed = await removeSecret(vault, name);
  return isFailure(removed) && removed.code !== 'SUB_SECRET_UNKNOWN' ? removed : undefined;
}

/** Of that issuer, which has not ended. */
export async function readRegistration(
  vault: VaultOptions,
  issuer: string,
): Promise<Registration | Failure | undefined> {
  const name = registrationName(issuer);
  if (!secretNames(vault.home).includes(name)) return undefined;
  const json = await readEntry(vault, name);
  if (json === undefined || isFailure(json)) return json;
  const client = isObject(json['client']) ? clientFrom(json['client']) : undefined;
  const redirectUri = textIn(json, 'redirect_uri');
  if (json['issuer'] !== issuer || client === undefined || redirectUri === undefined)
    return undefined;
  const expiresAtMs = timeIn(json, 'expires_at_ms');
  if (expiresAtMs !== undefined && expiresAtMs <= vault.nowMs()) return undefined;
  return { issuer, client, redirectUri, scopes: textListIn(json, 'scopes'), expiresAtMs };
}

export async function saveRegistration(
  vault: VaultOptions,
  { redirectUri, expiresAtMs, ...rest }: Registration,
): Promise<Failure | undefined> {
  const value = { ...rest, redirect_uri: redirectUri, expires_at_ms: expiresAtMs };
  const name = registrationName(rest.issuer);
  const saved = await putSecret(vault, { name, value: JSON.stringify(value) });
  return isFailure(saved) ? saved : undefined;
}

function grantText(grant: Grant): string {
  return JSON.stringify({
    server: grant.server,
    url: grant.url,
    principal: grant.principal,
    resource: grant.resource,
    issuer: grant.issuer,
    token_endpoint: grant.tokenEndpoint,
    revocation_endpoint: grant.revocationEndpoint,
    client: grant.client,
    scopes: grant.scopes,
    access_token: grant.accessToken,
    refresh_token: grant.refreshToken,
    obtained_at_ms: grant.obtainedAtMs,
    expires_at_ms: grant.expiresAtMs,
  });
}

function grantFrom(json: OAuthDocument): Grant | undefined {
  const [server, url, resource, issuer, tokenEndpoint, accessToken] = [
    'server',
    'url',
    'resource',
    'issuer',
    'token_endpoint',
    'access_token',
  ].map((key) => textIn(json, key));
  const client = isObject(json['client']) ? clientFrom(json['client']) : undefined;
  const obtainedAtMs = timeIn(json, 'obtained_at_ms');
  if (!server || !url || !resource || !issuer || !tokenEndpoint || !accessToken) return undefined;
  if (client === undefined || obtainedAtMs === undefined || !URL.canParse(url)) return undefined;
  return {
    server,
    url,
    principal: textIn(json, 'principal') ?? '',
    resource,
    issuer,
    tokenEndpoint,
    revocationEndpoint: textIn(json, 'revocation_endpoint'),
    client,
    scopes: textListIn(json, 'scopes') ?? [],
    accessToken,
    refreshToken: textIn(json, 'refresh_token'),
    obtainedAtMs,
    expiresAtMs: timeIn(json, 'expires_at_ms'),
  };
}

function clientFrom(json: OAuthDocument): OAuthClient | undefined {
  const id = textIn(json, 'id');
  const auth = METHODS.find((one) => one === json['auth']);
  const origin = ORIGINS.find((one) => one === json['origin']);
  const secret = textIn(json, 'secret');
  if (id === undefined || auth === undefined || origin === undefined) return undefined;
  return { id, auth, origin, ...(secret !== undefined && { secret }) };
}

function timeIn(json: OAuthDocument, key: string): number | undefined {
  const value = json[key];
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
