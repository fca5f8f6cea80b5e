// From the address of a server to its authorization server: RFC 9728, then RFC 8414 or OpenID Connect Discovery. The
// order is that of the MCP specification; servers of 2025-03-26 are their own authorization servers.
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import { bearerChallenge, scopesIn } from './challenge.ts';
import { discoveryFailure, shownUrl } from './failures.ts';
import {
  faultText,
  type HttpFault,
  isAnswer,
  type JsonAnswer,
  type OAuthDocument,
  type OAuthHttp,
  textIn,
  textListIn,
} from './oauth-http.ts';
import type { AuthorizationServer, Discovered } from './types.ts';
import { canonicalUrl } from './url-guard.ts';

interface DiscoverRequest {
  readonly url: string;
  /** The issuer that the user has configured. */
  readonly issuer?: string | undefined;
}

interface Probe {
  readonly kind: 'probe';
  readonly isRefused: boolean;
  readonly resourceMetadata: string | undefined;
  readonly scopes: readonly string[] | undefined;
}

interface ResourceMetadata {
  readonly kind: 'resource';
  readonly resource: string;
  readonly issuers: readonly string[];
  readonly scopes: readonly string[] | undefined;
}

const VERSION = '2025-11-25';
const VERSION_HEADER = { 'mcp-protocol-version': VERSION };
const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: VERSION,
    capabilities: {},
    clientInfo: { name: 'subluminal', version: '0' },
  },
});
const LIST_TOOLS = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} });
const MCP_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

export async function discover(
  http: OAuthHttp,
  request: DiscoverRequest,
): Promise<Discovered | Failure> {
  const problem = http.guard.problem(request.url);
  if (problem !== undefined) {
    const fix = 'Write it as https://HOST/PATH; http is only for servers on this machine.';
    return discoveryFailure(`${shownUrl(request.url)} ${problem}.`, fix);
  }
  const probe = await probeServer(http, request.url);
  if (isFailure(probe)) return probe;
  const found = await resourceMetadata(http, request.url, probe);
  if (isFailure(found)) return found;
  if (found === undefined) return withoutMetadata(http, request, probe);
  const issuer = chosenIssuer(found, request.issuer);
  if (isFailure(issuer)) return issuer;
  const server = await authorizationServer(http, issuer);
  if (isFailure(server)) return server;
  if (server === undefined) return noMetadata(issuer);
  return {
    kind: 'discovered',
    resource: found.resource,
    scopes: probe.scopes ?? found.scopes,
    authorizationServer: server,
  };
}

/**
 * Asks the server without a token, as a client that does not know better. Some let everybody begin, and ask for a token
 * with the next request.
 */
async function probeServer(http: OAuthHttp, url: string): Promise<Probe | Failure> {
  const first = await http.post(url, INITIALIZE, MCP_HEADERS);
  if (!isAnswer(first)) return unreachable(url, first);
  if (first.status >= 300) return probeOf(first);
  const session = first.headers['mcp-session-id'];
  const headers = {
    ...VERSION_HEADER,
    ...(typeof session === 'string' && { 'mcp-session-id': session }),
  };
  const second = await http.post(url, LIST_TOOLS, { ...MCP_HEADERS, ...headers });
  // The session is of no use to anybody.
  if (typeof session === 'string') await http.remove(url, headers);
  return isAnswer(second) ? probeOf(second) : unreachable(url, second);
}

function probeOf({ status, headers }: JsonAnswer): Probe {
  const challenge = bearerChallenge(headers['www-authenticate']);
  return {
    kind: 'probe',
    isRefused: status === 401,
    resourceMetadata: challenge?.resourceMetadata,
    scopes: challenge?.scopes,
  };
}

/** Undefined where the server has none. */
async function resourceMetadata(
  http: OAuthHttp,
  url: string,
  probe: Probe,
): Promise<ResourceMetadata | Failure | undefined> {
  if (probe.resourceMetadata !== undefined) {
    const answer = await http.get(probe.resourceMetadata, VERSION_HEADER);
    const where = shownUrl(probe.resourceMetadata);
    if (!isAnswer(answer))
      return discoveryFailure(`the metadata of the server, ${where}, ${faultText(answer)}.`);
    if (answer.status === 200 && answer.json !== undefined) return readResource(answer.json, url);
    return discoveryFailure(`${where} has no metadata of the server (HTTP ${answer.status}).`);
  }
  const { origin, pathname, search } = new URL(url);
  const wellKnown = `${origin}/.well-known/oauth-protected-resource`;
  const path = pathname === '/' ? '' : pathname.replace(/\/$/, '');
  const found = await documentsAt(http, [...new Set([`${wellKnown}${path}${search}`, wellKnown])]);
  if (isFailure(found)) return found;
  return found[0] === undefined ? undefined : readResource(found[0], url);
}

