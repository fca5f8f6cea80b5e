// A login: from the address of a server to a grant in the store of secrets. It is in two steps, because a person
// stands between them.
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import type { OAuthSettings } from '../../stores/config/index.ts';
import type { SecretSources, VaultOptions } from '../../stores/vault/index.ts';
import {
  authorizationRequest,
  hasState,
  OFFLINE,
  type PendingLogin,
  readAuthorizationResponse,
} from './authorization-request.ts';
import { discover } from './discover.ts';
import { readGrant, readRegistration, saveGrant, saveRegistration } from './grant-store.ts';
import {
  type ClientRequest,
  knownClient,
  type Registration,
  readyClient,
  registerClient,
} from './oauth-client.ts';
import type { OAuthHttp } from './oauth-http.ts';
import { openRedirect, type RedirectListener } from './redirect-listener.ts';
import { exchangeCode } from './token-endpoint.ts';
import type { Discovered, Grant, OAuthClient } from './types.ts';
import { canonicalUrl } from './url-guard.ts';

export interface LoginRequest {
  readonly server: string;
  readonly url: string;
  /** Empty for the user of this home. */
  readonly principal: string;
  /** What the user asks for beside what was granted; empty for what the server names. */
  readonly scopes: readonly string[];
  readonly settings: OAuthSettings;
}

export interface LoginParts {
  readonly http: OAuthHttp;
  readonly vault: VaultOptions;
  readonly secrets: SecretSources;
}

/** A login that waits for a person. */
export interface StartedLogin {
  readonly kind: 'started';
  readonly issuer: string;
  readonly resource: string;
  readonly scopes: readonly string[];
  /** Where the person goes. */
  readonly url: string;
  /** Waits for the browser to come back. */
  redirected(signal: AbortSignal): Promise<URLSearchParams | Failure>;
  /** The answer that a code stands for. A code alone does not say whose it is, where the authorization server does. */
  answerOf(code: string): URLSearchParams | undefined;
  /** Makes a grant of what came back, and keeps it. */
  finish(params: URLSearchParams): Promise<Grant | Failure>;
  close(): void;
}

interface ChosenClient {
  readonly kind: 'chosen';
  readonly client: OAuthClient;
  readonly listener: RedirectListener;
}

export async function startLogin(
  request: LoginRequest,
  parts: LoginParts,
): Promise<StartedLogin | Failure> {
  const { http, vault } = parts;
  const { url, settings, principal } = request;
  const found = await discover(http, { url, issuer: settings.authorizationServer });
  if (isFailure(found)) return found;
  const before = await readGrant(vault, { url, principal });
  if (isFailure(before)) return before;
  const isSame = before !== undefined && before.issuer === found.authorizationServer.issuer;
  const scopes = chosenScopes(request, found, isSame ? before.scopes : []);
  const chosen = await chooseClient(request, { ...parts, found, scopes });
  if (isFailure(chosen)) return chosen;
  const { client, listener } = chosen;
  const { resource, authorizationServer: server } = found;
  const { redirectUri } = listener;
  const login = authorizationRequest({
    server,
    clientId: client.id,
    redirectUri,
    resource,
    scopes,
  });
  return {
    kind: 'started',
    issuer: server.issuer,
    resource,
    scopes,
    url: login.url,
    redirected: (signal) => listener.answer((params) => hasState(login, params), signal),
    answerOf: (code) =>
      server.sendsIssuer ? undefined : new URLSearchParams({ code, state: login.state }),
    finish: (params) => finishLogin({ request, found, client, login, scopes }, params, parts),
    close: () => listener.close(),
  };
}

/** The union with what was granted, so that nothing is lost; without a wish, what the server names. */
function chosenScopes(
  { scopes, settings }: LoginRequest,
  found: Discovered,
  granted: readonly string[],
): readonly string[] {
  const wanted = scopes.length > 0 ? scopes : (settings.scopes ?? found.scopes ?? []);
  const all = [...granted, ...wanted];
  // Without any scope none is named, and the authorization server chooses.
  const offline = found.authorizationServer.scopesSupported.includes(OFFLINE) ? [OFFLINE] : [];
  return [...new Set([...all, ...offline])];
}

