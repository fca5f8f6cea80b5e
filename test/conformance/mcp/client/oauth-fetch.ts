// The OAuth client of the direct run: the one of SDK v2, with a user who consents at once.
import {
  auth,
  computeScopeUnion,
  extractWWWAuthenticateParams,
  type FetchLike,
  isStrictScopeSuperset,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
} from '@modelcontextprotocol/client';

const REDIRECT_URL = 'http://localhost:3000/callback';
/** The client id that the scenario for client-id metadata documents waits for. */
export const CLIENT_METADATA_URL = 'https://conformance-test.local/client-metadata.json';

export interface ClientCredentials {
  readonly client_id: string;
  readonly client_secret: string;
}

class ConsentingUser implements OAuthClientProvider {
  readonly redirectUrl = REDIRECT_URL;
  readonly clientMetadataUrl = CLIENT_METADATA_URL;
  readonly clientMetadata = { client_name: 'conformance-client', redirect_uris: [REDIRECT_URL] };
  #client: OAuthClientInformationMixed | undefined;
  #tokens: OAuthTokens | undefined;
  #verifier = '';
  #discovery: OAuthDiscoveryState | undefined;
  redirected: URL | undefined;

  constructor({ client_id, client_secret }: Partial<ClientCredentials>) {
    if (client_id === undefined || client_secret === undefined) return;
    this.#client = { client_id, client_secret };
  }

  clientInformation(): OAuthClientInformationMixed | undefined {
    return this.#client;
  }

  saveClientInformation(client: OAuthClientInformationMixed): void {
    this.#client = client;
  }

  tokens(): OAuthTokens | undefined {
    return this.#tokens;
  }

  saveTokens(tokens: OAuthTokens): void {
    this.#tokens = tokens;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state;
  }

  invalidateCredentials(part: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): void {
    if (part === 'all' || part === 'client') this.#client = undefined;
    if (part === 'all' || part === 'tokens') this.#tokens = undefined;
    if (part === 'all' || part === 'discovery') this.#discovery = undefined;
  }

  async redirectToAuthorization(url: URL): Promise<void> {
    this.redirected = await redirectOf(url);
  }
}

/** Where the authorization server sends the browser of a user who consents. */
export async function redirectOf(url: string | URL): Promise<URL> {
  const { status, headers } = await fetch(url, { redirect: 'manual' });
  const location = headers.get('location');
  if (location === null) throw new Error(`The authorization endpoint answered ${status}`);
  return new URL(location);
}

/** `fetch` that logs in on a 401 and asks for more scopes on a 403, once for each request. */
export function oauthFetch(serverUrl: string, client: Partial<ClientCredentials>): FetchLike {
  const user = new ConsentingUser(client);
  const send: FetchLike = (input, init) => {
    const headers = new Headers(init?.headers);
    const token = user.tokens()?.access_token;
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
    return fetch(input, { ...init, headers });
  };
  return async (input, init) => {
    const response = await send(input, init);
    if (response.status !== 401 && response.status !== 403) return response;
    await logIn(user, serverUrl, response);
    return send(input, init);
  };
}

async function logIn(user: ConsentingUser, serverUrl: string, response: Response): Promise<void> {
  const { resourceMetadataUrl, scope: challenged } = extractWWWAuthenticateParams(response);
  const granted = user.tokens()?.scope;
  const scope = response.status === 403 ? computeScopeUnion(granted, challenged) : challenged;
  // The server may have moved to another authorization server.
  if (response.status === 401) user.invalidateCredentials('discovery');
  const options = {
    serverUrl,
    ...(resourceMetadataUrl && { resourceMetadataUrl }),
    ...(scope !== undefined && { scope }),
  };
  const forceReauthorization = isStrictScopeSuperset(scope, granted);
  if ((await auth(user, { ...options, forceReauthorization })) === 'AUTHORIZED') return;
  const { searchParams } = user.redirected ?? new URL(REDIRECT_URL);
  const code = searchParams.get('code');
  if (code === null) throw new Error(`No code in the redirect: ${searchParams.get('error')}`);
  const iss = searchParams.get('iss');
  await auth(user, { ...options, authorizationCode: code, ...(iss !== null && { iss }) });
}