/**
 * The first right document at these addresses; where there is none, the others. A server that fails to answer is not
 * one that has no document: nothing less strict may follow from it.
 */
async function documentsAt(
  http: OAuthHttp,
  urls: readonly string[],
  isRight: (json: OAuthDocument) => boolean = () => true,
): Promise<readonly OAuthDocument[] | Failure> {
  const others: OAuthDocument[] = [];
  for (const url of urls) {
    const answer = await http.get(url, VERSION_HEADER);
    if (!isAnswer(answer)) return unreachable(url, answer);
    if (answer.status >= 500 || answer.status === 429) return unavailable(url, answer);
    if (answer.status !== 200 || answer.json === undefined) continue;
    if (isRight(answer.json)) return [answer.json];
    others.push(answer.json);
  }
  return others;
}

/** The resource must be the server, or what it stands under: else a token for another server could be asked for. */
function readResource(json: OAuthDocument, url: string): ResourceMetadata | Failure {
  const resource = textIn(json, 'resource');
  const issuers = textListIn(json, 'authorization_servers') ?? [];
  if (resource === undefined || !isResourceOf(url, resource)) {
    const named = resource === undefined ? 'no resource' : `the resource ${shownUrl(resource)}`;
    return discoveryFailure(
      `the metadata of ${shownUrl(url)} names ${named}, which is not this server.`,
    );
  }
  if (issuers.length === 0) {
    return discoveryFailure(`the metadata of ${shownUrl(url)} names no authorization server.`);
  }
  const scopes = textListIn(json, 'scopes_supported');
  return {
    kind: 'resource',
    resource,
    issuers,
    scopes: scopes && scopesIn(scopes.join(' ')),
  };
}

/** The same origin, and a path that the server's is the same as or below. */
export function isResourceOf(url: string, resource: string): boolean {
  if (!URL.canParse(resource)) return false;
  const [server, named] = [new URL(url), new URL(resource)];
  if (server.origin !== named.origin || named.hash !== '') return false;
  if (named.username !== '' || named.password !== '') return false;
  if (named.search !== '' && named.search !== server.search) return false;
  const path = (one: URL): string =>
    one.pathname.endsWith('/') ? one.pathname : `${one.pathname}/`;
  return path(server).startsWith(path(named));
}

function chosenIssuer(
  { issuers }: ResourceMetadata,
  configured: string | undefined,
): string | Failure {
  const [first = ''] = issuers;
  if (configured === undefined) return first;
  if (issuers.includes(configured)) return configured;
  const message = `the server names the authorization server ${shownUrl(first)}, not ${shownUrl(configured)}, which is configured.`;
  const fix =
    'If the server has moved, correct `authorization_server` in config.toml, and register the client there.';
  return discoveryFailure(message, fix);
}

/** RFC 8414 first, then OpenID Connect, with the path of the issuer in between, then at its end. */
export function metadataUrls(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const oauth = `${origin}/.well-known/oauth-authorization-server${path}`;
  const openId = `${origin}/.well-known/openid-configuration${path}`;
  return path === ''
    ? [oauth, openId]
    : [oauth, openId, `${origin}${path}/.well-known/openid-configuration`];
}

/** Undefined where the issuer publishes nothing. */
async function authorizationServer(
  http: OAuthHttp,
  issuer: string,
  alsoIssuer = issuer,
): Promise<AuthorizationServer | Failure | undefined> {
  const problem = http.guard.problem(issuer);
  if (problem !== undefined) return wrongAddress('the authorization server', issuer, problem);
  const isRight = (json: OAuthDocument): boolean =>
    json['issuer'] === issuer || json['issuer'] === alsoIssuer;
  const found = await documentsAt(http, metadataUrls(issuer), isRight);
  if (isFailure(found)) return found;
  const [json] = found;
  if (json === undefined) return undefined;
  if (isRight(json)) return readServer(http, json);
  const named = textIn(json, 'issuer') ?? 'none';
  return discoveryFailure(
    `the metadata of the authorization server ${shownUrl(issuer)} is that of another issuer, ${shownUrl(named)}.`,
  );
}

