// Which client we are to an authorization server: one that the user configured, one that describes itself by a
// document, or one that registers itself (RFC 7591). Registrations are kept for the issuer that made them.
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { isClientId, type OAuthSettings } from '../../stores/config/index.ts';
import type { SecretSources } from '../../stores/vault/index.ts';
import { scopesIn } from './challenge.ts';
import { shownText, shownUrl } from './failures.ts';
import { faultText, isAnswer, type OAuthDocument, type OAuthHttp, textIn } from './oauth-http.ts';
import type { AuthorizationServer, ClientAuthMethod, OAuthClient } from './types.ts';

/** A client that an authorization server has made for us, and the address that it was made for. */
export interface Registration {
  readonly issuer: string;
  readonly client: OAuthClient;
  readonly redirectUri: string;
  /** What it may ask for; undefined where nothing is said of it. */
  readonly scopes: readonly string[] | undefined;
  /** Undefined for a client that stays. */
  readonly expiresAtMs: number | undefined;
}

export interface ClientRequest {
  readonly server: AuthorizationServer;
  readonly settings: OAuthSettings;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
}

const SECRET = /^[\x20-\x7e]{1,4096}$/;
const METHODS: readonly ClientAuthMethod[] = ['none', 'client_secret_basic', 'client_secret_post'];

/** A client without a word of the authorization server; undefined where one has to be registered. */
export function knownClient({
  server,
  settings,
}: Pick<ClientRequest, 'server' | 'settings'>): OAuthClient | Failure | undefined {
  const { clientId, clientSecret, clientMetadataUrl } = settings;
  if (clientId !== undefined) {
    const auth = clientSecret === undefined ? 'none' : secretMethod(server);
    return isFailure(auth) ? auth : { id: clientId, auth, origin: 'configured' };
  }
  if (clientMetadataUrl !== undefined && server.takesMetadataDocuments) {
    return { id: clientMetadataUrl, auth: 'none', origin: 'document' };
  }
  return server.registrationEndpoint === undefined ? noClient(server) : undefined;
}

/** RFC 8414 has `client_secret_basic` as the one that holds where nothing is said. */
function secretMethod({ issuer, authMethods }: AuthorizationServer): ClientAuthMethod | Failure {
  const offered = authMethods ?? ['client_secret_basic'];
  const method = METHODS.find((one) => one !== 'none' && offered.includes(one));
  return method ?? noMethod(issuer);
}

/** Registers a client; the redirect URI is that of the login that follows. */
export async function registerClient(
  http: OAuthHttp,
  { server, redirectUri, scopes }: ClientRequest,
  nowMs: number,
): Promise<Registration | Failure> {
  const { issuer, registrationEndpoint, authMethods = ['none'] } = server;
  const method = METHODS.find((one) => authMethods.includes(one));
  if (method === undefined) return noMethod(issuer);
  if (registrationEndpoint === undefined) return noClient(server);
  const asked = {
    client_name: 'Subluminal',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    application_type: 'native',
    token_endpoint_auth_method: method,
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  };
  const answer = await http.post(registrationEndpoint, JSON.stringify(asked), {
    'content-type': 'application/json',
  });
  if (!isAnswer(answer)) {
    const message = `the registration at ${shownUrl(registrationEndpoint)} ${faultText(answer)}.`;
    return failure('SUB_AUTH_UNREACHABLE', message, 'Try again later.');
  }
  const { status, json } = answer;
  if ((status === 201 || status === 200) && json !== undefined) {
    return readRegistration(json, { issuer, method, redirectUri, scopes, nowMs });
  }
  const why = oauthError(json) ?? `HTTP ${status}`;
  if (server.isAssumed) return noLogin(issuer, why);
  return failure('SUB_AUTH_CLIENT', `${shownUrl(issuer)} registers no client: ${why}.`, BY_HAND);
}

interface AskedClient {
  readonly issuer: string;
  readonly method: ClientAuthMethod;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly nowMs: number;
}