interface ClientChoice extends LoginParts {
  readonly found: Discovered;
  readonly scopes: readonly string[];
}

async function chooseClient(
  { settings }: LoginRequest,
  { http, vault, found, scopes }: ClientChoice,
): Promise<ChosenClient | Failure> {
  const { authorizationServer: server } = found;
  const known = knownClient({ server, settings });
  if (isFailure(known)) return known;
  if (known !== undefined) {
    const listener = await openRedirect(settings.redirectUri);
    return listener === undefined ? portTaken() : { kind: 'chosen', client: known, listener };
  }
  const kept = await readRegistration(vault, server.issuer);
  if (isFailure(kept)) return kept;
  // A client is good for the scopes that it was registered with, and where authorization servers compare the port, too,
  // for that port.
  const isFit = kept?.scopes === undefined || scopes.every((one) => kept.scopes?.includes(one));
  const again = kept && isFit ? await openRedirect(kept.redirectUri) : undefined;
  if (kept !== undefined && again !== undefined) {
    return { kind: 'chosen', client: kept.client, listener: again };
  }
  const listener = await openRedirect(settings.redirectUri);
  if (listener === undefined) return portTaken();
  const asked = { server, settings, redirectUri: listener.redirectUri, scopes };
  const made = await registered(asked, { http, vault });
  if (!isFailure(made)) return { kind: 'chosen', client: made.client, listener };
  listener.close();
  return made;
}

/** A new client, which is kept before anybody logs in with it. */
async function registered(
  request: ClientRequest,
  { http, vault }: Pick<LoginParts, 'http' | 'vault'>,
): Promise<Registration | Failure> {
  const made = await registerClient(http, request, vault.nowMs());
  return isFailure(made) ? made : ((await saveRegistration(vault, made)) ?? made);
}

function portTaken(): Failure {
  const message = 'the address that the browser comes back to cannot be listened on.';
  const fix = 'End the program that has its port, or change `redirect_uri` in config.toml.';
  return failure('SUB_AUTH_RESPONSE', message, fix);
}

interface LoginState {
  readonly request: LoginRequest;
  readonly found: Discovered;
  readonly client: OAuthClient;
  readonly login: PendingLogin;
  readonly scopes: readonly string[];
}

async function finishLogin(
  { request, found, client, login, scopes }: LoginState,
  params: URLSearchParams,
  { http, vault, secrets }: LoginParts,
): Promise<Grant | Failure> {
  const answer = readAuthorizationResponse(login, params);
  if (isFailure(answer)) return answer;
  const { issuer } = found.authorizationServer;
  const ready = await readyClient({ client, issuer }, request.settings, secrets);
  if (isFailure(ready)) return ready;
  const { authorizationServer: server, resource } = found;
  const { tokenEndpoint, revocationEndpoint } = server;
  const { verifier, redirectUri } = login;
  const code = { code: answer.code, verifier, redirectUri, resource };
  const tokens = await exchangeCode(http, { tokenEndpoint, client: ready }, code);
  if (isFailure(tokens)) return tokens;
  if (tokens.kind === 'invalid') {
    const message = `the authorization server does not take its own code: ${tokens.why}.`;
    return failure('SUB_AUTH_REFUSED', message, 'Log in again, without waiting long.');
  }
  const nowMs = vault.nowMs();
  const { accessToken, refreshToken, expiresInMs } = tokens;
  const grant: Grant = {
    server: request.server,
    url: canonicalUrl(request.url),
    principal: request.principal,
    resource,
    issuer,
    tokenEndpoint,
    revocationEndpoint,
    client,
    scopes: tokens.scopes ?? scopes,
    accessToken,
    refreshToken,
    obtainedAtMs: nowMs,
    expiresAtMs: expiresInMs === undefined ? undefined : nowMs + expiresInMs,
  };
  return (await saveGrant(vault, grant)) ?? grant;
}