function readServer(http: OAuthHttp, json: OAuthDocument): AuthorizationServer | Failure {
  const issuer = textIn(json, 'issuer') ?? '';
  const authorizationEndpoint = textIn(json, 'authorization_endpoint');
  const tokenEndpoint = textIn(json, 'token_endpoint');
  if (authorizationEndpoint === undefined || tokenEndpoint === undefined) {
    return discoveryFailure(
      `the authorization server ${shownUrl(issuer)} has no endpoints to log in at.`,
    );
  }
  if (textListIn(json, 'code_challenge_methods_supported')?.includes('S256') !== true) {
    return discoveryFailure(
      `the authorization server ${shownUrl(issuer)} does not say that it checks PKCE (S256), without which a login can be stolen.`,
    );
  }
  if (textListIn(json, 'response_types_supported')?.includes('code') === false) {
    return discoveryFailure(
      `the authorization server ${shownUrl(issuer)} gives no authorization codes.`,
    );
  }
  const server: AuthorizationServer = {
    issuer,
    authorizationEndpoint,
    tokenEndpoint,
    registrationEndpoint: textIn(json, 'registration_endpoint'),
    revocationEndpoint: textIn(json, 'revocation_endpoint'),
    scopesSupported: textListIn(json, 'scopes_supported') ?? [],
    authMethods: textListIn(json, 'token_endpoint_auth_methods_supported'),
    sendsIssuer: json['authorization_response_iss_parameter_supported'] === true,
    takesMetadataDocuments: json['client_id_metadata_document_supported'] === true,
    isAssumed: false,
  };
  return endpointFailure(http, server) ?? server;
}

/** Every endpoint is where the browser or a secret of ours goes. */
function endpointFailure(http: OAuthHttp, server: AuthorizationServer): Failure | undefined {
  const { authorizationEndpoint, tokenEndpoint, registrationEndpoint, revocationEndpoint } = server;
  for (const url of [
    authorizationEndpoint,
    tokenEndpoint,
    registrationEndpoint,
    revocationEndpoint,
  ]) {
    const problem = url === undefined ? undefined : http.guard.problem(url);
    if (problem !== undefined) return wrongAddress('an endpoint', url ?? '', problem);
  }
  return undefined;
}

/** As 2025-03-26 has it: the origin of the server is its authorization server, with endpoints at fixed paths. */
async function withoutMetadata(
  http: OAuthHttp,
  { url, issuer }: DiscoverRequest,
  { isRefused, scopes }: Probe,
): Promise<Discovered | Failure> {
  const { origin } = new URL(url);
  const resource = canonicalUrl(url);
  // Many issuers without a path write it with a slash.
  const server = await authorizationServer(http, issuer ?? origin, issuer ?? `${origin}/`);
  if (isFailure(server)) return server;
  if (server !== undefined) {
    return { kind: 'discovered', resource, scopes, authorizationServer: server };
  }
  if (issuer !== undefined) return noMetadata(issuer);
  if (!isRefused) {
    const message = `${shownUrl(url)} does not ask for authorization, and names no authorization server.`;
    return discoveryFailure(message, 'Use it without a login; or correct its address.');
  }
  return { kind: 'discovered', resource, scopes, authorizationServer: defaultServer(origin) };
}

function defaultServer(origin: string): AuthorizationServer {
  return {
    issuer: origin,
    authorizationEndpoint: `${origin}/authorize`,
    tokenEndpoint: `${origin}/token`,
    registrationEndpoint: `${origin}/register`,
    revocationEndpoint: undefined,
    scopesSupported: [],
    authMethods: undefined,
    sendsIssuer: false,
    takesMetadataDocuments: false,
    isAssumed: true,
  };
}

function noMetadata(issuer: string): Failure {
  return discoveryFailure(`the authorization server ${shownUrl(issuer)} publishes no metadata.`);
}

function wrongAddress(what: string, url: string, problem: string): Failure {
  const message = `the address of ${what}, ${shownUrl(url)}, ${problem}.`;
  const fix =
    'The server names it, and `sub` does not go there. If it is right, set `authorization_server` in [servers.NAME.oauth] of config.toml.';
  return discoveryFailure(message, fix);
}

function unreachable(url: string, fault: HttpFault): Failure {
  if (fault.kind === 'refused') return wrongAddress('the authorization server', url, fault.message);
  const message = `${shownUrl(url)} ${faultText(fault)}.`;
  return failure('SUB_AUTH_UNREACHABLE', message, 'Check the network, and try again.');
}

function unavailable(url: string, { status }: JsonAnswer): Failure {
  const message = `${shownUrl(url)} answers with HTTP ${status}.`;
  return failure('SUB_AUTH_UNREACHABLE', message, 'Try again later.');
}