function readRegistration(json: OAuthDocument, request: AskedClient): Registration | Failure {
  const { issuer, redirectUri, scopes, nowMs } = request;
  const id = textIn(json, 'client_id');
  const secret = textIn(json, 'client_secret');
  const named = textIn(json, 'token_endpoint_auth_method') ?? request.method;
  const auth = METHODS.find((one) => one === named);
  const isWhole =
    id !== undefined && isClientId(id) && (secret === undefined || SECRET.test(secret));
  if (!isWhole || auth === undefined || (auth !== 'none' && secret === undefined)) {
    const message = `${shownUrl(issuer)} has registered a client that cannot be used.`;
    return failure('SUB_AUTH_CLIENT', message, BY_HAND);
  }
  const endS = json['client_secret_expires_at'];
  const isEnding = auth !== 'none' && typeof endS === 'number' && endS > 0;
  const expiresAtMs = isEnding ? Math.max(nowMs, endS * 1_000) : undefined;
  const kept = auth === 'none' || secret === undefined ? {} : { secret };
  const client: OAuthClient = { id, ...kept, auth, origin: 'registered' };
  const scope = textIn(json, 'scope');
  const asked = scopes.length === 0 ? undefined : scopes;
  return {
    issuer,
    client,
    redirectUri,
    scopes: scope === undefined ? asked : scopesIn(scope),
    expiresAtMs,
  };
}

const BY_HAND =
  'Register a client there by hand, and log in with --client-id, or set `client_id` in [servers.NAME.oauth] of config.toml.';

/** Most servers of this kind take a token that somebody made for them by hand. */
function noLogin(origin: string, why: string): Failure {
  const message = `${shownUrl(origin)} wants a token, but names no authorization server, and is none itself: it registers no client (${why}).`;
  const fix =
    'If it takes a fixed token or an API key, give that instead: in a header of its entry, by `--bearer-env` of `sub shim`, or by `bearer_env` of `sub serve`. Else set `authorization_server` in [servers.NAME.oauth] of config.toml.';
  return failure('SUB_AUTH_CLIENT', message, fix);
}

function noClient({ issuer }: AuthorizationServer): Failure {
  const message = `${shownUrl(issuer)} does not know \`sub\`, and registers no clients by itself.`;
  return failure('SUB_AUTH_CLIENT', message, BY_HAND);
}

function noMethod(issuer: string): Failure {
  const message = `${shownUrl(issuer)} wants its clients to show who they are in a way that \`sub\` does not know.`;
  return failure(
    'SUB_AUTH_CLIENT',
    message,
    'Ask its operator to allow `none`, `client_secret_basic` or `client_secret_post`.',
  );
}

/** `error` and `error_description` of an answer, safe to print. */
export function oauthError(json: OAuthDocument | undefined): string | undefined {
  const code = json && textIn(json, 'error');
  if (json === undefined || code === undefined) return undefined;
  const text = textIn(json, 'error_description');
  return text === undefined ? shownText(code) : `${shownText(code)} (${shownText(text)})`;
}

/** A client with the secret that it needs. */
export interface ReadyClient extends OAuthClient {
  readonly kind: 'ready';
}

/**
 * A client with its secret. That of a configured one comes from where the configuration says, and goes to the
 * authorization server that the configuration names: whoever names another one must not get it.
 */
export async function readyClient(
  { client, issuer }: Pick<Registration, 'client' | 'issuer'>,
  settings: OAuthSettings,
  secrets: SecretSources,
): Promise<ReadyClient | Failure> {
  if (client.auth === 'none' || client.secret !== undefined) return { ...client, kind: 'ready' };
  const { clientId, clientSecret, authorizationServer } = settings;
  if (clientSecret === undefined || clientId !== client.id || authorizationServer !== issuer) {
    const message = `config.toml has no secret of the client \`${shownText(client.id)}\` for ${shownUrl(issuer)}.`;
    const fix = 'Correct [servers.NAME.oauth] there, or log in again.';
    return failure('SUB_AUTH_CLIENT', message, fix);
  }
  const secret = await secrets.fetch(clientSecret);
  return isFailure(secret) ? secret : { ...client, kind: 'ready', secret };
}
